/**
 * Represents a spot with cash dividends as an affine function of a martingale X (Buehler 2010):
 *
 *   S(t) = scale(t)·X(t) + cash(t),   X(0) = S(0) − cash(0),   scale(t) = e^{∫(r − q)}·Π(1 − pᵢ),
 *
 * where cash(t) is the value at t of the cash dividends from t up to a horizon, which grows like the spot. An option on
 * S with strike K is scale(T) options on X with strike (K − cash(T))/scale(T), and X has no dividends. Source: Buehler,
 * *Volatility and dividends*, 2010. Verified by tests in test/calibration/american, and by prices of whole books.
 */
import { type Dividends, yieldTo } from "./dividends.ts";
import { type ForwardCurve, ONE_SECOND, integrate } from "./rates.ts";

/**
 * The coefficients of the decomposition S = scale·X + cash of a spot S at one time; X is a martingale without
 * dividends.
 */
export interface Affine {
  readonly scale: number;
  readonly cash: number;
}

/**
 * The decomposition S(t) = scale(t)·X(t) + cash(t) of a spot with cash dividends, where X is a martingale without
 * dividends.
 */
export interface AffineSpot {
  /** The value X(0). It is positive if the forward at the horizon is. */
  readonly start: number;
  /** The times of the dividends up to the horizon, in years. */
  readonly times: readonly number[];
  /** Returns the coefficients at a time, after dividends at that time. */
  readonly at: (time: number) => Affine;
  /** Returns the coefficients at a time, before dividends at that time. */
  readonly before: (time: number) => Affine;
}

/**
 * Decomposes a spot with cash dividends up to a horizon in years into an affine function of a martingale X. An option
 * on S with strike K is then scale(T) options on X with strike (K − cash(T))/scale(T).
 */
export function affineSpot(
  { spot, rates, dividends }: { readonly spot: number; readonly rates: ForwardCurve; readonly dividends: Dividends },
  horizon: number,
): AffineSpot {
  const paid = dividends.discrete.filter(({ time }) => time <= horizon + ONE_SECOND);
  const growth = (time: number, isPaid: (of: number) => boolean): number =>
    paid.reduce(
      (left, dividend) => (isPaid(dividend.time) ? left * (1 - dividend.proportional) : left),
      Math.exp(integrate(rates, time) - yieldTo(dividends, time)),
    );
  const worth = paid.map(({ time, cash }) => (cash > 0 ? cash / growth(time, (of) => of <= time) : 0));
  const affine = (time: number, isPaid: (of: number) => boolean): Affine => {
    const scale = growth(time, isPaid);
    const left = paid.reduce((sum, dividend, i) => (isPaid(dividend.time) ? sum : sum + worth[i]), 0);
    return { scale, cash: scale * left };
  };
  return {
    start: spot - affine(0, () => false).cash,
    times: paid.map(({ time }) => time),
    at: (time) => affine(time, (of) => of <= time),
    before: (time) => affine(time, (of) => of < time),
  };
}
