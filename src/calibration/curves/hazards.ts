/** The search for hazard rates, from the shortest quote on: each is constant from the end of the quote before it. */
import type { CurveData } from "../../market/linear/index.ts";

/** The integral of a hazard rate beyond which a survival probability counts as 0. */
const CERTAIN = 300;
const FIRST_GUESS = 0.02;
const MAX_STEPS = 200;
const ROUNDING = 1e-15;

/** The rounding error of a quote on curves that were found from other quotes. */
const FITTED = 1e-13;

/** A quote whose hazard rate is sought. */
interface HazardQuote {
  readonly name: string;
  readonly quote: number;
  /** Returns the quote that the curve gives. It increases with the hazard rate. */
  given(): number;
}

/**
 * Sets the mean hazard rates at the nodes of a curve, one a quote, so that the curve gives the quotes. `fail` throws
 * the error of a quote, by its position, that no hazard rate from 0 on reproduces.
 */
export function findHazards(
  { times, zeros }: CurveData,
  quotes: readonly HazardQuote[],
  fail: (quote: number, why: string) => never,
): void {
  quotes.forEach(({ quote, given }, k) => {
    const [from, before] = k === 0 ? [0, 0] : [times[k - 1], times[k - 1] * zeros[k - 1]];
    const at = (hazard: number): number => {
      for (let j = k; j < times.length; j++) zeros[j] = (before + hazard * (times[j] - from)) / times[j];
      return given();
    };
    const highest = (CERTAIN - before) / (times[k] - from);
    const after = k === 0 ? "" : ` after the end of ${quotes[k - 1].name}`;
    if (at(0) > quote + FITTED)
      fail(k, `it is below ${at(0)}, its quote if there were no default${after}: the hazard rate would be negative`);
    const found = rootOf((hazard) => at(hazard) - quote, highest);
    if (found === undefined && !(at(highest) > quote - FITTED))
      fail(k, `it is above ${at(highest)}, its quote if default were certain${after}`);
    at(found ?? highest);
  });
}

/**
 * Returns where a function that increases from 0 to `highest` is 0, by the Illinois method; undefined where it stays
 * below.
 */
function rootOf(f: (x: number) => number, highest: number): number | undefined {
  let [low, high] = [0, Math.min(FIRST_GUESS, highest)];
  let [below, above] = [f(low), f(high)];
  while (above < 0 && high < highest) {
    [low, below] = [high, above];
    high = Math.min(4 * high, highest);
    above = f(high);
  }
  if (below >= 0) return low;
  if (!(above >= 0)) return undefined;
  let [best, error, side] = [high, above, 0];
  for (let step = 0; step < MAX_STEPS && error > ROUNDING; step++) {
    const next = (low * above - high * below) / (above - below);
    // Neighbouring numbers have none between them.
    if (!(next > low && next < high)) break;
    const value = f(next);
    if (Math.abs(value) < error) [best, error] = [next, Math.abs(value)];
    // An end that stays twice counts half, so that the other one moves, too.
    if (value < 0) {
      [low, below] = [next, value];
      if (side < 0) above /= 2;
      side = -1;
    } else {
      [high, above] = [next, value];
      if (side > 0) below /= 2;
      side = 1;
    }
  }
  return best;
}
