/** Trades without barriers: on the principal components of the logarithms of their spots. */
import type { AxesPoint } from "../../../fdm/index.ts";
import { symmetricEigen } from "../../../linalg/index.ts";
import { integrate, type PiecewiseConstant } from "../../../market/index.ts";
import type { AnySparseProblem, SparseAxis } from "../../../sparsegrid/index.ts";
import type { Terms } from "../../terms.ts";
import { assetName } from "../several/equation.ts";
import { covarianceRate, driftOf } from "../several/coordinates.ts";
import { combined } from "../several/in-time.ts";
import { exerciseOf, lessText, type Part } from "../several/parts.ts";
import { atExpiry, payoffText } from "../several/payoff.ts";
import type { Built } from "../several/engine.ts";
import { Parameters } from "../several/text.ts";
import { type Fineness, nodesOf, OF_DATES, restarts } from "./fineness.ts";
import { widened } from "../several/row.ts";

/** Standard deviations to each side. */
const DEVIATIONS = 4.5;
/** The smallest deviation of a logarithm: perfectly correlated spots have components without any. */
const MIN_DEVIATION = 0.01;

/** Orthonormal directions in the space of logarithms; Q[i][j] is what component j has of asset i. */
interface Basis {
  readonly Q: readonly (readonly number[])[];
  /** The standard deviations of the components at expiry, largest first. */
  readonly deviations: readonly number[];
}

/** Returns the principal components of the covariances up to expiry. */
export function basisOf(terms: Terms): Basis {
  const { assets, expiry } = terms;
  const n = assets.length;
  const rates = assets.map((_, i) => assets.map((_one, l) => covarianceRate(terms, i, l)));
  const { values, vectors } = symmetricEigen(
    rates.flat().map((rate) => integrate(rate, expiry)),
    n,
  );
  const order = assets.map((_, j) => n - 1 - j);
  return {
    Q: assets.map((_, i) => order.map((j) => vectors[i * n + j])),
    deviations: order.map((j) => Math.sqrt(Math.max(values[j], 0))),
  };
}

/**
 * The problem of a part on the axes yⱼ, in which today's spots sᵢ and the spots at t are
 *
 *   Sᵢ = sᵢ·exp(∫₀ᵗ μᵢ + Σ Qᵢⱼ yⱼ),   μᵢ = r − qᵢ − ½σᵢ²,   ∂V/∂t + Σ Dⱼₖ ∂²V/∂yⱼ∂yₖ − r V = 0,
 *
 * D = ½ Qᵀ(ρᵢₗσᵢσₗ)Q: neither drift nor, but for volatilities and correlations that move, mixed derivatives.
 */
export function onPrincipalComponents(
  terms: Terms,
  from: Terms,
  spots: readonly (readonly number[])[],
  { less }: Part,
  fineness: (deviations: readonly number[]) => Fineness,
): Built<AnySparseProblem> {
  const p = new Parameters();
  const { assets, expiry, exercise } = terms;
  const { Q, deviations } = basisOf(from);
  const { level, initial, steps } = fineness(deviations);
  const today = assets.map(({ underlying }) => underlying.spot);
  const componentsAt = (at: readonly number[]): readonly number[] =>
    deviations.map((_, j) => at.reduce((sum, spot, i) => sum + Q[i][j] * Math.log(spot / today[i]), 0));
  const read = spots[0].map((_, k) => componentsAt(spots.map((of) => of[k])));
  const names = assets.map((_, j) => `y${j + 1}`);
  const axes: Readonly<Record<string, SparseAxis>> = Object.fromEntries(
    names.map((name, j): [string, SparseAxis] => {
      const deviation = Math.max(deviations[j], MIN_DEVIATION);
      // Behind the deviations, what a change to an asset's own measure moves.
      const reach = DEVIATIONS * deviation + deviation * deviation;
      const of = read.map((y) => y[j]);
      return [
        name,
        {
          from: p.add(Math.min(0, ...of) - reach, "from"),
          to: p.add(Math.max(0, ...of) + reach, "to"),
          points: [p.add(0, "at")],
          width: p.add(deviation, "width"),
          initialLevel: initial[j],
        },
      ];
    }),
  );
  const r = p.piecewise(terms.rates, expiry, "r");
  const spotText = (drift: (asset: number) => string, factor: (asset: number) => number): readonly string[] =>
    assets.map((_, i) => {
      const sum = names.map((name, j) => `${p.add(Q[i][j], "Q")}*${name}`).join(" + ");
      return `${p.add(today[i] * factor(i), "s")}*exp(${sum}${drift(i)})`;
    });
  const drifts = assets.map((_, i) => driftOf(terms, i));
  const grown = (i: number): number => Math.exp(integrate(drifts[i], expiry));
  const atEnd = spotText(() => "", grown);
  const conditions =
    exercise.kind === "european"
      ? []
      : exerciseOf(
          exercise,
          expiry,
          payoffText(
            terms.payoff,
            spotText((i) => ` - ${p.integral(drifts[i], expiry, "m")}`, grown),
            p,
          ),
          p,
        );
  const problem: AnySparseProblem = {
    axes,
    equation: { V: `-${r}`, ...diffusions(terms, Q, names, p) },
    terminal: lessText(payoffText(terms.payoff, atExpiry(terms, atEnd, p), p), less, p),
    expiry: p.add(expiry, "T"),
    conditions: [...conditions, ...restarts(terms, names[0], p)],
    level,
    // Exercise on nodes leaves kinks between them: errors are not of order h², which extrapolation takes them to be.
    ...(conditions.length === 0 ? { extrapolate: "levels" } : {}),
    steps,
    errorEstimate: true,
  };
  return {
    problem,
    parameters: p,
    nodes: nodesOf({ level, initial, steps }),
    read: (entry, at) => {
      const y = componentsAt(at);
      const point = entry.at(Object.fromEntries(names.map((name, j) => [name, y[j]])));
      return widened(inSpots(point, names, Q, at), conditions.length === 0 ? OF_DATES.none : OF_DATES.exercise);
    },
  };
}

/** Derivatives by spots: ∂/∂ln Sᵢ = Σ Qᵢⱼ ∂/∂yⱼ. */
function inSpots(
  { first, second, ...rest }: AxesPoint,
  names: readonly string[],
  Q: Basis["Q"],
  spots: readonly number[],
): AxesPoint {
  const sum = (of: (name: string, j: number) => number): number =>
    names.reduce((total, name, j) => total + of(name, j), 0);
  const axes = spots.map((_, i) => assetName(spots.length, i));
  const slopes = spots.map((_, i) => sum((name, j) => Q[i][j] * first[name]));
  const curvature = (i: number, l: number): number =>
    sum((a, j) => sum((b, k) => Q[i][j] * Q[l][k] * second[a + b])) - (i === l ? slopes[i] : 0);
  return {
    ...rest,
    first: Object.fromEntries(axes.map((name, i) => [name, slopes[i] / spots[i]])),
    second: Object.fromEntries(
      axes.flatMap((a, i) => axes.map((b, l) => [a + b, curvature(i, l) / (spots[i] * spots[l])])),
    ),
  };
}

/** Dⱼₖ as formulas in t, twice that beside the diagonal; none that is zero at all times. */
function diffusions(
  terms: Terms,
  Q: Basis["Q"],
  names: readonly string[],
  p: Parameters,
): Readonly<Record<string, string>> {
  const { assets, expiry } = terms;
  const rates = assets.map((_, i) => assets.map((_one, l) => covarianceRate(terms, i, l)));
  const largest = Math.max(...rates.flatMap((row) => row.flatMap(({ values }) => values.map(Math.abs))));
  const rate = (j: number, k: number): PiecewiseConstant =>
    combined(rates.flat(), (values) =>
      values.reduce(
        (sum, value, at) => sum + Q[Math.floor(at / assets.length)][j] * Q[at % assets.length][k] * value,
        0,
      ),
    );
  const all: Record<string, string> = {};
  names.forEach((a, j) => {
    all[a + a] = `0.5*${p.piecewise(rate(j, j), expiry, "D")}`;
    names.slice(j + 1).forEach((b, after) => {
      const mixed = rate(j, j + 1 + after);
      if (mixed.values.some((value) => Math.abs(value) > 1e-12 * largest)) all[a + b] = p.piecewise(mixed, expiry, "D");
    });
  });
  return all;
}
