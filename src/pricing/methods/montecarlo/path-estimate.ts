/** Values with their errors. */
import type { Estimate, Measured } from "../../plan/request.ts";

/** The answer of the Monte Carlo method to a request: values, error estimates and sensitivities. */
export interface PathEstimate extends Estimate {
  /** The level of refinement, which determines the number of paths; undefined for a value that needed no paths. */
  readonly level?: number;
  /**
   * The fineness of the steps of paths whose scheme is not exact, the error that these leave, and the warning of what
   * kept them from being finer, if the error is large.
   */
  readonly steps?: { readonly fineness: number; readonly bias: number; readonly limit: number };
  /** The sensitivities by name, if they were requested. */
  readonly measures?: ReadonlyMap<string, Measured>;
}
