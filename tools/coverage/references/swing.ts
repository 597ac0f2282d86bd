/** Swings in one Gaussian factor: how many units are left is a state beside it. */
import { density } from "../../properties/normal.ts";
import type { Motion } from "./backward.ts";
import { panels, signChanges } from "./rules.ts";

const REACH = 9;

/**
 * On each date one unit may be taken, which pays; in all from `min` to `max`. Goes back from date to date for each
 * number of units taken so far, by quadrature on panels that end where taking one begins to pay.
 */
export function swingValue(
  motion: Motion,
  dates: readonly number[],
  payoffs: readonly ((z: number) => number)[],
  { min, max }: { readonly min: number; readonly max: number },
): number {
  type Values = readonly ((z: number) => number)[];
  const impossible = -1e9;
  // By units taken, after the last date.
  let kept: Values = Array.from({ length: max + 1 }, (_, taken) => () => (taken >= min ? 0 : impossible));
  let next = Infinity;
  for (let k = dates.length - 1; k >= 0; k--) {
    const before = k === 0 ? 0 : dates[k - 1];
    const s = Math.sqrt(motion.variance(before, dates[k]));
    const slope = motion.slope?.(dates[k]) ?? 1;
    const reach = REACH * Math.sqrt(motion.variance(0, dates[k])) + slope * motion.variance(0, dates[k]);
    const later = kept;
    const pay = payoffs[k];
    const take = (taken: number, z: number): number => (taken === max ? -Infinity : pay(z) + later[taken + 1](z));
    const left = dates.length - 1 - k;
    kept = later.map((own, taken): ((z: number) => number) => {
      // Who cannot reach the least any more has no value worth computing.
      if (taken + left + 1 < min) return () => impossible;
      const must = taken + left < min;
      const breaks = must || taken === max ? [] : signChanges((z) => take(taken, z) - own(z), -reach, reach, 60);
      const rule = panels(-reach, reach, Math.min(s, 1.5 * next, 0.7 / slope), breaks);
      const values = rule.nodes.map((z) => (must ? take(taken, z) : Math.max(own(z), take(taken, z))));
      const discount = motion.discount(before, dates[k]);
      return (x) => {
        let sum = 0;
        rule.nodes.forEach((z, i) => {
          const d = (z - x) / s;
          if (Math.abs(d) < REACH) sum += rule.weights[i] * values[i] * density(d);
        });
        return (discount * sum) / s;
      };
    });
    next = s;
  }
  return kept[0](0);
}
