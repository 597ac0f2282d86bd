/** Geometric Brownian motions, correlated by the Cholesky factor of their correlations. */
import { NotPositiveDefiniteError, ShapeError, SpecError } from "../../base/errors.ts";
import { checkFields } from "../../base/argument-checks.ts";
import { fn } from "../../kernel/index.ts";
import { semidefiniteCholeskyOf } from "../../numerics/linalg/index.ts";
import { modelParams, type PathModel } from "../model.ts";
import {
  type Column,
  columnAt,
  failuresOf,
  isByStep,
  type Parameter,
  type ParameterFailure,
  type Parameters,
} from "../parameters.ts";
import { memoize } from "../../base/memoize.ts";

/**
 * The settings that all models of one spot share. Each is a number, or a column with one number for each instance of a
 * batch.
 * @experimental
 */
export interface SpotSettings {
  /** The spot today, > 0. */
  readonly spot: Column;
  /** The rate per year, continuously compounded; 0 by default. */
  readonly rate?: Parameter;
  /** The dividend yield per year, continuously compounded; 0 by default. */
  readonly yield?: Parameter;
}

/**
 * The settings of `geometricBrownian`: numbers, or columns with one number for each instance of a batch.
 * @experimental
 */
export interface BrownianSettings {
  /** The spot of each asset today, > 0. */
  readonly spots: readonly Column[];
  /** The rate per year, continuously compounded; 0 by default. */
  readonly rate?: Parameter;
  /** The dividend yield of each asset per year, continuously compounded; 0 by default. */
  readonly yields?: readonly Parameter[];
  /** The volatility of each asset, per √year. */
  readonly volatilities: readonly Parameter[];
  /**
   * The correlation matrix, [assets][assets]; the identity by default. Correlations may be piecewise constant, with a
   * number or column for each step.
   */
  readonly correlation?: readonly (readonly Parameter[])[];
}

/** The names of the fields of `SpotSettings`. */
export const SPOT_FIELDS = ["spot", "rate", "yield"] as const;

const isPositive = (x: number): boolean => x > 0 && x < Infinity;
const isNotNegative = (x: number): boolean => x >= 0 && x < Infinity;

/**
 * Returns the failures of those instances of a column whose spot is not positive; `path` is the parameter's path for
 * messages. @throws SpecError where a spot that is not in a column is not positive
 */
export const spotFailures = (path: string, spot: Column): readonly ParameterFailure[] =>
  failuresOf(path, spot, "a positive number", isPositive);

/**
 * Returns the failures of those instances of a column whose volatility is negative; `path` is the parameter's path for
 * messages. @throws SpecError where a volatility that is not in a column is negative
 */
export const volatilityFailures = (path: string, volatility: Parameter): readonly ParameterFailure[] =>
  failuresOf(path, volatility, "a number from 0 on, per √year", isNotNegative);

/**
 * Returns the model of correlated geometric Brownian motions, simulated exactly at all dates:
 *
 *   dSᵢ = (r − qᵢ)·Sᵢ dt + σᵢ·Sᵢ dWᵢ,   d⟨Wᵢ, Wⱼ⟩ = ρᵢⱼ dt,   W = L·B by Cholesky
 *
 * Its spots are those of the assets. All but spots may be piecewise constant, `{ byStep: […] }`.
 * Accuracy: exact at all dates, whatever their distance. Source: P. Glasserman, Monte Carlo Methods in Financial
 * Engineering (2004), section 3.2.3. Verified: test/montecarlo/reference.test.ts, against closed forms.
 *
 * @param settings spots, rates, volatilities and correlations; a number out of bounds in a column fails its instance.
 * @throws SpecError | ShapeError | NotPositiveDefiniteError (correlations)
 * @example
 * import { geometricBrownian } from "feynkac/montecarlo";
 *
 * const correlation = [[1, 0.5], [0.5, 1]];
 * const model = geometricBrownian({ spots: [100, 90], rate: 0.05, volatilities: [0.2, 0.3], correlation });
 * console.log(model.assets, model.normals); // 2 2
 * @experimental
 */
export function geometricBrownian(settings: BrownianSettings): PathModel {
  checkFields("geometricBrownian", settings, ["spots", "rate", "yields", "volatilities", "correlation"]);
  const { spots, volatilities } = settings;
  const d = spots.length;
  if (d === 0) throw new ShapeError("geometricBrownian: spots: got none, expected at least one");
  const yields = settings.yields ?? spots.map(() => 0);
  for (const [name, given] of Object.entries({ yields, volatilities }))
    if (given.length !== d)
      throw new ShapeError(`geometricBrownian: ${name}: got ${given.length}, expected ${d}, one for each spot`);
  const failures = [
    ...spots.flatMap((spot, i) => spotFailures(`geometricBrownian: spots[${i}]`, spot)),
    ...volatilities.flatMap((one, i) => volatilityFailures(`geometricBrownian: volatilities[${i}]`, one)),
  ];
  return brownian(settings, failures);
}

/** Returns the model of settings whose instances with `failures` are not simulated. */
function brownian(settings: BrownianSettings, failures: ParameterFailure[]): PathModel {
  const { spots, rate = 0, yields = spots.map(() => 0), volatilities } = settings;
  const d = spots.length;
  const suffix = (i: number): string => (d === 1 ? "" : String(i + 1));
  const byAxisName = (name: string, all: readonly Parameter[]): Parameters =>
    Object.fromEntries(all.map((one, i) => [`${name}${suffix(i)}`, one]));
  const factor = d === 1 ? {} : choleskyParameters(settings.correlation, d, failures);
  const sensitivitiesTo = (name: string, parameter: string): Record<string, readonly string[]> =>
    Object.fromEntries(spots.map((_, i) => [`${name}${suffix(i)}`, [`${parameter}${suffix(i)}`]]));
  const triangle = (d * (d + 1)) / 2;
  return {
    name: d === 1 ? "geometric Brownian motion" : `${d} geometric Brownian motions`,
    assets: d,
    state: d,
    normals: d,
    uniforms: 0,
    parameters: {
      ...byAxisName("spot", spots),
      ...byAxisName("yield", yields),
      ...byAxisName("volatility", volatilities),
      rate,
      ...factor,
    },
    failures,
    coefficients: { count: d + triangle, function: coefficientFunction(d) },
    start: logStart(d),
    step: stepFunction(d),
    observe: logObserve(d),
    logs: logsOfState(d),
    variances: varianceFunction(d),
    exactBridge: true,
    jumpsWith: [],
    ...(d === 1 ? { score: SCORE } : {}),
    sensitivities: {
      ...sensitivitiesTo("delta", "spot"),
      ...sensitivitiesTo("gamma", "spot"),
      ...sensitivitiesTo("vega", "volatility"),
      rho: ["rate"],
    },
  };
}

/**
 * Returns the kernel function that initialises the state of a path with the logarithms of the spots, which are the
 * first d parameters.
 */
export const logStart = memoize((d: number) =>
  fn({
    name: "brownianStart",
    params: modelParams.start,
    env: { D: d },
    body({ p, state }, _gpu, { D }) {
      for (let i = 0; i < D; i++) state[i] = Math.log(p[i]);
    },
  }),
);

const varianceFunction = memoize((d: number) =>
  fn({
    name: "brownianVariances",
    params: modelParams.variances,
    env: { D: d },
    body({ c, variances }, gpu, { D }) {
      let at = D;
      for (let i = 0; i < D; i++) {
        let sum = gpu.real(0);
        for (let j = 0; j <= i; j++) {
          sum += c[at] * c[at];
          at += 1;
        }
        variances[i] = sum;
      }
    },
  }),
);

/** c: drifts of ln S over the step; then σᵢ·√dt·Lᵢⱼ, j ≤ i. */
const coefficientFunction = memoize((d: number) =>
  fn({
    name: "brownianCoefficients",
    params: modelParams.coefficients,
    env: { D: d },
    body({ p, dt, c }, _gpu, { D }) {
      const root = Math.sqrt(dt);
      const rate = p[3 * D];
      let at = D;
      for (let i = 0; i < D; i++) {
        const sigma = p[2 * D + i];
        c[i] = (rate - p[D + i] - 0.5 * sigma * sigma) * dt;
        for (let j = 0; j <= i; j++) {
          c[at] = D === 1 ? sigma * root : sigma * root * p[2 * D + 1 + at];
          at += 1;
        }
      }
    },
  }),
);

const stepFunction = memoize((d: number) =>
  fn({
    name: "brownianStep",
    params: modelParams.step,
    env: { D: d },
    body({ state, normals, c }, _gpu, { D }) {
      let at = D;
      for (let i = 0; i < D; i++) {
        let sum = c[i];
        for (let j = 0; j <= i; j++) {
          sum += c[at] * normals[j];
          at += 1;
        }
        state[i] = state[i] + sum;
      }
    },
  }),
);

/** Returns the kernel function that computes the spots of d assets from a state that begins with their logarithms. */
export const logObserve = memoize((d: number) =>
  fn({
    name: "logObserve",
    params: modelParams.observe,
    env: { D: d },
    body({ state, spots }, _gpu, { D }) {
      for (let i = 0; i < D; i++) spots[i] = Math.exp(state[i]);
    },
  }),
);

/** Returns the kernel function that returns the logarithms of d spots, the first numbers of the state. */
export const logsOfState = memoize((d: number) =>
  fn({
    name: "logsOfState",
    params: modelParams.logs,
    env: { D: d },
    body({ state, logs }, _gpu, { D }) {
      for (let i = 0; i < D; i++) logs[i] = state[i];
    },
  }),
);

/**
 * The scores of Black and Scholes' model. With σ√dt = c₁ and z the normal number of a step: delta z/(S₀·c₁), gamma ((z²
 * − 1)/c₁ − z)/(S₀²·c₁), both of the first step; vega the sum of (z² − 1)/σ − z·√dt. Source: Glasserman (2004), section
 * 7.3.
 */
const SCORE: NonNullable<PathModel["score"]> = {
  names: ["delta", "gamma", "vega"],
  function: fn({
    name: "brownianScore",
    params: modelParams.score,
    body({ scores, normals, c, dt, isFirst, initial }) {
      const z = normals[0];
      const width = c[1];
      const root = Math.sqrt(dt);
      if (isFirst) {
        scores[0] = z / (initial[0] * width);
        scores[1] = ((z * z - 1) / width - z) / (initial[0] * initial[0] * width);
      }
      scores[2] = scores[2] + ((z * z - 1) * root) / width - z * root;
    },
  }),
};

/**
 * Returns the Cholesky factor of the correlations, row by row, as parameters: L₁₁, L₂₁, L₂₂, …; instances that have
 * none are added to `failures`.
 */
export function choleskyParameters(
  correlation: BrownianSettings["correlation"],
  d: number,
  failures: ParameterFailure[],
): Parameters {
  const rows =
    correlation ?? Array.from({ length: d }, (_, i) => Array.from({ length: d }, (_one, j) => (i === j ? 1 : 0)));
  if (rows.length !== d || rows.some((row) => row.length !== d))
    throw new ShapeError(`geometricBrownian: correlation: expected ${d} rows of ${d}, as there are spots`);
  const flat = rows.flat();
  const steps = Math.max(...flat.map((one) => (isByStep(one) ? one.byStep.length : 1)));
  const short = flat.find((one) => isByStep(one) && one.byStep.length !== steps);
  if (short !== undefined)
    throw new ShapeError(`geometricBrownian: correlation: byStep: expected ${steps} columns each, one per step`);
  const byStep = Array.from({ length: steps }, (_, n) =>
    choleskyColumns(
      flat.map((one) => (isByStep(one) ? one.byStep[n] : one)),
      d,
      failures,
    ),
  );
  const names: [string, Parameter][] = [];
  for (let i = 0; i < d; i++)
    for (let j = 0; j <= i; j++) {
      const columns = byStep.map((factors) => factors[i * d + j]);
      names.push([`factor${i + 1}_${j + 1}`, flat.some(isByStep) ? { byStep: columns } : columns[0]]);
    }
  return Object.fromEntries(names);
}

/** The Cholesky factor of the correlations in one step: [d, d] columns. */
function choleskyColumns(flat: readonly Column[], d: number, failures: ParameterFailure[]): readonly Column[] {
  const isShared = flat.every((column) => typeof column === "number");
  const width = Math.max(...flat.map((column) => (typeof column === "number" ? 1 : column.length)));
  const factors = Array.from({ length: d * d }, () => new Float64Array(width));
  for (let k = 0; k < width; k++) {
    const matrix = Float64Array.from(flat, (column) => columnAt(column, k));
    try {
      checkCorrelation(matrix, d, width === 1 ? "" : ` of instance ${k}`);
      semidefiniteCholeskyOf(matrix, d).forEach((x, at) => (factors[at][k] = x));
    } catch (error) {
      const isIndefinite = error instanceof NotPositiveDefiniteError;
      if (isShared || !(isIndefinite || error instanceof SpecError)) throw error;
      const own = isIndefinite ? new NotPositiveDefiniteError(k, error.minor) : error;
      failures.push({ instance: width === 1 ? undefined : k, error: own });
    }
  }
  return factors.map((column) => (width === 1 ? column[0] : column));
}

function checkCorrelation(matrix: Float64Array, d: number, where: string): void {
  for (let i = 0; i < d; i++)
    for (let j = 0; j <= i; j++) {
      const [x, other, expected] = [matrix[i * d + j], matrix[j * d + i], i === j ? "1" : "a number between -1 and 1"];
      if (!(i === j ? x === 1 : Math.abs(x) <= 1) || x !== other)
        throw new SpecError(
          `geometricBrownian: correlation[${i}][${j}]${where}: got ${x} and ${other} in [${j}][${i}], ` +
            `expected ${expected}, the same in both`,
        );
    }
}

/** The settings of `blackScholes`. @experimental */
export interface BlackScholesSettings extends SpotSettings {
  /** The volatility per √year. */
  readonly volatility: Parameter;
}

/**
 * Returns Black and Scholes' model of one asset: `geometricBrownian` with one spot.
 *
 * @param settings the spot, rates and the volatility; numbers, or columns with one for each instance of a batch.
 * @throws SpecError
 * @example
 * import { blackScholes } from "feynkac/montecarlo";
 *
 * const { parameters } = blackScholes({ spot: 100, volatility: 0.2 });
 * console.log(Object.keys(parameters).join(" ")); // spot yield volatility rate
 * @experimental
 */
export function blackScholes(settings: BlackScholesSettings): PathModel {
  checkFields("blackScholes", settings, [...SPOT_FIELDS, "volatility"]);
  const { spot, rate = 0, yield: carry = 0, volatility } = settings;
  const failures = [
    ...spotFailures("blackScholes: spot", spot),
    ...volatilityFailures("blackScholes: volatility", volatility),
  ];
  return brownian({ spots: [spot], rate, yields: [carry], volatilities: [volatility] }, failures);
}

/**
 * Tells whether a model is `blackScholes` or `geometricBrownian` of one asset with constant parameters, so that closed
 * forms apply.
 */
export const isBlackScholes = ({ score, parameters }: PathModel): boolean =>
  score === SCORE && !Object.values(parameters).some(isByStep);
