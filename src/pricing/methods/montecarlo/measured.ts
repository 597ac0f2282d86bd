/** Values with their errors. */
import type { ResultMethod } from "../../columns/result-columns.ts";

/** A number and half the width of an interval of 95 % that it is in. */
export interface Measured {
  readonly value: number;
  readonly error: number;
}

/** The estimates of an instance. */
export interface Estimate extends Measured {
  /** Paths it took. */
  readonly paths: number;
  /** True where the accuracy would take more paths than there may be. */
  readonly isLimited: boolean;
  readonly method: ResultMethod;
  /** Sensitivities by the names of their measures; none where none were asked for. */
  readonly measures?: ReadonlyMap<string, Measured>;
}
