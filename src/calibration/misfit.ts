/**
 * The misfit of a local volatility: the prices of European calls under it, minus those under the fitted smile from
 * which it was computed. With κ = K/F, w(k, t) the total variance at k = ln κ, and prices in units of the forward, both
 * obey Dupire's equation, each with its own local volatility, so that their difference m solves
 *
 *   ∂m/∂t = ½σ²κ²·∂²m/∂κ² + κ·φ(d₂)/(2√w)·(σ²·g − ∂w/∂t),   m(κ, 0) = 0,   g of `butterflyFunction`.
 *
 * The source is 0 where σ is Dupire's local volatility. Because m itself is small, a coarse grid suffices to compute it
 * to a few per cent, whereas differences of prices would need a fine grid. Verified: test/calibration/misfit, by
 * Black's formula, and test/pricing/smile-misfit.
 */
import {
  type AffineSpot,
  type LocalSurface,
  rowMean,
  rowVolatility,
  type Smile,
  smileVariance,
} from "../market/index.ts";
import { butterflyFunction } from "./arbitrage.ts";
import { forwardStep, type MoneynessGrid, gridFromNodes } from "./forward-step.ts";

/** The misfit of undiscounted calls at one time: their errors in units of the forward, at the nodes κ. */
export interface Misfit {
  readonly kappa: Float64Array;
  readonly calls: Float64Array;
}

/** A fitted smile, its local volatility, and the spot of its market as an affine function of a martingale. */
interface LocalFit {
  readonly smile: Smile;
  readonly surface: LocalSurface;
  readonly affine: AffineSpot;
}

/** Steps from one time of the surface to the next, and intervals from one of its spots to the next. */
const [STEPS, PARTS] = [2, 2] as const;
/** Times of a surface that are nearer to each other, relative to themselves, are the two sides of a jump. */
const JUMP = 1e-5;
/** The growth of time from step to step beyond the surface's last time. */
const GROWTH = 1.25;

/** The misfit of a local volatility as a function of time. A time is computed when it is first needed. */
export class LocalMisfit {
  readonly #fit: LocalFit;
  readonly #grid: MoneynessGrid;
  readonly #times: number[] = [0];
  readonly #calls: Float64Array[];
  /** The times of the surface that are still to come. */
  readonly #left: number[];

  constructor(fit: LocalFit) {
    this.#fit = fit;
    this.#grid = gridFromNodes(nodesOf(fit));
    this.#calls = [new Float64Array(this.#grid.k.length)];
    this.#left = fit.surface.times.filter((time) => time > 0);
  }

  /** Returns the misfit at t ≥ 0 years, linear between the times of the computation. */
  at(t: number): Misfit {
    const times = this.#times;
    while (times[times.length - 1] < t) this.#advance();
    const next = Math.max(
      times.findIndex((time) => time >= t),
      1,
    );
    if (times.length === 1) return { kappa: this.#grid.kappa, calls: this.#calls[0] };
    const share = (t - times[next - 1]) / (times[next] - times[next - 1]);
    const [before, after] = [this.#calls[next - 1], this.#calls[next]];
    return { kappa: this.#grid.kappa, calls: before.map((value, j) => value + share * (after[j] - value)) };
  }

  #advance(): void {
    const from = this.#times[this.#times.length - 1];
    let to = this.#left.shift() ?? from * GROWTH;
    while (to - from < JUMP * to) to = this.#left.shift() ?? from * GROWTH;
    let calls = this.#calls[this.#calls.length - 1];
    const elapsed = (to - from) / STEPS;
    for (let step = 0; step < STEPS; step++) {
      const { sigma, source } = this.#middle(from + (step + 0.5) * elapsed);
      const right = calls.map((value, j) => value + elapsed * source[j]);
      calls = forwardStep(this.#grid, { elapsed, sigma, before: { calls: right, puts: right } }).prices.calls;
    }
    this.#times.push(to);
    this.#calls.push(calls);
  }

  /** The volatility of the martingale and the source at a time. */
  #middle(t: number): { readonly sigma: Float64Array; readonly source: Float64Array } {
    const { smile, surface, affine } = this.#fit;
    const { k, kappa } = this.#grid;
    const { scale, cash } = affine.at(t);
    const row = rowMean(surface, t, t);
    const [sigma, source] = [new Float64Array(k.length), new Float64Array(k.length)];
    for (let j = 1; j < k.length - 1; j++) {
      const own = scale * affine.start * kappa[j];
      sigma[j] = (rowVolatility(surface, row, own + cash) * (own + cash)) / own;
      const { variance, slope, curvature, byTime } = smileVariance(smile, k[j], t);
      if (!(variance > 0)) continue;
      const deviation = Math.sqrt(variance);
      const d2 = -k[j] / deviation - 0.5 * deviation;
      const density = Math.exp(-0.5 * d2 * d2) / Math.sqrt(2 * Math.PI);
      const g = butterflyFunction({ k: k[j], variance, slope, curvature });
      source[j] = ((kappa[j] * density) / (2 * deviation)) * (sigma[j] * sigma[j] * g - byTime);
    }
    return { sigma, source };
  }
}

/** Returns ln κ at the spots of a surface and between them. */
function nodesOf({ surface: { spots }, affine }: LocalFit): Float64Array {
  const { cash } = affine.at(0);
  const k = spots.filter((spot) => spot > cash).map((spot) => Math.log((spot - cash) / affine.start));
  const between = k.slice(1).flatMap((to, i) => {
    return Array.from({ length: PARTS }, (_, part) => k[i] + ((part + 1) / PARTS) * (to - k[i]));
  });
  return Float64Array.from([k[0], ...between]);
}

/** Returns the misfit of E[f(κ)], as a sum over strikes, and the sum of the absolute values of its terms. */
export function expectationMisfit(
  { kappa, calls }: Misfit,
  f: (kappa: number) => number,
): { readonly sum: number; readonly size: number } {
  let [sum, size] = [0, 0];
  for (let j = 1; j < kappa.length - 1; j++) {
    const [left, right] = [kappa[j] - kappa[j - 1], kappa[j + 1] - kappa[j]];
    const term = f(kappa[j]) * ((calls[j + 1] - calls[j]) / right - (calls[j] - calls[j - 1]) / left);
    sum += term;
    size += Math.abs(term);
  }
  return { sum, size };
}
