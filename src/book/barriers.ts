import { BookError } from "../base/errors.ts";
import type { Clock } from "./time.ts";
import { quote } from "./names.ts";
import { inside, type PathOf } from "./paths.ts";
import type { BarrierSpec } from "./schema/index.ts";
import type { Barrier } from "./types.ts";

/**
 * Converts the barriers of a trade from the book's form, with all defaults filled in and times in years. @throws
 * BookError a window or a monitoring date outside the trade's life; an invalid rebate date
 */
export function resolveBarriers(
  specs: readonly BarrierSpec[],
  underlyings: readonly string[],
  expiry: number,
  clock: Clock,
  pathOf: PathOf,
): Barrier[] {
  return specs.flatMap((spec, i) => {
    const barrier = resolveBarrier(spec, expiry, clock, inside(pathOf, i));
    if (underlyings.length === 1 && spec.underlying === undefined) return [barrier];
    // One that names no underlying stands for each of them.
    const assets = spec.underlying === undefined ? [...underlyings.keys()] : [underlyings.indexOf(spec.underlying)];
    if (assets[0] < 0)
      throw new BookError(
        pathOf(i, "underlying"),
        `expected one of the trade's own, ${underlyings.map(quote).join(" or ")}, got ${quote(spec.underlying ?? "")}`,
      );
    return assets.map((asset) => ({ ...barrier, asset }));
  });
}

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
  const from = spec.from === undefined ? 0 : clock.years(spec.from);
  const to = spec.to === undefined ? expiry : clock.years(spec.to);
  if (from < 0 || from > expiry) throw new BookError(pathOf("from"), "expected a date from asOf to expiry");
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
    if (years < window.from || years > window.to)
      throw new BookError(pathOf("monitoring", i), "expected a date inside the barrier's window");
    return years;
  });
  return { kind: "discrete", times: [...new Set(times)].sort((a, b) => a - b) };
}
