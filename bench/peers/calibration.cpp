// The peer of bench/calibration: QuantLib fits Heston's model and Andreasen and Huge's surface to quotes.
//
//   standard input: spot, the number of expiries and of strikes of each; then for each expiry its days, its zero rate,
//   and strike and implied volatility of each quote
//   standard output: name, seconds, root mean square error of volatility; a line each
//
// Heston's model: AnalyticHestonEngine, 144 points of Gauss-Laguerre, Levenberg-Marquardt on errors of volatility from
// the start v0, theta at the money, kappa 2, sigma 0.6, rho -0.6. Andreasen and Huge: piecewise constant, 500 nodes.
//
// Build: g++ -O3 -march=native -std=c++17 calibration.cpp -lQuantLib      (bench/calibration.bench.ts does it)
#include <ql/exercise.hpp>
#include <ql/instruments/vanillaoption.hpp>
#include <ql/math/interpolations/linearinterpolation.hpp>
#include <ql/math/optimization/levenbergmarquardt.hpp>
#include <ql/models/equity/hestonmodel.hpp>
#include <ql/models/equity/hestonmodelhelper.hpp>
#include <ql/pricingengines/vanilla/analytichestonengine.hpp>
#include <ql/processes/hestonprocess.hpp>
#include <ql/quotes/simplequote.hpp>
#include <ql/settings.hpp>
#include <ql/termstructures/volatility/equityfx/andreasenhugevolatilityadapter.hpp>
#include <ql/termstructures/volatility/equityfx/andreasenhugevolatilityinterpl.hpp>
#include <ql/termstructures/yield/flatforward.hpp>
#include <ql/termstructures/yield/zerocurve.hpp>
#include <ql/time/calendars/nullcalendar.hpp>
#include <ql/time/daycounters/actual365fixed.hpp>

#include <chrono>
#include <cmath>
#include <iostream>
#include <vector>

using namespace QuantLib;

namespace {

struct Quoted {
  int days;
  double strike;
  double volatility;
};

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

int main() {
  double spot;
  int expiries, strikes;
  std::cin >> spot >> expiries >> strikes;
  const Date today(20, November, 2026);
  Settings::instance().evaluationDate() = today;
  std::vector<Quoted> quotes;
  std::vector<Date> dates{today};
  std::vector<Rate> rates;
  for (int e = 0; e < expiries; e++) {
    int days;
    double rate;
    std::cin >> days >> rate;
    dates.push_back(today + days);
    if (e == 0) rates.push_back(rate);
    rates.push_back(rate);
    for (int i = 0; i < strikes; i++) {
      double strike, volatility;
      std::cin >> strike >> volatility;
      quotes.push_back({days, strike, volatility});
    }
  }
  const Actual365Fixed count;
  const Handle<Quote> underlying(ext::make_shared<SimpleQuote>(spot));
  const Handle<YieldTermStructure> rate(ext::make_shared<ZeroCurve>(dates, rates, count));
  const Handle<YieldTermStructure> yield(ext::make_shared<FlatForward>(today, 0.0, count));
  // The first and the last volatility at the money.
  const auto atTheMoney = [&](size_t first) {
    size_t best = first;
    for (size_t i = first; i < first + strikes; i++)
      if (std::fabs(quotes[i].strike - spot) < std::fabs(quotes[best].strike - spot)) best = i;
    return quotes[best].volatility;
  };
  const double early = atTheMoney(0), late = atTheMoney(quotes.size() - strikes);

  for (int repetition = 0; repetition < 3; repetition++) {
    const double start = now();
    const auto process =
        ext::make_shared<HestonProcess>(rate, yield, underlying, early * early, 2.0, late * late, 0.6, -0.6);
    const auto model = ext::make_shared<HestonModel>(process);
    const auto engine = ext::make_shared<AnalyticHestonEngine>(model, 144);
    std::vector<ext::shared_ptr<CalibrationHelper>> helpers;
    for (const auto& quote : quotes) {
      const auto helper = ext::make_shared<HestonModelHelper>(
          Period(quote.days, Days), NullCalendar(), spot, quote.strike,
          Handle<Quote>(ext::make_shared<SimpleQuote>(quote.volatility)), rate, yield,
          BlackCalibrationHelper::ImpliedVolError);
      helper->setPricingEngine(engine);
      helpers.push_back(helper);
    }
    LevenbergMarquardt optimizer(1e-8, 1e-8, 1e-8);
    model->calibrate(helpers, optimizer, EndCriteria(400, 40, 1e-8, 1e-8, 1e-8));
    const double seconds = now() - start;
    double sum = 0;
    for (const auto& helper : helpers) sum += std::pow(helper->calibrationError(), 2);
    std::cout << "heston " << seconds << ' ' << std::sqrt(sum / helpers.size()) << std::endl;
  }

  for (int repetition = 0; repetition < 3; repetition++) {
    const double start = now();
    AndreasenHugeVolatilityInterpl::CalibrationSet set;
    for (const auto& quote : quotes)
      set.emplace_back(
          ext::make_shared<VanillaOption>(ext::make_shared<PlainVanillaPayoff>(Option::Call, quote.strike),
                                          ext::make_shared<EuropeanExercise>(today + quote.days)),
          ext::make_shared<SimpleQuote>(quote.volatility));
    const auto surface = ext::make_shared<AndreasenHugeVolatilityInterpl>(
        set, underlying, rate, yield, AndreasenHugeVolatilityInterpl::PiecewiseConstant);
    surface->calibrationError();
    const double seconds = now() - start;
    const AndreasenHugeVolatilityAdapter adapter(surface);
    double sum = 0;
    for (const auto& quote : quotes)
      sum += std::pow(adapter.blackVol(today + quote.days, quote.strike, true) - quote.volatility, 2);
    std::cout << "andreasen-huge " << seconds << ' ' << std::sqrt(sum / quotes.size()) << std::endl;
  }
}
