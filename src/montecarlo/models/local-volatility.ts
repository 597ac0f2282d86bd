/** Local volatility σ(S, t) of a formula or a function. */
import { checkFields } from "../../base/argument-checks.ts";
import {
  type DeclaredFunctions,
  declaredFunctions,
  fn,
  formula,
  type RealFunction,
  type UserFunction,
  userFunction,
  type UserFunctions,
} from "../../kernel/index.ts";
import { modelParams, type PathModel } from "../model.ts";
import { memoize } from "../../base/memoize.ts";
import type { Column } from "../parameters.ts";
import { logObserve, logsOfState, logStart, SPOT_FIELDS, spotFailures, type SpotSettings } from "./gbm.ts";

/** The settings of `localVolatility`. @experimental */
export interface LocalVolatilitySettings<F extends UserFunctions = Record<never, never>> extends SpotSettings {
  /** The volatility σ(S, t) per √year: a formula in S and t as text, or a function of { S, t }. */
  readonly volatility: string | UserFunction<"S" | "t", number, NoInfer<F>>;
  /** The user's functions that the volatility may call by name; a function takes them as its third argument. */
  readonly functions?: F;
  /** A shift that is added to σ, with the sum bounded below by 0; 0 by default. */
  readonly added?: Column;
  /** The value of t at which the simulation starts, in years; 0 by default. */
  readonly start?: Column;
  /**
   * False where σ is a continuous function of S, so that first sensitivities are derivatives along paths. True where it
   * jumps: those are differences, as they are where neither is said.
   */
  readonly isDiscontinuous?: boolean;
}

/**
 * Returns the model of local volatility, simulated by Euler's scheme for ln S with the volatility at the start of each
 * step:
 *
 *   dS = (r − q)·S dt + σ(S, t)·S dW
 *
 * Accuracy: a bias of first order in the step; halve it with twice the `substeps`. σ must be bounded on paths: S stays
 * positive, and a process that reaches zero needs a separate model. Source: Glasserman (2004), section 6.1. Verified:
 * test/montecarlo/models.test.ts, against prices under constant elasticity of variance.
 *
 * @param settings the spot, rates, and the volatility.
 * @throws SpecError | KernelError (the formula)
 * @example
 * import { localVolatility } from "feynkac/montecarlo";
 *
 * console.log(localVolatility({ spot: 100, volatility: "0.2 + 0.1*exp(-S/100)" }).name); // local volatility
 * @experimental
 */
export function localVolatility<F extends UserFunctions = Record<never, never>>(
  settings: LocalVolatilitySettings<F>,
): PathModel {
  checkFields("localVolatility", settings, [
    ...SPOT_FIELDS,
    "volatility",
    "functions",
    "added",
    "start",
    "isDiscontinuous",
  ]);
  const { spot, rate = 0, yield: carry = 0, volatility, added = 0, start = 0, isDiscontinuous } = settings;
  const parameters = { spot, yield: carry, rate, added, start };
  const functions = declaredFunctions(settings.functions);
  const failures = spotFailures("localVolatility: spot", spot);
  return {
    name: "local volatility",
    assets: 1,
    state: 1,
    normals: 1,
    uniforms: 0,
    parameters,
    failures,
    ...functionsOf({ volatility, functions }),
    ...(isDiscontinuous === undefined ? {} : { jumpsWith: isDiscontinuous ? Object.keys(parameters) : [] }),
    sensitivities: { delta: ["spot"], gamma: ["spot"], rho: ["rate"] },
  };
}

interface Volatility {
  readonly volatility: string | UserFunction<"S" | "t", number, never>;
  readonly functions: DeclaredFunctions;
}

const functionsOf = memoize(({ volatility, functions }: Volatility) => {
  const sigma: RealFunction =
    typeof volatility === "string"
      ? formula(volatility, ["S", "t"], "volatility", functions)
      : userFunction(["S", "t"], volatility as UserFunction<"S" | "t", number>, "volatility", functions);
  return {
    // (r − q)·dt, √dt, t of σ, what is added to σ
    coefficients: {
      count: 4,
      function: fn({
        name: "localCoefficients",
        params: modelParams.coefficients,
        body({ p, t, dt, c }) {
          c[0] = (p[2] - p[1]) * dt;
          c[1] = Math.sqrt(dt);
          c[2] = t + p[4];
          c[3] = p[3];
        },
      }),
    },
    start: logStart(1),
    step: fn({
      name: "localStep",
      params: modelParams.step,
      env: { sigma },
      body({ state, normals, c, dt }, _gpu, { sigma }) {
        const s = Math.max(sigma(Math.exp(state[0]), c[2]) + c[3], 0);
        state[0] = state[0] + c[0] - 0.5 * s * s * dt + s * c[1] * normals[0];
      },
    }),
    observe: logObserve(1),
    logs: logsOfState(1),
    variances: fn({
      name: "localVariances",
      params: modelParams.variances,
      env: { sigma },
      body({ state, c, dt, variances }, _gpu, { sigma }) {
        const s = Math.max(sigma(Math.exp(state[0]), c[2]) + c[3], 0);
        variances[0] = s * s * dt;
      },
    }),
  };
});
