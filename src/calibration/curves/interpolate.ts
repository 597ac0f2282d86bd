/** −ln P between the nodes of a curve. */
import type { LogDiscount } from "./instruments.ts";
import { firstNotBefore } from "../../base/search.ts";

/**
 * The interpolation of a discount curve: −ln P linear in time, which has two names, or the monotone convex method of
 * Hagan & West.
 */
export type CurveInterpolation = "linear-zero" | "log-discount" | "monotone-convex";

/**
 * Returns the curve whose −ln P is linear between 0 today and the nodes, and is continued with the last slope. `values`
 * are −ln P at `times`.
 */
export function linear(times: readonly number[], values: readonly number[]): LogDiscount {
  return (time) => {
    const i = Math.min(firstNotBefore(times, time), times.length - 1);
    const from = i > 0 ? times[i - 1] : 0;
    const before = i > 0 ? values[i - 1] : 0;
    return before + ((values[i] - before) * (time - from)) / (times[i] - from);
  };
}

/**
 * The integral from 0 to x of the deviation g of the forward rate from its mean on an interval, where g(0) = g0, g(1) =
 * g1 and g integrates to 0 over [0, 1]: Hagan & West (2006), section 6, regions (i) to (iv).
 */
function deviationIntegral(g0: number, g1: number, x: number): number {
  if (g0 === 0 && g1 === 0) return 0;
  const after = (eta: number): number => (x > eta ? (x - eta) ** 3 / (1 - eta) ** 2 / 3 : 0);
  const upTo = (eta: number): number => (eta ** 3 - Math.max(eta - x, 0) ** 3) / eta ** 2 / 3;
  if (g0 * g1 >= 0) {
    const eta = g1 / (g0 + g1);
    const level = (-g0 * g1) / (g0 + g1);
    const left = eta > 0 ? (g0 - level) * upTo(eta) : 0;
    return level * x + left + (eta < 1 ? (g1 - level) * after(eta) : 0);
  }
  const ratio = -g1 / g0;
  if (ratio > 2) {
    const eta = (g1 + 2 * g0) / (g1 - g0);
    return g0 * x + (g1 - g0) * after(eta);
  }
  if (ratio < 0.5) {
    const eta = (3 * g1) / (g1 - g0);
    return g1 * x + (g0 - g1) * upTo(eta);
  }
  return g0 * (x - 2 * x * x + x ** 3) + g1 * (x ** 3 - x * x);
}

/**
 * Returns the monotone convex curve of Hagan & West, *Interpolation methods for curve construction*, Applied
 * Mathematical Finance 13 (2006). Its forward rates are continuous and have given means between the nodes; they may be
 * negative, and are constant beyond the last node. `values` are −ln P at `times`.
 */
export function monotoneConvex(times: readonly number[], values: readonly number[]): LogDiscount {
  const n = times.length;
  const start = (i: number): number => (i > 0 ? times[i - 1] : 0);
  const discrete = times.map((time, i) => (values[i] - (i > 0 ? values[i - 1] : 0)) / (time - start(i)));
  // forward[i] is the rate at start(i), forward[n] the one at the last node.
  const forward = new Float64Array(n + 1);
  for (let i = 1; i < n; i++) {
    const [left, right] = [times[i - 1] - start(i - 1), times[i] - times[i - 1]];
    forward[i] = (left * discrete[i] + right * discrete[i - 1]) / (left + right);
  }
  forward[0] = n > 1 ? 1.5 * discrete[0] - 0.5 * forward[1] : discrete[0];
  forward[n] = n > 1 ? 1.5 * discrete[n - 1] - 0.5 * forward[n - 1] : discrete[0];
  return (time) => {
    const i = firstNotBefore(times, time);
    if (i === n) return values[n - 1] + forward[n] * (time - times[n - 1]);
    const width = times[i] - start(i);
    const x = (time - start(i)) / width;
    const mean = discrete[i];
    const deviation = deviationIntegral(forward[i] - mean, forward[i + 1] - mean, x);
    return (i > 0 ? values[i - 1] : 0) + width * (mean * x + deviation);
  };
}
