/** Estimates of rights, and their sensitivities by differences of values on the same tree or grid. */
import { sensitivityBy, sensitivityErrorOf, type SensitivityFormula, sensitivityOf } from "../../base/differences.ts";
import { THETA } from "../plan/differences.ts";
import type { Estimate, Estimator, Measured, Request } from "../plan/request.ts";
import { decisionOf, rightsDifferences } from "./differences.ts";

/** The estimate of a swing option, or of another contract with exercise rights on given dates. */
export interface ExerciseRightsEstimate extends Estimate {
  /** The number of points of the finer tree; 0 for a value that needed no tree. */
  readonly size: number;
  /**
   * What the errors of sensitivities are estimated from; undefined where they are not. `parts` are amounts, about as
   * large as the errors of the value from different sources, `rounding` is an error that differs from copy to copy.
   */
  readonly noise?: { readonly parts: readonly number[]; readonly rounding: number };
}

/** A level takes about so many times as long as the one before. */
const GROWTH = 4;

/** The members of an `Estimator` that all methods for exercise rights on dates share. */
export const rightsEstimator: Omit<
  Estimator<ExerciseRightsEstimate>,
  "accuracy" | "limited" | "finerLevel" | "estimate"
> = {
  accuracyOfF32: 0,
  servesAllSpots: false,
  findsDifferences: false,
  refinesEach: false,
  growth: (_, from, to) => GROWTH ** (to - from),
  copyLevel: ({ level }) => level,
  differencesOf: ({ terms, spots: [spots], estimate }, greeks, later) =>
    rightsDifferences({ terms, spots }, estimate!.size, greeks, later),
  measuresOf(today, { formulas, bias }, copies) {
    const failed = copies.find(({ failure }) => failure !== undefined);
    if (failed !== undefined) throw failed.failure;
    const estimates = [today, ...copies].map(({ estimate }) => estimate!);
    const values = estimates.map((one) => one.values[0]);
    const found = new Map(formulas.map((one) => [one.name, sensitivityOf(one, values)]));
    const size = (name: string): number => Math.abs(found.get(name) ?? 0);
    const measures = new Map(
      formulas.map((one): [string, Measured] => {
        const error = errorOf(one, estimates) + (bias?.(one.name, size) ?? Number.NaN);
        return [one.name, { value: found.get(one.name)!, error }];
      }),
    );
    measures.set(THETA, measures.get(decisionOf(found)) ?? { value: 0, error: 0 });
    return measures;
  },
};

/** Returns the estimate of a sensitivity's error from those of the values; NaN where it is not known. */
function errorOf(formula: SensitivityFormula, estimates: readonly ExerciseRightsEstimate[]): number {
  const noises = estimates.map(({ noise }) => noise ?? { parts: [Number.NaN], rounding: Number.NaN });
  const count = Math.max(...noises.map(({ parts }) => parts.length));
  const ofPart = (part: number): number =>
    Math.abs(sensitivityBy({ ...formula, added: 0 }, (v) => noises[v].parts[part] ?? 0));
  const ofParts = Array.from({ length: count }, (_, part) => ofPart(part)).reduce((sum, one) => sum + one, 0);
  return (
    ofParts +
    sensitivityErrorOf(
      formula,
      noises.map(({ rounding }) => rounding),
    )
  );
}

/** A request for the value of rights on one underlying. */
export type RightsRequest = Request<ExerciseRightsEstimate>;
