/** Market data from a market as written: dates become years, nodes become piecewise-constant functions. */
import { BookError } from "../errors.ts";
import {
  type Correlation,
  type Dividends,
  dividendSchedule,
  flatCurve,
  type ForwardCurve,
  type HullWhite,
  localSurface,
  noDividends,
  type Underlying,
  type Volatility,
  zeroCurve,
} from "../market/index.ts";
import {
  calibrateCurve,
  type Carry,
  calibrateVolatility,
  type CurveCalibration,
  type MarketCalibration,
  type UnderlyingCalibration,
} from "./calibrate.ts";
import { Clock } from "./clock.ts";
import { CorrelationTable } from "./correlations.ts";
import { didYouMean, quote } from "./names.ts";
import { inside, type Place } from "./place.ts";
import type { FittedSpec, MarketSpec, RateSpec, UnderlyingSpec, VolatilitySpec } from "./schema/index.ts";
import type { AsOf } from "./time.ts";
import type { Market } from "./types.ts";
import { increasingYears, NOT_PRICED, resolveVolatility } from "./volatility.ts";

/** An underlying, and what keeps trades from using it or its volatility, if anything does. */
export interface UnderlyingEntry {
  readonly underlying: Underlying | undefined;
  readonly problem: string | undefined;
  readonly volatilityProblem: string | undefined;
  /** The fit of its volatility, where it was given as quotes. */
  readonly calibration?: UnderlyingCalibration;
}

export interface ResolvedMarket extends Market {
  readonly entries: ReadonlyMap<string, UnderlyingEntry>;
  readonly between: CorrelationTable;
  /** The fits of what was given as quotes. */
  readonly calibration: MarketCalibration;
}

/** @throws BookError where numbers contradict each other: dates out of order, total variance that falls */
export function resolveMarket(spec: MarketSpec, asOf: AsOf, place: Place): ResolvedMarket {
  const rates = new Map(
    [...spec.rates].map(([currency, rate]) => [currency, resolveRate(rate, asOf, inside(place, "rates", currency))]),
  );
  const curves: Record<string, CurveCalibration> = {};
  for (const [currency, { report }] of rates) if (report !== undefined) curves[currency] = report;
  const volatilities: Record<string, UnderlyingCalibration> = {};
  const entries = new Map<string, UnderlyingEntry>();
  const underlyings = new Map<string, Underlying>();
  for (const [name, underlying] of spec.underlyings) {
    const entry = resolveUnderlying(name, underlying, rates, asOf, inside(place, "underlyings", name));
    entries.set(name, entry);
    if (entry.calibration !== undefined) volatilities[name] = entry.calibration;
    if (entry.underlying !== undefined) underlyings.set(name, entry.underlying);
  }
  const correlations = resolveCorrelations(spec, place);
  return {
    entries,
    underlyings,
    correlations,
    calibration: { underlyings: volatilities, rates: curves },
    between: new CorrelationTable(correlations, (i) => place("correlations", i)),
  };
}

/** A currency's forward curve, and how it moves if it does. */
interface ResolvedRate {
  readonly curve: ForwardCurve;
  readonly shortRate?: HullWhite;
  readonly report?: CurveCalibration;
}

function resolveRate(spec: RateSpec, asOf: AsOf, place: Place): ResolvedRate {
  if (spec.kind === "flat") return { curve: flatCurve(spec.rate) };
  if (spec.kind === "hullWhite") {
    const resolved = resolveRate(spec.curve, asOf, inside(place, "hullWhite", "curve"));
    const { meanReversion, volatility } = spec;
    // A rate that does not move at random is its curve.
    return volatility === 0 ? resolved : { ...resolved, shortRate: { meanReversion, volatility } };
  }
  if (spec.kind === "instruments") {
    const { fit, report } = calibrateCurve(spec, asOf, place);
    return { curve: zeroCurve(fit.nodes), report };
  }
  const times = increasingYears(
    spec.nodes.map(({ date }) => date),
    asOf,
    (i) => place(i, "date"),
  );
  return { curve: zeroCurve(spec.nodes.map(({ zero }, i) => ({ time: times[i], zero }))) };
}

function resolveUnderlying(
  name: string,
  spec: UnderlyingSpec,
  rates: ReadonlyMap<string, ResolvedRate>,
  asOf: AsOf,
  place: Place,
): UnderlyingEntry {
  const dividends = resolveDividends(spec.dividends, asOf);
  const rate = rates.get(spec.currency);
  const at = inside(place, "volatility");
  const written = spec.volatility && resolveVolatility(spec.volatility, asOf, at);
  const fittedSpec = written === "quotes" ? fittedOf(spec.volatility) : undefined;
  const found =
    rate === undefined || fittedSpec === undefined
      ? undefined
      : fittedVolatility(fittedSpec, { spot: spec.spot, rates: rate.curve, dividends }, asOf, at);
  const volatility = written === "quotes" ? found?.volatility : written;
  const volatilityProblem =
    written === undefined
      ? `${quote(name)} has no volatility; give it one, or give one to the trade`
      : volatility === undefined
        ? `${quote(name)} has quotes for its volatility: ${found?.problem ?? NOT_PRICED}`
        : undefined;
  if (rate === undefined) {
    const known = didYouMean(spec.currency, rates.keys());
    return {
      underlying: undefined,
      problem: `${quote(name)} is in ${quote(spec.currency)}, which market.rates does not have${known}`,
      volatilityProblem,
    };
  }
  const underlying: Underlying = {
    name,
    spot: spec.spot,
    currency: spec.currency,
    rates: rate.curve,
    ...(rate.shortRate === undefined ? {} : { shortRate: rate.shortRate }),
    dividends,
    volatility,
  };
  const calibration = found === undefined ? {} : { calibration: found.report };
  return { underlying, problem: undefined, volatilityProblem, ...calibration };
}

/** The quotes to fit; a matrix of implied volatilities is a list of quotes, too. */
function fittedOf(spec: VolatilitySpec | undefined): FittedSpec | undefined {
  if (spec?.kind === "fitted") return spec;
  if (spec?.kind !== "quotes" || spec.fit === undefined) return undefined;
  const { expiries, strikes, implied } = spec.quotes;
  const quotes = expiries.flatMap((expiry, i) =>
    strikes.map((strike, j) => ({ expiry, strike, implied: implied[i][j] })),
  );
  return { kind: "fitted", quotes, fit: spec.fit };
}

/** The volatility of quotes with its report, or why there is none to price with. */
function fittedVolatility(
  spec: FittedSpec,
  carry: Carry,
  asOf: AsOf,
  place: Place,
): {
  readonly volatility: Volatility | undefined;
  readonly problem: string | undefined;
  readonly report: UnderlyingCalibration;
} {
  const { fitted, report } = calibrateVolatility(spec, carry, asOf, place);
  const problem = spec.fit === "none" ? NOT_PRICED : "none of them has an implied volatility to fit";
  const own = fitted.surface?.volatility;
  if (own === undefined) return { volatility: undefined, problem, report };
  if (own.kind === "heston") return { volatility: { kind: "heston", ...own.heston }, problem: undefined, report };
  const { times, spots, volatility } = own.surface;
  return {
    volatility: { kind: "surface", surface: localSurface(times, spots, volatility) },
    problem: undefined,
    report,
  };
}

function resolveDividends(spec: UnderlyingSpec["dividends"], asOf: AsOf): Dividends {
  if (spec === undefined) return noDividends;
  const clock = new Clock(asOf);
  const discrete = (spec.discrete ?? []).map(({ date, cash = 0, proportional = 0 }) => ({
    time: clock.years(date),
    cash,
    proportional,
  }));
  return dividendSchedule(spec.yield ?? 0, discrete);
}

function resolveCorrelations(spec: MarketSpec, place: Place): Correlation[] {
  return (spec.correlations ?? []).map(([first, second, value], i) => {
    for (const [position, name] of [first, second].entries()) {
      if (spec.underlyings.has(name) || spec.rates.has(name)) continue;
      throw new BookError(
        place("correlations", i, position),
        `unknown underlying ${quote(name)}${didYouMean(name, [...spec.underlyings.keys(), ...spec.rates.keys()])}`,
      );
    }
    return { first, second, value };
  });
}
