/** Values with their errors. */
import type { Estimate, Measured } from "../../plan/request.ts";

/** The answer of the Monte Carlo method to a request: values, error estimates and sensitivities. */
export interface PathEstimate extends Estimate {
  /** The level of refinement, which determines the number of paths; undefined for a value that needed no paths. */
  readonly level?: number;
  /** The fineness of the steps of paths, where the value depends on it, and the error that a scheme leaves in them. */
  readonly steps?: { readonly fineness: number; readonly bias: number };
  /** The part of the error that comes from bounds of the value, which more paths do not reduce. */
  readonly halfWidth?: number;
  /** The sensitivities by name, if they were requested. */
  readonly measures?: ReadonlyMap<string, Measured>;
}
