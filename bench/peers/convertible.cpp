// The peer of bench/convertibles: QuantLib prices convertible bonds by its binomial tree, one job a line of standard
// input, one answer a line: price and the median seconds of one pricing.
//
//   spot=100 rate=0.04 yield=0.01 vol=0.25 spread=0 years=5 ratio=1 coupon=0.02 steps=801 repetitions=5
//   calls=2:110,3:110    puts=3:100      years and clean prices
//
// The bond has a notional of 100, annual coupons, and conversion at any time; a year has 365 days.
//
// Build: g++ -O3 -march=native -std=c++17 convertible.cpp -lQuantLib      (convertible.ts does it)
#include <ql/exercise.hpp>
#include <ql/instruments/bonds/convertiblebonds.hpp>
#include <ql/methods/lattices/binomialtree.hpp>
#include <ql/pricingengines/bond/binomialconvertibleengine.hpp>
#include <ql/processes/blackscholesprocess.hpp>
#include <ql/quotes/simplequote.hpp>
#include <ql/settings.hpp>
#include <ql/termstructures/volatility/equityfx/blackconstantvol.hpp>
#include <ql/termstructures/yield/flatforward.hpp>
#include <ql/time/calendars/nullcalendar.hpp>
#include <ql/time/daycounters/actual365fixed.hpp>
#include <ql/version.hpp>

#include <algorithm>
#include <chrono>
#include <iomanip>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

using namespace QuantLib;

namespace {

using Job = std::map<std::string, std::string>;

double number(const Job& job, const std::string& key) { return job.count(key) ? std::stod(job.at(key)) : 0; }

void addRights(const Job& job, const std::string& key, Callability::Type type, const Date& today,
               CallabilitySchedule& schedule) {
  if (!job.count(key)) return;
  std::istringstream list(job.at(key));
  for (std::string item; std::getline(list, item, ',');) {
    const auto colon = item.find(':');
    const Date date = today + static_cast<Integer>(365 * std::stoi(item.substr(0, colon)));
    const Bond::Price price(std::stod(item.substr(colon + 1)), Bond::Price::Clean);
    schedule.push_back(ext::make_shared<Callability>(price, type, date));
  }
}

void answer(const Job& job) {
  const Date today(20, November, 2026);
  Settings::instance().evaluationDate() = today;
  const Actual365Fixed days;
  const auto flat = [&](double rate) {
    return Handle<YieldTermStructure>(ext::make_shared<FlatForward>(today, rate, days));
  };
  const auto process = ext::make_shared<BlackScholesMertonProcess>(
      Handle<Quote>(ext::make_shared<SimpleQuote>(number(job, "spot"))), flat(number(job, "yield")),
      flat(number(job, "rate")),
      Handle<BlackVolTermStructure>(
          ext::make_shared<BlackConstantVol>(today, NullCalendar(), number(job, "vol"), days)));
  std::vector<Date> dates;
  for (int year = 0; year <= number(job, "years"); year++) dates.push_back(today + 365 * year);
  CallabilitySchedule rights;
  addRights(job, "calls", Callability::Call, today, rights);
  addRights(job, "puts", Callability::Put, today, rights);
  ConvertibleFixedCouponBond bond(ext::make_shared<AmericanExercise>(today, dates.back()), number(job, "ratio"), rights,
                                  today, 0, {number(job, "coupon")}, days,
                                  Schedule(dates, NullCalendar(), Unadjusted), 100);
  bond.setPricingEngine(ext::make_shared<BinomialConvertibleEngine<CoxRossRubinstein>>(
      process, static_cast<Size>(number(job, "steps")),
      Handle<Quote>(ext::make_shared<SimpleQuote>(number(job, "spread")))));
  const double price = bond.NPV();
  std::vector<double> seconds;
  for (int i = 0; i < number(job, "repetitions"); i++) {
    const auto start = std::chrono::steady_clock::now();
    bond.recalculate();
    seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  std::sort(seconds.begin(), seconds.end());
  std::cout << std::setprecision(17) << price << ' ' << (seconds.empty() ? 0 : seconds[seconds.size() / 2]) << '\n';
}

}  // namespace

int main(int argc, char**) {
  if (argc > 1) {
    std::cout << "QuantLib " << QL_VERSION << '\n';
    return 0;
  }
  for (std::string line; std::getline(std::cin, line);) {
    Job job;
    std::istringstream words(line);
    for (std::string word; words >> word;) job[word.substr(0, word.find('='))] = word.substr(word.find('=') + 1);
    answer(job);
  }
}
