// The peer of bench/one-factor: QuantLib prices vanilla options, one job a line of standard input, one answer a line.
//
//   engine=fd type=put exercise=american spot=100 strike=100 rate=0.05 yield=0 vol=0.2 maturity=1 beta=1
//   tgrid=200 xgrid=400 damping=0 scheme=douglas repetitions=25 dividends=0.5:7,0.75:3
//   exercise=bermudan dates=0.1,0.2,0.3      lower=80 upper=120, a European double knock-out
//
//   engine=heston-fd v0=0.04 kappa=1.5 theta=0.04 sigma=0.3 rho=-0.9 tgrid=100 xgrid=100 vgrid=50 scheme=douglas
//   engine=heston-analytic          the same model by its characteristic function
//
//   engine=mc-american paths=100000 steps=50 calibration=2048 seed=42     MCAmericanEngine, pseudo-random
//   engine=mc-asian paths=8191 fixings=0.25,0.5,1      MCDiscreteArithmeticAPEngine, Sobol' points, control variate
//
//   engine=qdfp iteration=fast      or accurate, high (precision; the default), finer, or orders l,m,n,p
//
//   → price seconds years          median seconds of one pricing (0 for repetitions=0); the maturity in whole days that QuantLib used
//                                  and the standard error, of mc-american
//   → error message                for a job it cannot price
//
// engine: fd (FdBlackScholesVanillaEngine), analytic (AnalyticEuropeanEngine), qdfp (QdFpAmericanEngine; in its
// high-precision scheme the American price to about 1e-10). scheme: douglas (the default; Crank–Nicolson in one
// dimension), crank-nicolson, implicit-euler, tr-bdf2. A double knock-out has no finite-difference engine in QuantLib:
// here it has one made of QuantLib's parts, as its engine for one barrier is; analytic is AnalyticDoubleBarrierEngine.
// beta ≠ 1: local volatility vol·(S/spot)^(beta−1).
//
// Timed is NPV() after a reset of the instrument: the mesh, the operators and the time loop, not the construction of
// market data, instrument and engine. The work is done inside Debian's libQuantLib, so the flags of this file matter
// little.
//
// Build: g++ -O3 -march=native -std=c++17 quantlib.cpp -lQuantLib      (bench/peers/quantlib.ts does it)
#include <ql/exercise.hpp>
#include <ql/experimental/barrieroption/analyticdoublebarrierengine.hpp>
#include <ql/experimental/barrieroption/doublebarrieroption.hpp>
#include <ql/instruments/asianoption.hpp>
#include <ql/instruments/dividendvanillaoption.hpp>
#include <ql/instruments/vanillaoption.hpp>
#include <ql/models/equity/hestonmodel.hpp>
#include <ql/methods/finitedifferences/meshers/fdmblackscholesmesher.hpp>
#include <ql/methods/finitedifferences/meshers/fdmmeshercomposite.hpp>
#include <ql/methods/finitedifferences/solvers/fdmblackscholessolver.hpp>
#include <ql/methods/finitedifferences/stepconditions/fdmstepconditioncomposite.hpp>
#include <ql/methods/finitedifferences/utilities/fdmdirichletboundary.hpp>
#include <ql/methods/finitedifferences/utilities/fdminnervaluecalculator.hpp>
#include <ql/pricingengines/asian/mc_discr_arith_av_price.hpp>
#include <ql/pricingengines/vanilla/analyticeuropeanengine.hpp>
#include <ql/pricingengines/vanilla/analytichestonengine.hpp>
#include <ql/pricingengines/vanilla/fdblackscholesvanillaengine.hpp>
#include <ql/pricingengines/vanilla/fdhestonvanillaengine.hpp>
#include <ql/pricingengines/vanilla/mcamericanengine.hpp>
#include <ql/pricingengines/vanilla/qdfpamericanengine.hpp>
#include <ql/processes/blackscholesprocess.hpp>
#include <ql/processes/hestonprocess.hpp>
#include <ql/quotes/simplequote.hpp>
#include <ql/settings.hpp>
#include <ql/termstructures/volatility/equityfx/blackconstantvol.hpp>
#include <ql/termstructures/volatility/equityfx/localvoltermstructure.hpp>
#include <ql/termstructures/yield/flatforward.hpp>
#include <ql/time/calendars/nullcalendar.hpp>
#include <ql/time/daycounters/actual365fixed.hpp>
#include <ql/version.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iomanip>
#include <iostream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace QuantLib;

namespace {

using Job = std::map<std::string, std::string>;

Job parse(const std::string& line) {
  Job job;
  std::istringstream words(line);
  for (std::string word; words >> word;) {
    const auto equals = word.find('=');
    if (equals == std::string::npos) throw std::invalid_argument("expected key=value, got " + word);
    job[word.substr(0, equals)] = word.substr(equals + 1);
  }
  return job;
}

std::string text(const Job& job, const std::string& key, const std::string& fallback) {
  const auto found = job.find(key);
  return found == job.end() ? fallback : found->second;
}

double number(const Job& job, const std::string& key, double fallback) {
  const auto found = job.find(key);
  return found == job.end() ? fallback : std::stod(found->second);
}

std::vector<double> listOf(const Job& job, const std::string& key) {
  std::vector<double> numbers;
  std::istringstream list(text(job, key, ""));
  for (std::string item; std::getline(list, item, ',');) {
    std::size_t end = 0;
    numbers.push_back(std::stod(item, &end));
    if (end != item.size()) throw std::invalid_argument(key + ": expected numbers, got " + item);
  }
  return numbers;
}

std::vector<std::pair<double, double>> dividendsOf(const Job& job) {
  std::vector<std::pair<double, double>> dividends;
  std::istringstream list(text(job, "dividends", ""));
  for (std::string item; std::getline(list, item, ',');) {
    const auto colon = item.find(':');
    dividends.emplace_back(std::stod(item.substr(0, colon)), std::stod(item.substr(colon + 1)));
  }
  return dividends;
}

Date after(const Date& start, double years) { return start + static_cast<Integer>(std::lround(years * 365.0)); }

// σ(S) = sigma·(S/scale)^(beta−1): as cheap to evaluate as a local volatility can be.
class PowerLocalVol : public LocalVolTermStructure {
 public:
  PowerLocalVol(const Date& date, double sigma, double scale, double beta)
      : LocalVolTermStructure(date, NullCalendar(), Following, Actual365Fixed()),
        sigma_(sigma), scale_(scale), power_(beta - 1.0) {}
  Date maxDate() const override { return Date::maxDate(); }
  Real minStrike() const override { return 0.0; }
  Real maxStrike() const override { return QL_MAX_REAL; }

 protected:
  Volatility localVolImpl(Time, Real level) const override { return sigma_ * std::pow(level / scale_, power_); }

 private:
  double sigma_, scale_, power_;
};

FdmSchemeDesc schemeOf(const std::string& name) {
  if (name == "douglas") return FdmSchemeDesc::Douglas();
  if (name == "crank-nicolson") return FdmSchemeDesc::CrankNicolson();
  if (name == "implicit-euler") return FdmSchemeDesc::ImplicitEuler();
  if (name == "tr-bdf2") return FdmSchemeDesc::TrBDF2();
  if (name == "craig-sneyd") return FdmSchemeDesc::CraigSneyd();
  if (name == "modified-craig-sneyd") return FdmSchemeDesc::ModifiedCraigSneyd();
  if (name == "hundsdorfer-verwer") return FdmSchemeDesc::Hundsdorfer();
  throw std::invalid_argument("unknown scheme " + name);
}

ext::shared_ptr<GeneralizedBlackScholesProcess> processOf(const Job& job, const Date& today) {
  const Actual365Fixed days;
  const double spot = number(job, "spot", 100), sigma = number(job, "vol", 0.2), beta = number(job, "beta", 1);
  const auto flat = [&](double rate) {
    return Handle<YieldTermStructure>(ext::make_shared<FlatForward>(today, rate, days));
  };
  const Handle<Quote> quote(ext::make_shared<SimpleQuote>(spot));
  const Handle<BlackVolTermStructure> black(ext::make_shared<BlackConstantVol>(today, NullCalendar(), sigma, days));
  const auto yield = flat(number(job, "yield", 0)), rate = flat(number(job, "rate", 0.05));
  if (beta == 1.0) return ext::make_shared<GeneralizedBlackScholesProcess>(quote, yield, rate, black);
  const Handle<LocalVolTermStructure> local(ext::make_shared<PowerLocalVol>(today, sigma, spot, beta));
  return ext::make_shared<GeneralizedBlackScholesProcess>(quote, yield, rate, black, local);
}

// As FdBlackScholesBarrierEngine, with a Dirichlet condition at either end.
class FdDoubleKnockOutEngine : public DoubleBarrierOption::engine {
 public:
  FdDoubleKnockOutEngine(ext::shared_ptr<GeneralizedBlackScholesProcess> process, Size steps, Size nodes, Size damping,
                         const FdmSchemeDesc& scheme)
      : process_(std::move(process)), steps_(steps), nodes_(nodes), damping_(damping), scheme_(scheme) {}

  void calculate() const override {
    const auto payoff = ext::dynamic_pointer_cast<StrikedTypePayoff>(arguments_.payoff);
    const Time maturity = process_->time(arguments_.exercise->lastDate());
    const auto mesher = ext::make_shared<FdmMesherComposite>(ext::make_shared<FdmBlackScholesMesher>(
        nodes_, process_, maturity, payoff->strike(), std::log(arguments_.barrier_lo), std::log(arguments_.barrier_hi), 0.0001,
        1.5, std::make_pair(Null<Real>(), Null<Real>())));
    const auto value = ext::make_shared<FdmLogInnerValue>(payoff, mesher, 0);
    const auto conditions = FdmStepConditionComposite::vanillaComposite(
        DividendSchedule(), arguments_.exercise, mesher, value, process_->riskFreeRate()->referenceDate(),
        process_->riskFreeRate()->dayCounter());
    const FdmBoundaryConditionSet boundaries = {
        ext::make_shared<FdmDirichletBoundary>(mesher, 0.0, 0, FdmDirichletBoundary::Lower),
        ext::make_shared<FdmDirichletBoundary>(mesher, 0.0, 0, FdmDirichletBoundary::Upper)};
    const FdmSolverDesc description = {mesher, boundaries, conditions, value, maturity, steps_, damping_};
    const FdmBlackScholesSolver solver(Handle<GeneralizedBlackScholesProcess>(process_), payoff->strike(), description,
                                       scheme_);
    results_.value = solver.valueAt(process_->x0());
  }

 private:
  ext::shared_ptr<GeneralizedBlackScholesProcess> process_;
  Size steps_, nodes_, damping_;
  FdmSchemeDesc scheme_;
};

ext::shared_ptr<QdFpIterationScheme> iterationOf(const Job& job) {
  const std::string name = text(job, "iteration", "high");
  if (name == "fast") return QdFpAmericanEngine::fastScheme();
  if (name == "accurate") return QdFpAmericanEngine::accurateScheme();
  if (name == "high") return QdFpAmericanEngine::highPrecisionScheme();
  if (name == "finer") return ext::make_shared<QdFpTanhSinhIterationScheme>(20, 60, 1e-11);
  const auto orders = listOf(job, "iteration");
  if (orders.size() != 4) throw std::invalid_argument("iteration: expected a name or l,m,n,p, got " + name);
  const auto order = [&](int i) { return static_cast<Size>(orders[i]); };
  return ext::make_shared<QdFpLegendreScheme>(order(0), order(1), order(2), order(3));
}

ext::shared_ptr<PricingEngine> hestonEngineOf(const Job& job, const Date& today) {
  const Actual365Fixed days;
  const auto flat = [&](double rate) {
    return Handle<YieldTermStructure>(ext::make_shared<FlatForward>(today, rate, days));
  };
  const Handle<Quote> quote(ext::make_shared<SimpleQuote>(number(job, "spot", 100)));
  const auto process = ext::make_shared<HestonProcess>(
      flat(number(job, "rate", 0.05)), flat(number(job, "yield", 0)), quote, number(job, "v0", 0.04),
      number(job, "kappa", 1.5), number(job, "theta", 0.04), number(job, "sigma", 0.3), number(job, "rho", -0.9));
  const auto model = ext::make_shared<HestonModel>(process);
  if (text(job, "engine", "") == "heston-analytic") return ext::make_shared<AnalyticHestonEngine>(model, 192);
  return ext::make_shared<FdHestonVanillaEngine>(
      model, static_cast<Size>(number(job, "tgrid", 100)), static_cast<Size>(number(job, "xgrid", 100)),
      static_cast<Size>(number(job, "vgrid", 50)), static_cast<Size>(number(job, "damping", 0)),
      schemeOf(text(job, "scheme", "hundsdorfer-verwer")));
}

ext::shared_ptr<PricingEngine> engineOf(const Job& job, const Date& today) {
  if (text(job, "engine", "fd").rfind("heston", 0) == 0) return hestonEngineOf(job, today);
  const auto process = processOf(job, today);
  const std::string name = text(job, "engine", "fd");
  const bool barriers = job.count("lower") > 0;
  if (name == "analytic" && barriers) return ext::make_shared<AnalyticDoubleBarrierEngine>(process, 20);
  if (name == "analytic") return ext::make_shared<AnalyticEuropeanEngine>(process);
  if (name == "qdfp") return ext::make_shared<QdFpAmericanEngine>(process, iterationOf(job));
  if (name == "mc-american")
    return MakeMCAmericanEngine<PseudoRandom>(process)
        .withSteps(static_cast<Size>(number(job, "steps", 50)))
        .withSamples(static_cast<Size>(number(job, "paths", 100000)))
        .withCalibrationSamples(static_cast<Size>(number(job, "calibration", 2048)))
        .withSeed(static_cast<BigNatural>(number(job, "seed", 42)));
  if (name != "fd") throw std::invalid_argument("unknown engine " + name);
  if (barriers)
    return ext::make_shared<FdDoubleKnockOutEngine>(
        process, static_cast<Size>(number(job, "tgrid", 100)), static_cast<Size>(number(job, "xgrid", 200)),
        static_cast<Size>(number(job, "damping", 0)), schemeOf(text(job, "scheme", "douglas")));
  return ext::make_shared<FdBlackScholesVanillaEngine>(
      process, static_cast<Size>(number(job, "tgrid", 100)), static_cast<Size>(number(job, "xgrid", 200)),
      static_cast<Size>(number(job, "damping", 0)), schemeOf(text(job, "scheme", "douglas")),
      number(job, "beta", 1) != 1.0);
}

ext::shared_ptr<OneAssetOption> optionOf(const Job& job, const Date& today, const Date& maturity) {
  const auto type = text(job, "type", "put") == "call" ? Option::Call : Option::Put;
  const auto payoff = ext::make_shared<PlainVanillaPayoff>(type, number(job, "strike", 100));
  ext::shared_ptr<Exercise> exercise;
  if (text(job, "exercise", "american") == "american")
    exercise = ext::make_shared<AmericanExercise>(today, maturity);
  else if (text(job, "exercise", "american") == "bermudan") {
    std::vector<Date> dates;
    for (const double time : listOf(job, "dates")) dates.push_back(after(today, time));
    dates.push_back(maturity);
    exercise = ext::make_shared<BermudanExercise>(dates);
  } else
    exercise = ext::make_shared<EuropeanExercise>(maturity);
  if (job.count("lower") > 0)
    return ext::make_shared<DoubleBarrierOption>(DoubleBarrier::KnockOut, number(job, "lower", 0), number(job, "upper", 0), 0.0,
                                                 payoff, exercise);
  // The finite-difference engine takes dividend options only; the other two take plain ones.
  const std::string engine = text(job, "engine", "fd");
  if (engine != "fd") return ext::make_shared<VanillaOption>(payoff, exercise);
  std::vector<Date> dates;
  std::vector<Real> amounts;
  for (const auto& [time, cash] : dividendsOf(job)) {
    dates.push_back(after(today, time));
    amounts.push_back(cash);
  }
  return ext::make_shared<DividendVanillaOption>(payoff, exercise, dates, amounts);
}

ext::shared_ptr<DiscreteAveragingAsianOption> asianOf(const Job& job, const Date& today, const Date& maturity) {
  const auto type = text(job, "type", "put") == "call" ? Option::Call : Option::Put;
  std::vector<Date> fixings;
  for (const double time : listOf(job, "fixings")) fixings.push_back(after(today, time));
  const auto option = ext::make_shared<DiscreteAveragingAsianOption>(
      Average::Arithmetic, 0.0, 0, fixings, ext::make_shared<PlainVanillaPayoff>(type, number(job, "strike", 100)),
      ext::make_shared<EuropeanExercise>(maturity));
  option->setPricingEngine(MakeMCDiscreteArithmeticAPEngine<LowDiscrepancy>(processOf(job, today))
                               .withSamples(static_cast<Size>(number(job, "paths", 8191)))
                               .withControlVariate());
  return option;
}

double medianSeconds(OneAssetOption& option, int repetitions) {
  if (repetitions < 1) return 0.0;
  std::vector<double> seconds;
  for (int i = 0; i < repetitions; ++i) {
    const auto start = std::chrono::steady_clock::now();
    option.recalculate();
    seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  std::sort(seconds.begin(), seconds.end());
  return seconds[seconds.size() / 2];
}

void answer(const Job& job) {
  const Date today(20, November, 2026);
  Settings::instance().evaluationDate() = today;
  const Date maturity = after(today, number(job, "maturity", 1));
  const std::string engine = text(job, "engine", "fd");
  ext::shared_ptr<OneAssetOption> option;
  if (engine == "mc-asian")
    option = asianOf(job, today, maturity);
  else {
    option = optionOf(job, today, maturity);
    option->setPricingEngine(engineOf(job, today));
  }
  const double price = option->NPV(); // warms up, too
  const double seconds = medianSeconds(*option, static_cast<int>(number(job, "repetitions", 1)));
  std::cout << std::setprecision(17) << price << ' ' << std::setprecision(6) << seconds << ' '
            << std::setprecision(17) << (maturity - today) / 365.0;
  if (engine == "mc-american") std::cout << ' ' << option->errorEstimate();
  std::cout << '\n';
}

} // namespace

int main(int argc, char**) {
  if (argc > 1) {
    std::cout << "QuantLib " << QL_VERSION << '\n';
    return 0;
  }
  for (std::string line; std::getline(std::cin, line);) {
    if (line.empty()) continue;
    try {
      answer(parse(line));
    } catch (const std::exception& error) {
      std::string message = error.what();
      std::replace(message.begin(), message.end(), '\n', ' ');
      std::cout << "error " << message << '\n';
    }
    std::cout.flush();
  }
}
