/** Users' functions as they are in a kernel: kernel functions of the state of an instance. */
import {
  fn,
  type FunctionOf,
  type FunctionResult,
  i32,
  type Numbers,
  read,
  real,
  record,
  type ValueOf,
} from "../../../kernel/index.ts";
import type { Boundary } from "../problem/equation.ts";
import { Column } from "./column.ts";

/**
 * The state at which functions of the user are evaluated: the time, the value of each axis, and the parameters of an
 * instance.
 */
export const EquationState = record({ t: real, x: read(real), parameters: Column });
type State = ValueOf<typeof EquationState>;

/** The state at time t and value `at` of the only axis. */
export const stateOnAxis = fn({
  name: "stateOnAxis",
  params: { t: real, at: real, parameters: Column },
  body({ t, at, parameters }, gpu) {
    const x = gpu.privateReal(1);
    x[0] = at;
    return { t, x, parameters };
  },
});

/** A kernel function that computes a number from the state of an instance. */
export type StateNumber = FunctionOf<(state: State) => number>;

/** A function that writes the coefficients of an equation into `out`, in the order of `coefficientKeys`. */
export type Coefficients = FunctionOf<(of: { state: State; out: Numbers<"real"> }) => undefined | void>;

/** The state together with the knock-outs that are in force: bit k of `mask` for knock-out k. */
export const MaskedState = record({ state: EquationState, mask: i32 });
type Masked<R extends number | boolean> = FunctionOf<(of: ValueOf<typeof MaskedState>) => R>;

/** The state on the date of condition k, together with the solution u before the condition is applied. */
export const DatedState = record({ state: EquationState, k: i32, u: real });
type Dated<R extends FunctionResult> = FunctionOf<(of: ValueOf<typeof DatedState>) => R>;

/** The boundary condition at one end of an axis, as kernel code. */
export interface BoundaryCode {
  readonly kind: Boundary<string>["kind"];
  /** The prescribed value (Dirichlet) or slope (Neumann); undefined for the other kinds. */
  readonly number: StateNumber | undefined;
}

/** The knock-outs at all times (not on dates), as kernel code. */
export interface RegionCode {
  /** Tells whether the state is knocked out. */
  readonly inside: Masked<boolean>;
  /** The value of the last knock-out, in the problem's order, in whose region the state lies. */
  readonly value: Masked<number>;
  /** Tells whether the barriers of the knock-outs in force are not NaN. */
  readonly hasEdges: Masked<boolean>;
}

/** The conditions on dates, as kernel code that takes the number k of a condition. */
export interface DatedCode {
  /** The function for u after an exercise or a knock-out (`value`), and for whether all inputs were finite (`ok`). */
  readonly pointwise: Dated<{ value: number; ok: boolean }> | undefined;
  /** The value of its axis to which condition k, a jump, takes the state. */
  readonly jump: Dated<number> | undefined;
  /** The axis number of condition k if it is a jump, otherwise −1. */
  readonly jumpAxis: FunctionOf<(k: number) => number> | undefined;
}
