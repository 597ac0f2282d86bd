/** Key rates: moves of the curve around single maturities, which add up to a parallel move. */

/** The maturities of the key rates in years. */
export const KEY_TIMES: readonly number[] = [0.25, 0.5, 1, 2, 3, 5, 7, 10, 15, 20, 30];

/** The number of the first key time at or after t, of the last one beyond all. */
function rightOf(t: number): number {
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
  const right = rightOf(t);
  if (right === 0) return k === 0 ? t : 0;
  if (k !== right && k !== right - 1) return 0;
  const [from, to] = [KEY_TIMES[right - 1], KEY_TIMES[right]];
  return (KEY_TIMES[k] * (k === right ? t - from : to - t)) / (to - from);
}

/** Returns the number of key rates on which payments up to the time `last` depend. */
export function keyRatesUpTo(last: number): number {
  return rightOf(last) + 1;
}

/** The derivatives of a value by ln P(0, t) at several times t, from which its sensitivities to the curve follow. */
export class CurveSlopes {
  readonly times: number[] = [];
  readonly slopes: number[] = [];

  /** Adds the derivative by ln P at a time in years. */
  add(time: number, slope: number): void {
    this.times.push(time);
    this.slopes.push(slope);
  }

  /** Returns the first-order change of the value when ln P(0, t) changes by `move(t)`. */
  along(move: (t: number) => number): number {
    return this.slopes.reduce((sum, slope, i) => sum + move(this.times[i]) * slope, 0);
  }

  /**
   * Returns the sensitivities to a parallel shift of the rates, and to the key rates up to the last payment
   * (`KEY_TIMES`).
   */
  byRates(): { readonly rho: number; readonly keyRates: readonly number[] } {
    let [rho, last] = [0, 0];
    const keyRates = KEY_TIMES.map(() => 0);
    for (let i = 0; i < this.times.length; i++) {
      const [t, slope] = [this.times[i], this.slopes[i]];
      const right = rightOf(t);
      rho -= t * slope;
      keyRates[right] -= keyMove(right, t) * slope;
      if (right > 0) keyRates[right - 1] -= keyMove(right - 1, t) * slope;
      last = Math.max(last, right);
    }
    keyRates.length = last + 1;
    return { rho, keyRates };
  }
}
