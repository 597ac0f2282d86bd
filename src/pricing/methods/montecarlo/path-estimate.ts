/** Values with their errors. */
import type { Estimate, Measured } from "../../plan/request.ts";

/** The values, sensitivities and error estimates of a request by paths. */
export interface PathEstimate extends Estimate {
  /** The level that gives the number of paths; undefined for a value without paths. */
  readonly level?: number;
  /** The sensitivities by the names of their measures, once they have been requested. */
  readonly measures?: ReadonlyMap<string, Measured>;
}
