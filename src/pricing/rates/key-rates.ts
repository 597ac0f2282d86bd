/** Key rates: moves of the curve around single maturities, which add up to a parallel move. */

/** Maturities of the key rates, in years. */
export const KEY_TIMES: readonly number[] = [0.25, 0.5, 1, 2, 3, 5, 7, 10, 15, 20, 30];

/**
 * The integral from 0 to t of the move of the short rate when the zero rate z of key time k moves by 1.
 *
 * At key time k the product z·t moves by that time, at the others by nothing, and it is linear between them. Before the
 * first key time z moves by 1; beyond the last z·t goes on as between the last two. All key rates together move by t.
 */
export function keyMove(k: number, t: number): number {
  const at = (i: number): number => (i === k ? KEY_TIMES[k] : 0);
  const next = KEY_TIMES.findIndex((time) => t <= time);
  const right = next < 0 ? KEY_TIMES.length - 1 : next;
  if (right === 0) return k === 0 ? t : 0;
  const [from, to] = [KEY_TIMES[right - 1], KEY_TIMES[right]];
  return at(right - 1) + ((at(right) - at(right - 1)) * (t - from)) / (to - from);
}

/** The number of key rates that a payment at `last` or before it depends on. */
export function keyRatesUpTo(last: number): number {
  const first = KEY_TIMES.findIndex((time) => time >= last);
  return first < 0 ? KEY_TIMES.length : first + 1;
}
