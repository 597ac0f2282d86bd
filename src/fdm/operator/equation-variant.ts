import type { FunctionOf, ReadonlyNumbers } from "../../kernel/index.ts";
import type { Boundary, ExerciseMethod } from "../problem/equation.ts";

type State = [t: number, S: number, parameters: ReadonlyNumbers<"real">, pitch: number, instance: number];

/** A number that follows from the state of an instance. */
export type StateNumber = FunctionOf<(...state: State) => number>;
/** The same where some knock-outs are in force, a bit of `mask` each. */
type MaskedState<R extends number | boolean> = FunctionOf<(...of: [...State, mask: number]) => R>;
/** a, b, c and d of the equation. */
export type EquationCoefficients = FunctionOf<(...state: State) => { a: number; b: number; c: number; d: number }>;
/** Condition k on a date: u after it, and whether all that it took was finite. */
export type Pointwise = FunctionOf<(...of: [...State, k: number, u: number]) => { value: number; ok: boolean }>;
/** Where S jumps to under condition k. */
export type JumpTarget = FunctionOf<(...of: [...State, k: number]) => number>;
export type IsJump = FunctionOf<(k: number) => boolean>;

export interface BoundaryCode {
  readonly kind: Boundary<string>["kind"];
  /** The value or slope; undefined for the other kinds. */
  readonly number: StateNumber | undefined;
}

export interface RegionCode {
  readonly inside: MaskedState<boolean>;
  /** Of the last region that S is in. */
  readonly value: MaskedState<number>;
  /** Whether the edges of those in force are numbers. */
  readonly hasEdges: MaskedState<boolean>;
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
  readonly coefficients: EquationCoefficients;
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
  readonly pointwise: Pointwise | undefined;
  readonly jump: JumpTarget | undefined;
  /** Whether condition k is a jump: (k) → bool. */
  readonly isJump: IsJump | undefined;
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
