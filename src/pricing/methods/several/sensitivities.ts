/** Sensitivities of a trade in several factors, from the grid where it has them, else by differences. */
import type { AssetSensitivities, PairSensitivity } from "../../../book/index.ts";
import type { AxesDerivatives } from "../../../fdm/index.ts";
import { alphaOf, integrate, varianceOf } from "../../../market/index.ts";
import type { Several } from "../../columns/result-columns.ts";
import { assetName, factorEquation } from "./equation.ts";
import { combined, sigmaOf } from "./in-time.ts";
import { payoffAt } from "./payoff.ts";
import type { Bump, Terms } from "../../terms.ts";
import { Parameters } from "./text.ts";
import { power } from "../../../elementary.ts";
import { keyOf } from "../../../remembered.ts";

/** Moves of volatilities, rates and correlations: errors of the difference are of second order in them. */
const VOLATILITY = 2e-3;
const RATE = 1e-3;
const CORRELATION = 1e-2;
/** The share of its distance to the end of its range that a correlation moves by, and the smallest such move. */
const ROOM = 0.2;
const MIN_CORRELATION = 2e-4;
/** A driver with less variance than this of its own is one of the others. */
const SINGULAR = 1e-9;

/** A move of a spot, relative to it, for the derivative of a payoff. */
const SPOT = 1e-5;

/** The bumps that a trade's sensitivities need beside its grid. */
export function bumpsOf(terms: Terms): readonly Bump[] {
  const { assets, correlations } = terms;
  const both = (by: number, make: (by: number) => Bump): Bump[] => [make(by), make(-by)];
  const volatilities = assets.flatMap(({ volatility: { kind } }, asset) =>
    kind === "heston" || kind === "sabr" ? [] : both(VOLATILITY, (by) => ({ kind: "volatility", asset, by })),
  );
  const pairs = pairsOf(correlations.length).flatMap((pair) =>
    correlationMoves(correlations, pair).map((by): Bump => ({ kind: "correlation", pair, by })),
  );
  return [...volatilities, ...both(RATE, (by) => ({ kind: "rate", by })), ...pairs];
}

/**
 * Two moves of a correlation within what the others allow it. Values bend the more the nearer its range ends, since the
 * volatility of a spread is a root of the distance.
 */
function correlationMoves(matrix: readonly (readonly number[])[], [i, j]: readonly [number, number]): number[] {
  // What the other drivers leave of the two: the Schur complement.
  const rest = matrix.map((row) => [...row]);
  matrix.forEach((_, k) => {
    if (k === i || k === j || rest[k][k] < SINGULAR) return;
    const row = [...rest[k]];
    for (const a of rest.keys()) {
      const share = rest[a][k] / row[k];
      for (const b of rest.keys()) rest[a][b] -= share * row[b];
    }
  });
  const half = Math.sqrt(Math.max(rest[i][i] * rest[j][j], 0));
  const [up, down] = [half - rest[i][j], half + rest[i][j]];
  const both = Math.min(CORRELATION, ROOM * Math.min(up, down));
  if (both >= MIN_CORRELATION) return [both, -both];
  // At an end of the range both to the one side that there is.
  const one = Math.max(Math.min(CORRELATION, ROOM * Math.max(up, down)), MIN_CORRELATION);
  return up > down ? [one, 2 * one] : [-one, -2 * one];
}

export function pairsOf(count: number): readonly (readonly [number, number])[] {
  return Array.from({ length: count }, (_, i) =>
    Array.from({ length: count - i - 1 }, (_, k) => [i, i + 1 + k] as const),
  ).flat();
}

/**
 * Tells whether all sensitivities follow from delta and gamma: European, no barriers, volatilities of time. ln S is
 * then normal at expiry, and a change of its covariances C moves the value by ½ Σ (∂²V/∂xᵢ∂xₗ)·dCᵢₗ (Reiss & Wystup
 * 2001):
 *
 *   ∂V/∂σᵢ = Σₗ ρᵢₗ ∫σₗ·SᵢSₗ·Γᵢₗ,   ∂V/∂ρᵢₗ = ∫σᵢσₗ·SᵢSₗ·Γᵢₗ,   ∂V/∂r = T·(Σ SᵢΔᵢ − V).
 */
export const followFromGamma = ({ exercise, barriers, assets, shortRate }: Terms): boolean =>
  exercise.kind === "european" &&
  barriers.length === 0 &&
  shortRate === undefined &&
  assets.every(({ volatility }) => volatility.kind === "deterministic");

/** The derivatives that `followFromGamma` speaks of. */
export function slopesFromGamma(
  { assets, correlations, expiry }: Terms,
  { value, first, second }: AxesDerivatives,
  spots: readonly number[],
): readonly Slope[] {
  const axes = assets.map((_, i) => assetName(assets.length, i));
  const gamma = (i: number, l: number): number => spots[i] * spots[l] * second[axes[i] + axes[l]];
  const sigmas = assets.map(({ volatility }) => sigmaOf(volatility));
  const volatilities = assets.map((_, asset): Slope => ({
    bump: { kind: "volatility", asset, by: 0 },
    slope: sum(assets.map((_one, l) => correlations[asset][l] * integrate(sigmas[l], expiry) * gamma(asset, l))),
  }));
  const pairs = pairsOf(assets.length).map((pair): Slope => {
    const [i, l] = pair;
    const covariance = integrate(
      combined([sigmas[i], sigmas[l]], ([a, b]) => a * b),
      expiry,
    );
    return { bump: { kind: "correlation", pair, by: 0 }, slope: covariance * gamma(i, l) };
  });
  const rate = expiry * (sum(spots.map((spot, i) => spot * first[axes[i]])) - value);
  return [...volatilities, ...pairs, { bump: { kind: "rate", by: 0 }, slope: rate }];
}

/** The derivative by what a bump moves. */
export interface Slope {
  readonly bump: Bump;
  readonly slope: number;
}

/** Returns the slopes through the values of two bumps of the same thing. */
export function slopesOf(values: readonly { readonly bump: Bump; readonly value: number }[]): readonly Slope[] {
  const pairs = new Map<string, { readonly bump: Bump; readonly value: number }>();
  return values.flatMap((one) => {
    const key = keyOf({ ...one.bump, by: 0 });
    const other = pairs.get(key);
    pairs.set(key, one);
    if (other === undefined) return [];
    return [{ bump: one.bump, slope: (one.value - other.value) / (one.bump.by - other.bump.by) }];
  });
}

/** The values and sensitivities found for a trade. */
export interface Found {
  readonly value: number;
  readonly delta: number;
  readonly gamma: number;
  readonly theta: number;
  readonly vega: number;
  readonly rho: number;
  readonly several: Several;
}

/**
 * A trade's value and sensitivities. Those of a move of all underlyings together are the sums
 *
 *   delta = Σ ∂V/∂Sᵢ,   gamma = Σ ∂²V/∂Sᵢ∂Sⱼ,   vega = Σ ∂V/∂σᵢ.
 *
 * The vega of Heston's model is that to √v₀, of SABR to today's volatility α·S^(β−1), both from the grid. Theta is
 * −Σ aᵢⱼ V_ij − Σ bᵢ Vᵢ + rV, from the equation. `payable`: whether the trade may be exercised now.
 */
export function sensitivitiesOf(
  terms: Terms,
  names: readonly string[],
  point: AxesDerivatives,
  spots: readonly number[],
  payable: boolean,
  slopes: readonly Slope[],
): Found {
  const paid = payable ? payoffAt(terms, spots) : Number.NEGATIVE_INFINITY;
  if (paid >= point.value * (1 - 1e-12) && paid > 0) return exercised(terms, names, spots, paid);
  return fromGrid(terms, names, point, spots, slopes);
}

/** Computes sensitivities from derivatives and slopes, in both of which they are linear. */
export function fromGrid(
  terms: Terms,
  names: readonly string[],
  point: AxesDerivatives,
  spots: readonly number[],
  slopes: readonly Slope[],
): Found {
  const { assets } = terms;
  const axes = assets.map((_, i) => assetName(assets.length, i));
  const delta = axes.map((name) => point.first[name]);
  const second = (i: number, j: number): number => point.second[axes[i] + axes[j]];
  const pairs = pairsOf(assets.length);
  const cross = pairs.map(([i, j]) => second(i, j));
  const gamma = axes.map((_, i) => second(i, i));
  const vega = assets.map((_, i) => vegaOf(terms, i, point, slopes));
  return {
    value: point.value,
    delta: sum(delta),
    gamma: sum(gamma) + 2 * sum(cross),
    theta: thetaOf(terms, point, spots),
    vega: sum(vega),
    rho: slope(slopes, ({ kind }) => kind === "rate"),
    several: {
      assets: assets.map((_, i) => ({ delta: delta[i], gamma: gamma[i], vega: vega[i] })),
      crossGamma: pairs.map(([i, j], k) => [names[i], names[j], cross[k]]),
      correlation: pairsOf(terms.correlations.length).map(([i, j]) => [
        names[i],
        names[j],
        slope(slopes, (bump) => bump.kind === "correlation" && bump.pair[0] === i && bump.pair[1] === j),
      ]),
    },
  };
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

function vegaOf({ assets }: Terms, i: number, { first }: AxesDerivatives, slopes: readonly Slope[]): number {
  const { volatility, underlying } = assets[i];
  const suffix = assets.length === 1 ? "" : String(i + 1);
  if (volatility.kind === "heston") return 2 * Math.sqrt(varianceOf(volatility)) * first[`v${suffix}`];
  if (volatility.kind === "sabr")
    return alphaOf(volatility, underlying.spot) > 0
      ? first[`a${suffix}`] * power(underlying.spot, 1 - volatility.beta)
      : 0;
  return slope(slopes, (bump) => bump.kind === "volatility" && bump.asset === i);
}

/** NaN where there is none. */
const slope = (slopes: readonly Slope[], matches: (bump: Bump) => boolean): number =>
  slopes.find(({ bump }) => matches(bump))?.slope ?? Number.NaN;

/** Theta from the equation at the point itself. */
function thetaOf(terms: Terms, { value, first, second }: AxesDerivatives, spots: readonly number[]): number {
  const p = new Parameters();
  const { factors, coefficients } = factorEquation(
    terms,
    terms,
    spots.map((spot) => [spot]),
    p,
  );
  const state = Object.fromEntries([["t", 0], ...factors.map(({ name, today }, k) => [name, spots[k] ?? today])]);
  return -Object.entries(coefficients).reduce((total, [name, text]) => {
    const derivative = name === "V" ? value : (first[name] ?? second[name]);
    return total + p.evaluate(text, state) * derivative;
  }, 0);
}

/** The sensitivities of a trade that is exercised at once: it moves as its payoff does. */
function exercised(terms: Terms, names: readonly string[], spots: readonly number[], value: number): Found {
  const at = (moved: readonly number[]): number => payoffAt(terms, moved);
  const delta = spots.map((spot, i) => {
    const by = SPOT * spot;
    return (at(spots.with(i, spot + by)) - at(spots.with(i, spot - by))) / (2 * by);
  });
  const zeros = (pairs: readonly (readonly [number, number])[]): PairSensitivity[] =>
    pairs.map(([i, j]) => [names[i], names[j], 0]);
  return {
    value,
    delta: sum(delta),
    gamma: 0,
    theta: 0,
    vega: 0,
    rho: 0,
    several: {
      assets: delta.map((one): AssetSensitivities => ({ delta: one, gamma: 0, vega: 0 })),
      crossGamma: zeros(pairsOf(terms.assets.length)),
      correlation: zeros(pairsOf(terms.correlations.length)),
    },
  };
}

/**
 * Returns the sensitivities of a trade whose value is known: at expiry it moves as its payoff, after a knock-out with
 * the rates at most.
 */
export function knownSensitivities(
  terms: Terms,
  names: readonly string[],
  spots: readonly number[],
  { value, method, discounted }: { readonly value: number; readonly method: string; readonly discounted: boolean },
): Found {
  if (method === "payoff" && value !== 0) return { ...exercised(terms, names, spots, value), value };
  const none = exercised({ ...terms, payoff: { kind: "expression", expression: "0", kinks: [] } }, names, spots, value);
  if (!discounted) return none;
  return { ...none, theta: terms.rates.values[0] * value, rho: -terms.expiry * value };
}
