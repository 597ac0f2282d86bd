/** Key rates: zero rates at usual maturities, by whose moves a curve without nodes of its own is moved in parts. */
import type { PiecewiseConstant } from "./rates.ts";

/** The maturities of the key rates in years. */
export const KEY_TIMES: readonly number[] = [0.25, 0.5, 1, 2, 3, 5, 7, 10, 15, 20, 30];
/** The names of the key rates. */
export const KEY_NAMES: readonly string[] = KEY_TIMES.map((years) => (years < 1 ? `${12 * years}M` : `${years}Y`));

/** Returns the number of the first key time at or after t, of the last one beyond all. */
export function firstKeyFrom(t: number): number {
  let right = 0;
  while (right < KEY_TIMES.length - 1 && KEY_TIMES[right] < t) right++;
  return right;
}

/**
 * Returns the integral from 0 to t of the move of the short rate when the key rate with index k moves by 1.
 *
 * The key rate is the zero rate z at a key time. At this time z·t moves by the time, at the other key times not at all,
 * and it is linear between them. Before the first key time z moves by 1; beyond the last one z·t continues with the
 * slope between the last two. If all key rates move, the integral is t.
 */
export function keyMove(k: number, t: number): number {
  const right = firstKeyFrom(t);
  if (right === 0) return k === 0 ? t : 0;
  if (k !== right && k !== right - 1) return 0;
  const [from, to] = [KEY_TIMES[right - 1], KEY_TIMES[right]];
  return (KEY_TIMES[k] * (k === right ? t - from : to - t)) / (to - from);
}

/** Returns the number of key rates on which payments up to the time `last` depend. */
export function keyRatesUpTo(last: number): number {
  return firstKeyFrom(last) + 1;
}

/** Returns a curve of forward rates after a move of the key rate with index k. */
export function movedAtKey({ times, values }: PiecewiseConstant, k: number, by: number): PiecewiseConstant {
  const own = KEY_TIMES.slice(0, -1).filter((_, i) => Math.abs(i - k) <= 1);
  const all = [...new Set([...times, ...own])].sort((a, b) => a - b);
  const moved = [...all, Number.POSITIVE_INFINITY].map((end) => {
    const step = times.findIndex((time) => end <= time);
    const key = firstKeyFrom(end);
    const from = key === 0 ? 0 : KEY_TIMES[key - 1];
    const slope = (keyMove(k, KEY_TIMES[key]) - keyMove(k, from)) / (KEY_TIMES[key] - from);
    return (step < 0 ? values[times.length] : values[step]) + by * slope;
  });
  return { times: all, values: moved };
}
