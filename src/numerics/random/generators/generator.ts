/**
 * The interface that all generators have in common: a state, a jump over any number of steps, and how tables carry
 * both.
 */
import type { FunctionOf, ReadonlyNumbers } from "../../../kernel/index.ts";

/** The state of a generator in a kernel: 32-bit words by name, which differ between generators. */
export type StateFields = { readonly [word: string]: number };
type Table = ReadonlyNumbers<"u32">;

/** The kernel functions that read the states and jumps of a table; see `startOf`. */
export interface TableFunctions<S extends StateFields> {
  /** Reads the state whose words begin at `at`. */
  readonly load: FunctionOf<(of: { readonly table: Table; readonly at: number }) => S>;
  /** Applies the jump whose words begin at `at` to a state. */
  readonly jump: FunctionOf<(of: { readonly state: S; readonly table: Table; readonly at: number }) => S>;
}

/** The jumps of a generator on the host: states as words, and jumps, which form a group under `compose`. */
export interface Jumps<J> {
  readonly stateWords: number;
  readonly jumpWords: number;
  /** The order of the group: a jump over n steps with this n is the identity, so that steps back are steps ahead. */
  readonly cycle: bigint;
  readonly none: J;
  readonly step: J;
  compose(a: J, b: J): J;
  /** Returns the words of a jump in a table. */
  words(jump: J): readonly number[];
  /** Returns the words of the state after a jump. */
  apply(jump: J, state: readonly number[]): readonly number[];
}
