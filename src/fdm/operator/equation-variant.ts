import type { ExerciseMethod } from "../problem/equation.ts";
import type { AxesCoefficients, AxesNumber, BoundaryCode, DatedCode, RegionCode } from "./state.ts";

/** Everything that a kernel of one axis is compiled for. "First" and "last" are ends of the nodes as they run. */
export interface EquationVariant extends DatedCode {
  readonly name: string;
  /** The largest number of nodes. */
  readonly capacity: number;
  readonly parameters: number;
  readonly coefficients: AxesCoefficients;
  /** True where d or a Neumann slope adds to the right-hand side. */
  readonly hasSource: boolean;
  readonly log: boolean;
  readonly fitted: boolean;
  readonly terminal: AxesNumber;
  readonly first: BoundaryCode;
  readonly last: BoundaryCode;
  /** True where any scheme has two stages. */
  readonly twoStages: boolean;
  /** The method of exercise at all times, and its payoff. */
  readonly exercise: ExerciseMethod | "none";
  readonly obstacle: AxesNumber | undefined;
  /** True where the boundary of exercise on dates is recorded. */
  readonly recordsEvents: boolean;
  readonly region: RegionCode | undefined;
}

/** The number of private arrays of an instance's nodes that are kept where a time loop goes on in another launch. */
export function keptArrays({
  twoStages,
  hasSource,
  exercise,
}: EquationVariant | Omit<EquationVariant, "capacity">): number {
  const early = exercise !== "none";
  const used = [twoStages, hasSource, early, exercise === "penalty", exercise === "operator-splitting"];
  return 4 + used.filter((one) => one).length;
}

/** The number of private arrays of `capacity` reals that a variant takes. */
export function privateArrays({ twoStages, hasSource, exercise, recordsEvents, jump }: EquationVariant): number {
  const method = exercise === "penalty" ? 3 : exercise === "operator-splitting" ? 1 : 0;
  const others = [twoStages, hasSource, exercise !== "none" || recordsEvents, jump !== undefined];
  return 5 + method + others.filter((used) => used).length;
}
