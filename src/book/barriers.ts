import { BookError } from "../base/errors.ts";
import type { History } from "./history.ts";
import type { Clock, TimeSpec } from "./time.ts";
import { quote } from "./names.ts";
import { inside, type PathOf } from "./paths.ts";
import type { BarrierSpec } from "./schema/index.ts";
import type { Barrier } from "./types.ts";

/** The barriers of a trade that are left, and what is left of one that knocked out. */
export interface BarriersLeft {
  readonly barriers: readonly Barrier[];
  /** The amount that it pays at expiry if it knocked out in the past; undefined if it did not. */
  readonly knockedOut?: number;
}

/**
 * Converts the barriers of a trade from the book's form, with all defaults filled in and times in years. A breach in
 * the past is final: nothing but a rebate at expiry is left of a knock-out, and a knock-in needs no barrier any more.
 * @throws BookError a window or a monitoring date outside the trade's life; an invalid rebate date; a fixing of a past
 * monitoring date that is missing
 */
export function resolveBarriers(
  specs: readonly BarrierSpec[],
  underlyings: readonly string[],
  expiry: number,
  clock: Clock,
  historyOf: (asset: number) => History,
  pathOf: PathOf,
): BarriersLeft {
  const past = specs.map((spec, i) => pastOf(spec, underlyings, clock, historyOf, inside(pathOf, i)));
  const out = specs.find(({ type }, i) => past[i].isBreached && type.endsWith("-out"));
  if (out !== undefined) {
    const isLater = resolveRebateAt(out, pathOf) === "expiry";
    return { barriers: [], knockedOut: isLater ? (out.rebate ?? 0) : 0 };
  }
  const isIn = specs.some((_, i) => past[i].isBreached);
  const barriers = specs.flatMap((spec, i): Barrier[] => {
    if (isIn && spec.type.endsWith("-in")) return [];
    const { assets, left } = past[i];
    const isOnOne = underlyings.length === 1 && spec.underlying === undefined;
    return assets.map((asset, k) => {
      const own = left === undefined ? spec : { ...spec, monitoring: left[k] };
      const barrier = resolveBarrier(own, expiry, clock, inside(pathOf, i));
      return isOnOne ? barrier : { ...barrier, asset };
    });
  });
  return { barriers };
}

/** What is known of a barrier. */
interface Past {
  /** The underlyings that it is on; one that names none stands for each of them. */
  readonly assets: readonly number[];
  readonly isBreached: boolean;
  /** The monitoring dates to come of each of them, where some have passed. */
  readonly left?: readonly TimeSpec[][];
}

/**
 * Tells whether a barrier was breached in the past: on the day that the book names, or on a monitoring date by its
 * fixing.
 */
function pastOf(
  { breached, monitoring, type, level, underlying, from }: BarrierSpec,
  underlyings: readonly string[],
  clock: Clock,
  historyOf: (asset: number) => History,
  pathOf: PathOf,
): Past {
  const assets = underlying === undefined ? [...underlyings.keys()] : [underlyings.indexOf(underlying)];
  if (assets[0] < 0)
    throw new BookError(
      pathOf("underlying"),
      `expected one of the trade's own, ${underlyings.map(quote).join(" or ")}, got ${quote(underlying ?? "")}`,
    );
  if (breached !== undefined) {
    if (clock.years(breached) > 0) throw new BookError(pathOf("breached"), "expected a day up to asOf");
    return { assets, isBreached: true };
  }
  if (monitoring === undefined || monitoring === "continuous") return { assets, isBreached: false };
  const times = monitoring.map((date) => clock.years(date));
  if (times.every((time) => time > 0)) return { assets, isBreached: false };
  const begins = from === undefined ? Number.NEGATIVE_INFINITY : clock.years(from);
  const outside = times.findIndex((time) => time < begins);
  if (outside >= 0) throw new BookError(pathOf("monitoring", outside), OUTSIDE);
  const divided = assets.map((asset) => historyOf(asset).divide(monitoring, (i) => pathOf("monitoring", i)));
  const isBreached = divided.some(({ past }) =>
    past.some((spot) => (type.startsWith("up") ? spot >= level : spot <= level)),
  );
  return { assets, isBreached, left: divided.map(({ left }) => [...left]) };
}

const OUTSIDE = "expected a date inside the barrier's window";

function resolveBarrier(spec: BarrierSpec, expiry: number, clock: Clock, pathOf: PathOf): Barrier {
  const { from, to } = resolveWindow(spec, expiry, clock, pathOf);
  const { type, level, rebate = 0 } = spec;
  return {
    type,
    level,
    rebate,
    rebateAt: resolveRebateAt(spec, pathOf),
    monitoring: resolveMonitoring(spec, { from, to }, clock, pathOf),
    from,
    to,
  };
}

function resolveWindow(spec: BarrierSpec, expiry: number, clock: Clock, pathOf: PathOf): { from: number; to: number } {
  // A window that has begun: a breach before today is `breached`.
  const from = spec.from === undefined ? 0 : Math.max(clock.years(spec.from), 0);
  const to = spec.to === undefined ? expiry : clock.years(spec.to);
  if (from > expiry) throw new BookError(pathOf("from"), "expected a date up to expiry");
  if (to < 0 || to > expiry) throw new BookError(pathOf("to"), "expected a date from asOf to expiry");
  if (from > to) throw new BookError(pathOf("from"), "expected a window that begins before it ends");
  return { from, to };
}

/**
 * Returns when a rebate is paid, "hit" or "expiry". The rebate of a knock-in option is always paid at expiry, because
 * it is not known earlier that the barrier was never hit.
 */
function resolveRebateAt({ type, rebateAt }: BarrierSpec, pathOf: PathOf): "hit" | "expiry" {
  const knockIn = type.endsWith("-in");
  if (knockIn && rebateAt === "hit")
    throw new BookError(pathOf("rebateAt"), 'expected "expiry" for a knock-in, got "hit"');
  return rebateAt ?? (knockIn ? "expiry" : "hit");
}

function resolveMonitoring(
  { monitoring }: BarrierSpec,
  window: { from: number; to: number },
  clock: Clock,
  pathOf: PathOf,
): Barrier["monitoring"] {
  if (monitoring === undefined || monitoring === "continuous") return { kind: "continuous" };
  const times = monitoring.map((time, i) => {
    const years = clock.years(time);
    if (years < window.from || years > window.to) throw new BookError(pathOf("monitoring", i), OUTSIDE);
    return years;
  });
  return { kind: "discrete", times: [...new Set(times)].sort((a, b) => a - b) };
}
