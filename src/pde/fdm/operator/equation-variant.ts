import type { ExerciseMethod } from "../problem/equation.ts";
import type { Coefficients, StateNumber, BoundaryCode, DatedCode, RegionCode } from "./state.ts";

/**
 * The properties of a problem on one axis that the code of its kernel depends on. "First" and "last" are ends in the
 * order of the nodes.
 */
export interface EquationVariant extends DatedCode {
  readonly name: string;
  /** The largest number of nodes. */
  readonly capacity: number;
  /** The number of parameters, which precede the dates in the table of an instance. */
  readonly parameters: number;
  /** The function that writes the coefficients of the equation at a state. */
  readonly coefficients: Coefficients;
  /** True where d or a Neumann slope adds to the right-hand side. */
  readonly hasSource: boolean;
  /** True where the coordinate is the logarithm of the axis' value. */
  readonly log: boolean;
  /** True where diffusion is raised at nodes at which drift dominates it. */
  readonly fitted: boolean;
  /** The function for the terminal values. */
  readonly terminal: StateNumber;
  readonly first: BoundaryCode;
  readonly last: BoundaryCode;
  /** True where any scheme has two stages. */
  readonly twoStages: boolean;
  /** The method that imposes exercise at all times; "none" without it. */
  readonly exercise: ExerciseMethod | "none";
  /** The payoff of exercise at all times. */
  readonly obstacle: StateNumber | undefined;
  /** True where the exercise boundary on exercise dates is recorded. */
  readonly recordsEvents: boolean;
  /** The knock-outs at all times; undefined without any. */
  readonly region: RegionCode | undefined;
}

/** Returns the ends of the only axis and the knock-outs at all times, in the form that `isPinned` takes. */
export const pinsOf = ({ first, last, region }: EquationVariant) => ({ axes: [{ first, last }], region });

/**
 * The number of private node arrays of an instance that must be saved between launches when several launches share a
 * time loop.
 */
export function keptArrays({
  twoStages,
  hasSource,
  exercise,
}: EquationVariant | Omit<EquationVariant, "capacity">): number {
  const early = exercise !== "none";
  const used = [twoStages, hasSource, early, exercise === "penalty", exercise === "operator-splitting"];
  return 4 + used.filter((one) => one).length;
}

/** The number of private node arrays that a variant uses, each of `capacity` reals. */
export function privateArrays({ twoStages, hasSource, exercise, recordsEvents, jump }: EquationVariant): number {
  const method = exercise === "penalty" ? 3 : exercise === "operator-splitting" ? 1 : 0;
  const others = [twoStages, hasSource, exercise !== "none" || recordsEvents, jump !== undefined];
  return 5 + method + others.filter((used) => used).length;
}
