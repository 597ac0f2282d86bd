/** Users' functions as they are in a kernel: kernel functions of the state of an instance. */
import { type FunctionOf, type FunctionResult, i32, real, record, type ValueOf } from "../../kernel/index.ts";
import type { Boundary } from "../problem/equation.ts";
import { Column } from "./column.ts";

/** The state of an instance: the time, a value of each of one to three axes (0 of those there are not), parameters. */
export const AxesState = record({ t: real, x0: real, x1: real, x2: real, parameters: Column });
type State = ValueOf<typeof AxesState>;

/** A number that follows from the state of an instance. */
export type AxesNumber = FunctionOf<(state: State) => number>;

/** Coefficients of ∂²V/∂xᵢ∂xⱼ, i ≤ j, of ∂V/∂xᵢ, of V, and the source. */
export const AXES_COEFFICIENTS = ["a00", "a11", "a22", "a01", "a02", "a12", "b0", "b1", "b2", "c", "d"] as const;
export type AxesCoefficientName = (typeof AXES_COEFFICIENTS)[number];
export type AxesCoefficients = FunctionOf<(state: State) => Record<AxesCoefficientName, number>>;

/** The state where some knock-outs are in force, a bit of `mask` each. */
export const MaskedState = record({ state: AxesState, mask: i32 });
type Masked<R extends number | boolean> = FunctionOf<(of: ValueOf<typeof MaskedState>) => R>;

/** Condition k on a date. */
export const DatedState = record({ state: AxesState, k: i32, u: real });
type Dated<R extends FunctionResult> = FunctionOf<(of: ValueOf<typeof DatedState>) => R>;

/** The boundary condition at an end of an axis. */
export interface BoundaryCode {
  readonly kind: Boundary<string>["kind"];
  /** The value or slope; undefined for the other kinds. */
  readonly number: AxesNumber | undefined;
}

/** Knock-outs at all times. */
export interface RegionCode {
  readonly inside: Masked<boolean>;
  /** The value of the last region that the state is in. */
  readonly value: Masked<number>;
  /** Tells whether the edges of those in force are numbers. */
  readonly hasEdges: Masked<boolean>;
}

/** Conditions on dates, by number. */
export interface DatedCode {
  /** u after exercise or a knock-out, and whether all that it took was finite. */
  readonly pointwise: Dated<{ value: number; ok: boolean }> | undefined;
  /** The coordinate to which condition k takes the state along its axis. */
  readonly jump: Dated<number> | undefined;
  /** The axis of condition k if that is a jump, else −1. */
  readonly jumpAxis: FunctionOf<(k: number) => number> | undefined;
}
