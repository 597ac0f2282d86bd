/** Converts the market of a book: dates become years, and lists of nodes become piecewise constant functions. */
import type { Credit } from "../pde/convertible/index.ts";
import { BookError } from "../base/errors.ts";
import { CorrelationTable, resolveCorrelations } from "./correlations.ts";
import {
  type CurrencyPair,
  type Dividends,
  dividendSchedule,
  type ForwardCurve,
  noDividends,
  type PiecewiseConstant,
  type Underlying,
  type Volatility,
  zeroCurve,
} from "../market/index.ts";
import type { ScriptInput } from "../market/scripts/index.ts";
import {
  calibrateVolatility,
  type MarketCalibration,
  type UnderlyingCalibration,
  type VolatilityFit,
} from "./calibrate.ts";
import type { CurveCalibration } from "./calibrate-rates.ts";
import { LinearMarket } from "./linear-market.ts";
import {
  creditInputs,
  sameInputs,
  rememberInputs,
  curveInputs,
  dividendDates,
  inputsWithin,
  stepInputs,
} from "./market-inputs.ts";
import { type MarketFits, rememberQuotes } from "./moved-quotes.ts";
import { fxMarket, type FxPair } from "./fx.ts";
import { didYouMean, quote } from "./names.ts";
import { readPair } from "./pairs.ts";
import { parityOf } from "./parity.ts";
import { inside, type PathOf } from "./paths.ts";
import type { QuotedSmile } from "./quoted-smile.ts";
import { curveIndexOf, resolveCurves } from "./curves.ts";
import { forwardCurveOf, namedCurveInputs, type NamedCurves } from "./named-curves.ts";
import { type CurveByName, type ResolvedRates, resolveRates } from "./rates.ts";
import type { FittedSpec, MarketSpec, SpotSpec, VolatilitySpec } from "./schema/index.ts";
import { type AsOf, Clock, timeText } from "./time.ts";
import type { Market } from "./types.ts";
import { increasingYears, NOT_PRICED, resolveVolatility } from "./volatility.ts";

type Doubts = readonly string[] | undefined;

/** Returns a volatility with the doubts of the fit that it comes from. A volatility that no fit gives has none. */
function doubtedVolatility(volatility: Volatility, doubts: Doubts, pathOf: PathOf): Volatility {
  if (doubts === undefined || doubts.length === 0) return volatility;
  const { kind } = volatility;
  const isFit = kind === "surface" || kind === "heston" || kind === "stochasticLocal";
  return isFit ? { ...volatility, fit: { place: pathOf(), doubts } } : volatility;
}

/**
 * Returns rates with the doubts of the fit that they come from: on their curve, or on Hull and White's model where
 * the curve still has its quotes.
 */
function doubtedRates(rates: ResolvedRates, doubts: Doubts, pathOf: PathOf): ResolvedRates {
  if (doubts === undefined || doubts.length === 0) return rates;
  const { model, curve: own, shortRate } = rates;
  if (!("curve" in model)) return rates;
  const fit = { place: pathOf(), doubts };
  if (model.curve.fit === undefined) {
    const curve = sameInputs(curveInputs, model.curve, { ...model.curve, fit });
    return { ...rates, curve: own && curve, model: { ...model, curve } };
  }
  if (model.kind !== "hullWhite" || model.fit !== undefined) return rates;
  return { ...rates, model: { ...model, fit }, shortRate: shortRate && { ...shortRate, fit } };
}

/** A value that is made when somebody asks for it first. */
class WhenAsked<T> {
  readonly #make: () => T;
  #made: T | undefined;

  constructor(make: () => T) {
    this.#make = make;
  }

  get value(): T {
    return (this.#made ??= this.#make());
  }
}

/** An underlying of a market, or the errors that prevent its use. */
export interface UnderlyingEntry {
  /** The underlying; undefined if it cannot be used. */
  readonly underlying: Underlying | undefined;
  /** Why the underlying cannot be used. */
  readonly problem: string | undefined;
  /** Why its volatility cannot be used. */
  readonly volatilityProblem: string | undefined;
  /** The result of fitting its volatility, if the book gives quotes. */
  readonly calibration?: UnderlyingCalibration;
}

/** A market after reading, with the results of all fits to quotes. */
export interface ResolvedMarket extends Market {
  /** The underlyings by name, including those that cannot be used. */
  readonly entries: ReadonlyMap<string, UnderlyingEntry>;
  /** The quoted pairs by the names of underlyings, for the options on them. */
  readonly pairs: WhenAsked<ReadonlyMap<string, FxPair>>;
  /** The curves, exchange rates and fixings that linear trades use, resolved for the first of them. */
  readonly linear: WhenAsked<LinearMarket>;
  /** Returns named curves as forward rates, one object for all that use it. */
  readonly curveOf: WhenAsked<CurveByName>;
  /** The scripts of structured products by name. */
  readonly scripts: ReadonlyMap<string, ScriptInput>;
  /** Rates by index and date, and spots by underlying and date. */
  readonly fixings: ReadonlyMap<string, ReadonlyMap<string, number>>;
  /** The correlations. */
  readonly between: CorrelationTable;
  /** The results of fitting quotes. */
  readonly calibration: MarketCalibration;
}

/**
 * Converts a market from the book's form to curves, volatilities and dividends, with times in years. The quotes of
 * underlyings in `fits` are not fitted again, and have no report. @throws BookError contradictory numbers, such as
 * dates out of order or decreasing total variance
 */
export function resolveMarket(spec: MarketSpec, asOf: AsOf, pathOf: PathOf, fits?: MarketFits): ResolvedMarket {
  const hasCurves = (spec.curves ?? spec.fx ?? spec.fixings) !== undefined;
  const named = hasCurves ? resolveCurves(spec, asOf, pathOf) : undefined;
  const byName = namedCurve(named, pathOf);
  const rates = new Map(
    [...spec.rates].map(([currency, rate]) => {
      const at = inside(pathOf, "rates", currency);
      return [currency, doubtedRates(resolveRates(rate, asOf, at, byName), spec.doubts?.rates?.get(currency), at)];
    }),
  );
  const curves: Record<string, CurveCalibration> = {};
  for (const [currency, { report }] of rates) if (report !== undefined) curves[currency] = report;
  const volatilities: Record<string, UnderlyingCalibration> = {};
  const entries = new Map<string, UnderlyingEntry>();
  const underlyings = new Map<string, Underlying>();
  const pairs = new Map<string, FxPair>();
  const fx = new WhenAsked(() => named?.fx ?? fxMarket(spec.fx, asOf, inside(pathOf, "fx")));
  for (const [name, underlying] of spec.underlyings ?? []) {
    const at = inside(pathOf, "underlyings", name);
    const doubts = spec.doubts?.underlyings?.get(name);
    const shared = { name, asOf, pathOf: at, fit: fits?.get(name), doubts };
    const read = "fx" in underlying ? readPair(underlying, fx.value, rates, asOf, at) : undefined;
    if (read !== undefined) pairs.set(name, read.quoted);
    const entry = resolveUnderlying(
      read === undefined
        ? { ...shared, spec: underlying as SpotSpec, rates }
        : { ...shared, spec: read.spec, pair: read.pair, rates: onCurve(read.spec.currency, read.rates) },
    );
    entries.set(name, entry);
    if (entry.calibration !== undefined) volatilities[name] = entry.calibration;
    if (entry.underlying !== undefined) underlyings.set(name, entry.underlying);
  }
  const correlations = resolveCorrelations(spec, pathOf);
  const credit = resolveCredit(spec, underlyings, asOf, pathOf);
  return {
    entries,
    pairs: new WhenAsked(() => pairs),
    curveOf: new WhenAsked(() => byName),
    linear: new WhenAsked(() => new LinearMarket(spec, named, curvesOf(rates), asOf, pathOf)),
    underlyings,
    exchangeRates: named?.fx.spots,
    correlations,
    calibration: { underlyings: volatilities, rates: curves },
    credit,
    rates: new Map([...rates].map(([currency, { model }]) => [currency, model])),
    scripts: spec.scripts ?? new Map(),
    fixings: spec.fixings ?? new Map(),
    between: new CorrelationTable(correlations, (i) => pathOf("correlations", i)),
  };
}

/** Returns how curves are found by their names, as forward rates that end, for doubts, with their last instrument. */
function namedCurve(named: NamedCurves | undefined, pathOf: PathOf): CurveByName {
  const { names = [], curves = [], instruments = [] } = named ?? {};
  const found: CurveByName = (name, at) => {
    const number = curveIndexOf(name, names, at());
    const curve = forwardCurveOf(curves[number]);
    const last = instruments[number].at(-1);
    if (last === undefined) return curve;
    const time = curves[number].times.at(-1)!;
    return {
      ...curve,
      fit: { place: pathOf("curves", name), doubts: [], last: { time, written: `instrument, ${last}` } },
    };
  };
  const made = new Map<string, ForwardCurve>();
  return (name, at) => {
    const known = made.get(name);
    if (known !== undefined) return known;
    const curve = found(name, at);
    made.set(name, curve);
    if (named !== undefined) rememberInputs(curveInputs, curve, () => namedCurveInputs(named, names.indexOf(name)));
    return curve;
  };
}

/** The curves of currencies, which also models have around which they are. */
const curvesOf = (rates: ReadonlyMap<string, ResolvedRates>): ReadonlyMap<string, ForwardCurve | undefined> =>
  new Map([...rates].map(([currency, { model }]) => [currency, "curve" in model ? model.curve : undefined]));

/** The rates of one currency as a curve. */
const onCurve = (currency: string, curve: ForwardCurve): UnderlyingSource["rates"] =>
  new Map([[currency, { curve, shortRate: undefined }]]);

interface UnderlyingSource {
  readonly name: string;
  readonly spec: SpotSpec;
  /** Both curves of a currency pair, whose drift `rates` has. */
  readonly pair?: CurrencyPair;
  readonly rates: ReadonlyMap<string, Pick<ResolvedRates, "curve" | "shortRate">>;
  readonly asOf: AsOf;
  readonly pathOf: PathOf;
  /** The volatility, if it was already fitted in another thread. */
  readonly fit: Volatility | undefined;
  /** What the book says is doubtful about a volatility that was fitted before. */
  readonly doubts: readonly string[] | undefined;
}

function resolveUnderlying({ name, spec, pair, rates, asOf, pathOf, fit, doubts }: UnderlyingSource): UnderlyingEntry {
  const rate = rates.get(spec.currency);
  const at = inside(pathOf, "volatility");
  const written = spec.volatility && resolveVolatility(spec.volatility, asOf, at);
  const fittedSpec = written === "quotes" ? fittedOf(spec.volatility) : undefined;
  const known = resolveDividends(spec.dividends, asOf, inside(pathOf, "dividends"));
  const parity =
    spec.dividends?.yield === "parity" && rate?.curve !== undefined
      ? parityOf(fittedSpec, { spot: spec.spot, rates: rate.curve, dividends: known }, asOf, pathOf)
      : undefined;
  const dividends = parity === undefined ? known : { ...known, yield: parity.yield };
  const carry = rate?.curve && { spot: spec.spot, rates: rate.curve, dividends };
  const found =
    carry === undefined || fittedSpec === undefined
      ? undefined
      : fittedVolatility(fit, () => calibrateVolatility(fittedSpec, carry, asOf, at));
  const volatility = written === "quotes" ? found?.volatility : written && doubtedVolatility(written, doubts, at);
  const volatilityProblem =
    written === undefined
      ? `${quote(name)} has no volatility; give it one, or give one to the trade`
      : volatility === undefined
        ? `${quote(name)} has quotes for its volatility` +
          (fittedSpec === undefined || fittedSpec.fit === "none"
            ? `: ${NOT_PRICED}`
            : `, but none that can be fitted: ${found?.unfit ?? NOTHING_TO_FIT}`)
        : undefined;
  if (rate === undefined) {
    const known = didYouMean(spec.currency, rates.keys());
    return {
      underlying: undefined,
      problem: `${quote(name)} is in ${quote(spec.currency)}, which market.rates does not have${known}`,
      volatilityProblem,
    };
  }
  if (rate.curve === undefined) {
    const problem =
      `${quote(name)} is in ${quote(spec.currency)}, whose rates are a model that only trades on rates take in this ` +
      "version; write a rate, zero rates, or hullWhite with one volatility";
    return { underlying: undefined, problem, volatilityProblem };
  }
  const underlying: Underlying = {
    name,
    spot: spec.spot,
    currency: spec.currency,
    rates: rate.curve,
    ...(pair === undefined ? {} : { pair }),
    ...(rate.shortRate === undefined ? {} : { shortRate: rate.shortRate }),
    dividends,
    volatility,
  };
  if (found?.volatility !== undefined) rememberQuotes(underlying, found.smile);
  const calibration =
    found?.report === undefined
      ? {}
      : { calibration: parity === undefined ? found.report : { ...found.report, parity } };
  return { underlying, problem: undefined, volatilityProblem, ...calibration };
}

/**
 * The volatility fitted to quotes. If `known` is given, it is returned without a report, and the quotes are fitted only
 * when `smile` is called.
 */
function fittedVolatility(
  known: Volatility | undefined,
  fitted: () => VolatilityFit,
): Pick<VolatilityFit, "volatility" | "unfit"> & {
  readonly smile: () => QuotedSmile;
  readonly report?: UnderlyingCalibration;
} {
  let own: VolatilityFit | undefined;
  const fit = (): VolatilityFit => (own ??= fitted());
  const smile = (): QuotedSmile => fit().smile;
  if (known !== undefined) return { volatility: known, smile };
  return { ...fit(), smile };
}

/**
 * The quotes to which a volatility is fitted; undefined if there are none. A matrix of implied volatilities is
 * converted to a list of quotes.
 */
function fittedOf(spec: VolatilitySpec | undefined): FittedSpec | undefined {
  if (spec?.kind === "fitted") return spec;
  if (spec?.kind !== "quotes" || spec.fit === undefined) return undefined;
  const { expiries, strikes, implied } = spec.quotes;
  const quotes = expiries.flatMap((expiry, i) =>
    strikes.map((strike, j) => ({ expiry, strike, implied: implied[i][j] })),
  );
  return { kind: "fitted", quotes, fit: spec.fit, repair: spec.repair, maxAge: undefined, exercise: spec.exercise };
}

const NOTHING_TO_FIT = "none of them has an implied volatility";

/** The last value of a yield, and by how much it is above that before. */
function yieldOf(
  spec: NonNullable<SpotSpec["dividends"]>["yield"],
  asOf: AsOf,
  pathOf: PathOf,
): Omit<Dividends, "discrete"> {
  if (!Array.isArray(spec)) return { yield: typeof spec === "number" ? spec : 0 };
  const dates = spec.map(({ date }) => date);
  const years = increasingYears(dates, asOf, (i) => pathOf("yield", i, "date"));
  const { times, values } = zeroCurve(spec.map(({ zero }, i) => ({ time: years[i], zero })));
  const last = values[times.length];
  const excess = values.map((value) => value - last);
  return excess.every((more) => more === 0) ? { yield: last } : { yield: last, excess: { times, values: excess } };
}

function resolveDividends(spec: SpotSpec["dividends"], asOf: AsOf, pathOf: PathOf): Dividends {
  if (spec === undefined) return noDividends;
  const clock = new Clock(asOf);
  const discrete = (spec.discrete ?? []).map(({ date, cash = 0, proportional = 0 }) => ({
    time: clock.years(date),
    cash,
    proportional,
  }));
  const schedule = { ...dividendSchedule(0, discrete), ...yieldOf(spec.yield, asOf, pathOf) };
  for (const dividend of schedule.discrete) {
    const written = discrete.findIndex(({ time }) => time === dividend.time);
    dividendDates.set(dividend, timeText(asOf, spec.discrete![written].date));
  }
  return schedule;
}

/**
 * Converts the credit of issuers. @throws BookError for an underlying that does not exist; dates that are not
 * increasing
 */
function resolveCredit(
  spec: MarketSpec,
  underlyings: ReadonlyMap<string, Underlying>,
  asOf: AsOf,
  pathOf: PathOf,
): Map<string, Credit> {
  const credit = new Map<string, Credit>();
  for (const [name, one] of spec.credit ?? []) {
    const at = inside(pathOf, "credit", name);
    if (spec.underlyings?.has(name) !== true) {
      const known = didYouMean(name, spec.underlyings?.keys() ?? []);
      throw new BookError(at(), `unknown underlying ${quote(name)}${known}`);
    }
    const { dates, values } = one.kind === "spread" ? one.spread : one.hazard;
    const times = increasingYears(dates, asOf, (i) => at(one.kind, i, "date"));
    const byTime = { times: times.slice(0, -1), values };
    const { reference = underlyings.get(name)?.spot ?? 1, exponent = 0 } = one.kind === "hazard" ? one : {};
    const made = (by: PiecewiseConstant): Credit =>
      one.kind === "spread"
        ? { kind: "spread", spread: by }
        : { kind: "hazard", hazard: by, recovery: one.recovery, jump: one.jump, exponent, reference };
    const own = made(byTime);
    credit.set(name, own);
    const places = dates.map((date) => timeText(asOf, date));
    if (dates.length > 0) rememberInputs(creditInputs, own, () => inputsWithin(stepInputs(byTime, places), made));
  }
  return credit;
}
