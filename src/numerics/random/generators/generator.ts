/**
 * The interface that all generators have in common: a state, a jump over any number of steps, and the form of both in
 * tables.
 */
import type { FunctionOf, ReadonlyNumbers } from "../../../kernel/index.ts";

/** The state of a generator in a kernel: a record of 32-bit words, whose names differ between generators. */
export type StateFields = { readonly [word: string]: number };
type Table = ReadonlyNumbers<"u32">;

/** The kernel functions by which a generator reads states and jumps from a table; see `startOf`. */
export interface TableFunctions<S extends StateFields> {
  /** Returns the state whose words begin at `at`. */
  readonly load: FunctionOf<(of: { readonly table: Table; readonly at: number }) => S>;
  /** Returns the state after the jump whose words begin at `at`. */
  readonly jump: FunctionOf<(of: { readonly state: S; readonly table: Table; readonly at: number }) => S>;
}

/**
 * The jumps of a generator over any number of steps, as they are computed on the host. They form a group: `compose`
 * joins two jumps, `none` is the neutral one, and `step` the jump over one step.
 */
export interface JumpGroup<J> {
  readonly stateWords: number;
  readonly jumpWords: number;
  /** The order of the group. A jump over this many steps is the identity, so that a jump back is a jump ahead. */
  readonly cycle: bigint;
  readonly none: J;
  readonly step: J;
  compose(a: J, b: J): J;
  /** Returns the words by which a table stores a jump. */
  words(jump: J): readonly number[];
  /** Returns the words of the state after a jump. */
  apply(jump: J, state: readonly number[]): readonly number[];
}
