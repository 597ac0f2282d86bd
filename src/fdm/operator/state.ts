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
} from "../../kernel/index.ts";
import type { Boundary } from "../problem/equation.ts";
import { Column } from "./column.ts";

/** The state of an instance: the time, the value of each axis, and its parameters. */
export const EquationState = record({ t: real, x: read(real), parameters: Column });
type State = ValueOf<typeof EquationState>;

/** The state at a value of the only axis. */
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

/** The state with the knock-outs in force, one bit of `mask` each. */
export const MaskedState = record({ state: EquationState, mask: i32 });
type Masked<R extends number | boolean> = FunctionOf<(of: ValueOf<typeof MaskedState>) => R>;

/** The state of condition k on its date, with the solution u. */
export const DatedState = record({ state: EquationState, k: i32, u: real });
type Dated<R extends FunctionResult> = FunctionOf<(of: ValueOf<typeof DatedState>) => R>;

/** The boundary condition at an end of an axis, as kernel code. */
export interface BoundaryCode {
  readonly kind: Boundary<string>["kind"];
  /** The value or slope; undefined for the other kinds. */
  readonly number: StateNumber | undefined;
}

/** The knock-outs at all times, as kernel code. */
export interface RegionCode {
  readonly inside: Masked<boolean>;
  /** The value of the last region that the state is in. */
  readonly value: Masked<number>;
  /** Tells whether the edges of those in force are numbers. */
  readonly hasEdges: Masked<boolean>;
}

/** The conditions on dates by number, as kernel code. */
export interface DatedCode {
  /** The function for u after exercise or a knock-out, and for whether all of its inputs were finite. */
  readonly pointwise: Dated<{ value: number; ok: boolean }> | undefined;
  /** The coordinate to which condition k takes the state along its axis. */
  readonly jump: Dated<number> | undefined;
  /** The axis of condition k if that is a jump, otherwise −1. */
  readonly jumpAxis: FunctionOf<(k: number) => number> | undefined;
}
