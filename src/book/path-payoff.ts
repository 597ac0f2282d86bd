/** Converts payoffs that depend on the path of a spot: averages, lookbacks and swings. */
import { BookError } from "../base/errors.ts";
import type { History } from "./history.ts";
import { quote, show } from "./names.ts";
import { inside, type PathOf } from "./paths.ts";
import type { AverageSpec, LookbackSpec, SwingSpec, TradeSpec } from "./schema/index.ts";
import type { TimeSpec, Clock } from "./time.ts";
import type { PathPayoff, Payoff } from "./types.ts";

/** The other terms of the option, which the terms of a path-dependent payoff are checked against. */
interface Terms {
  readonly right: "call" | "put";
  readonly expiry: number;
  readonly clock: Clock;
  readonly history: () => History;
  readonly pathOf: PathOf;
}

/**
 * Converts a path-dependent payoff from the book's form; undefined for a payoff of the spot at expiry alone. @throws
 * BookError incompatible terms
 */
export function resolvePathPayoff(
  spec: TradeSpec,
  expiry: number,
  clock: Clock,
  history: () => History,
  pathOf: PathOf,
): Payoff | undefined {
  const { average, lookback, swing } = spec;
  if (average === undefined && lookback === undefined && swing === undefined) return undefined;
  const given = Object.entries({ average, lookback, swing }).filter(([, value]) => value !== undefined);
  const [[name]] = given;
  if (given.length > 1)
    throw new BookError(pathOf(given[1][0]), `expected none beside ${quote(name)}: a payoff is of one kind`);
  if (spec.payoff.kind !== "vanilla")
    throw new BookError(pathOf("payoff"), `expected "call" or "put" beside ${quote(name)}, got ${spec.payoff.kind}`);
  if (spec.exercise !== undefined && spec.exercise.kind !== "european")
    throw new BookError(pathOf("exercise"), `expected "european" beside ${quote(name)}`);
  const terms = { right: spec.payoff.right, expiry, clock, history, pathOf: inside(pathOf, name) };
  if (average !== undefined) return averageOf(average, strikeOf(spec, pathOf), terms);
  if (lookback !== undefined) return lookbackOf(lookback, spec, pathOf, terms);
  if (spec.barriers !== undefined && spec.barriers.length > 0)
    throw new BookError(pathOf("barriers"), 'expected none beside "swing"');
  return swingOf(swing!, strikeOf(spec, pathOf), terms);
}

function strikeOf({ strike }: TradeSpec, pathOf: PathOf): number {
  if (strike !== undefined && strike > 0) return strike;
  throw new BookError(
    pathOf("strike"),
    `expected a positive number, got ${strike === undefined ? "nothing" : show(strike)}`,
  );
}

function averageOf({ kind, dates, past }: AverageSpec, strike: number, terms: Terms): Payoff {
  const { right, pathOf, history } = terms;
  if (dates === "continuous" && past !== undefined)
    throw new BookError(pathOf("past"), "expected none beside continuous averaging; past fixings are counted");
  if (dates === "continuous") {
    return { kind: "average", right, strike, mean: kind, times: dates, past: NO_FIXINGS };
  }
  const fixed = past === undefined ? history().divide(dates, (i) => pathOf("dates", i)) : { past: [], left: dates };
  const known = fixed.past.length === 0 ? (past ?? NO_FIXINGS) : meanOf(fixed.past, kind);
  if (fixed.left.length === 0) return knownPayoff(right === "call" ? known.mean - strike : strike - known.mean);
  const times = timesOf(fixed.left, terms, inside(pathOf, "dates"));
  return { kind: "average", right, strike, mean: kind, times, past: known.count === 0 ? NO_FIXINGS : known };
}

const NO_FIXINGS = { count: 0, mean: 1 };

function meanOf(spots: readonly number[], kind: AverageSpec["kind"]): { count: number; mean: number } {
  const count = spots.length;
  const sum = spots.reduce((all, spot) => all + (kind === "geometric" ? Math.log(spot) : spot), 0);
  return { count, mean: kind === "geometric" ? Math.exp(sum / count) : sum / count };
}

/** The payoff of an option whose outcome is known: an amount, or nothing. */
export const knownPayoff = (amount: number): Payoff => ({
  kind: "expression",
  expression: String(Math.max(amount, 0)),
  kinks: [],
});

function lookbackOf(spec: LookbackSpec, trade: TradeSpec, pathOf: PathOf, terms: Terms): PathPayoff {
  const { right, expiry, clock } = terms;
  const isFloating = spec.strike === "floating";
  if (isFloating && trade.strike !== undefined)
    throw new BookError(pathOf("strike"), "expected none: the strike of this lookback floats");
  const { monitoring, extremum } = spec;
  const times =
    monitoring === "continuous" ? monitoring : timesOf(monitoring, terms, inside(terms.pathOf, "monitoring"));
  const from = spec.from === undefined ? 0 : clock.years(spec.from);
  if (!(from < expiry)) throw new BookError(terms.pathOf("from"), "expected a date before expiry");
  if (from > 0 && extremum !== undefined)
    throw new BookError(terms.pathOf("extremum"), 'expected none: no spot counts before "from"');
  const strike = isFloating ? 0 : strikeOf(trade, pathOf);
  return { kind: "lookback", right, strike, isFloating, from: Math.max(from, 0), extremum, times };
}

function swingOf({ dates, min = 0, max }: SwingSpec, strike: number, terms: Terms): PathPayoff {
  const { right, pathOf } = terms;
  const times = timesOf(dates, terms, inside(pathOf, "dates"));
  const most = max ?? times.length;
  if (min > times.length)
    throw new BookError(pathOf("min"), `expected at most ${times.length}, one unit a date, got ${min}`);
  if (most < Math.max(min, 1)) throw new BookError(pathOf("max"), `expected at least ${Math.max(min, 1)}, got ${most}`);
  return { kind: "swing", right, strike, times, min, max: Math.min(most, times.length) };
}

/** Writes a time for messages, in years, independently of how the book wrote it. */
const years = (time: number): string => `${Number(time.toPrecision(6))} years from asOf`;

/**
 * Converts dates to increasing times in years. @throws BookError for a date before `asOf`, after expiry, or not after
 * its predecessor
 */
function timesOf(dates: readonly TimeSpec[], { expiry, clock }: Terms, pathOf: PathOf): readonly number[] {
  const times = dates.map((date) => clock.years(date));
  times.forEach((time, i) => {
    if (time < 0) throw new BookError(pathOf(i), "expected a date from asOf on");
    if (time > expiry)
      throw new BookError(pathOf(i), `expected a date up to expiry, ${years(expiry)}, got ${years(time)}`);
    if (i > 0 && !(time > times[i - 1])) throw new BookError(pathOf(i), "expected dates that increase");
  });
  return times;
}
