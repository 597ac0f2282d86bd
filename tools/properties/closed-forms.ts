/** Values that are known in closed form, written for these tests alone: nothing of the library is used. */
import { cdf } from "./normal.ts";

/** dS = (r − q)·S dt + σ·S dW up to time T. */
export interface Lognormal {
  readonly spot: number;
  readonly rate: number;
  readonly yield: number;
  readonly volatility: number;
  readonly expiry: number;
}

/** A payoff of straight lines: constant + slope·S for from < S < to, nothing elsewhere. */
export interface Piece {
  readonly from: number;
  readonly to: number;
  readonly constant: number;
  readonly slope: number;
}

export function piecesOf(kind: "call" | "put" | "digital-call" | "digital-put", strike: number, cash = 1): Piece[] {
  switch (kind) {
    case "call":
      return [{ from: strike, to: Infinity, constant: -strike, slope: 1 }];
    case "put":
      return [{ from: 0, to: strike, constant: strike, slope: -1 }];
    case "digital-call":
      return [{ from: strike, to: Infinity, constant: cash, slope: 0 }];
    case "digital-put":
      return [{ from: 0, to: strike, constant: cash, slope: 0 }];
    default:
      return kind satisfies never;
  }
}

export const CASH: readonly Piece[] = [{ from: 0, to: Infinity, constant: 1, slope: 0 }];

/**
 * The value of pieces at expiry where ln S is absorbed at two levels (0 and ∞: none), by the method of images: the
 * density of ln S_T at y, from x, is
 *
 *   e^{(ν/σ²)·(y − x) − ν²T/(2σ²)}·Σₙ [φ_s(y − x − 2nw) − φ_s(y + x − 2a − 2nw)],   ν = r − q − σ²/2,  s² = σ²T,  w = b
 * − a,
 *
 * the second term and n ≠ 0 only with barriers (Ikeda & Kunitomo 1992).
 */
export function survivingValue(model: Lognormal, pieces: readonly Piece[], low = 0, high = Infinity): number {
  const { spot, rate, yield: q, volatility, expiry } = model;
  if (spot <= low || spot >= high) return 0;
  const s = volatility * Math.sqrt(expiry);
  const tilt = (rate - q) / volatility ** 2 - 0.5;
  const image: Image = { tilt, s, x: Math.log(spot) };
  const means = imagesOf(image, low, high);
  let sum = 0;
  for (const { from, to, constant, slope } of pieces) {
    const [y1, y2] = [Math.log(Math.max(from, low)), Math.log(Math.min(to, high))];
    if (!(y1 < y2)) continue;
    for (const { mean, sign } of means)
      sum += sign * (constant * tilted(image, mean, 0, y1, y2) + slope * tilted(image, mean, 1, y1, y2));
  }
  return Math.exp(-rate * expiry) * sum;
}

interface Image {
  readonly tilt: number;
  readonly s: number;
  readonly x: number;
}

function imagesOf({ x, s }: Image, low: number, high: number): { mean: number; sign: number }[] {
  if (low <= 0 && high === Infinity) return [{ mean: x, sign: 1 }];
  if (low <= 0 || high === Infinity) {
    const level = Math.log(low <= 0 ? high : low);
    return [
      { mean: x, sign: 1 },
      { mean: 2 * level - x, sign: -1 },
    ];
  }
  const [a, width] = [Math.log(low), Math.log(high / low)];
  // Images further than 40 deviations away do not count, whatever the tilt that occurs here.
  const reach = 2 + Math.ceil((20 * s + s * s) / width);
  return Array.from({ length: 2 * reach + 1 }, (_, i) => 2 * (i - reach) * width).flatMap((shift) => [
    { mean: x + shift, sign: 1 },
    { mean: 2 * a - x + shift, sign: -1 },
  ]);
}

/** ∫ e^{k·y}·e^{tilt·(y − x) − tilt²s²/2}·φ_s(y − mean) dy from y1 to y2. */
function tilted({ tilt, s, x }: Image, mean: number, k: number, y1: number, y2: number): number {
  const c = tilt + k;
  const exponent = c * mean - tilt * x + 0.5 * (c * c - tilt * tilt) * s * s;
  const shifted = mean + c * s * s;
  const probability = between((y1 - shifted) / s, (y2 - shifted) / s);
  // Of drift by tens of deviations the factors alone are beyond a double's range.
  return probability === 0 ? 0 : Math.exp(exponent + Math.log(probability));
}

/** Φ(b) − Φ(a), with the tail's accuracy on either side. */
function between(a: number, b: number): number {
  return a > 0 ? cdf(-a) - cdf(-b) : cdf(b) - cdf(a);
}

/** Black and Scholes' value of a vanilla. */
export const blackScholes = (model: Lognormal, right: "call" | "put", strike: number): number =>
  survivingValue(model, piecesOf(right, strike));

/** What 1 paid at the first hit of `level` is worth (Reiner & Rubinstein 1991, term F). Needs μ² + 2r/σ² ≥ 0. */
export function oneTouch({ spot, rate, yield: q, volatility, expiry }: Lognormal, level: number): number {
  const eta = level > spot ? -1 : 1;
  const s = volatility * Math.sqrt(expiry);
  const mu = (rate - q) / volatility ** 2 - 0.5;
  const lambda = Math.sqrt(mu * mu + (2 * rate) / volatility ** 2);
  const logLevel = Math.log(level / spot);
  const z = logLevel / s + lambda * s;
  // Each power and its probability may overflow and underflow apart; their logarithms are added where the power is
  // large.
  const term = (power: number, x: number): number => Math.exp(power * logLevel) * cdf(x);
  return term(mu + lambda, eta * z) + term(mu - lambda, eta * (z - 2 * lambda * s));
}

/**
 * A strike this many times the spot; what is left of a call there is below 1e-10 of the spot for the volatilities
 * drawn.
 */
const FAR = 50;

/** A call or put under dS = (r − q)·S dt + sigma·S^beta dW, absorbed at zero, beta < 1 (Schroder 1989). */
export function cev(model: Omit<Lognormal, "volatility">, sigma: number, beta: number, call: boolean, strike: number) {
  const { spot, rate, yield: q, expiry } = model;
  const power = 2 * (1 - beta);
  const growth = (rate - q) * power * expiry;
  const clock = growth === 0 ? expiry : (expiry * Math.expm1(growth)) / growth;
  const k = 2 / (sigma ** 2 * power ** 2 * clock);
  const [x, y] = [2 * k * spot ** power * Math.exp(growth), 2 * k * strike ** power];
  const asset = spot * Math.exp(-q * expiry);
  const bond = strike * Math.exp(-rate * expiry);
  const [first, second] = [noncentral(y, 2 + 2 / power, x), noncentral(x, 2 / power, y)];
  // Far out of the money the sums of so many terms end before the first that counts: there a put is its forward.
  if (strike > FAR * spot) return call ? 0 : bond - asset;
  return call ? asset * first.upper - bond * second.lower : bond * second.upper - asset * first.lower;
}

/** The noncentral χ² distribution: Σⱼ Poisson(j; λ/2)·Γ-distribution(ν/2 + j), over all j whose weight counts. */
export function noncentral(x: number, degrees: number, noncentrality: number): { lower: number; upper: number } {
  const mean = 0.5 * noncentrality;
  const from = Math.max(Math.floor(mean - 9 * Math.sqrt(mean) - 20), 0);
  const to = Math.ceil(mean + 9 * Math.sqrt(mean) + 40);
  // Γ(a) lower tails by P(a) = P(a + 1) + xᵃe⁻ˣ/Γ(a + 1), from the largest a down; upper tails from the smallest up.
  const half = 0.5 * x;
  const step = (j: number): number =>
    Math.exp((0.5 * degrees + j) * Math.log(half) - half - logGamma(0.5 * degrees + j + 1));
  const weight = (j: number): number => Math.exp(-mean + (j === 0 ? 0 : j * Math.log(mean)) - logGamma(j + 1));
  let [lower, tail] = [0, lowerSeries(0.5 * degrees + to + 1, half)];
  for (let j = to; j >= from; j--) {
    tail += step(j);
    lower += weight(j) * Math.min(tail, 1);
  }
  return { lower, upper: 1 - lower };
}

/** The regularised lower incomplete gamma function by its power series; all terms are positive. */
function lowerSeries(a: number, x: number): number {
  let term = Math.exp(a * Math.log(x) - x - logGamma(a + 1));
  let sum = term;
  for (let n = 1; term > 1e-18 * sum; n++) sum += term *= x / (a + n);
  return sum;
}

/** ln Γ(a) by Stirling's series from above 15 on. */
function logGamma(a: number): number {
  let [shift, z] = [0, a];
  for (; z < 15; z++) shift += Math.log(z);
  const w = 1 / (z * z);
  const series = (1 / 12 - w * (1 / 360 - w * (1 / 1260 - w / 1680))) / z;
  return (z - 0.5) * Math.log(z) - z + 0.5 * Math.log(2 * Math.PI) + series - shift;
}

/**
 * e^{−r·t}·E[g(S_t)] by Gauss and Legendre's rule between breakpoints, with S lognormal (and absorbed at two levels
 * before, if given).
 * `breaks` are the spots where g or a derivative of it jumps or turns fast.
 */
export function expectation(
  model: Lognormal,
  g: (spot: number) => number,
  breaks: readonly number[],
  [low, high]: readonly [number, number] = [0, Infinity],
): number {
  const { spot, rate, yield: q, volatility, expiry } = model;
  const s = volatility * Math.sqrt(expiry);
  const image: Image = { tilt: (rate - q) / volatility ** 2 - 0.5, s, x: Math.log(spot) };
  const means = imagesOf(image, low, high);
  const centre = image.x + image.tilt * s * s;
  const [first, last] = [Math.max(centre - 10 * s, Math.log(low)), Math.min(centre + 10 * s + s * s, Math.log(high))];
  const even = Array.from({ length: 61 }, (_, i) => first + ((last - first) * i) / 60);
  const inside = breaks
    .filter((b) => b > 0)
    .map(Math.log)
    .filter((y) => y > first && y < last);
  const points = [...even, ...inside].sort((a, b) => a - b);
  const weightAt = (y: number): number => {
    const tilt = image.tilt * (y - image.x) - 0.5 * image.tilt ** 2 * s * s;
    return means.reduce((sum, { mean, sign }) => sum + sign * Math.exp(tilt - 0.5 * ((y - mean) / s) ** 2), 0);
  };
  let sum = 0;
  for (let i = 1; i < points.length; i++)
    sum += gaussLegendre(points[i - 1], points[i], (y) => weightAt(y) * g(Math.exp(y)));
  return (Math.exp(-rate * expiry) * sum) / (s * Math.sqrt(2 * Math.PI));
}

const NODES = [0.1834346424956498, 0.525532409916329, 0.7966664774136267, 0.9602898564975363];
const WEIGHTS = [0.362683783378362, 0.3137066458778873, 0.2223810344533745, 0.1012285362903763];

function gaussLegendre(a: number, b: number, f: (x: number) => number): number {
  const [centre, half] = [0.5 * (a + b), 0.5 * (b - a)];
  return NODES.reduce(
    (sum, node, i) => sum + half * WEIGHTS[i] * (f(centre - half * node) + f(centre + half * node)),
    0,
  );
}

/** Breakpoints about a kink that a deviation of `s` has rounded. */
export function aroundKink(kink: number, s: number): number[] {
  return [-8, -6, -4, -3, -2, -1, -0.5, 0, 0.5, 1, 2, 3, 4, 6, 8].map((k) => kink * Math.exp(k * s));
}
