/** Curves of discount factors between nodes, with their derivatives by the nodes' values. */
import { firstNotBefore } from "../../base/search.ts";

/**
 * The interpolation of a curve between nodes: −ln P linear in time (`log-discount`), or the zero rate linear in time.
 */
export type CurveRule = "log-discount" | "zero-rate";

/**
 * A curve of discount factors. Its zero rate is constant before the first node; after the last one the forward rate is
 * constant (`log-discount`), or the zero rate is (`zero-rate`).
 */
export class Curve {
  /** The times of the nodes in years, increasing. */
  readonly times: Float64Array;
  /** The zero rates at the nodes, which may be changed. */
  readonly zeros: Float64Array;
  readonly rule: CurveRule;

  constructor(times: ArrayLike<number>, zeros: ArrayLike<number>, rule: CurveRule = "log-discount") {
    this.times = Float64Array.from(times);
    this.zeros = Float64Array.from(zeros);
    this.rule = rule;
  }

  /** Returns −ln P at a time, where P is the discount factor. */
  logDiscount(time: number): number {
    let sum = 0;
    this.weights(time, (node, weight) => (sum += weight * this.zeros[node]));
    return sum;
  }

  /** Calls a function for the nodes on which −ln P at a time depends, with its derivatives by their zero rates. */
  weights(time: number, use: (node: number, weight: number) => void): void {
    const { times, rule } = this;
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
