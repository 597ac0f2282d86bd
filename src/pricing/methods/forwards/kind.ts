/** Forwards on one underlying, priced by their carry, whatever the model of the volatility is. */
import type { ForwardTrade } from "../../../book/index.ts";
import { discountFactor, doubtsAbout, integrate, shifted, yieldsOf, yieldTo } from "../../../market/index.ts";
import { spotMoveOf, type ResultColumns } from "../../columns/result-columns.ts";
import { paidDividends, equalUpToRounding, viewsOfUnderlying, withDividends } from "../../market-moves.ts";
import { thetaOf } from "../../plan/greeks.ts";
import { type TradeKind, UNBOUNDED } from "../../plan/kind.ts";
import { type Batch, type PricingMethod, readEach } from "../../plan/method.ts";
import { underlyingBuckets, underlyingDirections } from "../../plan/underlying-directions.ts";
import { expiryWarnings, MAX_RATE, addUnitWarning } from "../../term-warnings.ts";
import { rollExpiry, rollUnderlying } from "../../terms.ts";

/** Rounding, relative to the parts of a value. */
const ROUNDING = 1e-14;

/** The time of a forward in microseconds of one core. */
const COST = 1;

/**
 * Returns the value of a forward, its derivatives with respect to the spot and to a parallel shift of the rates, and
 * the size of its parts:
 *
 *   V = S·e^{−qT}·Π(1 − pᵢ) − Σ cᵢ·e^{−q(T − tᵢ)}·Π_{j>i}(1 − pⱼ)·P(tᵢ) − K·P(T)
 *
 * Where a dividend is larger than the forward of its date, the forward is 0 from then on, as the path of an option
 * without volatility.
 */
export function forwardValue(
  { underlying: { rates, dividends, spot: today }, strike, expiry }: ForwardTrade,
  spot: number = today,
) {
  const carry = (time: number): number => Math.exp(yieldTo(dividends, time) - yieldTo(dividends, expiry));
  let [delta, paid, duration] = [carry(0), 0, 0];
  for (const { time, cash, proportional } of dividends.discrete) {
    if (time > expiry) break;
    const left = 1 - proportional;
    const worth = cash * carry(time) * discountFactor(rates, time);
    [delta, paid, duration] = [delta * left, paid * left + worth, duration * left + time * worth];
    if (spot * delta < paid) [delta, paid, duration] = [0, 0, 0];
  }
  const owed = strike * discountFactor(rates, expiry);
  const size = spot * delta + paid + Math.abs(owed);
  return { value: spot * delta - paid - owed, delta, rho: duration + expiry * owed, size };
}

const tradeOf = ({ columns }: Batch, trade: number): ForwardTrade => columns.givenOf(trade) as ForwardTrade;

/** The method of forwards. Error: rounding. Verified: test/pricing/forwards.test.ts. */
const byCarry: PricingMethod = {
  name: "deterministic",
  minCost: COST,
  accepts: () => COST,
  open: () => ({
    plan: (batch, trades) =>
      Promise.resolve({
        run: () => Promise.resolve(),
        read: (results, signal) => readEach(trades, results, signal, (trade) => read(batch, trade, results)),
        [Symbol.dispose]() {},
      }),
    [Symbol.dispose]() {},
  }),
};

function read(batch: Batch, trade: number, results: ResultColumns): void {
  const terms = tradeOf(batch, trade);
  const { underlying, expiry } = terms;
  const { spot, rates, dividends, name } = underlying;
  const { value, delta, rho, size } = forwardValue(terms);
  const [today] = yieldsOf(dividends);
  const market = { spot, rate: rates.values[0], dividendYield: today, sigma: 0 };
  const theta = expiry === 0 ? 0 : thetaOf(market, value, delta, 0);
  const error = ROUNDING * size;
  const ofTheta = expiry === 0 ? 0 : (2 * Math.abs(market.rate) + Math.abs(today)) * error;
  const errors = { delta: ROUNDING * delta, gamma: 0, theta: ofTheta, vega: 0, rho: expiry * error };
  results.setToday(trade, value, error, { delta, gamma: 0, theta, vega: 0, rho }, errors);
  results.priced(trade, "deterministic");
  const { cases, dates, scenarios } = batch.columns.cases;
  if (scenarios === undefined) return;
  cases.forEach(({ date, shift: { rate } }, k) => {
    const then = rollForward(terms, dates[date]);
    if (then === undefined) return;
    const of = { ...then, underlying: { ...then.underlying, rates: shifted(then.underlying.rates, rate) } };
    const at = (s: number) => forwardValue(of, spot * (1 + spotMoveOf(scenarios.spot[s], name)));
    results.setScenarios(
      batch.columns.rowOf(trade) + k,
      (s) => at(s).value,
      (s) => ROUNDING * at(s).size,
    );
  });
}

function rollForward(trade: ForwardTrade, years: number): ForwardTrade | undefined {
  const expiry = rollExpiry(trade.expiry, years);
  if (years === 0 || expiry === undefined) return expiry === undefined ? undefined : trade;
  return { ...trade, expiry, underlying: rollUnderlying(trade.underlying, years) };
}

/** The trade kind of forwards: their pricing methods, error targets, bounds and warnings. */
export const forwardKind: TradeKind<ForwardTrade> = {
  methods: [byCarry],
  add() {},
  targetErrorOf: () => Number.NaN,
  boundsOf: () => Promise.resolve({ at: () => () => UNBOUNDED, rounding: () => 0 }),
  warnings({ expiry, underlying: { currency, rates, name, dividends } }) {
    const warnings = expiryWarnings(expiry);
    addUnitWarning(warnings, "rate", currency, rates.values, MAX_RATE);
    addUnitWarning(warnings, "dividend yield", name, yieldsOf(dividends), MAX_RATE);
    return warnings;
  },
  doubts: ({ underlying, expiry }) => doubtsAbout(underlying.rates.fit, expiry),
  settlesAtSpot: true,
  buckets: {
    known: underlyingBuckets,
    directions: (trade, sizes) => underlyingDirections(trade, sizes, trade.expiry),
  },
  rollForward,
  inMarket(trade, market) {
    const expiry = rollExpiry(trade.expiry, market.years);
    return expiry === undefined ? undefined : { ...trade, expiry, underlying: market.carry(trade.underlying) };
  },
  difference(rolled, after) {
    if (rolled.underlying.name !== after.underlying.name) return "its underlying differs";
    return equalUpToRounding(rolled.strike, after.strike) ? undefined : "its strike differs";
  },
  views: viewsOfUnderlying,
  firstOrder({ before, rolled, after, years }) {
    const { spot } = after.underlying;
    const logDiscount = (t: number): number =>
      integrate(rolled.underlying.rates, t) - integrate(after.underlying.rates, t);
    const paid = withDividends(spot, paidDividends(before, years)) - spot;
    const rate = after.expiry === 0 ? 0 : -logDiscount(after.expiry) / after.expiry;
    return { moves: { years, spot: spot - before.underlying.spot, paid, volatility: 0, rate }, logDiscount, credit: 0 };
  },
};
