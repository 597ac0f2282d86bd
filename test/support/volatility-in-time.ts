/**
 * One option under a volatility of time alone, by the trapezoidal rule and BDF2 in turn (TR-BDF2; Bank et al. 1985), on
 * equidistant nodes of ln S with one on the barrier. Steps are short in variance, and end where volatility changes. It
 * shares nothing with the library: no mesh, no time grid, no scheme.
 */
import { normalCdf } from "./normal.ts";

/** σ = `from` at the start of a piece of time, linear to `to` at its end, or `at` any time in it. */
export interface Piece {
  readonly end: number;
  readonly at: (time: number) => number;
}

export interface VaryingTerms {
  readonly right: "call" | "put";
  readonly spot: number;
  readonly strike: number;
  readonly expiry: number;
  readonly rate: number;
  readonly dividendYield: number;
  /** The pieces of σ up to expiry or beyond, each smooth. */
  readonly pieces: readonly Piece[];
  /** A knock-out that is monitored for the whole life. */
  readonly barrier?: { readonly side: "up" | "down"; readonly level: number };
  /** "american", or the times of exercise before expiry; European by default. */
  readonly exercise?: "american" | readonly number[];
}

/** ∫σ² dt by Gauss and Legendre's rule of three points on 64 parts of each piece. */
export function varianceOver({ pieces }: Pick<VaryingTerms, "pieces">, from: number, to: number): number {
  let variance = 0;
  let start = 0;
  for (const { end, at } of pieces) {
    const [low, high] = [Math.max(from, start), Math.min(to, end)];
    start = end;
    if (!(high > low)) continue;
    const h = (high - low) / 64;
    for (let i = 0; i < 64; i++)
      for (const [x, weight] of [
        [-Math.sqrt(0.6), 5 / 18],
        [0, 8 / 18],
        [Math.sqrt(0.6), 5 / 18],
      ])
        variance += weight * h * at(low + h * (i + 0.5 + 0.5 * x)) ** 2;
  }
  return variance;
}

/** Black's formula with the integrated variance. */
export function blackPrice(terms: VaryingTerms): number {
  const { right, spot, strike, expiry, rate, dividendYield } = terms;
  const deviation = Math.sqrt(varianceOver(terms, 0, expiry));
  const forward = spot * Math.exp((rate - dividendYield) * expiry);
  const sign = right === "call" ? 1 : -1;
  const d = Math.log(forward / strike) / deviation;
  const [first, second] = [d + 0.5 * deviation, d - 0.5 * deviation].map((x) => normalCdf(sign * x));
  return sign * Math.exp(-rate * expiry) * (forward * first - strike * second);
}

/** The price, and how far it is from that on half of the nodes and steps. */
export function varyingPrice(terms: VaryingTerms, nodes = 1200): { readonly value: number; readonly error: number } {
  const [coarse, fine] = [solve(terms, nodes / 2), solve(terms, nodes)];
  return { value: fine + (fine - coarse) / 3, error: Math.abs(fine - coarse) / 3 };
}

interface Step {
  readonly from: number;
  readonly to: number;
  readonly variance: number;
}

/** Steps forward in time, `count` of them equal in variance and as many in time. */
function stepsOf(terms: VaryingTerms, count: number): readonly Step[] {
  const { expiry, pieces, exercise = [] } = terms;
  const all = varianceOver(terms, 0, expiry);
  const dates = [...pieces.map(({ end }) => end), ...(exercise === "american" ? [] : exercise)].filter(
    (t) => t < expiry,
  );
  const ends = [...new Set([...dates, expiry])].toSorted((a, b) => a - b);
  let start = 0;
  return ends.flatMap((end) => {
    const share = Math.max(varianceOver(terms, start, end) / all, (end - start) / expiry);
    const steps = Math.ceil(count * share) + 8;
    const [from, length] = [start, end - start];
    start = end;
    // Quadratic towards the end of the piece, where the solution is rough.
    const time = (i: number): number => end - length * (1 - i / steps) ** 2;
    return Array.from({ length: steps }, (_, i) => {
      const [a, b] = [i === 0 ? from : time(i), i + 1 === steps ? end : time(i + 1)];
      return { from: a, to: b, variance: varianceOver(terms, a, b) };
    });
  });
}

const GAMMA = 2 - Math.SQRT2;

function solve(terms: VaryingTerms, nodes: number): number {
  const { right, spot, strike, expiry, rate, dividendYield, barrier, exercise = [] } = terms;
  const deviation = Math.sqrt(varianceOver(terms, 0, expiry));
  const drift = (rate - dividendYield) * expiry;
  const reach = 7 * deviation + 0.5 * deviation ** 2 + Math.abs(drift);
  const ends = [Math.log(Math.min(spot, strike)) - reach, Math.log(Math.max(spot, strike)) + reach];
  if (barrier?.side === "up") ends[1] = Math.log(barrier.level);
  if (barrier?.side === "down") ends[0] = Math.log(barrier.level);
  const dx = (ends[1] - ends[0]) / nodes;
  const price = Float64Array.from({ length: nodes + 1 }, (_, i) => Math.exp(ends[0] + i * dx));
  const sign = right === "call" ? 1 : -1;
  const payoff = price.map((S) => Math.max(sign * (S - strike), 0));
  let u = cellMeans(payoff, ends[0], dx, sign, strike);
  const out = (values: Float64Array): void => {
    if (barrier?.side === "up") values[nodes] = 0;
    if (barrier?.side === "down") values[0] = 0;
  };
  out(u);
  const american = exercise === "american";
  for (const { from, to, variance } of stepsOf(terms, nodes / 2).toReversed()) {
    const dt = to - from;
    const a = (0.5 * variance) / (dx * dx);
    const b = ((rate - dividendYield) * dt - 0.5 * variance) / (2 * dx);
    const [lower, upper] = [a - b, a + b];
    const middle = -2 * a - rate * dt;
    const apply = (v: Float64Array, scale: number): Float64Array =>
      v.map((value, i) =>
        i === 0 || i === nodes ? value : value + scale * (lower * v[i - 1] + middle * value + upper * v[i + 1]),
      );
    const edge = (values: Float64Array, time: number): void => {
      // Beyond the outer ends the payoff is certain.
      for (const i of [0, nodes]) {
        const tau = expiry - time;
        const forward = sign * (price[i] * Math.exp(-dividendYield * tau) - strike * Math.exp(-rate * tau));
        values[i] = american ? Math.max(forward, payoff[i]) : Math.max(forward, 0);
      }
      out(values);
    };
    const implicit = (rhs: Float64Array, h: number, time: number): Float64Array => {
      edge(rhs, time);
      return solved(rhs, -h * lower, 1 - h * middle, -h * upper, american ? payoff : undefined, sign);
    };
    const stage = implicit(apply(u, 0.5 * GAMMA), 0.5 * GAMMA, to - GAMMA * dt);
    const weight = 1 / (GAMMA * (2 - GAMMA));
    const last = u;
    u = implicit(
      stage.map((value, i) => weight * value - (1 - GAMMA) ** 2 * weight * last[i]),
      (1 - GAMMA) / (2 - GAMMA),
      from,
    );
    if (exercise !== "american" && exercise.includes(from)) u = u.map((value, i) => Math.max(value, payoff[i]));
    out(u);
  }
  return cubic(u, (Math.log(spot) - ends[0]) / dx);
}

/** The payoff averaged over the cell that has the strike. */
function cellMeans(payoff: Float64Array, low: number, dx: number, sign: number, strike: number): Float64Array {
  return payoff.map((value, i) => {
    const [a, b] = [low + (i - 0.5) * dx, low + (i + 0.5) * dx];
    const x = Math.log(strike);
    if (x < a || x > b) return value;
    const [from, to] = sign > 0 ? [x, b] : [a, x];
    return (sign * (Math.exp(to) - Math.exp(from) - strike * (to - from))) / dx;
  });
}

/** Thomas' algorithm towards the side where exercise may be, so that the substitution may take the larger (1977). */
function solved(
  rhs: Float64Array,
  lower: number,
  middle: number,
  upper: number,
  obstacle: Float64Array | undefined,
  sign: number,
): Float64Array {
  const last = rhs.length - 1;
  // Elimination starts away from the exercise region: at the top for puts, at the bottom for calls.
  const from = sign > 0 ? 0 : last;
  const step = sign > 0 ? 1 : -1;
  const [behind, ahead] = sign > 0 ? [lower, upper] : [upper, lower];
  const factor = new Float64Array(last + 1);
  const value = new Float64Array(last + 1);
  value[from] = rhs[from];
  let i = from + step;
  for (let k = 1; k < last; k++, i += step) {
    const pivot = middle - behind * factor[i - step];
    factor[i] = ahead / pivot;
    value[i] = (rhs[i] - behind * value[i - step]) / pivot;
  }
  value[i] = rhs[i];
  for (i -= step; i !== from; i -= step) {
    value[i] -= factor[i] * value[i + step];
    if (obstacle !== undefined) value[i] = Math.max(value[i], obstacle[i]);
  }
  return value;
}

function cubic(u: Float64Array, place: number): number {
  const first = Math.min(Math.max(Math.floor(place) - 1, 0), u.length - 4);
  let sum = 0;
  for (let i = 0; i < 4; i++) {
    let weight = 1;
    for (let j = 0; j < 4; j++) if (j !== i) weight *= (place - first - j) / (i - j);
    sum += weight * u[first + i];
  }
  return sum;
}
