/** Trades on rates and convertible bonds in an explanation: how they go on, what they pay, and what moves them. */
import type { AnyTrade, ConvertibleTrade, PricedTrade, RatesTrade } from "../../book/index.ts";
import { SpecError } from "../../base/errors.ts";
import { INSTANT, integrate, later, laterDividends, laterVolatility, type RatesModel } from "../../market/index.ts";
import { laterConvertible } from "../methods/convertibles/index.ts";
import { laterRatesTrade, RatesMarket } from "../methods/rates/index.ts";
import type { Attribution } from "./attribution.ts";
import { paidDividends, withDividends, withoutDividends } from "./moves.ts";
import { same } from "./same.ts";
import type { ExplainMethod, ExplainTerms, MarketMoves } from "./types.ts";

/** A trade that is not an option on underlyings: a trade on interest rates or a convertible bond. */
export type FixedIncome = RatesTrade | ConvertibleTrade;

/** A fixed-income trade in both markets; see `Pair` for options. */
export interface FixedIncomePair {
  readonly before: FixedIncome;
  readonly rolled: FixedIncome;
  readonly after: FixedIncome;
  readonly years: number;
}

/** Tells whether a trade is on interest rates or a convertible bond, rather than an option on underlyings. */
export const isFixedIncome = (trade: AnyTrade): trade is FixedIncome => trade.kind !== undefined;

/** Returns the trade `years` later if its own market followed its forwards; undefined where nothing is left of it. */
export function laterFixedIncome(trade: FixedIncome, years: number): FixedIncome | undefined {
  if (years === 0) return trade;
  if (trade.kind === "rates") {
    const left = laterRatesTrade(trade, years, new RatesMarket(trade.rates));
    return left && { ...left, rates: laterRates(trade.rates, years) };
  }
  const convertible = laterConvertible(trade.convertible, years);
  if (convertible === undefined) return undefined;
  const { underlying, credit } = trade;
  return {
    ...trade,
    convertible,
    expiry: convertible.maturity,
    volatility: laterVolatility(trade.volatility, years),
    underlying: {
      ...underlying,
      rates: later(underlying.rates, years),
      dividends: laterDividends(underlying.dividends, years),
    },
    credit:
      credit === undefined || credit.kind === "spread"
        ? credit && { ...credit, spread: later(credit.spread, years) }
        : { ...credit, hazard: later(credit.hazard, years) },
  };
}

/** The model after some years: a curve rolls along its forwards, r₀ becomes its mean, a lattice keeps its yields. */
function laterRates(model: RatesModel, years: number): RatesModel {
  switch (model.kind) {
    case "bdt":
      return model;
    case "vasicek":
    case "cir":
      return { ...model, r0: model.theta + (model.r0 - model.theta) * Math.exp(-model.kappa * years) };
    case "hullWhite":
      return { ...model, curve: later(model.curve, years), volatility: later(model.volatility, years) };
    default:
      return { ...model, curve: later(model.curve, years) };
  }
}

/**
 * Returns the name of the first term in which the trades differ; undefined if they are the same. Fixings and quotes are
 * not terms but market data.
 */
export function fixedIncomeDifference(rolled: FixedIncome, after: FixedIncome): string | undefined {
  if (rolled.kind === "rates" && after.kind === "rates") {
    if (rolled.currency !== after.currency) return "its currency differs";
    const terms = ({ product }: RatesTrade): object => ({ ...product, fixing: undefined, quote: undefined });
    return same(terms(rolled), terms(after)) ? undefined : "its terms differ";
  }
  if (rolled.kind !== "convertible" || after.kind !== "convertible") return "its kind differs";
  if (rolled.underlying.name !== after.underlying.name) return "its underlying differs";
  return same(rolled.convertible, after.convertible) ? undefined : "its terms differ";
}

/**
 * Returns the cash that the holder received within the given years. @throws SpecError where that depends on a fixing
 * that neither book has
 */
export function paidCash(before: FixedIncome, years: number): number {
  const isPaid = (time: number): boolean => time <= years + INSTANT;
  if (before.kind === "convertible")
    return before.convertible.coupons.reduce((sum, { time, amount }) => (isPaid(time) ? sum + amount : sum), 0);
  const { product } = before;
  if (product.kind === "bond")
    return product.bond.flows.reduce((sum, [time, paid]) => (isPaid(time) ? sum + paid : sum), 0);
  if (product.kind !== "capFloor") return 0;
  const { right, strike, notional, fixing } = product;
  return product.periods.reduce((sum, { start, end }) => {
    if (!isPaid(end)) return sum;
    if (start > INSTANT || fixing === undefined)
      throw new SpecError("a period began and ended between the two dates, so that its rate is not known");
    return sum + notional * (end - start) * Math.max((right === "cap" ? 1 : -1) * (fixing - strike), 0);
  }, 0);
}

/** The change of ln of the discount factor to t years. */
function discountMove(rolled: FixedIncome, after: FixedIncome, t: number): number {
  if (rolled.kind === "rates" && after.kind === "rates")
    return new RatesMarket(after.rates).logDiscount(t) - new RatesMarket(rolled.rates).logDiscount(t);
  if (rolled.kind !== "convertible" || after.kind !== "convertible") return 0;
  return integrate(rolled.underlying.rates, t) - integrate(after.underlying.rates, t);
}

/** The first volatility of the model, the quote or the stock; 0 where there is none. */
function firstVolatility(trade: FixedIncome): number {
  if (trade.kind === "convertible")
    return trade.volatility.kind === "deterministic" ? trade.volatility.sigma.values[0] : 0;
  const { product, rates } = trade;
  if ("quote" in product && product.quote !== undefined) return product.quote.sigma;
  if (rates.kind === "hullWhite") return rates.volatility.values[0];
  if (rates.kind === "blackKarasinski") return rates.volatility;
  return "sigma" in rates ? rates.sigma : 0;
}

const spread = ({ credit }: ConvertibleTrade): number =>
  credit === undefined ? 0 : (credit.kind === "spread" ? credit.spread : credit.hazard).values[0];

/**
 * Returns the moves of the market. `rate` is the parallel shift that reproduces the later discount factor to the last
 * payment.
 */
export function fixedIncomeMoves({ before, rolled, after, years }: FixedIncomePair): MarketMoves {
  const stock = before.kind === "convertible" && after.kind === "convertible";
  const spot = stock ? after.underlying.spot : 0;
  return {
    years,
    spot: stock ? spot - before.underlying.spot : 0,
    paid: stock ? withDividends(spot, paidDividends(before, years)) - spot : 0,
    volatility: firstVolatility(after) - firstVolatility(rolled),
    rate: -discountMove(rolled, after, after.expiry) / after.expiry,
  };
}

/** Attributes the change of a fixed-income trade's value to the moves of its market, by either method. */
export function attributeFixedIncome(
  method: ExplainMethod,
  pair: FixedIncomePair,
  moves: MarketMoves,
  cash: number,
): Attribution {
  return method === "taylor"
    ? { views: [], terms: (base) => sensitivityTerms(base, pair, moves) }
    : revaluationOf(pair, cash);
}

/** Sensitivities times moves, of first order and gamma; rates move by key rates, where the result has them. */
function sensitivityTerms(base: PricedTrade, { rolled, after }: FixedIncomePair, moves: MarketMoves): ExplainTerms {
  const { delta, gamma, theta, vega, rho, keyRates, creditSensitivity } = base;
  const { years, spot, paid, volatility, rate } = moves;
  const byKeys = keyRates?.reduce((sum, [time, value]) => sum - (value * discountMove(rolled, after, time)) / time, 0);
  const stock = rolled.kind === "convertible" && after.kind === "convertible";
  return {
    theta: (theta ?? 0) * years,
    delta: (delta ?? 0) * spot,
    gamma: 0.5 * (gamma ?? 0) * spot * spot,
    vega: (vega ?? 0) * volatility,
    rho: byKeys ?? (rho ?? 0) * rate,
    exDividend: paid * ((delta ?? 0) + (gamma ?? 0) * (spot + 0.5 * paid)),
    credit: stock ? (creditSensitivity ?? 0) * (spread(after) - spread(rolled)) : 0,
  };
}

/** One part of the market at a time after the date, each alone, as `revaluation` does it for options. */
function revaluationOf({ before, rolled, after, years }: FixedIncomePair, cash: number): Attribution {
  const views: FixedIncome[] = [];
  const add = (view: FixedIncome): number => views.push(view) - 1;
  const start = years === 0 ? undefined : add(rolled);
  const parts: Record<string, number | undefined> = {};
  let ex: number | undefined;
  if (rolled.kind === "rates" && after.kind === "rates") {
    const [from, to] = [rolled.product, after.product];
    // The fixing of a period that has begun is a rate; a quoted volatility is none of the model.
    const fixed = "fixing" in from && "fixing" in to ? { ...from, fixing: to.fixing } : from;
    const quoted = "quote" in from && "quote" in to ? ({ ...from, quote: to.quote } as typeof from) : from;
    const byCurve = { ...rolled, product: fixed, rates: withCurve(rolled.rates, after.rates) };
    const byModel = { ...rolled, product: quoted, rates: withCurve(after.rates, rolled.rates) };
    if (!same(byCurve, rolled)) parts.rate = add(byCurve);
    if (!same(byModel, rolled)) parts.volatility = add(byModel);
  }
  if (before.kind === "convertible" && rolled.kind === "convertible" && after.kind === "convertible") {
    const [from, to] = [rolled.underlying, after.underlying];
    const market = (change: Partial<typeof from>): FixedIncome => ({ ...rolled, underlying: { ...from, ...change } });
    const paid = paidDividends(before, years);
    if (paid.length > 0) ex = add(market({ spot: withoutDividends(from.spot, paid) }));
    if (from.spot !== to.spot) parts.spot = add(market({ spot: to.spot }));
    if (!same(rolled.volatility, after.volatility)) parts.volatility = add({ ...rolled, volatility: after.volatility });
    if (!same(from.rates, to.rates)) parts.rate = add(market({ rates: to.rates }));
    if (!same(from.dividends, to.dividends)) parts.dividends = add(market({ dividends: to.dividends }));
    if (!same(rolled.credit, after.credit)) parts.credit = add({ ...rolled, credit: after.credit });
  }
  return {
    views,
    terms(base, end, values) {
      const begun = start === undefined ? base.value : values[start].value;
      const fallen = ex === undefined ? begun : values[ex].value;
      const of = (name: string): number => {
        const view = parts[name];
        return view === undefined ? 0 : values[view].value - begun;
      };
      const [spot, volatility, rate] = [of("spot"), of("volatility"), of("rate")];
      const [dividends, credit] = [of("dividends"), of("credit")];
      const cross = end.value - begun - spot - volatility - rate - dividends - credit;
      return {
        time: fallen + cash - base.value,
        exDividend: begun - fallen,
        spot,
        volatility,
        rate,
        dividends,
        credit,
        cross,
      };
    },
  };
}

/** The model with another one's curve: r₀ and θ of models without one, the yields of a lattice. */
function withCurve(model: RatesModel, other: RatesModel): RatesModel {
  if ("curve" in model && "curve" in other) return { ...model, curve: other.curve };
  if ("theta" in model && "theta" in other) return { ...model, r0: other.r0, theta: other.theta };
  if (model.kind === "bdt" && other.kind === "bdt") return { ...model, annualYields: other.annualYields };
  throw new SpecError("the rates of the two markets have different models; price both books and compare them");
}
