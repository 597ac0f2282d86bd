/**
 * Values of trades on several Black–Scholes assets by quadrature: the payoff's mean over the last asset is a closed
 * form, that over the others a sum.
 */
import {
  type AssetJson,
  driftOf,
  type LevelJson,
  meanOf,
  type Mixture,
  type Motion,
  type Pieces,
  type Rule,
  ruleOf,
  ruleOnDates,
  survivors,
} from "./densities.ts";

export type PayoffJson =
  | { readonly basket: "call" | "put"; readonly weights: readonly number[]; readonly kind?: "geometric" }
  | { readonly spread: "call" | "put" }
  | { readonly bestOf: "call" | "put" }
  | { readonly worstOf: "call" | "put" };

export interface AssetsMarket {
  readonly assets: readonly AssetJson[];
  readonly correlations: readonly (readonly number[])[];
  readonly rate: number;
  readonly expiry: number;
}

const call = (slope: number, strike: number) => ({ slope, strike });

/** The payoff as a function of the last asset, the others standing at `spots`. */
function piecesOf(payoff: PayoffJson, spots: readonly number[], strike: number): Pieces {
  if ("bestOf" in payoff || "worstOf" in payoff) {
    const best = "bestOf" in payoff;
    const right = best ? payoff.bestOf : payoff.worstOf;
    const m = best ? Math.max(...spots) : Math.min(...spots);
    // (index − K)⁺, and for puts less index − K.
    const calls = best
      ? m >= strike
        ? [call(1, m)]
        : [call(1, strike)]
      : m <= strike
        ? []
        : [call(1, strike), call(-1, m)];
    const constant = best ? Math.max(m - strike, 0) : 0;
    if (right === "call") return { constant, calls };
    return best
      ? { constant: constant - m + strike, calls: [...calls, call(-1, m)] }
      : { constant: strike, calls: [...calls, call(-1, 0), call(1, m)] };
  }
  const weights = "spread" in payoff ? [1, -1] : payoff.weights;
  const right = "spread" in payoff ? payoff.spread : payoff.basket;
  const sign = right === "call" ? 1 : -1;
  const a = sign * (spots.reduce((sum, spot, i) => sum + weights[i] * spot, 0) - strike);
  const w = sign * weights[weights.length - 1];
  // (a + w·S)⁺
  if (w > 0) return a >= 0 ? { constant: a, calls: [call(w, 0)] } : { constant: 0, calls: [call(w, -a / w)] };
  return a <= 0 ? { constant: 0, calls: [] } : { constant: a, calls: [call(w, 0), call(-w, -a / w)] };
}

/**
 * A European trade on two or three assets, discounted. `barrier` stands on the first asset alone; `last` on the last,
 * which then must be independent of the others.
 */
export function europeanValue(
  market: AssetsMarket,
  payoff: PayoffJson,
  strike: number,
  barriers: { readonly first?: LevelJson; readonly last?: LevelJson } = {},
): number {
  const { assets, correlations, rate, expiry } = market;
  const n = assets.length;
  const motions = assets.map((asset): Motion => ({ ...asset, rate, expiry }));
  const factor = choleskyOf(correlations);
  const { first, last } = barriers;
  const outer: Rule =
    first?.dates === undefined
      ? ruleOf(survivors(motions[0], first), n === 2 ? 4000 : 700)
      : ruleOnDates(motions[0], first);
  const normals = ruleOf({ from: -Infinity, to: Infinity, deviation: 1, parts: [{ weight: 1, mean: 0 }] }, 500);
  const deviations = motions.map(({ volatility }) => volatility * Math.sqrt(expiry));
  const end = motions[n - 1];
  const own = factor[n - 1][n - 1] * deviations[n - 1];
  let sum = 0;
  const inner = (z: readonly number[], spots: readonly number[], weight: number): void => {
    const mean = driftOf(end) * expiry + deviations[n - 1] * z.reduce((s, one, k) => s + factor[n - 1][k] * one, 0);
    const mixture: Mixture =
      last === undefined
        ? { from: -Infinity, to: Infinity, deviation: Math.max(own, 1e-9), parts: [{ weight: 1, mean }] }
        : survivors(end, last);
    sum += weight * meanOf(piecesOf(payoff, spots, strike), mixture, end.spot);
  };
  outer.nodes.forEach((x, i) => {
    const weight = outer.weights[i];
    if (Math.abs(weight) < 1e-18) return;
    const z0 = (x - driftOf(motions[0]) * expiry) / deviations[0];
    const s0 = motions[0].spot * Math.exp(x);
    if (n === 2) return inner([z0], [s0], weight);
    const deviation = factor[1][1] * deviations[1];
    const mean = driftOf(motions[1]) * expiry + deviations[1] * factor[1][0] * z0;
    normals.nodes.forEach((z1, k) => {
      const both = weight * normals.weights[k];
      if (Math.abs(both) < 1e-14) return;
      inner([z0, z1], [s0, motions[1].spot * Math.exp(mean + deviation * z1)], both);
    });
  });
  return Math.exp(-rate * expiry) * sum;
}

/** The lower triangular factor of a correlation matrix. */
function choleskyOf(matrix: readonly (readonly number[])[]): readonly (readonly number[])[] {
  const L = matrix.map((row) => row.map(() => 0));
  for (let i = 0; i < matrix.length; i++)
    for (let j = 0; j <= i; j++) {
      const rest = matrix[i][j] - L[i].slice(0, j).reduce((sum, one, k) => sum + one * L[j][k], 0);
      L[i][j] = i === j ? Math.sqrt(Math.max(rest, 0)) : L[j][j] > 1e-12 ? rest / L[j][j] : 0;
    }
  return L;
}
