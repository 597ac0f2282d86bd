/** The model of an instance's paths, as columns of a batch. */
import type { Parameter, PathModel } from "../../../montecarlo/index.ts";
import { blackScholes, gaussianFactors, geometricBrownian, heston } from "../../../montecarlo/index.ts";
import {
  integrate,
  integratedProduct,
  integratedVariance,
  type PiecewiseConstant,
  sigmasOf,
  varianceOf,
  type Volatility,
} from "../../../market/index.ts";
import { keyOf } from "../../../base/memoize.ts";
import type { Terms } from "../../terms.ts";
import type { Path } from "./acceptance.ts";
import { diffusionModel } from "./diffusion-model.ts";
import { leveragedModel } from "./leverage.ts";
import { isStepped } from "./steps.ts";

/** Steps a year of models whose scheme is not exact. */
const STEPS_PER_YEAR: Readonly<Record<string, number>> = { heston: 24, stochasticLocal: 128 };

/**
 * Steps of Heston's model in the time 1/κ in which its variance reverts, the most of them in a path, and the fewest of
 * a path.
 */
const STEPS_PER_REVERSION = 2;
const MOST_STEPS = 1024;
const FEWEST_STEPS = 8;

/** Returns a text that is equal for terms whose path models can share a kernel. */
export const modelKey = (terms: Terms): string =>
  keyOf([
    isStepped(terms),
    ...terms.assets.map(({ volatility }) => [
      volatility.kind,
      volatility.kind === "local"
        ? volatility.expression
        : volatility.kind === "stochasticLocal"
          ? volatility.variance.kind
          : volatility.kind === "surface"
            ? volatility.surface.spots.length
            : "",
    ]),
  ]);

/** Returns the number of model steps between dates. It is a power of two, so that few kernels are compiled. */
export function substepsOf({ assets, expiry }: Terms, dates: number): number {
  const { volatility } = assets[0];
  const least = (STEPS_PER_YEAR[volatility.kind] ?? 0) * expiry;
  const own =
    volatility.kind === "heston"
      ? Math.max(Math.min(STEPS_PER_REVERSION * volatility.kappa * expiry, MOST_STEPS), FEWEST_STEPS)
      : 0;
  const wanted = Math.max(least, own);
  return 2 ** Math.ceil(Math.log2(Math.max(1, wanted / dates)));
}

/** Returns the times at which the steps of a path end, in years. */
export function endsOf({ dates, steps }: Pick<Path, "dates" | "steps">, substeps: number): readonly number[] {
  if (steps !== undefined) return steps.ends;
  return dates.flatMap((date, k) => {
    const before = k === 0 ? 0 : dates[k - 1];
    return Array.from({ length: substeps }, (_, s) =>
      s === substeps - 1 ? date : before + ((s + 1) / substeps) * (date - before),
    );
  });
}

/**
 * Returns the path model of instances with equal keys, with a column for each parameter. All must have the same number
 * of steps.
 */
export function modelOf(paths: readonly Path[], substeps: number): PathModel {
  const column = (of: (path: Path) => number): Float64Array => Float64Array.from(paths, of);
  const ends = paths.map((path) => endsOf(path, substeps));
  // The mean of a function of time over each step.
  const byStep = (integral: (path: Path, t: number) => number, of = (mean: number): number => mean): Parameter => ({
    byStep: ends[0].map((_, k) =>
      Float64Array.from(paths, (path, i) => {
        const [from, to] = [k === 0 ? 0 : ends[i][k - 1], ends[i][k]];
        return of((integral(path, to) - integral(path, from)) / (to - from));
      }),
    ),
  });
  const rate = byStep(({ terms }, t) => integrate(terms.rates, t));
  const correlation = (): readonly (readonly Parameter[])[] =>
    paths[0].terms.assets.map((_, i) => paths[0].terms.assets.map((_one, j) => correlationOf(paths, ends, i, j)));
  if (paths[0].steps !== undefined) return diffusionModel(paths, rate, correlation());
  const yieldOf = (asset: number): Float64Array =>
    column(({ terms }) => terms.assets[asset].underlying.dividends.yield);
  const spot = column(({ spots }) => spots[0]);
  const common = { spot, rate, yield: yieldOf(0) };
  const { assets } = paths[0].terms;
  const { volatility } = assets[0];
  const own = <K extends Volatility["kind"]>(kind: K, of: (model: Extract<Volatility, { kind: K }>) => number) =>
    column(({ terms }) => {
      const model = terms.assets[0].volatility;
      return model.kind === kind ? of(model as Extract<Volatility, { kind: K }>) : Number.NaN;
    });
  const sigmaOf = (asset: number): Parameter =>
    byStep(({ terms }, t) => {
      const one = terms.assets[asset].volatility;
      return one.kind === "deterministic" ? integratedVariance(one.sigma, t) : Number.NaN;
    }, Math.sqrt);
  switch (volatility.kind) {
    case "deterministic":
      if (assets.length === 1) return blackScholes({ ...common, volatility: sigmaOf(0) });
      return geometricBrownian({
        spots: assets.map((_, i) => column(({ spots }) => spots[i])),
        rate,
        yields: assets.map((_, i) => yieldOf(i)),
        volatilities: assets.map((_, i) => sigmaOf(i)),
        correlation: correlation(),
      });
    case "heston":
      return heston({
        ...common,
        v0: own("heston", varianceOf),
        kappa: own("heston", ({ kappa }) => kappa),
        theta: own("heston", ({ theta }) => theta),
        sigma: own("heston", ({ sigma }) => sigma),
        rho: own("heston", ({ rho }) => rho),
      });
    case "gaussianFactors":
      return gaussianFactors({
        ...common,
        alpha: [own("gaussianFactors", ({ alpha }) => alpha[0]), own("gaussianFactors", ({ alpha }) => alpha[1] ?? 0)],
        sigma: [
          own("gaussianFactors", (model) => sigmasOf(model)[0]),
          own("gaussianFactors", (model) => sigmasOf(model)[1] ?? 0),
        ],
        rho: own("gaussianFactors", ({ rho }) => rho),
      });
    case "stochasticLocal":
      return leveragedModel(paths, ends, common);
    default:
      throw new Error(`no paths of ${volatility.kind}`);
  }
}

/**
 * Correlation of the increments of ln Sᵢ and ln Sⱼ over each step, ρ·∫σᵢσⱼ ds/√(∫σᵢ² ds·∫σⱼ² ds): below ρ where
 * volatilities change differently within the step.
 */
function correlationOf(paths: readonly Path[], ends: readonly (readonly number[])[], i: number, j: number): Parameter {
  const sigma = ({ terms }: Path, asset: number): PiecewiseConstant | undefined => {
    const { volatility } = terms.assets[asset];
    return volatility.kind === "deterministic" ? volatility.sigma : undefined;
  };
  const over = (path: Path, from: number, to: number): number => {
    const [a, b] = [sigma(path, i), sigma(path, j)];
    const rho = path.terms.correlations[i][j];
    if (i === j || a === undefined || b === undefined || (a.times.length === 0 && b.times.length === 0)) return rho;
    const both = integratedProduct(a, b, to) - integratedProduct(a, b, from);
    const [own, other] = [a, b].map((one) => integratedVariance(one, to) - integratedVariance(one, from));
    return own > 0 && other > 0 ? rho * Math.min(both / Math.sqrt(own * other), 1) : rho;
  };
  return {
    byStep: ends[0].map((_, k) =>
      Float64Array.from(paths, (path, n) => over(path, k === 0 ? 0 : ends[n][k - 1], ends[n][k])),
    ),
  };
}
