/**
 * The passage of time for the martingale X of a spot S = scale·X + cash (`AffineSpot`), by which its total variance
 * grows where the spot's own volatility is constant.
 *
 * A spot of constant volatility σ has dX = σ·(X + δX₀) dW, δ = cash/(scale·X₀), so that X moves more before a dividend
 * than after it. The implied variance of such a displaced diffusion at k = ln(K/X₀) grows, to leading order in time, at
 * the rate σ²·m(k) with
 *
 *   m(k) = (k/L)²,   L = ln((e^k + δ)/(1 + δ)),   m(0) = (1 + δ)²,
 *
 * and the clock is A(k, t) = ∫₀ᵗ m(k, s) ds, which is t where there are no dividends to come.
 * Source: Berestycki, Busca & Florent, *Asymptotics and calibration of local volatility models*, Quant. Finance 2
 * (2002), for the leading order. Verified: test/calibration/american.
 */
import type { AffineSpot } from "./affine.ts";

/**
 * A time change due to cash dividends, as successive periods: up to the time `until` in years, the value of the
 * remaining dividends is the fraction δ = `share` of X₀.
 */
export type DividendTimeChange = readonly { readonly until: number; readonly share: number }[];

/** Returns the time change of a spot; undefined if it has no cash dividends. */
export function dividendTimeChange({ start, times, at }: AffineSpot): DividendTimeChange | undefined {
  const shareAfter = (time: number): number => at(time).cash / (at(time).scale * start);
  const clock = times.map((until, i) => ({ until, share: shareAfter(i > 0 ? times[i - 1] : 0) }));
  const first = clock.find(({ until }) => until > 0);
  return first === undefined || !(first.share > 0) ? undefined : clock.filter(({ until }) => until > 0);
}

/** The changed time A(k, t), with ∂A/∂k (`slope`), ∂²A/∂k² (`curvature`) and ∂A/∂t (`rate`). */
export interface ChangedTime {
  readonly time: number;
  readonly slope: number;
  readonly curvature: number;
  readonly rate: number;
}

/** The step of differences in k. */
const STEP = 1e-3;

/** Returns the changed time A(k, t) at k = ln(K/F) after t years; it is t if there is no time change. */
export function changedTime(clock: DividendTimeChange | undefined, k: number, t: number): ChangedTime {
  if (clock === undefined) return { time: t, slope: 0, curvature: 0, rate: 1 };
  const sum = { time: 0, slope: 0, curvature: 0, rate: 1 };
  let from = 0;
  for (const { until, share } of clock) {
    const elapsed = Math.min(until, t) - from;
    if (!(elapsed > 0)) break;
    const [left, centre, right] = [k - STEP, k, k + STEP].map((at) => speed(at, share));
    sum.time += elapsed * centre;
    sum.slope += (elapsed * (right - left)) / (2 * STEP);
    sum.curvature += (elapsed * (left - 2 * centre + right)) / (STEP * STEP);
    if (t <= until) return { ...sum, rate: centre };
    from = until;
  }
  return { ...sum, time: sum.time + Math.max(t - from, 0) };
}

/** m(k) of a share δ. */
function speed(k: number, share: number): number {
  if (share === 0) return 1;
  if (Math.abs(k) < 1e-9) return (1 + share) ** 2;
  return (k / Math.log1p(Math.expm1(k) / (1 + share))) ** 2;
}
