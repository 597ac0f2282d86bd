/** Curves of discount factors, with their derivatives by the parameters of their form. */
import { firstNotBefore } from "../../base/search.ts";
import { monotoneConvexAt } from "./monotone-convex.ts";
import { svenssonAt } from "./svensson.ts";

/**
 * The form of a curve: −ln P linear in time between nodes (`log-discount`), the zero rate linear in time
 * (`zero-rate`), the monotone convex method of Hagan and West, or Svensson's formula.
 */
export type CurveRule = "log-discount" | "zero-rate" | "monotone-convex" | "svensson";

/** A period in which the forward rate is higher than the curve around it, as at the turn of a year. Times are years. */
export interface Turn {
  readonly from: number;
  readonly to: number;
  readonly spread: number;
}

/** A curve as plain data. */
export interface CurveData {
  readonly times: Float64Array;
  readonly zeros: Float64Array;
  readonly rule: CurveRule;
  readonly turns: readonly Turn[];
}

/**
 * A curve of discount factors. Its zero rate is constant before the first node; after the last one the forward rate is
 * constant (`log-discount` and `monotone-convex`), or the zero rate is (`zero-rate`). A monotone convex curve has its
 * own shape before the first node, too. Svensson's curve has no nodes.
 */
export class Curve implements CurveData {
  /** The times of the nodes in years, increasing, or of the ends of the quotes to which Svensson's curve was fitted. */
  readonly times: Float64Array;
  /** The zero rates at the nodes without turns, or Svensson's parameters. They may be changed. */
  readonly zeros: Float64Array;
  readonly rule: CurveRule;
  readonly turns: readonly Turn[];

  constructor(
    times: ArrayLike<number>,
    zeros: ArrayLike<number>,
    rule: CurveRule = "log-discount",
    turns: readonly Turn[] = [],
  ) {
    this.times = Float64Array.from(times);
    this.zeros = Float64Array.from(zeros);
    this.rule = rule;
    this.turns = turns;
  }

  /** Returns −ln P at a time, where P is the discount factor. */
  logDiscount(time: number): number {
    const { turns } = this;
    return turns.length === 0 ? this.#untilTime(time) : this.#untilTime(time) + turnsUntil(turns, time);
  }

  #untilTime(time: number): number {
    if (this.rule === "svensson") return svenssonAt(this.zeros, time);
    if (this.rule === "monotone-convex") return monotoneConvexAt(this.times, this.zeros, time);
    let sum = 0;
    this.weights(time, (node, weight) => (sum += weight * this.zeros[node]));
    return sum;
  }

  /** Calls a function with the derivatives of −ln P at a time by the zero rates or parameters that it depends on. */
  weights(time: number, use: (node: number, weight: number) => void): void {
    const { times, zeros, rule } = this;
    if (rule === "svensson") return void svenssonAt(zeros, time, use);
    if (rule === "monotone-convex") return void monotoneConvexAt(times, zeros, time, use);
    const last = times.length - 1;
    const above = firstNotBefore(times, time);
    if (above === 0 || last === 0 || (above > last && rule === "zero-rate")) return use(Math.min(above, last), time);
    const right = Math.min(above, last);
    const left = right - 1;
    const x = (time - times[left]) / (times[right] - times[left]);
    const log = rule === "log-discount";
    use(left, (1 - x) * (log ? times[left] : time));
    use(right, x * (log ? times[right] : time));
  }
}

/** Returns the times at which the rates of a curve change. */
export const knotsOf = ({ times, turns }: CurveData): number[] => [
  ...Array.from(times),
  ...turns.flatMap(({ from, to }) => [from, to]),
];

/** Returns what turns add to −ln P until a time. */
export const turnsUntil = (turns: readonly Turn[], time: number): number =>
  turns.reduce((sum, { from, to, spread }) => sum + spread * Math.max(Math.min(time, to) - from, 0), 0);
