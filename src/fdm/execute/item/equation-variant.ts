import type { KernelFunction } from "../../../kernel/index.ts";
import type { Boundary, ExerciseMethod } from "../../problem/equation.ts";

type StateNumber = KernelFunction<any, number>;

export interface BoundaryCode {
  readonly kind: Boundary<string>["kind"];
  /** The value or slope; undefined for the other kinds. */
  readonly number: StateNumber | undefined;
}

export interface RegionCode {
  readonly inside: KernelFunction<any, any>;
  /** Of the last region that S is in. */
  readonly value: StateNumber;
  /** Whether the edges of those in force are numbers. */
  readonly hasEdges: KernelFunction<any, any>;
}

/**
 * Everything a kernel is compiled for. Functions take (t, S, parameters, pitch, instance); "first" and "last" are ends
 * of the nodes as they run.
 */
export interface EquationVariant {
  readonly name: string;
  /** Most nodes. */
  readonly capacity: number;
  readonly parameters: number;
  /** { a, b, c, d } in S. */
  readonly coefficients: KernelFunction<any, any>;
  /** Whether d or a Neumann slope adds to the right-hand side. */
  readonly hasSource: boolean;
  readonly log: boolean;
  readonly fitted: boolean;
  readonly terminal: StateNumber;
  readonly first: BoundaryCode;
  readonly last: BoundaryCode;
  /** Whether any scheme has two stages. */
  readonly twoStages: boolean;
  /** Exercise at all times, and its payoff. */
  readonly exercise: ExerciseMethod | "none";
  readonly obstacle: StateNumber | undefined;
  /** Whether the boundary of exercise on dates is recorded. */
  readonly recordsEvents: boolean;
  /** Knock-outs at all times, of which `mask` has a bit each for those in force: (t, S, …, mask). */
  readonly region: RegionCode | undefined;
  /** Conditions on dates: by number, (t, S, …, k, u) → u with whether all it took was finite, and (t, S, …, k) → S. */
  readonly pointwise: KernelFunction<any, any> | undefined;
  readonly jump: KernelFunction<any, number> | undefined;
  /** Whether condition k is a jump: (k) → bool. */
  readonly isJump: KernelFunction<any, any> | undefined;
}

/** Private arrays of an instance's nodes that are kept where a time loop goes on in another launch. */
export function keptArrays({
  twoStages,
  hasSource,
  exercise,
}: EquationVariant | Omit<EquationVariant, "capacity">): number {
  const early = exercise !== "none";
  const used = [twoStages, hasSource, early, exercise === "penalty", exercise === "operator-splitting"];
  return 4 + used.filter((one) => one).length;
}

/** Private arrays of `capacity` reals that a variant takes. */
export function privateArrays({ twoStages, hasSource, exercise, recordsEvents, jump }: EquationVariant): number {
  const method = exercise === "penalty" ? 3 : exercise === "operator-splitting" ? 1 : 0;
  const others = [twoStages, hasSource, exercise !== "none" || recordsEvents, jump !== undefined];
  return 5 + method + others.filter((used) => used).length;
}
