/** The equation of assets whose logarithms are normal, on the axes of some coordinates. */
import type { AxesDerivatives } from "../../fdm/index.ts";
import { integrate, type PiecewiseConstant } from "../../market/index.ts";
import type { Terms } from "../terms.ts";
import { type Coordinates, covarianceRate, driftOf, weighted } from "./coordinates.ts";
import { assetName } from "./equation.ts";
import type { Parameters } from "./text.ts";

/** A lognormal equation as formulas, with the spots as formulas of the axes' variables. */
export interface LognormalEquation {
  /** The names of the axes' variables: S on an asset's own axis, y on the others. */
  readonly names: readonly string[];
  readonly coefficients: Readonly<Record<string, string>>;
  /** The spots at expiry as formulas, by asset. */
  readonly atExpiry: readonly string[];
  readonly atTime: readonly string[];
}

/**
 * Returns the equation in the coordinates y of x = m(t) + A·y,
 *
 *   ∂V/∂t + Σ Dⱼₖ ∂²V/∂yⱼ∂yₖ + Σ dⱼ ∂V/∂yⱼ − r V = 0,   D = ½ A⁻¹(ρᵢₗσᵢσₗ)A⁻ᵀ,
 *
 * where dⱼ is the drift of an asset's own axis, on which levels are constant, and with `standing` of every axis, so
 * that the spots at a node are constant. The drifts of other axes are in m. With the volatilities and correlations that
 * define the coordinates, only own axes have mixed derivatives.
 */
export function lognormalEquation(
  terms: Terms,
  { A, inverse, owner }: Coordinates,
  standing: boolean,
  p: Parameters,
): LognormalEquation {
  const { assets, expiry, rates } = terms;
  const names = owner.map((asset, j) => (asset === undefined ? `y${j + 1}` : assetName(assets.length, asset)));
  const r = p.piecewise(rates, expiry, "r");
  const coefficients: Record<string, string> = { V: `-${r}`, ...diffusions(terms, inverse, owner, names, p) };
  const drifts = assets.map((_, i) => driftOf(terms, i));
  owner.forEach((asset, j) => {
    if (asset !== undefined)
      coefficients[names[j]] = `(${r} - ${p.add(assets[asset].underlying.dividends.yield, "q")})*${names[j]}`;
    else if (standing) coefficients[names[j]] = p.piecewise(weighted(drifts, inverse[j]), expiry, "d");
  });
  // m(t): what the axes without a drift have of each asset's.
  const isCarried = owner.map((asset) => asset === undefined && !standing);
  const carried = assets.map((_, i) =>
    weighted(
      drifts,
      assets.map((_one, l) => inverse.reduce((sum, row, j) => sum + (isCarried[j] ? A[i][j] * row[l] : 0), 0)),
    ),
  );
  const texts = (isAtExpiry: boolean): readonly string[] =>
    assets.map((asset, i) => {
      const at = owner.indexOf(i);
      if (at >= 0) return names[at];
      const grown = Math.exp(integrate(carried[i], expiry));
      const powers = owner.map((of, j) =>
        of === undefined || A[i][j] === 0
          ? ""
          : `*(${names[j]}/${p.add(assets[of].underlying.spot, "s")})^${p.add(A[i][j], "b")}`,
      );
      const sum = owner.flatMap((of, j) => (of === undefined ? [`${p.add(A[i][j], "Q")}*${names[j]}`] : []));
      const back = isAtExpiry || standing ? "" : ` - ${p.integral(carried[i], expiry, "m")}`;
      return `${p.add(asset.underlying.spot * grown, "s")}${powers.join("")}*exp(${sum.join(" + ")}${back})`;
    });
  return { names, coefficients, atExpiry: texts(true), atTime: texts(false) };
}

/** Dⱼₖ as formulas in t, twice that beside the diagonal; none that is zero at all times. */
function diffusions(
  terms: Terms,
  inverse: Coordinates["inverse"],
  owner: Coordinates["owner"],
  names: readonly string[],
  p: Parameters,
): Readonly<Record<string, string>> {
  const { assets, expiry } = terms;
  const rates = assets.flatMap((_, i) => assets.map((_one, l) => covarianceRate(terms, i, l)));
  const largest = Math.max(...rates.flatMap(({ values }) => values.map(Math.abs)));
  const rate = (j: number, k: number): PiecewiseConstant =>
    weighted(
      rates,
      inverse[j].flatMap((a) => inverse[k].map((b) => a * b)),
    );
  const scale = (j: number): string => (owner[j] === undefined ? "" : `*${names[j]}`);
  const all: Record<string, string> = {};
  names.forEach((a, j) => {
    all[a + a] = `0.5*${p.piecewise(rate(j, j), expiry, "D")}${scale(j)}${scale(j)}`;
    names.slice(j + 1).forEach((b, after) => {
      const k = j + 1 + after;
      const mixed = rate(j, k);
      if (mixed.values.some((value) => Math.abs(value) > 1e-12 * largest))
        all[a + b] = `${p.piecewise(mixed, expiry, "D")}${scale(j)}${scale(k)}`;
    });
  });
  return all;
}

/** Returns the axes' variables at given spots today. */
export const variablesAt = (
  { inverse, owner }: Coordinates,
  today: readonly number[],
  spots: readonly number[],
): readonly number[] =>
  owner.map((asset, j) =>
    asset === undefined
      ? inverse[j].reduce((sum, one, i) => sum + one * Math.log(spots[i] / today[i]), 0)
      : spots[asset],
  );

/** Converts the derivatives at a point from the axes' variables to the spots: ∂/∂xᵢ = Σ (A⁻¹)ⱼᵢ ∂/∂yⱼ. */
export function inSpots(
  { value, first, second }: AxesDerivatives,
  names: readonly string[],
  { inverse, owner }: Coordinates,
  spots: readonly number[],
): AxesDerivatives {
  // ∂/∂y of an own axis is S·∂/∂S.
  const scale = owner.map((asset) => (asset === undefined ? 1 : spots[asset]));
  const slope = names.map((name, j) => scale[j] * first[name]);
  const bend = names.map((a, j) =>
    names.map((b, k) => scale[j] * scale[k] * second[a + b] + (j === k && owner[j] !== undefined ? slope[j] : 0)),
  );
  const axes = spots.map((_, i) => assetName(spots.length, i));
  const slopes = spots.map((_, i) => slope.reduce((sum, one, j) => sum + inverse[j][i] * one, 0));
  const curvature = (i: number, l: number): number =>
    bend.reduce((sum, row, j) => sum + row.reduce((part, one, k) => part + inverse[j][i] * inverse[k][l] * one, 0), 0) -
    (i === l ? slopes[i] : 0);
  return {
    value,
    first: Object.fromEntries(axes.map((name, i) => [name, slopes[i] / spots[i]])),
    second: Object.fromEntries(
      axes.flatMap((a, i) => axes.map((b, l) => [a + b, curvature(i, l) / (spots[i] * spots[l])])),
    ),
  };
}
