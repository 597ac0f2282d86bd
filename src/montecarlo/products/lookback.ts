/** Options on the extreme of a path. */
import { checkOneOf } from "../../base/argument-checks.ts";
import { fn } from "../../kernel/index.ts";
import { type Column, failuresOf } from "../parameters.ts";
import { type PathProduct, productParams } from "../product.ts";
import { memoize } from "../../base/memoize.ts";
import { checkOption, type OptionType, signOf } from "./formulas.ts";

/** The settings of `lookback`. @experimental */
export interface LookbackSettings {
  readonly payoff: OptionType;
  /** The strike: a number for a fixed strike, or "floating", where the extreme is the strike. */
  readonly strike: Column | "floating";
  /** The monitoring: "dates", including time 0, or "continuous" (the default), within steps by Brownian bridges. */
  readonly monitoring?: "dates" | "continuous";
  /** The extreme so far; the spot at time 0 by default. */
  readonly extremum?: Column;
  /** The start of monitoring in years, 0 by default; otherwise it is one of the dates. */
  readonly from?: Column;
}

/**
 * Returns a lookback option on the maximum M or minimum m of one spot:
 *
 *   floating: call S − m, put M − S;   fixed: call max(M − K, 0), put max(K − m, 0)
 *
 * Between the ends x, y of a step with variance w of ln S the extreme of a Brownian bridge is drawn from its
 * distribution, (x + y ± √((x − y)² − 2w·ln U))/2. Accuracy: exact for Black and Scholes, with any number of steps;
 * elsewhere w is taken at the start of the step. Source: Glasserman (2004), section 6.4. Verified:
 * test/montecarlo/reference.test.ts.
 *
 * @param settings call or put, strike, monitoring, and the extreme so far.
 * @throws SpecError
 * @example
 * import { lookback } from "feynkac/montecarlo";
 *
 * console.log(lookback({ payoff: "call", strike: "floating" }).uniforms); // 1
 * @experimental
 */
export function lookback(settings: LookbackSettings): PathProduct {
  checkOption("lookback", settings, ["strike", "monitoring", "extremum", "from"]);
  const { payoff, strike, monitoring = "continuous", extremum, from = 0 } = settings;
  const floating = strike === "floating";
  const failures = [
    ...(floating ? [] : failuresOf("lookback: strike", strike, `a finite number, or "floating"`, Number.isFinite)),
    ...(extremum === undefined ? [] : failuresOf("lookback: extremum", extremum, "a positive number", (x) => x > 0)),
    ...failuresOf("lookback: from", from, "years from 0 on", (t) => t >= 0),
  ];
  checkOneOf("lookback: monitoring", monitoring, ["dates", "continuous"]);
  const isMaximum = (payoff === "call") !== floating;
  const continuous = monitoring === "continuous";
  return {
    name: `${floating ? "floating" : "fixed"} lookback ${payoff}`,
    assets: 1,
    running: 1,
    parameters: { strike: floating ? 0 : strike, extremum: extremum ?? (isMaximum ? 0 : FAR), from },
    failures,
    isDiscontinuous: false,
    ...(continuous ? { monitoring: "bridge", uniforms: 1 } : {}),
    ...lookbackFunctions(payoff, floating, continuous),
  };
}

/** A minimum that any spot is below of, also in f32. */
const FAR = 1e30;
/** A spot that stands for zero in logarithms, also in f32. */
const LEAST = 1e-30;

const lookbackFunctions = memoize((payoff: OptionType, floating: boolean, continuous: boolean) => {
  const MAXIMUM = (payoff === "call") !== floating;
  return {
    start: fn({
      name: "lookbackStart",
      params: productParams.start,
      env: { MAXIMUM },
      body({ running, spots, p }, _gpu, { MAXIMUM }) {
        const now = MAXIMUM ? Math.max(p[1], spots[0]) : Math.min(p[1], spots[0]);
        running[0] = p[2] > 0 ? p[1] : now;
      },
    }),
    update: fn({
      name: "lookbackUpdate",
      params: productParams.update,
      env: { MAXIMUM, CONTINUOUS: continuous, LEAST },
      body({ running, spots, before, variances, uniforms, p, t, dt }, _gpu, { MAXIMUM, CONTINUOUS, LEAST }) {
        // Half a step of tolerance: `from` is a date, up to rounding.
        if (t - (CONTINUOUS ? 0.5 * dt : -0.5 * dt) >= p[2]) {
          let extreme = spots[0];
          if (CONTINUOUS) {
            // A spot of zero stays there, so that only the larger end matters.
            const x = Math.log(Math.max(before[0], LEAST));
            const y = Math.log(Math.max(spots[0], LEAST));
            const root = Math.sqrt((y - x) * (y - x) - 2 * variances[0] * Math.log(uniforms[0]));
            extreme = Math.exp(0.5 * (x + y + (MAXIMUM ? root : -root)));
          }
          running[0] = MAXIMUM ? Math.max(running[0], extreme) : Math.min(running[0], extreme);
        }
      },
    }),
    payoff: fn({
      name: "lookbackPayoff",
      params: productParams.payoff,
      env: { FLOATING: floating, SIGN: signOf(payoff) },
      body({ running, spots, p }, _gpu, { FLOATING, SIGN }) {
        return FLOATING ? SIGN * (spots[0] - running[0]) : Math.max(SIGN * (running[0] - p[0]), 0);
      },
    }),
  };
});
