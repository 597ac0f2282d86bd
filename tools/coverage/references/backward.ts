/**
 * Values of claims on a Gaussian x that something happens to on dates, from date to date by quadrature:
 *
 *   kept(x) = D·∫ V(y)·φ((y − x − μ)/s)/s dy,   V = what the date makes of kept,
 *
 * with Gauss and Legendre's rule on panels that end where V has a kink or a jump. Nothing of the library is used.
 */
import { density } from "../../properties/normal.ts";
import { panels, type Rule, signChanges } from "./rules.ts";

/** What x does from one time to another, and what 1 at the end is worth at the start. */
export interface Motion {
  readonly variance: (from: number, to: number) => number;
  readonly drift: (from: number, to: number) => number;
  readonly discount: (from: number, to: number) => number;
  /** The price's logarithm by x at a time, 1 by default: payoffs grow like its exponential. */
  readonly slope?: (time: number) => number;
}

/** What happens on a date, from the value if nothing did. */
export interface Stage {
  readonly time: number;
  readonly value: (x: number, kept: number) => number;
  /** Where that has kinks or jumps. */
  readonly breaks: (kept: (x: number) => number, from: number, to: number) => readonly number[];
}

/** Deviations beyond which nothing is left. */
const REACH = 9;

/** The value at time 0 of stages on increasing dates; before the last, `kept` is what is to come. */
export function backward(x0: number, motion: Motion, stages: readonly Stage[]): number {
  let kept = (_: number): number => 0;
  let next = Infinity;
  for (let k = stages.length - 1; k >= 0; k--) {
    const { time, value, breaks } = stages[k];
    const before = k === 0 ? 0 : stages[k - 1].time;
    const deviation = Math.sqrt(motion.variance(before, time));
    const all = motion.variance(0, time);
    const centre = x0 + motion.drift(0, time);
    const slope = motion.slope?.(time) ?? 1;
    const reach = REACH * Math.sqrt(all) + slope * all;
    const [from, to] = [centre - reach, centre + reach];
    const own = kept;
    const rule = panels(from, to, Math.min(deviation, 1.5 * next, 0.7 / slope), breaks(own, from, to));
    const values = rule.nodes.map((x) => value(x, own(x)));
    kept = mean(rule, values, deviation, motion.drift(before, time), motion.discount(before, time));
    next = deviation;
  }
  return kept(x0);
}

function mean(
  { nodes, weights }: Rule,
  values: readonly number[],
  s: number,
  drift: number,
  discount: number,
): (x: number) => number {
  return (x) => {
    const centre = x + drift;
    const reach = REACH * s;
    let sum = 0;
    for (let i = firstFrom(nodes, centre - reach); i < nodes.length && nodes[i] <= centre + reach; i++)
      sum += weights[i] * values[i] * density((nodes[i] - centre) / s);
    return (discount * sum) / s;
  };
}

/** The first index whose node is at least x. */
function firstFrom(nodes: readonly number[], x: number): number {
  let [low, high] = [0, nodes.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (nodes[middle] < x) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The end of a claim that pays f. */
export const paid = (time: number, f: (x: number) => number, kinks: readonly number[]): Stage => ({
  time,
  value: (x) => f(x),
  breaks: () => kinks,
});

/** A right to take f instead of what is kept; or the right of the other side to pay it. */
export const right = (time: number, f: (x: number) => number, isOther = false): Stage => ({
  time,
  value: (x, kept) => (isOther ? Math.min(kept, f(x)) : Math.max(kept, f(x))),
  breaks: (kept, from, to) => signChanges((x) => f(x) - kept(x), from, to, 120),
});
