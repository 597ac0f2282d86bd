/** Values with their errors. */
import { WARNING } from "../../columns/result-columns.ts";
import type { Estimate, Measured } from "../../plan/request.ts";

/** The answer of the Monte Carlo method to a request: values, error estimates and sensitivities. */
export interface PathEstimate extends Estimate {
  /** The level of refinement, which determines the number of paths; undefined for a value that needed no paths. */
  readonly level?: number;
  /**
   * The fineness of the steps of paths, where the value depends on it, the error that a scheme leaves in them, and the
   * warning of what kept steps from being finer, if that error is large.
   */
  readonly steps?: { readonly fineness: number; readonly bias: number; readonly limit: number };
  /** The part of the error that comes from bounds of the value, which more paths do not reduce. */
  readonly halfWidth?: number;
  /** The sensitivities by name, if they were requested. */
  readonly measures?: ReadonlyMap<string, Measured>;
}

/** Returns an estimate whose steps time has kept from being finer. */
export function outOfTime(estimate: PathEstimate): PathEstimate {
  const { steps, warnings = 0 } = estimate;
  const isLimited = (warnings & WARNING.stepsLimited) !== 0;
  return {
    ...estimate,
    ...(steps && { steps: { ...steps, limit: WARNING.outOfTime } }),
    warnings: isLimited ? (warnings & ~WARNING.stepsLimited) | WARNING.outOfTime : warnings,
  };
}
