/** The fit of any model that a user writes: the public call. */
import { checkAccuracy, type RelativeAccuracy } from "../base/accuracy.ts";
import { type Device, openDevice, type Progress } from "../device/index.ts";
import { SpecError } from "../base/errors.ts";
import { type AnyProblem, type EquationProblem } from "../pde/fdm/index.ts";
import { checkObject, checkKeys } from "../base/argument-checks.ts";
import type { Precision, UserFunctions } from "../kernel/index.ts";
import { randomNumbers } from "../numerics/random/index.ts";
import { centralDifferences } from "./differences.ts";
import { type LeastSquaresFit, leastSquaresBatch, type LeastSquaresSpec, type Linearisation } from "./least-squares.ts";
import {
  type ModelPrices,
  type ModelQuote,
  type PathProblem,
  type PricingSettings,
  quotedEquation,
  quotedPaths,
  type QuotedProblem,
} from "./model-prices.ts";

/** The progress of `calibrate`, reported after each launch. @experimental */
export interface CalibrationProgress extends Progress {
  /**
   * The number of iterations so far. Each is one launch that prices all quotes with all trial parameters and their
   * bumps.
   */
  readonly done: number;
  /** The maximum number of iterations; the search ends earlier when it has converged. */
  readonly total: number;
  /** The smallest root mean square error of prices that has been reached. */
  readonly rmse: number;
}

/** The options of `calibrate`. @experimental */
export interface CalibrateOptions<P extends string = string> {
  /**
   * The device, which is not disposed. Without one, the best device of the machine is opened and disposed afterwards.
   */
  readonly device?: Device | undefined;
  /** The parameters to fit, with their bounds. All others keep their values in the problem. */
  readonly bounds: { readonly [K in P]?: readonly [lower: number, upper: number] };
  /**
   * The number of additional starting points, drawn at random within the bounds; 0 by default. The searches from all of
   * them run together.
   */
  readonly restarts?: number;
  /** The seed of random starting points and simulated paths, a whole number below 2⁶⁴; 1 by default. */
  readonly seed?: number | bigint;
  /**
   * The relative step, or relative decrease of the sum of squares, at which a search ends: { relative: 1e-9 } by
   * default, 1e-5 in f32, and 5e-3 for a path model.
   */
  readonly tolerance?: RelativeAccuracy;
  /** The maximum number of iterations, each of which is a launch; 100 by default. */
  readonly maxIterations?: number;
  /** The precision; by default that of the problem, or "f64". */
  readonly precision?: Precision;
  /** A signal that ends the calibration between two launches; `calibrate` then throws its reason. */
  readonly signal?: AbortSignal | undefined;
  /** A callback after each launch. */
  readonly onProgress?: ((progress: CalibrationProgress) => void) | undefined;
}

/** The price of a quote and its price in the fitted model. @experimental */
export interface FittedPrice {
  /** The quoted price. */
  readonly price: number;
  /** The price in the fitted model. */
  readonly fitted: number;
  /** The difference fitted − price. */
  readonly error: number;
  /** The error estimate of `fitted`; undefined for an equation without error estimates. */
  readonly errorEstimate: number | undefined;
}

/** The result of `calibrate`. @experimental */
export interface ModelFit<P extends string = string> {
  /** "converged" if no parameter can be improved within the tolerance; with "not converged" the result is not a fit. */
  readonly status: "converged" | "not converged";
  /** A warning if a parameter is at a bound, or if the quotes do not determine one. */
  readonly message?: string;
  /** The fitted parameters. */
  readonly parameters: Readonly<Record<P, number>>;
  /**
   * The standard errors of the parameters. They come from the scatter of the residuals, or from the standard errors of
   * the simulation where these are larger. NaN for a parameter at a bound, or one that the quotes do not determine.
   */
  readonly standardErrors: Readonly<Record<P, number>>;
  /** The weighted root mean square error of prices. */
  readonly rmse: number;
  /** The quotes in their original order. */
  readonly quotes: readonly FittedPrice[];
  /** The result from each starting point, which shows whether they agree. */
  readonly starts: readonly Pick<ModelFit<P>, "status" | "parameters" | "rmse">[];
}

/**
 * The relative moves of parameters for central differences, and the tolerances. A mean of paths has kinks wherever a
 * path changes sides, so that a minimum is known no better than to some tenths of the standard errors.
 */
const SETTINGS = {
  f64: { width: 1e-4, tolerance: 1e-9 },
  f32: { width: 1e-2, tolerance: 1e-5 },
  paths: { width: 1e-2, tolerance: 5e-3 },
} as const;

/**
 * Fits parameters of a user's model to quoted prices: an equation as `solve` takes it, or a path model with a product
 * as `monteCarlo` takes them,
 *
 *   min ½·Σ wᵢ·(model priceᵢ(x) − priceᵢ)²,   lower ≤ x ≤ upper,
 *
 * by the method of Levenberg and Marquardt with central differences. One launch prices all quotes for all starts, at
 * the trial parameters and at both bumps of each parameter: starts × (1 + 2 × parameters) × quotes instances. Quotes of
 * an equation that differ only in the point `at` share an instance.
 *
 * Shapes: a quote has numbers for some of the problem's parameters (its strike, its expiry). The parameters in `bounds`
 * are fitted, from the problem's numbers as the first guess; all others are fixed. Accuracy: that of `solve` or
 * `monteCarlo` at the settings of the problem, which bounds that of the fit. Paths have the same random numbers under
 * all parameters. Cost: one `solve` or `monteCarlo` of that many instances per iteration; 5 to 15 iterations are usual.
 * Source: J. J. Moré (1978); H. B. Nielsen (1999). Verified: test/calibration/calibrate, by round trips of constant
 * elasticity of variance and of Heston's model against their closed forms.
 *
 * @param problem an equation, or `{ model, product, dates }`.
 * @param quotes prices with the parameters that belong to each of them.
 * @param options the bounds of the fitted parameters; device, restarts, seed, precision, signal, progress.
 * @returns the best result of all starts. It is a fit only if its `status` is "converged".
 * @throws SpecError with the path of what is wrong, or if no start has prices; what `solve` or `monteCarlo` throws; the
 *   signal's reason.
 * @example
 * import { calibrate } from "feynkac/calibration";
 *
 * const { parameters } = await calibrate(
 *   {
 *     axes: { S: { from: 0, to: 400, points: ["K"] } },
 *     parameters: { K: 100, T: 1, r: 0.03, sigma: 0.3 },
 *     equation: ({ S, r, sigma }) => ({ SS: 0.5 * sigma ** 2 * S ** 2, S: r * S, V: -r }),
 *     terminal: ({ S, K }) => Math.max(S - K, 0),
 *     expiry: "T",
 *   },
 *   [
 *     { parameters: { K: 90 }, at: 100, price: 15.4292 },
 *     { parameters: { K: 110 }, at: 100, price: 5.2934 },
 *   ],
 *   { bounds: { sigma: [0.01, 1] } },
 * );
 * console.log(parameters.sigma.toFixed(2)); // 0.20
 * @experimental
 */
export async function calibrate<B extends string>(
  problem: PathProblem,
  quotes: readonly ModelQuote<never>[],
  options: CalibrateOptions<B>,
): Promise<ModelFit<B>>;
export async function calibrate<
  const A extends string,
  const P extends string,
  B extends P,
  C extends string = never,
  F extends UserFunctions = Record<never, never>,
>(
  problem: EquationProblem<A, P, C, F>,
  quotes: readonly ModelQuote<NoInfer<A>, NoInfer<P>>[],
  options: CalibrateOptions<B>,
): Promise<ModelFit<B>>;
export async function calibrate(
  problem: PathProblem | AnyProblem,
  quotes: readonly ModelQuote[],
  options: CalibrateOptions,
): Promise<ModelFit> {
  checkObject("problem", problem, "an equation, or an object with model, product and dates");
  checkObject("options", options, "an object with bounds");
  checkKeys("options", options, [...OPTION_KEYS, "onProgress"]);
  checkObject("bounds", options.bounds, "the bounds of each parameter to be fitted: { sigma: [0.01, 1] }");
  quotes.forEach((quote, i) => checkKeys(`quotes[${i}]`, quote, QUOTE_KEYS));
  const quoted = "model" in problem ? quotedPaths(problem, quotes) : quotedEquation(problem, quotes);
  const precision = options.precision ?? problem.precision ?? "f64";
  const kind = "model" in problem ? "paths" : precision === "f32" ? "f32" : "f64";
  const search = searchOf(quoted, quotes, options, { precision, ...SETTINGS[kind] });
  if (options.device !== undefined) return fitOn(options.device, search);
  using opened = await openDevice(precision === "f64" ? {} : { precision });
  return await fitOn(opened, search);
}

const QUOTE_KEYS = ["parameters", "at", "dates", "price", "weight"];
const OPTION_KEYS = ["device", "bounds", "restarts", "seed", "tolerance", "maxIterations", "precision", "signal"];

interface Numerics {
  readonly precision: Precision;
  readonly width: number;
  readonly tolerance: number;
}

/** A calibration that has been checked. */
interface Search {
  readonly quoted: QuotedProblem;
  readonly quotes: readonly ModelQuote[];
  readonly options: CalibrateOptions;
  readonly numerics: Numerics;
  readonly fitted: readonly string[];
  readonly start: Float64Array;
  readonly spec: LeastSquaresSpec;
}

/** @throws SpecError for bounds, parameters or quotes that make no problem */
function searchOf(
  quoted: QuotedProblem,
  quotes: readonly ModelQuote[],
  options: CalibrateOptions,
  numerics: Numerics,
): Search {
  const { bounds, restarts = 0, tolerance = { relative: numerics.tolerance }, maxIterations = 100 } = options;
  checkAccuracy("tolerance", tolerance, ["relative"]);
  const known = [...quoted.parameters.keys()];
  const fitted = Object.keys(bounds);
  if (fitted.length === 0) throw new SpecError("bounds: got none, expected the bounds of each parameter to be fitted");
  const start = Float64Array.from(fitted, (name) => {
    const [lower, upper] = bounds[name] ?? [];
    if (!known.includes(name))
      throw new SpecError(`bounds.${name}: the problem has no such parameter, expected one of ${known.join(", ")}`);
    if (!(lower! < upper! && Number.isFinite(lower! - upper!)))
      throw new SpecError(`bounds.${name}: got ${lower} to ${upper}, expected two finite numbers that increase`);
    const value = quoted.parameters.get(name);
    if (value === undefined || !(value >= lower! && value <= upper!))
      throw new SpecError(`parameters.${name}: got ${value ?? "no number"}, expected a start, ${lower} to ${upper}`);
    return value;
  });
  quotes.forEach(({ price, weight = 1, parameters = {} }, i) => {
    if (!Number.isFinite(price)) throw new SpecError(`quotes[${i}].price: got ${price}, expected a finite number`);
    if (!(weight >= 0 && weight < Infinity))
      throw new SpecError(`quotes[${i}].weight: got ${weight}, expected a finite number from 0 on`);
    for (const [name, value] of Object.entries(parameters)) {
      const path = `quotes[${i}].parameters.${name}`;
      if (!known.includes(name)) throw new SpecError(`${path}: expected one of ${known.join(", ")}`);
      if (fitted.includes(name)) throw new SpecError(`${path}: it is fitted; leave it out here, or in bounds`);
      if (!Number.isFinite(value)) throw new SpecError(`${path}: got ${value}, expected a finite number`);
    }
    for (const [name, value] of quoted.parameters)
      if (value === undefined && parameters[name] === undefined)
        throw new SpecError(`parameters.${name}: got a column, expected a number, or one in each quote`);
  });
  const used = quotes.filter(({ weight = 1 }) => weight > 0).length;
  if (used < fitted.length)
    throw new SpecError(`quotes: got ${used}, expected at least ${fitted.length}, one for each fitted parameter`);
  if (!(Number.isInteger(restarts) && restarts >= 0))
    throw new SpecError(`restarts: got ${restarts}, expected a whole number from 0 on`);
  const spec = {
    lower: fitted.map((name) => bounds[name]![0]),
    upper: fitted.map((name) => bounds[name]![1]),
    tolerance: tolerance.relative,
    maxEvaluations: maxIterations,
  };
  return { quoted, quotes, options, numerics, fitted, start, spec };
}

async function fitOn(device: Device, search: Search): Promise<ModelFit> {
  const { quoted, quotes, options, numerics, fitted, start, spec } = search;
  const { restarts = 0, seed = 1, signal, onProgress } = options;
  const { precision, width } = numerics;
  const pricing: PricingSettings = { device, fitted, precision, seed, signal };
  const used = quotes.flatMap(({ weight = 1 }, i) => (weight > 0 ? [{ i, root: Math.sqrt(weight) }] : []));
  const total = quotes.reduce((sum, { weight = 1 }) => sum + weight, 0);
  const rmseOf = (sum: number): number => Math.sqrt(sum / total);
  let [launches, least] = [0, Number.POSITIVE_INFINITY];
  const evaluate = async (points: readonly Float64Array[]): Promise<Linearisation[]> => {
    signal?.throwIfAborted();
    const moves = points.map((point) =>
      centralDifferences(point, spec, width, (j) => 0.01 * (spec.upper[j] - spec.lower[j])),
    );
    const each = 1 + 2 * fitted.length;
    const prices = await pricesOr(
      () =>
        quoted.pricesAt(
          moves.flatMap((move) => move.points),
          pricing,
        ),
      launches > 0 ? { sets: each * points.length, quotes: quotes.length } : undefined,
    );
    launches++;
    const found = moves.map(({ linearise }, s) => {
      const own = prices.slice(s * each, (s + 1) * each);
      const residuals = own.map(({ values }) =>
        Float64Array.from(used, ({ i, root }) => root * (values[i] - quotes[i].price)),
      );
      const at = linearise(residuals);
      // A point beside which there are no prices has no derivatives, and is refused like one without prices.
      if (at.jacobian.some((slope) => !Number.isFinite(slope))) at.residuals.fill(Number.NaN);
      const sum = at.residuals.reduce((squares, residual) => squares + residual * residual, 0);
      if (sum < least) least = sum;
      return at;
    });
    if (launches === 1 && !Number.isFinite(least))
      throw (
        prices.find(({ fault }) => fault !== undefined)?.fault ??
        new SpecError("parameters: no start has finite prices of all quotes; begin elsewhere, or narrow the bounds")
      );
    onProgress?.({ done: launches, total: spec.maxEvaluations!, rmse: rmseOf(least) });
    return found;
  };
  const starts = [start, ...(await randomStarts(device, spec, restarts, seed))];
  const fits = await leastSquaresBatch(starts, spec, evaluate);
  const ends = fits.map((fit) => ({ fit, rmse: rmseOf(fit.sum), ...described(search, fit) }));
  const { fit, status, parameters, rmse, messages } = ends.reduce((a, b) => (b.rmse < a.rmse ? b : a));
  const [{ values, standardErrors, errorEstimates }] = await quoted.pricesAt([fit.point], pricing);
  // Residuals that are small by chance say nothing against the errors of the simulation.
  const simulated = used.reduce((sum, { i, root }) => sum + (root * (standardErrors?.[i] ?? 0)) ** 2, 0) / used.length;
  const scatter = Math.max(1, Math.sqrt((simulated * (used.length - fitted.length)) / fit.sum));
  return {
    status,
    ...(messages.length > 0 ? { message: messages.join("; ") } : {}),
    parameters,
    standardErrors: named(
      fitted,
      fit.standardErrors.map((error) => error * scatter),
    ),
    rmse,
    quotes: quotes.map(({ price }, i) => ({
      price,
      fitted: values[i],
      error: values[i] - price,
      errorEstimate: errorEstimates[i],
    })),
    starts: ends.map(({ status, parameters, rmse }) => ({ status, parameters, rmse })),
  };
}

/** Prices, or none if no set of a later trial can be priced at all: the search then goes back. */
async function pricesOr(
  prices: () => Promise<readonly ModelPrices[]>,
  later: { readonly sets: number; readonly quotes: number } | undefined,
): Promise<readonly ModelPrices[]> {
  try {
    return await prices();
  } catch (error) {
    if (later === undefined || !(error instanceof SpecError)) throw error;
    const values = new Float64Array(later.quotes).fill(Number.NaN);
    return Array.from({ length: later.sets }, () => ({ values, errorEstimates: [], fault: error }));
  }
}

/** Points at random within the bounds. */
async function randomStarts(
  device: Device,
  { lower, upper }: LeastSquaresSpec,
  count: number,
  seed: number | bigint,
): Promise<Float64Array[]> {
  if (count === 0) return [];
  const n = lower.length;
  const uniform = await randomNumbers({
    device,
    generator: "philox",
    seed,
    streams: count,
    count: n,
    precision: "f32",
  });
  return Array.from({ length: count }, (_, s) =>
    Float64Array.from({ length: n }, (_, j) => lower[j] + (upper[j] - lower[j]) * uniform[s * n + j]),
  );
}

const named = (names: readonly string[], values: ArrayLike<number>): Readonly<Record<string, number>> =>
  Object.fromEntries(names.map((name, j) => [name, values[j]]));

function described(
  { fitted, spec: { lower, upper } }: Search,
  fit: LeastSquaresFit,
): Pick<ModelFit, "status" | "parameters"> & { readonly messages: readonly string[] } {
  const isInside = (j: number): boolean => fit.point[j] > lower[j] && fit.point[j] < upper[j];
  const held = fitted.filter((_, j) => !isInside(j));
  const isExact = fit.residuals.length <= fitted.length;
  const unknown = fitted.filter((_, j) => isInside(j) && !isExact && Number.isNaN(fit.standardErrors[j]));
  return {
    // Where prices do not depend on a parameter, the search has not found it.
    status: fit.status === "converged" && unknown.length === 0 ? "converged" : "not converged",
    parameters: named(fitted, fit.point),
    messages: [
      ...(held.length > 0 ? [`at a bound: ${held.join(", ")}`] : []),
      ...(unknown.length > 0 ? [`not determined by the quotes there: ${unknown.join(", ")}`] : []),
      ...(isExact ? ["there are as many parameters as quotes: they have no standard errors"] : []),
    ],
  };
}
