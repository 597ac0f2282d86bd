/**
 * The monotone convex curve of Hagan & West, *Interpolation methods for curve construction*, Applied Mathematical
 * Finance 13 (2006). Its forward rates are continuous and have given means between the nodes; they may be negative, and
 * are constant beyond the last node.
 */
import { firstNotBefore } from "../../base/search.ts";

/**
 * The integral from 0 to x of the deviation g of the forward rate from its mean on an interval, where g(0) = g0, g(1) =
 * g1 and g integrates to 0 over [0, 1], with its derivatives by g0 and g1: section 6, regions (i) to (iv).
 */
function deviation(g0: number, g1: number, x: number): readonly [value: number, by0: number, by1: number] {
  const size = Math.abs(g0) + Math.abs(g1);
  if (size === 0) return [0, x - 2 * x * x + x ** 3, x ** 3 - x * x];
  const [value, by0, by1] = deviationOfSizeOne(g0 / size, g1 / size, x);
  return [size * value, by0, by1];
}

function deviationOfSizeOne(g0: number, g1: number, x: number): readonly [value: number, by0: number, by1: number] {
  // The parts of a parabola before and after η, and their derivatives by η.
  const left = (eta: number): number => Math.max(eta - x, 0);
  const right = (eta: number): number => Math.max(x - eta, 0);
  const upTo = (eta: number): number => (eta > 0 ? (eta ** 3 - left(eta) ** 3) / eta ** 2 / 3 : 0);
  const upToSlope = (eta: number): number =>
    eta > 0 ? (eta ** 3 - 3 * eta * left(eta) ** 2 + 2 * left(eta) ** 3) / eta ** 3 / 3 : 1 / 3;
  const after = (eta: number): number => (eta < 1 ? right(eta) ** 3 / (1 - eta) ** 2 / 3 : 0);
  const afterSlope = (eta: number): number =>
    eta < 1 ? (right(eta) ** 2 * (2 * right(eta) - 3 * (1 - eta))) / (1 - eta) ** 3 / 3 : 0;
  const sum = g0 + g1;
  if (g0 * g1 >= 0) {
    const eta = g1 / sum;
    const level = (-g0 * g1) / sum;
    const [etaBy0, etaBy1] = [-g1 / sum ** 2, g0 / sum ** 2];
    const [levelBy0, levelBy1] = [-(eta ** 2), -((g0 / sum) ** 2)];
    const [before, behind] = [upTo(eta), after(eta)];
    const byEta = (g0 - level) * upToSlope(eta) + (g1 - level) * afterSlope(eta);
    const byLevel = x - before - behind;
    return [
      level * x + (g0 - level) * before + (g1 - level) * behind,
      before + byLevel * levelBy0 + byEta * etaBy0,
      behind + byLevel * levelBy1 + byEta * etaBy1,
    ];
  }
  const ratio = -g1 / g0;
  const difference = g1 - g0;
  const [etaBy0, etaBy1] = [(3 * g1) / difference ** 2, (-3 * g0) / difference ** 2];
  if (ratio > 2) {
    const eta = (g1 + 2 * g0) / difference;
    const [behind, byEta] = [after(eta), difference * afterSlope(eta)];
    return [g0 * x + difference * behind, x - behind + byEta * etaBy0, behind + byEta * etaBy1];
  }
  if (ratio < 0.5) {
    const eta = (3 * g1) / difference;
    const [before, byEta] = [upTo(eta), -difference * upToSlope(eta)];
    return [g1 * x - difference * before, before + byEta * etaBy0, x - before + byEta * etaBy1];
  }
  const [by0, by1] = [x - 2 * x * x + x ** 3, x ** 3 - x * x];
  return [g0 * by0 + g1 * by1, by0, by1];
}

/** Returns −ln P of the curve through zero rates at nodes, and calls `use` with its derivatives by them. */
export function monotoneConvexAt(
  times: ArrayLike<number>,
  zeros: ArrayLike<number>,
  time: number,
  use?: (node: number, slope: number) => void,
): number {
  const n = times.length;
  const start = (k: number): number => (k > 0 ? times[k - 1] : 0);
  const length = (k: number): number => times[k] - start(k);
  const value = (k: number): number => (k < 0 ? 0 : zeros[k] * times[k]);
  const mean = (k: number): number => (value(k) - value(k - 1)) / length(k);
  const byMean = new Map<number, number>();
  const add = (k: number, slope: number): void => void byMean.set(k, (byMean.get(k) ?? 0) + slope);
  /** The forward rate at the start of interval k as weights of the means of intervals. */
  const weightsAt = (k: number): readonly (readonly [interval: number, weight: number])[] => {
    if (n === 1) return [[0, 1]];
    if (k === 0) return [[0, 1.5], ...weightsAt(1).map(([i, weight]) => [i, -0.5 * weight] as const)];
    if (k === n) return [[n - 1, 1.5], ...weightsAt(n - 1).map(([i, weight]) => [i, -0.5 * weight] as const)];
    const whole = length(k - 1) + length(k);
    return [
      [k, length(k - 1) / whole],
      [k - 1, length(k) / whole],
    ];
  };
  const forwardAt = (k: number): number => weightsAt(k).reduce((sum, [i, weight]) => sum + weight * mean(i), 0);
  const i = Math.min(firstNotBefore(times, time), n);
  let result = value(i - 1);
  if (i === n) {
    const beyond = time - times[n - 1];
    result += forwardAt(n) * beyond;
    for (const [k, weight] of weightsAt(n)) add(k, weight * beyond);
  } else {
    const [width, own] = [length(i), mean(i)];
    const x = (time - start(i)) / width;
    const [area, by0, by1] = deviation(forwardAt(i) - own, forwardAt(i + 1) - own, x);
    result += width * (own * x + area);
    add(i, width * (x - by0 - by1));
    for (const [k, weight] of weightsAt(i)) add(k, width * by0 * weight);
    for (const [k, weight] of weightsAt(i + 1)) add(k, width * by1 * weight);
  }
  if (use === undefined) return result;
  if (i > 0) use(i - 1, times[i - 1]);
  for (const [k, slope] of byMean) {
    use(k, (slope * times[k]) / length(k));
    if (k > 0) use(k - 1, (-slope * times[k - 1]) / length(k));
  }
  return result;
}
