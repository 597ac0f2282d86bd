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
 * Returns the integral from 0 to t of the move of the short rate when the zero rate z of key time k moves by 1.
 *
 * At key time k the product z·t moves by that time, at the others by nothing, and it is linear between them. Before the
 * first key time z moves by 1; beyond the last z·t goes on as between the last two. All key rates together move by t.
 */
export function keyMove(k: number, t: number): number {
  const right = rightOf(t);
  if (right === 0) return k === 0 ? t : 0;
  if (k !== right && k !== right - 1) return 0;
  const [from, to] = [KEY_TIMES[right - 1], KEY_TIMES[right]];
  return (KEY_TIMES[k] * (k === right ? t - from : to - t)) / (to - from);
}

/** Returns the number of key rates on which payments up to `last` depend. */
export function keyRatesUpTo(last: number): number {
  return rightOf(last) + 1;
}

/** The sensitivities of a value to the curve, from its slopes ∂V/∂ln P(0, t). */
export class CurveSlopes {
  readonly times: number[] = [];
  readonly slopes: number[] = [];

  add(time: number, slope: number): void {
    this.times.push(time);
    this.slopes.push(slope);
  }

  /** Returns the change of the value as ln P(0, t) changes by `move`. */
  along(move: (t: number) => number): number {
    return this.slopes.reduce((sum, slope, i) => sum + move(this.times[i]) * slope, 0);
  }

  /** Returns the sensitivities to a parallel move of the rates, and to those at `KEY_TIMES` up to the last payment. */
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
