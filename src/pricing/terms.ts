/** The terms of a trade in one case of the scenarios and under one bump. */
import {
  type Barrier,
  type Exercise,
  type Payoff,
  passScriptDates,
  type ScriptPayoff,
  type ScriptedTrade,
  type Trade,
} from "../book/index.ts";
import {
  type HullWhite,
  integrate,
  integratedProduct,
  ONE_SECOND,
  isStochastic,
  type PiecewiseConstant,
  ratesLessYields,
  rollCurve,
  rollDividends,
  rollVolatility,
  shifted,
  shiftedVolatility,
  type Underlying,
  type Volatility,
} from "../market/index.ts";
import type { Conversion } from "../market/scripts/index.ts";
import type { Shift } from "../pde/fdm/index.ts";
import { rollPair, rollSettlement } from "./settlement-moves.ts";

/** An underlying of a trade with its volatility. */
export interface Asset {
  readonly underlying: Underlying;
  readonly volatility: Volatility;
}

/** The terms and the market of a trade, as methods for several factors use them. */
export interface Terms {
  readonly assets: readonly Asset[];
  /** The instantaneous forward rates per year. */
  readonly rates: PiecewiseConstant;
  /** The parallel move of all curves, which `rates` have. */
  readonly rateMove: number;
  /** For each asset of a script in another currency its exchange rate; undefined where there is none. */
  readonly exchange: ScriptedTrade["exchange"];
  /** The model of the short rate; undefined where rates are deterministic. */
  readonly shortRate: HullWhite | undefined;
  /** The correlation matrix of the assets, in their order, followed by the short rate. */
  readonly correlations: readonly (readonly number[])[];
  /** The time to expiry in years, ≥ 0. */
  readonly expiry: number;
  readonly exercise: Exercise;
  readonly barriers: readonly Barrier[];
  readonly payoff: TermsPayoff;
}

/** What a trade pays: a payoff of an option, or a script. */
export type TermsPayoff = Payoff | ScriptPayoff;

/** A trade on underlyings that methods for several factors take. */
type TradeWithTerms = Trade | ScriptedTrade;

/** The change of one input for a sensitivity by differences. */
export type Bump =
  | { readonly kind: "volatility"; readonly asset: number | "all"; readonly by: number }
  | { readonly kind: "rate"; readonly by: number }
  | { readonly kind: "correlation"; readonly pair: readonly [number, number]; readonly by: number };

/** Returns the underlyings of a trade with their volatilities. */
export const assetsOf = ({ assets, underlying, volatility }: TradeWithTerms): readonly Asset[] =>
  assets ?? [{ underlying, volatility }];

/**
 * Returns the number of factors, the axes of the equation: underlyings, their stochastic volatilities, the short rate.
 */
export const factorsOf = ({ assets, shortRate }: Pick<Terms, "assets" | "shortRate">): number =>
  assets.reduce((sum, { volatility }) => sum + (isStochastic(volatility) ? 2 : 1), shortRate === undefined ? 0 : 1);

/** Tells whether an option may be exercised today. It is false for swings, for which today is one of their dates. */
export const isExercisable = ({ payoff, exercise }: Terms): boolean =>
  payoff.kind !== "swing" &&
  (exercise.kind === "american" || (exercise.kind === "bermudan" && exercise.times.some((time) => time <= 0)));

/** Tells whether a trade can be ended before its last date: by exercise, or by an early right of a script. */
export const mayEndEarly = ({ payoff, exercise }: Terms): boolean =>
  payoff.kind === "script" ? payoff.program.rights.length > 0 : exercise.kind !== "european";

/** The correlations of one asset. */
const ALONE = [[1]];

/**
 * Returns the terms of a trade some years from today in a shifted market; undefined where the trade is settled by then.
 */
export function termsOf(trade: TradeWithTerms, years: number, { volatility, rate }: Shift): Terms | undefined {
  const then = rollForward(trade, years);
  if (then === undefined) return undefined;
  const { underlying, expiry, exercise, barriers, payoff, correlations } = then;
  const assets = assetsOf(then);
  const move = ({ underlying: of, volatility: own }: Asset): Asset => ({
    underlying: of,
    volatility: shiftedVolatility(own, volatility),
  });
  return {
    assets: volatility === 0 ? assets : assets.map(move),
    rates: rate === 0 ? discountOf(then) : shifted(discountOf(then), rate),
    rateMove: rate,
    exchange: then.kind === "scripted" ? then.exchange : undefined,
    shortRate: underlying.shortRate,
    correlations: correlations?.matrix ?? ALONE,
    expiry,
    exercise,
    barriers,
    payoff,
  };
}

/** Returns the rates that discount: those of the currency of a script, which drifts of currencies have not. */
function discountOf(trade: TradeWithTerms): PiecewiseConstant {
  const { pair, rates } = trade.underlying;
  if (trade.kind !== "scripted") return rates;
  const [rate] = trade.exchange ?? [];
  return rate === undefined ? (pair?.domestic ?? rates) : curvesOf(assetsOf(trade), rate).own;
}

/** Returns the curves of both currencies of an exchange rate: that of the trade, and the other one. */
export function curvesOf(assets: readonly Asset[], { asset, power }: Conversion) {
  const { domestic, foreign } = assets[asset].underlying.pair!;
  return power > 0 ? { own: domestic, other: foreign } : { own: foreign, other: domestic };
}

/** Returns the exchange rate of an asset; undefined for one in the currency of the trade. */
const exchangeOf = ({ exchange, assets }: Terms, asset: Asset): Conversion | undefined =>
  exchange?.[assets.indexOf(asset)];

/** Returns the rates that less the constant part of the yield are the drift of an asset in its own currency. */
function driftRates(terms: Terms, asset: Asset): PiecewiseConstant {
  const { pair, rates, dividends } = asset.underlying;
  // A currency under a script drifts at the difference of two curves, which a move of all of them keeps.
  if (terms.payoff.kind === "script" && pair !== undefined) return rates;
  const isAbroad = exchangeOf(terms, asset) !== undefined;
  return ratesLessYields(isAbroad ? shifted(rates, terms.rateMove) : terms.rates, dividends);
}

/** Tells whether the rates that discount, less a constant yield, are not the drift of an asset. */
export const hasYieldByTime = (terms: Terms): boolean =>
  terms.exchange !== undefined || terms.assets.some((asset) => driftRates(terms, asset) !== terms.rates);

/**
 * Returns the logarithm by which the forward price of an asset grows up to a time, without dividends on dates. That of
 * one in another currency is the quanto's, less the covariance with its exchange rate.
 */
export function logGrowth(terms: Terms, asset: Asset, time: number): number {
  const growth = integrate(driftRates(terms, asset), time) - asset.underlying.dividends.yield * time;
  const rate = exchangeOf(terms, asset);
  if (rate === undefined) return growth;
  const [own, other] = [asset, terms.assets[rate.asset]].map(({ volatility }) => volatility);
  if (own.kind !== "deterministic" || other.kind !== "deterministic")
    throw new Error(`no drift of ${asset.underlying.name} in another currency`);
  const rho = terms.correlations[terms.assets.indexOf(asset)][rate.asset];
  return growth - rate.power * rho * integratedProduct(own.sigma, other.sigma, time);
}

/** Returns the terms with one input changed. */
export function bumped(terms: Terms, bump: Bump): Terms {
  switch (bump.kind) {
    case "volatility":
      return {
        ...terms,
        assets: terms.assets.map((asset, i) =>
          bump.asset === "all" || i === bump.asset
            ? { ...asset, volatility: shiftedVolatility(asset.volatility, bump.by) }
            : asset,
        ),
      };
    case "rate":
      return { ...terms, rates: shifted(terms.rates, bump.by), rateMove: terms.rateMove + bump.by };
    case "correlation": {
      const [a, b] = bump.pair;
      return {
        ...terms,
        correlations: terms.correlations.map((row, i) =>
          row.map((value, j) => ((i === a && j === b) || (i === b && j === a) ? value + bump.by : value)),
        ),
      };
    }
    default:
      return bump satisfies never;
  }
}

/**
 * Returns the trade `years` later if the market follows its forwards: rates, dividends and volatilities keep their
 * calendar dates, and the spot is unchanged. Dividends up to that day are paid, and nobody has exercised. At expiry the
 * trade is worth its payoff. @returns undefined after expiry, when the trade is settled and worth nothing
 */
export function rollForward<T extends TradeWithTerms>(trade: T, years: number): T | undefined {
  if (years === 0) return trade;
  const { underlying, volatility, exercise, barriers, assets } = trade;
  const expiry = rollExpiry(trade.expiry, years);
  if (expiry === undefined) return undefined;
  return {
    ...trade,
    expiry,
    payoff: rollPayoff(trade.payoff, spotsOf(trade), years),
    exercise: rollExercise(exercise, years),
    barriers: rollBarriers(barriers, years),
    volatility: rollVolatility(volatility, years),
    underlying: rollUnderlying(underlying, years),
    ...(trade.settlement === undefined ? {} : { settlement: rollSettlement(trade.settlement, years) }),
    ...(assets === undefined
      ? {}
      : {
          assets: assets.map((asset) => ({
            underlying: rollUnderlying(asset.underlying, years),
            volatility: rollVolatility(asset.volatility, years),
          })),
        }),
  };
}

/** Returns an underlying as seen some years later: rates, dividends and volatility keep their calendar dates. */
export function rollUnderlying(underlying: Underlying, years: number): Underlying {
  return {
    ...underlying,
    rates: rollCurve(underlying.rates, years),
    ...(underlying.pair === undefined ? {} : { pair: rollPair(underlying.pair, years) }),
    dividends: rollDividends(underlying.dividends, years),
    volatility: underlying.volatility && rollVolatility(underlying.volatility, years),
  };
}

const spotsOf = (trade: TradeWithTerms): readonly number[] => assetsOf(trade).map(({ underlying }) => underlying.spot);

/** Fixings up to that day, the day's own excluded, are those of the spot as it is. */
function rollPayoff(payoff: TermsPayoff, spots: readonly number[], years: number): TermsPayoff {
  const [spot] = spots;
  switch (payoff.kind) {
    case "script":
      return passScriptDates(payoff, years, ({ time }) => (time > years - ONE_SECOND ? undefined : spots));
    case "average": {
      const { times, past, mean } = payoff;
      const left = times === "continuous" ? times : rollTimes(times, years);
      const passed = left === "continuous" ? years : times.length - left.length;
      const count = past.count + passed;
      if (passed === 0) return { ...payoff, times: left };
      const [a, b] = [past.count / count, passed / count];
      const both = mean === "arithmetic" ? a * past.mean + b * spot : past.mean ** a * spot ** b;
      return { ...payoff, times: left, past: { count, mean: both } };
    }
    case "lookback": {
      const { times, from, extremum, right, isFloating } = payoff;
      const isMaximum = (right === "call") !== isFloating;
      const begun = from < years && (times === "continuous" || times.some((time) => time < years && time >= from));
      const both = extremum === undefined ? spot : isMaximum ? Math.max(extremum, spot) : Math.min(extremum, spot);
      return {
        ...payoff,
        from: Math.max(from - years, 0),
        extremum: begun ? both : extremum,
        times: times === "continuous" ? times : rollTimes(times, years),
      };
    }
    case "swing":
      return { ...payoff, times: rollTimes(payoff.times, years) };
    default:
      return payoff;
  }
}

/** Returns the remaining time to expiry after some years: 0 on the day of expiry, undefined after it. */
export function rollExpiry(expiry: number, years: number): number | undefined {
  if (years === 0) return expiry;
  const left = expiry - years;
  if (left < -ONE_SECOND) return undefined;
  return left < ONE_SECOND ? 0 : left;
}

/** Returns an exercise right as it is some years later. */
export function rollExercise(exercise: Exercise, years: number): Exercise {
  if (years === 0 || exercise.kind !== "bermudan") return exercise;
  return { kind: "bermudan", times: rollTimes(exercise.times, years) };
}

/** Returns the barriers that are still monitored some years later. */
export function rollBarriers(barriers: readonly Barrier[], years: number): readonly Barrier[] {
  return years === 0 ? barriers : barriers.flatMap((barrier) => rollBarrier(barrier, years));
}

/** A barrier that has not been hit: after its window a knock-out is gone, and a knock-in is never monitored again. */
function rollBarrier(barrier: Barrier, years: number): Barrier[] {
  const { from, to, monitoring } = barrier;
  if (to < years - ONE_SECOND)
    return barrier.type.endsWith("-out")
      ? []
      : [{ ...barrier, from: 0, to: 0, monitoring: { kind: "discrete", times: [] } }];
  return [
    {
      ...barrier,
      from: Math.max(from - years, 0),
      to: Math.max(to - years, 0),
      monitoring:
        monitoring.kind === "discrete" ? { kind: "discrete", times: rollTimes(monitoring.times, years) } : monitoring,
    },
  ];
}

function rollTimes(times: readonly number[], years: number): number[] {
  return times.filter((time) => time > years - ONE_SECOND).map((time) => Math.max(time - years, 0));
}
