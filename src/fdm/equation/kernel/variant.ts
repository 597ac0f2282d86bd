import type { KernelFunction } from "../../../kernel/index.ts";
import type { Boundary, ExerciseMethod } from "../problem.ts";

type StateNumber = KernelFunction<any, number>;

export interface BoundaryCode {
  readonly kind: Boundary<string>["kind"];
  /** The value or slope; undefined for the other kinds. */
  readonly number: StateNumber | undefined;
}

/** Everything a kernel is compiled for. Functions take (t, S, parameters, pitch, lane); "first" and "last" are ends of the nodes as they run. */
export interface EquationVariant {
  readonly name: string;
  /** Most nodes. */
  readonly capacity: number;
  readonly parameters: number;
  /** { a, b, c, d } in S. */
  readonly coefficients: KernelFunction<any, any>;
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
  /** Knock-outs at all times, (mask, t, S, …) → { inside, value }. */
  readonly region: KernelFunction<any, any> | undefined;
  /** Conditions on dates: by number, (t, S, …, k, u) → u, and (t, S, …, k) → S. */
  readonly pointwise: KernelFunction<any, number> | undefined;
  readonly jump: KernelFunction<any, number> | undefined;
  /** Whether condition k is a jump: (k) → bool. */
  readonly isJump: KernelFunction<any, any> | undefined;
}

/** Private arrays of `capacity` reals that a variant takes. */
export function privateArrays({ twoStages, exercise, jump }: EquationVariant): number {
  const early = exercise === "none" ? 0 : 1;
  const method = exercise === "penalty" ? 2 : exercise === "operator-splitting" ? 1 : 0;
  return 5 + (twoStages ? 1 : 0) + early + method + (jump === undefined ? 0 : 1);
}
