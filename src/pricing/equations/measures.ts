/** Sensitivities in several factors: from the grid where it has them, else by differences; by the names of measures. */
import { sensitivityBy } from "../../base/differences.ts";
import { power } from "../../base/elementary.ts";
import { alphaOf, integrate, varianceOf } from "../../market/index.ts";
import type { AxesDerivatives } from "../../pde/fdm/index.ts";
import { correlationBias, distanceToEnd } from "../plan/correlation-moves.ts";
import {
  CORRELATION,
  CROSS,
  DELTA,
  type Differences,
  GAMMA,
  type Pair,
  pairsOf,
  RHO,
  THETA,
  VEGA,
} from "../plan/differences.ts";
import { type KnownSlope, slopeAcross } from "../plan/greeks.ts";
import type { Request } from "../plan/request.ts";
import { isExercisable, type Terms } from "../terms.ts";
import { totalVariance } from "../variance.ts";
import { assetName, factorEquation, payoffAt } from "./equation.ts";
import { evaluate } from "./expression.ts";
import { mapPiecewise, sigmaOf } from "./coordinates.ts";
import type { KnownValue } from "./parts.ts";
import type { GridEstimate } from "./solver.ts";

/** The sensitivities of a trade by name (`plan/differences.ts` has the names). */
export type Measures = ReadonlyMap<string, number>;

/** A move of a spot, relative to it, for the derivative of a payoff. */
const SPOT = 1e-5;

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/**
 * Tells whether rho follows from delta: a European trade without barriers pays a function of spots that are
 * proportional to their forwards. A shift of all rates then moves the value as a common relative move of the spots
 * does, but for discounting, whatever stochastic variances and short rates there are: ∂V/∂r = T·(Σ SᵢΔᵢ − V).
 */
export const rhoFollowsFromDelta = ({ exercise, barriers, assets, expiry }: Terms): boolean =>
  exercise.kind === "european" &&
  barriers.length === 0 &&
  assets.every(
    ({ volatility, underlying: { dividends } }) =>
      (volatility.kind === "deterministic" ||
        volatility.kind === "heston" ||
        (volatility.kind === "sabr" && volatility.beta === 1)) &&
      dividends.discrete.every(({ cash, time }) => cash === 0 || time > expiry),
  );

/** Returns rho where it follows from delta. */
export const rhoFromDelta = (
  { assets, expiry }: Terms,
  { value, first }: AxesDerivatives,
  spots: readonly number[],
): number => expiry * (sum(spots.map((spot, i) => spot * first[assetName(assets.length, i)])) - value);

/**
 * Tells whether all sensitivities of a trade follow from delta and gamma: rho does, and volatilities depend on time
 * only. ln S is then normal at expiry, and a change of its covariances C changes the value by ½ Σ (∂²V/∂xᵢ∂xₗ)·dCᵢₗ
 * (Reiss & Wystup 2001):
 *
 *   ∂V/∂σᵢ = Σₗ ρᵢₗ ∫σₗ·SᵢSₗ·Γᵢₗ,   ∂V/∂ρᵢₗ = ∫σᵢσₗ·SᵢSₗ·Γᵢₗ.
 */
export const followFromGamma = (terms: Terms): boolean =>
  rhoFollowsFromDelta(terms) &&
  terms.shortRate === undefined &&
  terms.assets.every(({ volatility }) => volatility.kind === "deterministic");

/**
 * Returns the derivatives with respect to volatilities, correlations and the rate, computed by the formulas of
 * `followFromGamma`.
 */
export function slopesFromGamma(terms: Terms, point: AxesDerivatives, spots: readonly number[]): Measures {
  const { assets, correlations, expiry } = terms;
  const axes = assets.map((_, i) => assetName(assets.length, i));
  const gamma = (i: number, l: number): number => spots[i] * spots[l] * point.second[axes[i] + axes[l]];
  const sigmas = assets.map(({ volatility }) => sigmaOf(volatility));
  const volatilities = assets.map(
    (_, asset) =>
      [
        VEGA(asset),
        sum(assets.map((_one, l) => correlations[asset][l] * integrate(sigmas[l], expiry) * gamma(asset, l))),
      ] as const,
  );
  const pairs = pairsOf(assets.length).map((pair) => {
    const [i, l] = pair;
    const covariance = integrate(
      mapPiecewise([sigmas[i], sigmas[l]], ([a, b]) => a * b),
      expiry,
    );
    return [CORRELATION(pair), covariance * gamma(i, l)] as const;
  });
  return new Map([...volatilities, ...pairs, [RHO, rhoFromDelta(terms, point, spots)]]);
}

/**
 * Computes sensitivities by differences, from one number of a trade as it is and of each of its bumped copies
 * (`numberOf`), the trade first. A copy that failed because its correlations are invalid makes its sensitivity NaN.
 * @throws the error of another copy
 */
export function slopesFrom(
  { formulas: measures }: Differences,
  solved: readonly Request<GridEstimate>[],
  numberOf: (copy: GridEstimate) => number,
): Measures {
  return new Map(
    measures.map((measure) => {
      const used = solved.filter((_, k) => measure.weights[k] !== 0);
      const failed = used.find(({ failure }) => failure !== undefined);
      // A copy that this sensitivity does not use may have failed.
      if (failed === undefined) return [measure.name, sensitivityBy(measure, (k) => numberOf(solved[k].estimate!))];
      if (!measure.name.startsWith("correlation")) throw failed.failure;
      return [measure.name, Number.NaN];
    }),
  );
}

/**
 * Returns all sensitivities of a trade. Those to a common move of all underlyings are the sums
 *
 *   delta = Σ ∂V/∂Sᵢ,   gamma = Σ ∂²V/∂Sᵢ∂Sⱼ,   vega = Σ ∂V/∂σᵢ.
 *
 * Vega is the derivative by √v₀ in Heston's model, and by today's volatility α·S^(β−1) in SABR; both come from the
 * grid. Theta comes from the equation, −Σ aᵢⱼ V_ij − Σ bᵢ Vᵢ + rV.
 */
export function measuresOf(terms: Terms, point: AxesDerivatives, spots: readonly number[], slopes: Measures): Measures {
  const paid = isExercisable(terms) ? payoffAt(terms, spots) : 0;
  if (paid >= point.value * (1 - 1e-12) && paid > 0) return exercised(terms, spots);
  return fromGrid(terms, point, spots, slopes);
}

/**
 * Returns the sensitivities of a trade, given the derivatives on the grid (`point`) and the slopes by differences. The
 * result is linear in both.
 */
export function fromGrid(terms: Terms, point: AxesDerivatives, spots: readonly number[], slopes: Measures): Measures {
  const { assets } = terms;
  const axes = assets.map((_, i) => assetName(assets.length, i));
  const second = ([i, j]: Pair): number => point.second[axes[i] + axes[j]];
  const pairs = pairsOf(assets.length);
  const delta = axes.map((name) => point.first[name]);
  const gamma = axes.map((_, i) => second([i, i]));
  const vega = assets.map((_, i) => vegaOf(terms, i, point) ?? slopes.get(VEGA(i)) ?? Number.NaN);
  return new Map([
    ...slopes,
    ...delta.map((one, i) => [DELTA(i), one] as const),
    ...gamma.map((one, i) => [GAMMA(i), one] as const),
    ...vega.map((one, i) => [VEGA(i), one] as const),
    ...pairs.map((pair) => [CROSS(pair), second(pair)] as const),
    [DELTA("all"), sum(delta)],
    [GAMMA("all"), sum(gamma) + 2 * sum(pairs.map(second))],
    [VEGA("all"), slopes.get(VEGA("all")) ?? sum(vega)],
    [THETA, thetaOf(terms, point, spots)],
  ]);
}

/** The vega of a volatility that is a factor of its own. */
function vegaOf({ assets }: Terms, i: number, { first }: AxesDerivatives): number | undefined {
  const { volatility, underlying } = assets[i];
  const suffix = assets.length === 1 ? "" : String(i + 1);
  if (volatility.kind === "heston") return 2 * Math.sqrt(varianceOf(volatility)) * first[`v${suffix}`];
  if (volatility.kind !== "sabr") return undefined;
  if (!(alphaOf(volatility, underlying.spot) > 0)) return 0;
  return first[`a${suffix}`] * power(underlying.spot, 1 - volatility.beta);
}

/** Theta from the equation at the point itself. */
function thetaOf(terms: Terms, { value, first, second }: AxesDerivatives, spots: readonly number[]): number {
  const { factors, coefficients } = factorEquation(
    terms,
    terms,
    spots.map((spot) => [spot]),
  );
  const state = Object.fromEntries([["t", 0], ...factors.map(({ name, today }, k) => [name, spots[k] ?? today])]);
  return -Object.entries(coefficients).reduce((total, [name, coefficient]) => {
    const derivative = name === "V" ? value : (first[name] ?? second[name]);
    return total + evaluate(coefficient, state) * derivative;
  }, 0);
}

/** The sensitivities of a trade that is exercised at once: it moves as its payoff does. */
function exercised(terms: Terms, spots: readonly number[]): Measures {
  const delta = payoffSlopes(terms, spots).map(({ slope }, i) => [DELTA(i), slope] as const);
  return new Map([...noMeasures(terms), ...delta]);
}

/**
 * Returns the slope of the payoff with respect to each spot where the value of a trade is its payoff at these spots;
 * otherwise an empty array. `known` is the value if it is known without a solution.
 */
export const payoffSlopes = (terms: Terms, spots: readonly number[], known?: KnownValue): readonly KnownSlope[] =>
  (known !== undefined && (known.method !== "payoff" || known.value !== payoffAt(terms, spots)) ? [] : spots).map(
    (spot, i) => slopeAcross((at) => payoffAt(terms, spots.with(i, at)), spot, SPOT * spot),
  );

/** The sensitivities of what does not move. */
const noMeasures = ({ assets, correlations }: Terms): Measures =>
  new Map(
    [
      ...assets.flatMap((_, i) => [DELTA(i), GAMMA(i), VEGA(i)]),
      ...pairsOf(assets.length).map(CROSS),
      ...pairsOf(correlations.length).map(CORRELATION),
      THETA,
      RHO,
    ].map((name) => [name, 0]),
  );

/**
 * Returns the sensitivities of a trade whose value is known without a solution. At expiry they are those of the payoff;
 * after a knock-out only those to rates can differ from zero.
 */
export function knownMeasures(
  terms: Terms,
  spots: readonly number[],
  { value, method, discounted }: KnownValue,
): Measures {
  if (method === "payoff" && value === payoffAt(terms, spots)) return exercised(terms, spots);
  const none = noMeasures(terms);
  if (!discounted) return none;
  return new Map([...none, [THETA, terms.rates.values[0] * value], [RHO, -terms.expiry * value]]);
}

/** The inputs of an error estimate. */
interface ErrorSigns {
  /**
   * The amounts by which extrapolations in space and time, and the way from a coarser level, have moved derivatives,
   * and the slopes of those moves.
   */
  readonly moves: readonly { readonly moved: AxesDerivatives; readonly slopes: Measures }[];
  /** True where a coarser level is among the moves. */
  readonly isCompared: boolean;
  /** The error estimate of the value. */
  readonly error: number;
}

/** The share of a standard deviation over which the error of a value changes as much as it is large. */
const SHARE = 0.5;
/**
 * Where a correlation is ±1 but for a little, there is no diffusion across, and mixed derivatives are off by up to 6 %
 * (an exchange option against Margrabe's formula).
 */
const NEAR_END = 1e-3;
const AT_END = 0.1;
/** The least of a correlation's range to scale errors by. */
const MIN_ROOM = 1e-2;
/** The safety factor on corrections with no coarser level to compare with: each passes through zero somewhere. */
const ALONE = 1.5;

/**
 * Returns the function that computes the error estimate of a sensitivity, given its name. The estimate adds the
 * correction by extrapolation, the distance to a coarser level, and the error of the value divided by the width over
 * which the value changes substantially: half a standard deviation of the spot, and the corresponding width of
 * volatilities and rates.
 */
export function errorsOf(
  terms: Terms,
  spots: readonly number[],
  { moves, isCompared, error }: ErrorSigns,
  found: Measures,
): (measure: string) => number {
  const { assets, expiry, rates, correlations } = terms;
  const parts = moves.map(({ moved, slopes }) => fromGrid(terms, moved, spots, slopes));
  const factor = isCompared ? 1 : ALONE;
  const deviations = assets.map(({ volatility }, i) => Math.sqrt(totalVariance(volatility, spots[i], expiry)));
  const widths = deviations.map((deviation, i) => spots[i] * Math.min(Math.max(SHARE * deviation, 1e-3), SHARE));
  const inverse = widths.reduce((all, width) => all + 1 / width, 0);
  const volatilities = deviations.map((deviation) => (SHARE * Math.max(deviation, 1e-3)) / Math.sqrt(expiry));
  // Where two assets go nearly together, the value of a spread changes over the little that is left.
  const room = (pair: Pair): number => Math.max(distanceToEnd(correlations, pair, deviations), MIN_ROOM);
  const ofEnd = ([i, j]: Pair, name: string): number =>
    Math.abs(correlations[i][j]) > 1 - NEAR_END ? AT_END * Math.abs(found.get(name) ?? Number.NaN) : 0;
  const ofCross = (pair: Pair): number =>
    error / (widths[pair[0]] * widths[pair[1]] * Math.min(room(pair), 1)) + ofEnd(pair, CROSS(pair));
  const own = new Map<string, number>([
    ...widths.map((width, i) => [DELTA(i), error / width] as const),
    ...widths.map((width, i) => [GAMMA(i), error / width ** 2] as const),
    ...volatilities.map((one, i) => [VEGA(i), error / one] as const),
    ...pairsOf(assets.length).map((pair) => [CROSS(pair), ofCross(pair)] as const),
    ...pairsOf(correlations.length).map((pair) => {
      const slope = Math.abs(found.get(CORRELATION(pair)) ?? Number.NaN);
      const own = error / (SHARE * Math.min(room(pair), 1));
      const bias = correlationBias(terms, pair, deviations) * slope;
      return [CORRELATION(pair), own + bias + ofEnd(pair, CORRELATION(pair))] as const;
    }),
    [DELTA("all"), error * inverse],
    [GAMMA("all"), error * inverse ** 2],
    [VEGA("all"), volatilities.reduce((all, one) => all + error / one, 0)],
    [THETA, error * (1 / (SHARE * expiry) + Math.abs(rates.values[0]))],
    [RHO, (error * expiry) / (SHARE * Math.max(...deviations, 1e-3))],
  ]);
  return (name) =>
    parts.reduce((all, part) => all + factor * Math.abs(part.get(name) ?? Number.NaN), own.get(name) ?? Number.NaN);
}
