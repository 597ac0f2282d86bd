/** Values with their errors. */
import type { Estimate, Measured } from "../../plan/request.ts";

/** The estimates of a request by paths. */
export interface PathEstimate extends Estimate {
  /** The level of its number of paths; undefined of a value that needs none. */
  readonly level?: number;
  /** Sensitivities by the names of their measures; none before they have been asked for. */
  readonly measures?: ReadonlyMap<string, Measured>;
}
