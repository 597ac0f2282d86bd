/** The model of an instance's paths, as columns of a batch. */
import { keyOf } from "../../../base/memoize.ts";
import { type Leverage, leverageOf, type LeverageRow, varianceParameters } from "../../../calibration/index.ts";
import type { Device } from "../../../device/index.ts";
import {
  integrate,
  integratedProduct,
  integratedVariance,
  type LocalSurface,
  type PiecewiseConstant,
  ratesLessYields,
  shifted,
  sigmasOf,
  type StochasticLocal,
  varianceOf,
  type Volatility,
} from "../../../market/index.ts";
import {
  blackScholes,
  gaussianFactors,
  geometricBrownian,
  heston,
  type Parameter,
  type PathModel,
  stochasticLocal,
} from "../../../montecarlo/index.ts";
import type { RequestSettings } from "../../plan/request.ts";
import { hasYieldByTime, logGrowth, type Terms } from "../../terms.ts";
import type { SimulationInstance } from "./acceptance.ts";
import { diffusionModel } from "./diffusion-model.ts";
import { usesLocalDiffusions } from "./steps.ts";

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
    usesLocalDiffusions(terms),
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
export function endsOf(
  { dates, steps }: Pick<SimulationInstance, "dates" | "steps">,
  substeps: number,
): readonly number[] {
  if (steps !== undefined) return steps.ends;
  if (substeps === 1) return dates;
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
export function modelOf(paths: readonly SimulationInstance[], substeps: number): PathModel {
  const column = (of: (path: SimulationInstance) => number): Float64Array => Float64Array.from(paths, of);
  const ends = paths.map((path) => endsOf(path, substeps));
  // The mean of a function of time over each step.
  const byStep = (
    integral: (path: SimulationInstance, t: number) => number,
    of = (mean: number): number => mean,
  ): Parameter => {
    const columns = ends[0].map(() => new Float64Array(paths.length));
    paths.forEach((path, i) => {
      let [from, before] = [0, 0];
      ends[i].forEach((to, k) => {
        const until = integral(path, to);
        columns[k][i] = of((until - before) / (to - from));
        [from, before] = [to, until];
      });
    });
    return { byStep: columns };
  };
  const rate = byStep(({ terms }, t) => integrate(terms.rates, t));
  const correlation = (): readonly (readonly Parameter[])[] =>
    paths[0].terms.assets.map((_, i) => paths[0].terms.assets.map((_one, j) => correlationOf(paths, ends, i, j)));
  if (paths[0].steps !== undefined) return diffusionModel(paths, rate, correlation());
  const yieldOf = (asset: number): Parameter =>
    paths.some(({ terms }) => hasYieldByTime(terms))
      ? byStep(({ terms }, t) => integrate(terms.rates, t) - logGrowth(terms, terms.assets[asset], t))
      : column(({ terms }) => terms.assets[asset].underlying.dividends.yield);
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
function correlationOf(
  paths: readonly SimulationInstance[],
  ends: readonly (readonly number[])[],
  i: number,
  j: number,
): Parameter {
  const sigma = ({ terms }: SimulationInstance, asset: number): PiecewiseConstant | undefined => {
    const { volatility } = terms.assets[asset];
    return volatility.kind === "deterministic" ? volatility.sigma : undefined;
  };
  const over = (path: SimulationInstance, from: number, to: number): number => {
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

/** The steps of a leverage to its horizon, which is a power of two of years: an expiry has one in any book. */
const STEPS = { aYear: 128, least: 32, most: 512 } as const;

/** The leverages that were found, by the surface, then by all that they depend on. */
const found = new WeakMap<LocalSurface, Map<string, Leverage>>();
/** The leverages of terms that are being priced. */
const ofTerms = new WeakMap<Terms, Leverage>();

const volatilityOf = ({ assets: [{ volatility }] }: Terms): StochasticLocal => {
  if (volatility.kind !== "stochasticLocal") throw new Error(`no leverage of ${volatility.kind}`);
  return volatility;
};

/**
 * The problem of a trade's leverage, which is that at the underlying's own spot: a function of spot and time that moves
 * of the spot and of today's date leave as it is. A move of volatilities or of rates gives another one.
 */
function problemOf({ terms }: Pick<SimulationInstance, "terms">) {
  const { variance, surface, added = 0, start = 0 } = volatilityOf(terms);
  const [{ underlying }] = terms.assets;
  const { rates, spot, dividends } = underlying;
  // Rates of a later day are those of today but for a move, which their last one shows.
  const [now, then] = [rates, terms.rates].map(({ values }) => values[values.length - 1]);
  const isPair = terms.payoff.kind === "script" && underlying.pair !== undefined;
  const curve = ratesLessYields(then === now || isPair ? rates : shifted(rates, then - now), dividends);
  const expiry = 2 ** Math.ceil(Math.log2(Math.max(terms.expiry + start, 1 / 64)));
  const steps = Math.min(Math.max(STEPS.aYear * expiry, STEPS.least), STEPS.most);
  return { spot, rates: curve, yield: dividends.yield, variance, surface, added, expiry, steps };
}

/** Tells whether a path follows a stochastic local volatility, which needs a leverage function of time and spot. */
export const hasLeverage = ({ terms }: Pick<SimulationInstance, "terms">): boolean =>
  terms.assets[0].volatility.kind === "stochasticLocal";

/** Computes the leverage functions of stochastic local volatilities that paths need and that are not cached. */
export async function findLeverages(
  device: Device,
  paths: readonly SimulationInstance[],
  { precision, signal }: RequestSettings,
): Promise<void> {
  for (const { terms } of paths) {
    const problem = problemOf({ terms });
    const known = found.get(problem.surface) ?? new Map<string, Leverage>();
    found.set(problem.surface, known);
    const key = keyOf([device, precision, problem]);
    const growth = (t: number): number => integrate(problem.rates, t);
    const leverage =
      known.get(key) ?? (await leverageOf(device, { ...problem, growth, precision, ...(signal && { signal }) }));
    known.set(key, leverage);
    ofTerms.set(terms, leverage);
  }
}

/**
 * Returns the stochastic local volatility model of instances whose leverage functions are cached. `ends` has the times
 * at which each instance's steps end.
 */
export function leveragedModel(
  paths: readonly SimulationInstance[],
  ends: readonly (readonly number[])[],
  common: Readonly<Record<"spot" | "rate" | "yield", Parameter>>,
): PathModel {
  const rows = paths.map((path, i) => {
    const { rowAt } = ofTerms.get(path.terms)!;
    const { start = 0 } = volatilityOf(path.terms);
    return ends[i].map((_, k) => rowAt(start + (k === 0 ? 0 : ends[i][k - 1])));
  });
  const byStep = (of: (row: LeverageRow) => number): Parameter => ({
    byStep: ends[0].map((_, k) => Float64Array.from(rows, (own) => of(own[k]))),
  });
  const own = paths.map(({ terms }) => varianceParameters(volatilityOf(terms).variance));
  const column = (name: "v0" | "kappa" | "theta" | "sigma" | "rho") => Float64Array.from(own, (one) => one[name]);
  return stochasticLocal({
    ...common,
    spot: Float64Array.from(paths, ({ spots }) => spots[0]),
    variance: own[0].variance,
    v0: column("v0"),
    kappa: column("kappa"),
    theta: column("theta"),
    sigma: column("sigma"),
    rho: column("rho"),
    center: byStep(({ center }) => center),
    width: byStep(({ width }) => width),
    leverage: Array.from(rows[0][0].values, (_, j) => byStep(({ values }) => values[j])),
  });
}
