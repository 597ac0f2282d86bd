/** Options on an average, and their control. */
import { SpecError } from "../../base/errors.ts";
import { checkOneOf } from "../../base/argument-checks.ts";
import { fn } from "../../kernel/index.ts";
import { type Column, failuresOf } from "../parameters.ts";
import { type PathProduct, productParams } from "../product.ts";
import { memoize } from "../../base/memoize.ts";
import { checkOption, type OptionType, signOf } from "./formulas.ts";

/** The settings of `asian`. @experimental */
export interface AsianSettings {
  readonly payoff: OptionType;
  readonly strike: Column;
  /** The kind of average, "arithmetic" by default. */
  readonly average?: "arithmetic" | "geometric";
  /**
   * The sampling of the average. "dates", the default: the mean of the spots at all dates. "continuous": the integral
   * over time, by the trapezoidal rule on the model's steps.
   */
  readonly sampling?: "dates" | "continuous";
  /** True to include the spot at time 0 in the fixings; false by default. A continuous average always begins there. */
  readonly includesStart?: boolean;
  /** The fixings before time 0, by number and mean; none by default. */
  readonly past?: { readonly count: Column; readonly mean: Column };
}

/** The settings of each average, for those who know its closed form. */
const kinds = new WeakMap<PathProduct, AsianSettings>();

/** Returns the settings of a product made by `asian`. */
export const asianSettings = (product: PathProduct): AsianSettings | undefined => kinds.get(product);

/**
 * Returns an option on the average A of one spot, max(A − K, 0) or max(K − A, 0) at the last date:
 *
 *   arithmetic A = Σ Sₖ/n,   geometric A = exp(Σ ln Sₖ/n),   continuous A = (1/T)∫ S dt, or exp((1/T)∫ ln S dt)
 *
 * Accuracy: exact on dates. A continuous average by the trapezoidal rule has a bias of order Δt²: in the variance of
 * the geometric average (1 + Δt²/2T²) for equal steps Δt. Increase `substeps` until the value does not change. Source:
 * A. G. Z. Kemna and A. C. F. Vorst (1990). Verified: test/montecarlo/reference.test.ts.
 *
 * @param settings call or put, strike, the kind of average, and past fixings.
 * @throws SpecError
 * @example
 * import { asian } from "feynkac/montecarlo";
 *
 * console.log(asian({ payoff: "call", strike: 100 }).name); // arithmetic Asian call
 * @experimental
 */
export function asian(settings: AsianSettings): PathProduct {
  checkOption("asian", settings, ["strike", "average", "sampling", "includesStart", "past"]);
  const { payoff, strike, average = "arithmetic", sampling = "dates", includesStart = false, past } = settings;
  checkOneOf("asian: average", average, ["arithmetic", "geometric"]);
  checkOneOf("asian: sampling", sampling, ["dates", "continuous"]);
  const continuous = sampling === "continuous";
  if (past !== undefined && (continuous || average === "geometric"))
    throw new SpecError("asian: past: got past fixings, expected none: they are for arithmetic averages on dates");
  const failures = failuresOf("asian: strike", strike, "a finite number", Number.isFinite);
  const product: PathProduct = {
    name: `${average} Asian ${payoff}`,
    assets: 1,
    // The sum, and its weight: numbers or years; the last logarithm of a continuous geometric average.
    running: continuous && average === "geometric" ? 3 : 2,
    usesLogs: average === "geometric",
    parameters: { strike, pastCount: past?.count ?? 0, pastMean: past?.mean ?? 0 },
    payoffParameters: ["strike"],
    failures,
    isDiscontinuous: false,
    ...(continuous ? { monitoring: "steps" } : {}),
    ...asianFunctions(payoff, average, continuous, includesStart && !continuous),
  };
  kinds.set(product, settings);
  return product;
}

const asianFunctions = memoize(
  (payoff: OptionType, average: "arithmetic" | "geometric", continuous: boolean, includesStart: boolean) => ({
    start: fn({
      name: "asianStart",
      params: productParams.start,
      env: { INCLUDED: includesStart, GEOMETRIC: average === "geometric", CONTINUOUS: continuous },
      body({ running, spots, p }, _gpu, { INCLUDED, GEOMETRIC, CONTINUOUS }) {
        if (GEOMETRIC && CONTINUOUS) running[2] = Math.log(spots[0]);
        running[0] = p[1] * p[2];
        running[1] = p[1];
        if (INCLUDED) {
          running[0] = running[0] + (GEOMETRIC ? Math.log(spots[0]) : spots[0]);
          running[1] = running[1] + 1;
        }
      },
    }),
    update: fn({
      name: "asianUpdate",
      params: productParams.update,
      env: { GEOMETRIC: average === "geometric", CONTINUOUS: continuous },
      body({ running, spots, logs, before, dt }, _gpu, { GEOMETRIC, CONTINUOUS }) {
        const now = GEOMETRIC ? logs[0] : spots[0];
        if (CONTINUOUS) {
          const then = GEOMETRIC ? running[2] : before[0];
          running[0] = running[0] + 0.5 * (now + then) * dt;
          running[1] = running[1] + dt;
          if (GEOMETRIC) running[2] = now;
        } else {
          running[0] = running[0] + now;
          running[1] = running[1] + 1;
        }
      },
    }),
    payoff: fn({
      name: "asianPayoff",
      params: productParams.payoff,
      env: { SIGN: signOf(payoff), GEOMETRIC: average === "geometric" },
      body({ running, p }, _gpu, { SIGN, GEOMETRIC }) {
        const mean = running[0] / running[1];
        return Math.max(SIGN * ((GEOMETRIC ? Math.exp(mean) : mean) - p[0]), 0);
      },
    }),
  }),
);
