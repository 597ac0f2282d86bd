/** What is doubtful about a volatility that was fitted to the option quotes of an underlying. */
import type { FittedQuotes, SurfaceFit } from "../calibration/index.ts";
import type { FitState, QuotedTime } from "../market/index.ts";
import { logNormalOption } from "../market/models/index.ts";
import type { OptionQuoteSpec } from "./schema/index.ts";
import { type AsOf, timeText, type TimeSpec, yearsFrom, yearsText } from "./time.ts";

/**
 * The largest usual misfits: of quotes without bid and ask in volatility (root mean square, and largest); of a curve's
 * instruments in rates; of caps and swaptions relative to their prices.
 */
export const USUAL_MISFIT = { rmse: 0.005, largest: 0.02, rate: 1e-4, price: 0.02 } as const;

/** A misfit of a quote in volatility above this is said, if it is no doubt. */
const WORTH_A_NOTE = 0.002;

/** A fit with its quotes, and why quotes were left out. */
interface Fitted {
  readonly specs: readonly OptionQuoteSpec[];
  readonly quotes: readonly {
    readonly time: number;
    readonly forward: number;
    readonly discount: number;
    readonly strike: number;
    readonly sign: number;
  }[];
  readonly problems: readonly (string | undefined)[];
  /** The number of quotes that were left out, other than by a rule of the book. */
  readonly rejected: number;
  /** The number of quotes that a rule of the book leaves out: a bid of 0, or an age above `maxAge`. */
  readonly ruledOut: number;
  readonly fitted: FittedQuotes;
  readonly place: string;
  readonly asOf: AsOf;
}

/** Returns the state of a fitted surface, which every result that is priced with it repeats. */
export function stateOf(surface: SurfaceFit, of: Fitted): FitState {
  const { specs, place: path, asOf, problems } = of;
  const years = specs.map(({ expiry }) => yearsFrom(asOf, expiry));
  const used = years.map((_, i) => i).filter((i) => problems[i] === undefined && (specs[i].weight ?? 1) > 0);
  const quoted = (time: number): QuotedTime => {
    const { expiry } = specs[years.indexOf(time)];
    return { time, written: `quoted expiry, ${shownTime(asOf, expiry)}` };
  };
  const times = used.map((i) => years[i]);
  return {
    place: path,
    doubts: [...doubtsOf(surface), ...leftOut(of), ...misfits(of, used)],
    notes: notesOn(of, used),
    first: quoted(Math.min(...times)),
    last: quoted(Math.max(...times)),
  };
}

/** Returns a time in the form for messages: a date, or a number of years. */
export function shownTime(asOf: AsOf, time: TimeSpec): string {
  const text = timeText(asOf, time);
  return typeof text === "number" ? yearsText(text) : text;
}

/** Returns warnings about a fitted surface that do not depend on its quotes. */
export function doubtsOf(surface: SurfaceFit): string[] {
  const { status, doubts = surface.message === undefined ? [] : [surface.message] } = surface;
  return [...(status === "converged" ? [] : [status]), ...arbitrageIn(surface), ...doubts];
}

/** Returns the state of a surface that was fitted again to moved quotes. */
export function movedState(surface: SurfaceFit, of: Fitted, today: FitState): FitState {
  return { ...today, doubts: [...doubtsOf(surface), ...leftOut(of)] };
}

function arbitrageIn({ butterfly, calendar }: SurfaceFit): string[] {
  const shown = (min: number): string => min.toPrecision(2);
  return [
    ...(butterfly.free ? [] : [`butterfly arbitrage (Gatheral's g falls to ${shown(butterfly.min)})`]),
    ...(calendar.free ? [] : [`calendar arbitrage (total variance falls by ${shown(-calendar.min)})`]),
  ];
}

/** What is said of a fit though it is no doubt: the quotes that a rule leaves out, and those that are nearly met. */
function notesOn(of: Fitted, used: readonly number[]): string[] {
  const { ruledOut, problems } = of;
  const { largest } = missesOf(of, used);
  return [
    ...(ruledOut === 0
      ? []
      : [`${ruledOut} of ${problems.length} quotes not fitted: a bid of 0, or older than maxAge`]),
    ...(largest > WORTH_A_NOTE && !isUnusual(of, used)
      ? [`a quote is missed by ${points(largest)} of volatility`]
      : []),
  ];
}

const leftOut = ({ rejected, problems }: Fitted): string[] =>
  rejected === 0 ? [] : [`${rejected} of ${problems.length} quotes left out`];

/** A difference of prices below this, relative to the forward, is rounding. */
const ROUNDING = 1e-9;

/** Misfits of the quotes with the indices `used`: beyond bid and ask, or where these are not given beyond the usual. */
function misfits(of: Fitted, used: readonly number[]): string[] {
  const { specs, quotes, fitted } = of;
  const spread = used.filter((i) => specs[i].bid !== undefined);
  const beyond = spread.filter((i) => {
    const { fitted: volatility, repriced } = fitted.quotes[i];
    if (volatility === undefined || Number.isNaN(volatility)) return false;
    const { time, forward, discount, strike, sign } = quotes[i];
    const variance = volatility * volatility * time;
    const right = sign > 0 ? "call" : "put";
    const price = repriced ?? discount * logNormalOption(right, strike, Math.log(forward) - 0.5 * variance, variance);
    const rounding = ROUNDING * forward;
    return price < specs[i].bid! - rounding || price > specs[i].ask! + rounding;
  }).length;
  const { rmse, largest } = missesOf(of, used);
  return [
    ...(beyond > 0 ? [`missed beyond bid and ask: ${beyond} of ${spread.length} quotes`] : []),
    ...(isUnusual(of, used)
      ? [`the quotes are missed by ${points(rmse)} of volatility (root mean square), ${points(largest)} at most`]
      : []),
  ];
}

const points = (error: number): string => `${(100 * error).toPrecision(2)} points`;

/** The misfits in volatility of the quotes without bid and ask: their root mean square, and the largest. */
function missesOf(
  { specs, fitted }: Fitted,
  used: readonly number[],
): { readonly rmse: number; readonly largest: number } {
  const errors = used.flatMap((i) => {
    const { implied, fitted: volatility, repricingError } = fitted.quotes[i];
    if (repricingError !== undefined && specs[i].bid === undefined) return [repricingError];
    const error = implied === undefined || volatility === undefined ? Number.NaN : volatility - implied;
    return specs[i].bid !== undefined || Number.isNaN(error) ? [] : [error];
  });
  const rmse = Math.sqrt(errors.reduce((sum, error) => sum + error * error, 0) / Math.max(errors.length, 1));
  return { rmse, largest: Math.max(0, ...errors.map(Math.abs)) };
}

function isUnusual(of: Fitted, used: readonly number[]): boolean {
  const { rmse, largest } = missesOf(of, used);
  return rmse > USUAL_MISFIT.rmse || largest > USUAL_MISFIT.largest;
}
