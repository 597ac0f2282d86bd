/**
 * The interface that all generators have in common: a state, a jump over any number of steps, and how tables carry
 * both.
 */
import type { FunctionOf, ReadonlyNumbers } from "../../kernel/index.ts";

/** A state inside a kernel: 32-bit words by name, which differ between generators. */
export type StateFields = { readonly [word: string]: number };
type Table = ReadonlyNumbers<"u32">;

/** The kernel functions by which a table's states and jumps are used, see `startOf`. */
export interface TableFunctions<S extends StateFields> {
  /** The state whose words begin at `at`. */
  readonly load: FunctionOf<(of: { readonly table: Table; readonly at: number }) => S>;
  /** The state after the jump whose words begin at `at`. */
  readonly jump: FunctionOf<(of: { readonly state: S; readonly table: Table; readonly at: number }) => S>;
}

/** The jumps of a generator on the host: states as words, and jumps, which form a group under `compose`. */
export interface Jumps<J> {
  readonly stateWords: number;
  readonly jumpWords: number;
  /** A jump over n steps repeats itself with this n, so that steps back are steps ahead. */
  readonly cycle: bigint;
  readonly none: J;
  readonly step: J;
  compose(a: J, b: J): J;
  /** The words of a jump, as tables carry it. */
  words(jump: J): readonly number[];
  /** The words of the state after the jump. */
  apply(jump: J, state: readonly number[]): readonly number[];
}
