/** Calibration of volatilities to option quotes, with reports on the fit. */
import {
  type ArbitrageCheck,
  fitQuotes,
  type FittedQuotes,
  type OptionQuote,
  type SurfaceFit,
} from "../calibration/index.ts";
import { BookError, SpecError } from "../base/errors.ts";
import {
  affineSpot,
  discountFactor,
  type FitState,
  type Heston,
  ONE_SECOND,
  rollFit,
  localSurface,
  type LocalSurface,
  type Sabr,
  type Smile,
  type Volatility,
  withSurface,
} from "../market/index.ts";
import { type Carry, forwardAt, quotedPrice } from "./carry.ts";
import { inside, type PathOf } from "./paths.ts";
import type { QuotedSmile } from "./quoted-smile.ts";
import type { CurveCalibration } from "./calibrate-rates.ts";
import { movedState, stateOf } from "./fit-doubts.ts";
import type { Parity } from "./parity.ts";
import type { FittedSpec, OptionQuoteSpec } from "./schema/index.ts";
import { runBlocking } from "../base/event-loop.ts";
import { type AsOf, MAX_YEARS, timeText, yearsFrom } from "./time.ts";

/** The result of checking a fitted volatility surface for one kind of arbitrage. */
export interface CheckReport {
  /** True if no arbitrage was found. */
  readonly free: boolean;
  /** The minimum of the checked quantity, which is negative where there is arbitrage; null if nothing was checked. */
  readonly min: number | null;
  /** The position of the minimum. */
  readonly at: { readonly expiry: number | string; readonly strike: number; readonly logMoneyness: number } | null;
}

/** The quote of an option and its fit, as implied volatilities. A number is null if there is none. */
export interface QuoteReport {
  readonly expiry: number | string;
  readonly strike: number;
  readonly type?: "call" | "put";
  /** The implied volatility of the quote. */
  readonly implied: number | null;
  /** The implied volatility of the fit. */
  readonly fitted: number | null;
  /** The difference of fitted and implied volatility. */
  readonly error: number | null;
  /** For an American option, the part of its price that exceeds the European price with the implied volatility. */
  readonly premium?: number | null;
  /** For an American option, its price under the fit, and what that is in excess of the quote in volatility. */
  readonly repriced?: number | null;
  readonly repricingError?: number | null;
}

/** A fitted local volatility, in the form that a book can contain. */
interface WrittenSurface {
  readonly surface: Pick<LocalSurface, "times" | "spots" | "volatility">;
}

/** A fitted volatility in the form in which a book can contain it. */
export type WrittenVolatility =
  | WrittenSurface
  | {
      readonly stochasticLocal: WrittenSurface &
        ({ readonly heston: Omit<Heston, "kind"> } | { readonly sabr: Omit<Sabr, "kind"> });
    }
  | { readonly heston: Readonly<Record<"v0" | "kappa" | "theta" | "sigma" | "rho", number>> };

/** The result of fitting a volatility model to the option quotes of one underlying. */
export interface UnderlyingCalibration {
  /** The outcome of the fit, whether it converged; "infeasible" if the quotes allow no fit. */
  readonly status: "converged" | "not converged" | "infeasible";
  readonly model: string;
  readonly parameters: Readonly<Record<string, number | readonly number[]>>;
  /** The standard errors of the parameters, by name; null if they are not known. */
  readonly standardErrors: Readonly<Record<string, number | readonly number[]>> | null;
  /** The root mean square error of the implied volatilities; null if nothing was fitted. */
  readonly rmse: number | null;
  /** The root mean square of `repricingError`; only where the fit reprices American quotes. */
  readonly repricingRmse?: number;
  /** The quote with the largest error of implied volatility. */
  readonly worst: { readonly expiry: number | string; readonly strike: number; readonly error: number } | null;
  /** The check for butterfly arbitrage, between the strikes of one expiry. */
  readonly butterfly: CheckReport | null;
  /** The check for calendar arbitrage, between expiries. */
  readonly calendar: CheckReport | null;
  readonly quotes: readonly QuoteReport[];
  readonly warnings: readonly string[];
  /** What is doubtful about the fit, which results that depend on it repeat; empty if nothing is. */
  readonly doubts: readonly string[];
  /** The forwards and the yield implied by put–call parity, if the book requests them. */
  readonly parity?: Parity;
  /** The fitted volatility in the form in which a book can contain it; null if there is none. */
  readonly volatility: WrittenVolatility | null;
  /** The time that the fit took, in seconds. */
  readonly seconds: number;
}

/** The results of fitting a market's quotes: volatilities by underlying, and curves by currency. */
export interface MarketCalibration {
  readonly underlyings: Readonly<Record<string, UnderlyingCalibration>>;
  readonly rates: Readonly<Record<string, CurveCalibration>>;
}

/** Fits of one expiry after another, in which a quote moves nothing before the expiry that precedes its own. */
const LOCAL: readonly unknown[] = ["svi", "essvi", "andreasen-huge", "local"] satisfies readonly FittedSpec["fit"][];

/** The information that `prepare` needs besides the quote. */
interface Preparing {
  readonly carry: Carry;
  readonly asOf: AsOf;
  /** The maximum age of a quote in days; unlimited if undefined. */
  readonly maxAge: number | undefined;
  /** The exercise of quotes that do not specify it. */
  readonly exercise: FittedSpec["exercise"];
  readonly pathOf: PathOf;
}

const DAYS_A_YEAR = 365;

/**
 * A quote in the form that the calibration takes. `problem` says by which rule its weight was set to 0: no quote with a
 * bid of 0, or older than the book's `maxAge`, is fitted.
 */
type Prepared = { readonly quote: OptionQuote; readonly problem?: string };

function prepare(spec: OptionQuoteSpec, { carry, asOf, maxAge = Infinity, exercise, pathOf }: Preparing): Prepared {
  const { expiry, strike, type = "call", implied, price, bid, ask, weight = 1, date } = spec;
  const time = yearsFrom(asOf, expiry);
  if (!(time > 0 && time <= MAX_YEARS))
    throw new BookError(pathOf("expiry"), `expected an expiry after asOf, up to ${MAX_YEARS} years`);
  const given = [implied, price, bid ?? ask].filter((value) => value !== undefined).length;
  if (given !== 1 || (bid === undefined) !== (ask === undefined))
    throw new BookError(pathOf(), 'expected one of "implied", "price", or "bid" and "ask"');
  if (bid !== undefined && bid > ask!)
    throw new BookError(pathOf("bid"), `expected a bid that is not above the ask, ${ask}, got ${bid}: a crossed quote`);
  const forward = forwardAt(carry, time);
  if (!(forward > 0))
    throw new BookError(pathOf("expiry"), "the dividends until then exceed the spot, so that there is no forward");
  const age = date === undefined ? 0 : -yearsFrom(asOf, date) * DAYS_A_YEAR;
  if (age < 0) throw new BookError(pathOf("date"), "expected a date that is not after asOf");
  const quote = {
    time,
    forward,
    discount: discountFactor(carry.rates, time),
    strike,
    sign: type === "call" ? 1 : -1,
    implied,
    price: quotedPrice(spec),
    weight,
    american: (spec.exercise ?? exercise) === "american",
  };
  if (age > maxAge) {
    const problem = `the quote is ${age.toFixed(1)} days old, more than ${maxAge}, and is not fitted`;
    return { quote: { ...quote, weight: 0 }, problem };
  }
  return bid === 0
    ? { quote: { ...quote, weight: 0 }, problem: "the bid is 0, so the quote is not fitted" }
    : { quote };
}

/** Checks that no two quotes have the same expiry, strike and type. @throws BookError for the first repetition */
function checkRepeated(quotes: readonly OptionQuoteSpec[], prepared: readonly Prepared[], pathOf: PathOf): void {
  const seen = new Map<string, number>();
  prepared.forEach(({ quote: { time, strike } }, i) => {
    const key = `${time} ${strike} ${quotes[i].type ?? ""}`;
    const before = seen.get(key);
    if (before !== undefined)
      throw new BookError(pathOf("quotes", i), `repeats quotes[${before}]: expected one of an expiry, strike and type`);
    seen.set(key, i);
  });
}

/** The volatility fitted to the option quotes of an underlying, with a report on the fit. */
export interface VolatilityFit {
  /** The fitted volatility; undefined if the quotes are checked only, or cannot be fitted. */
  readonly volatility: Volatility | undefined;
  readonly report: UnderlyingCalibration;
  /** The reason why the first quote is not fitted; undefined if any quote is. */
  readonly unfit?: string;
  readonly smile: QuotedSmile;
}

/**
 * Fits a volatility model to the option quotes of an underlying. @throws BookError an invalid, crossed or repeated
 * quote
 */
export function calibrateVolatility(
  { quotes, fit, repair, maxAge, exercise }: FittedSpec,
  carry: Carry,
  asOf: AsOf,
  pathOf: PathOf,
): VolatilityFit {
  const start = performance.now();
  const prepared = quotes.map((quote, i) =>
    prepare(quote, { carry, asOf, maxAge, exercise, pathOf: inside(pathOf, "quotes", i) }),
  );
  checkRepeated(quotes, prepared, pathOf);
  const given = prepared.map(({ quote }) => quote);
  const times = [...new Set(given.map(({ time }) => time))].sort((a, b) => a - b);
  const horizon = times[times.length - 1];
  const fitIn = (market: Carry, own: readonly OptionQuote[], years = 0): FittedQuotes => {
    const { spot, rates } = market;
    const affine = affineSpot(market, horizon - years);
    return fitQuotes({ spot, quotes: own, fit, repair, market: { affine, rates } });
  };
  const marketOf = (market: Carry, years = 0): Pick<Smile, "spot" | "forwards"> => ({
    spot: market.spot,
    forwards: times.flatMap((at) => {
      const time = at - years;
      return time > ONE_SECOND ? [{ time, forward: forwardAt(market, time) }] : [];
    }),
  });
  let fitted: FittedQuotes;
  try {
    fitted = runBlocking(() => fitIn(carry, given));
  } catch (error) {
    if (!(error instanceof SpecError)) throw error;
    throw new BookError(pathOf("quotes"), error.message, { cause: error });
  }
  const problems = prepared.map(({ problem }, i) => problem ?? fitted.quotes[i].problem);
  const rejected = fitted.quotes.filter(({ problem }, i) => problem !== undefined && prepared[i].problem === undefined);
  const ruledOut = prepared.filter(({ problem }) => problem !== undefined).length;
  const about = {
    specs: quotes,
    quotes: given,
    problems,
    rejected: rejected.length,
    ruledOut,
    fitted,
    place: pathOf(),
    asOf,
  };
  const state = fitted.surface && stateOf(fitted.surface, about);
  const used = prepared.flatMap(({ quote }, i) => {
    const { implied, problem } = fitted.quotes[i];
    const expiry = timeText(asOf, quotes[i].expiry);
    return implied === undefined || problem !== undefined
      ? []
      : [{ ...quote, expiry, implied, american: false, index: i }];
  });
  const today = marketOf(carry);
  const refit: QuotedSmile["refit"] = ({ carry: then, years = 0, keep, moves, areSmall = false }) => {
    if (areSmall && moves !== undefined && fitted.near !== undefined && state !== undefined) {
      const all = new Array<number>(given.length).fill(0);
      moves.forEach((move, i) => (all[used[i].index] = move));
      return localOf(fitted.near(all), state, today);
    }
    const moved = used.flatMap((quote, i) => {
      const time = quote.time - years;
      if (!(time > ONE_SECOND)) return [];
      const forward = forwardAt(then, time);
      const strike = keep === "strike" ? quote.strike : (quote.strike * forward) / quote.forward;
      const discount = discountFactor(then.rates, time);
      return [{ ...quote, time, forward, discount, strike, implied: quote.implied + (moves?.[i] ?? 0) }];
    });
    const { surface } = fitIn(then, moved, years);
    if (surface === undefined || state === undefined) return undefined;
    return volatilityOf(surface, rollFit(movedState(surface, about, state), years), marketOf(then, years));
  };
  const report = reportOf({ quotes, fit, fitted, problems, state, asOf, pathOf, start });
  const impliedAt = (time: number, strike: number): number =>
    fitted.impliedAt({ time, strike, forward: forwardAt(carry, time) });
  const smile = { quotes: used, isLocal: !repair && LOCAL.includes(fit), impliedAt, refit };
  if (fitted.surface !== undefined && state !== undefined)
    return { volatility: volatilityOf(fitted.surface, state, marketOf(carry)), report, smile };
  return { volatility: undefined, unfit: `quotes[0]: ${problems[0] ?? "its weight is 0"}`, report, smile };
}

function volatilityOf(
  { volatility: own }: SurfaceFit,
  fit: FitState,
  market: Pick<Smile, "spot" | "forwards">,
): Volatility {
  if (own.kind === "heston") return { kind: "heston", ...own.heston, fit };
  if (own.kind === "surface") return localOf(own, fit, market);
  const { times, spots, volatility } = own.surface;
  return { ...own, surface: localSurface(times, spots, volatility), fit };
}

/** The volatility of a smile, with a local volatility that is computed when it is read first. */
function localOf(
  own: Extract<SurfaceFit["volatility"], { kind: "surface" }>,
  fit: FitState,
  market: Pick<Smile, "spot" | "forwards">,
): Volatility {
  return withSurface({ kind: "surface" as const, smile: { ...own.smile, ...market }, fit }, () => {
    const { times, spots, volatility } = own.surface;
    return localSurface(times, spots, volatility);
  });
}

function writtenOf(volatility: SurfaceFit["volatility"]): WrittenVolatility {
  if (volatility.kind === "heston") return { heston: volatility.heston };
  const { times, spots, volatility: rows } = volatility.surface;
  const surface = { times, spots, volatility: rows };
  if (volatility.kind === "surface") return { surface };
  if (volatility.variance.kind === "heston") {
    const { kind: _, ...heston } = volatility.variance;
    return { stochasticLocal: { heston, surface } };
  }
  const { kind: _, ...sabr } = volatility.variance;
  return { stochasticLocal: { sabr, surface } };
}

/** The root mean square error of repriced American quotes; nothing if there are none. */
function repricingOf(rows: readonly QuoteReport[]): Pick<UnderlyingCalibration, "repricingRmse"> {
  const errors = rows.flatMap(({ repricingError }) => repricingError ?? []);
  if (errors.length === 0) return {};
  return { repricingRmse: Math.sqrt(errors.reduce((sum, error) => sum + error * error, 0) / errors.length) };
}

interface Reported {
  readonly quotes: readonly OptionQuoteSpec[];
  readonly fit: FittedSpec["fit"];
  readonly fitted: FittedQuotes;
  readonly problems: readonly (string | undefined)[];
  readonly state: FitState | undefined;
  readonly asOf: AsOf;
  readonly pathOf: PathOf;
  readonly start: number;
}

function reportOf({ quotes, fit, fitted, problems, state, asOf, pathOf, start }: Reported): UnderlyingCalibration {
  const { surface } = fitted;
  const years = quotes.map(({ expiry }) => yearsFrom(asOf, expiry));
  const texts = new Map(quotes.map(({ expiry }, i) => [years[i], timeText(asOf, expiry)]));
  const check = (of: ArbitrageCheck | undefined): CheckReport | null => {
    if (of === undefined) return null;
    const { free, min, at } = of;
    const forward = at === undefined ? 0 : fitted.forwards(at.time);
    return {
      free,
      min: Number.isFinite(min) ? min : null,
      at:
        at === undefined
          ? null
          : {
              expiry: texts.get(at.time) ?? at.time,
              strike: forward * Math.exp(at.logMoneyness),
              logMoneyness: at.logMoneyness,
            },
    };
  };
  const rows = quotes.map(({ expiry, strike, type }, i): QuoteReport => {
    const { implied = null, fitted: value = null, premium, repriced, repricingError } = fitted.quotes[i];
    const error = implied === null || value === null ? null : value - implied;
    return {
      expiry: timeText(asOf, expiry),
      strike,
      ...(type === undefined ? {} : { type }),
      implied,
      fitted: value,
      error,
      ...(premium === undefined ? {} : { premium }),
      ...(repriced === undefined ? {} : { repriced, repricingError: repricingError ?? null }),
    };
  });
  const used = rows.filter(({ error }, i) => error !== null && problems[i] === undefined);
  const worst = used.reduce<QuoteReport | undefined>(
    (a, b) => (a === undefined || Math.abs(b.error!) > Math.abs(a.error!) ? b : a),
    undefined,
  );
  const warnings = problems.flatMap((problem, i) =>
    problem === undefined ? [] : `${pathOf("quotes", i)}: ${problem}`,
  );
  const isUsable = surface !== undefined || (fit === "none" && rows.some(({ implied }) => implied !== null));
  return {
    status: surface?.status ?? (isUsable ? "converged" : "infeasible"),
    model: surface?.model ?? (typeof fit === "string" ? fit : Object.keys(fit)[0]),
    parameters: surface?.parameters ?? {},
    standardErrors: surface?.standardErrors ?? null,
    rmse: surface === undefined ? null : fitted.rmse,
    ...repricingOf(rows),
    worst: worst === undefined ? null : { expiry: worst.expiry, strike: worst.strike, error: worst.error! },
    butterfly: check(surface?.butterfly),
    calendar: check(surface?.calendar),
    quotes: rows,
    volatility: surface === undefined ? null : writtenOf(surface.volatility),
    warnings: surface?.message === undefined ? warnings : [...warnings, surface.message],
    doubts: state?.doubts ?? [],
    seconds: (performance.now() - start) / 1000,
  };
}
