// The peer of bench/rates: QuantLib prices trades on rates, one job a line of standard input, one answer a line.
//
//   product=cap|floor start=1 end=6 strike=0.03          AnalyticCapFloorEngine
//   product=payer|receiver start=1 end=6 strike=0.03 exercise=1,2,3
//   product=bond end=10 coupon=0.05 calls=5:102,6:101,7:100     puts as well
//   engine=jamshidian | g2 | tree | fd      intervals=… (g2), steps=… (tree), steps=… nodes=… (fd)
//   a=0.05 sigma=0.01 [b=0.5 eta=0.008 rho=-0.7] times=1,5,10 zeros=0.02,0.025,0.03 repetitions=25
//
//   → price seconds           median seconds of one pricing (0 for repetitions=0)
//   → error message           for a job it cannot price
//
// All times are whole years of 365 days, all periods a year, notional 100. Timed is NPV() after a reset of the
// instrument: the tree or mesh and all that is solved on it, not the construction of curve, model, instrument, engine.
//
// Build: g++ -O3 -march=native -std=c++17 quantlib-rates.cpp -lQuantLib      (bench/peers/quantlib.ts does it)
#include <ql/exercise.hpp>
#include <ql/experimental/callablebonds/callablebond.hpp>
#include <ql/experimental/callablebonds/treecallablebondengine.hpp>
#include <ql/indexes/iborindex.hpp>
#include <ql/instruments/capfloor.hpp>
#include <ql/instruments/swaption.hpp>
#include <ql/instruments/vanillaswap.hpp>
#include <ql/math/interpolations/loginterpolation.hpp>
#include <ql/models/shortrate/onefactormodels/hullwhite.hpp>
#include <ql/models/shortrate/twofactormodels/g2.hpp>
#include <ql/pricingengines/capfloor/analyticcapfloorengine.hpp>
#include <ql/pricingengines/swaption/fdhullwhiteswaptionengine.hpp>
#include <ql/pricingengines/swaption/g2swaptionengine.hpp>
#include <ql/pricingengines/swaption/jamshidianswaptionengine.hpp>
#include <ql/pricingengines/swaption/treeswaptionengine.hpp>
#include <ql/settings.hpp>
#include <ql/termstructures/yield/discountcurve.hpp>
#include <ql/time/calendars/nullcalendar.hpp>
#include <ql/time/daycounters/actual365fixed.hpp>
#include <ql/time/schedule.hpp>
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

constexpr double NOTIONAL = 100.0;

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

std::string text(const Job& job, const std::string& key) {
  const auto found = job.find(key);
  return found == job.end() ? "" : found->second;
}

double number(const Job& job, const std::string& key) {
  const auto found = job.find(key);
  if (found == job.end()) throw std::invalid_argument("expected " + key);
  return std::stod(found->second);
}

Size count(const Job& job, const std::string& key) { return static_cast<Size>(number(job, key)); }

std::vector<std::string> listOf(const Job& job, const std::string& key) {
  std::vector<std::string> items;
  std::istringstream list(text(job, key));
  for (std::string item; std::getline(list, item, ',');) items.push_back(item);
  return items;
}

Date after(const Date& start, double years) { return start + static_cast<Integer>(std::lround(years * 365.0)); }

// The logarithm of the discount factor is linear between the nodes: z·t is.
Handle<YieldTermStructure> curveOf(const Job& job, const Date& today) {
  std::vector<Date> dates = {today};
  std::vector<DiscountFactor> factors = {1.0};
  const auto times = listOf(job, "times"), zeros = listOf(job, "zeros");
  for (Size i = 0; i < times.size(); ++i) {
    const double t = std::stod(times[i]);
    dates.push_back(after(today, t));
    factors.push_back(std::exp(-std::stod(zeros[i]) * t));
  }
  const auto curve = ext::make_shared<DiscountCurve>(dates, factors, Actual365Fixed(), NullCalendar());
  curve->enableExtrapolation();
  return Handle<YieldTermStructure>(curve);
}

Schedule years(const Date& today, double start, double end) {
  std::vector<Date> dates;
  for (double t = start; t < end + 0.5; t += 1.0) dates.push_back(after(today, t));
  return Schedule(dates, NullCalendar(), Unadjusted, Unadjusted, Period(365, Days), DateGeneration::Forward, false);
}

ext::shared_ptr<IborIndex> indexOf(const Handle<YieldTermStructure>& curve) {
  return ext::make_shared<IborIndex>("rate", Period(365, Days), 0, Currency(), NullCalendar(), Unadjusted, false,
                                     Actual365Fixed(), curve);
}

ext::shared_ptr<Instrument> capFloorOf(const Job& job, const Date& today, const Handle<YieldTermStructure>& curve,
                                       const ext::shared_ptr<HullWhite>& model) {
  const Leg leg = IborLeg(years(today, number(job, "start"), number(job, "end")), indexOf(curve))
                      .withNotionals(NOTIONAL)
                      .withPaymentDayCounter(Actual365Fixed())
                      .withFixingDays(0);
  const auto type = text(job, "product") == "cap" ? CapFloor::Cap : CapFloor::Floor;
  const auto instrument = ext::make_shared<CapFloor>(type, leg, std::vector<Rate>{number(job, "strike")});
  instrument->setPricingEngine(ext::make_shared<AnalyticCapFloorEngine>(model));
  return instrument;
}

ext::shared_ptr<PricingEngine> swaptionEngineOf(const Job& job, const Handle<YieldTermStructure>& curve,
                                                const ext::shared_ptr<HullWhite>& model) {
  const std::string name = text(job, "engine");
  if (name == "g2") {
    const auto two = ext::make_shared<G2>(curve, number(job, "a"), number(job, "sigma"), number(job, "b"),
                                          number(job, "eta"), number(job, "rho"));
    return ext::make_shared<G2SwaptionEngine>(two, 7.0, count(job, "intervals"));
  }
  if (name == "jamshidian") return ext::make_shared<JamshidianSwaptionEngine>(model);
  if (name == "tree") return ext::make_shared<TreeSwaptionEngine>(model, count(job, "steps"));
  if (name == "fd") return ext::make_shared<FdHullWhiteSwaptionEngine>(model, count(job, "steps"), count(job, "nodes"));
  throw std::invalid_argument("unknown engine " + name);
}

ext::shared_ptr<Instrument> swaptionOf(const Job& job, const Date& today, const Handle<YieldTermStructure>& curve,
                                       const ext::shared_ptr<HullWhite>& model) {
  const auto type = text(job, "product") == "payer" ? Swap::Payer : Swap::Receiver;
  const Schedule schedule = years(today, number(job, "start"), number(job, "end"));
  const auto swap = ext::make_shared<VanillaSwap>(type, NOTIONAL, schedule, number(job, "strike"), Actual365Fixed(),
                                                  schedule, indexOf(curve), 0.0, Actual365Fixed());
  std::vector<Date> dates;
  for (const auto& time : listOf(job, "exercise")) dates.push_back(after(today, std::stod(time)));
  ext::shared_ptr<Exercise> exercise;
  if (dates.size() == 1) exercise = ext::make_shared<EuropeanExercise>(dates[0]);
  else exercise = ext::make_shared<BermudanExercise>(dates);
  const auto instrument = ext::make_shared<Swaption>(swap, exercise);
  instrument->setPricingEngine(swaptionEngineOf(job, curve, model));
  return instrument;
}

void addRights(CallabilitySchedule& rights, const Job& job, const Date& today, const char* key, Callability::Type type) {
  for (const auto& item : listOf(job, key)) {
    const auto colon = item.find(':');
    const Bond::Price price(std::stod(item.substr(colon + 1)), Bond::Price::Clean);
    rights.push_back(ext::make_shared<Callability>(price, type, after(today, std::stod(item.substr(0, colon)))));
  }
}

ext::shared_ptr<Instrument> bondOf(const Job& job, const Date& today, const ext::shared_ptr<HullWhite>& model) {
  CallabilitySchedule rights;
  addRights(rights, job, today, "calls", Callability::Call);
  addRights(rights, job, today, "puts", Callability::Put);
  const auto bond = ext::make_shared<CallableFixedRateBond>(
      0, NOTIONAL, years(today, 0.0, number(job, "end")), std::vector<Rate>{number(job, "coupon")}, Actual365Fixed(),
      Unadjusted, NOTIONAL, today, rights);
  bond->setPricingEngine(ext::make_shared<TreeCallableFixedRateBondEngine>(model, count(job, "steps")));
  return bond;
}

double medianSeconds(Instrument& instrument, int repetitions) {
  if (repetitions < 1) return 0.0;
  std::vector<double> seconds;
  for (int i = 0; i < repetitions; ++i) {
    const auto start = std::chrono::steady_clock::now();
    instrument.recalculate();
    seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  std::sort(seconds.begin(), seconds.end());
  return seconds[seconds.size() / 2];
}

void answer(const Job& job) {
  const Date today(20, November, 2026);
  Settings::instance().evaluationDate() = today;
  const auto curve = curveOf(job, today);
  const auto model = ext::make_shared<HullWhite>(curve, number(job, "a"), number(job, "sigma"));
  const std::string product = text(job, "product");
  ext::shared_ptr<Instrument> instrument;
  if (product == "cap" || product == "floor") instrument = capFloorOf(job, today, curve, model);
  else if (product == "payer" || product == "receiver") instrument = swaptionOf(job, today, curve, model);
  else if (product == "bond") instrument = bondOf(job, today, model);
  else throw std::invalid_argument("unknown product " + product);
  const double price = instrument->NPV(); // warms up, too
  const double seconds = medianSeconds(*instrument, static_cast<int>(number(job, "repetitions")));
  std::cout << std::setprecision(17) << price << ' ' << std::setprecision(6) << seconds << '\n';
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
