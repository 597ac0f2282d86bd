/**
 * Tables by which a work item computes the state at which it starts: a state, and jumps from it for the digits of the
 * item's number.
 */
import { fn, type FunctionOf, read, type ReadonlyNumbers, u32 } from "../../../kernel/index.ts";
import type { JumpGroup, StateFields, TableFunctions } from "./generator.ts";
import { modulo, powerBySquaring } from "./words.ts";

/** The number of bits of a digit. A digit of 6 bits makes 63 jumps, and three digits reach 262,144 items. */
const BITS = 6;
const ENTRIES = 2 ** BITS - 1;
/** Before the state: how many digits the streams have, and how many all have. */
const HEADER = 2;

/**
 * A kernel function that returns the state at which a part of a stream starts, from a table of states and jumps.
 * @stable
 */
export type Start<S extends StateFields> = FunctionOf<
  (of: { readonly table: ReadonlyNumbers<"u32">; readonly stream: number; readonly part: number }) => S
>;

/**
 * Returns the kernel function that computes the state at the start of a part of a stream, from a table of `tableOf`.
 * This is the state after stream·spacing₁ + part·spacing₂ steps. Cost: a jump per nonzero digit.
 */
export function startOf<S extends StateFields>(
  name: string,
  { load, jump }: TableFunctions<S>,
  { stateWords, jumpWords }: Pick<JumpGroup<unknown>, "stateWords" | "jumpWords">,
): Start<S> {
  return fn({
    name,
    params: { table: read(u32), stream: u32, part: u32 },
    env: { load, jump, HEADER, BITS, ENTRIES, STATE: stateWords, JUMP: jumpWords },
    body({ table, stream, part }, gpu, { load, jump, HEADER, BITS, ENTRIES, STATE, JUMP }): S {
      let state = load({ table, at: HEADER });
      let at = HEADER + STATE;
      let rest = stream;
      const streamDigits = gpu.i32(table[0]);
      const digits = gpu.i32(table[1]);
      for (let i = 0; i < digits; i++) {
        if (i === streamDigits) rest = part;
        const digit = rest & ENTRIES;
        if (digit > 0) state = jump({ state, table, at: at + (digit - 1) * JUMP });
        rest = rest >>> BITS;
        at += ENTRIES * JUMP;
      }
      return state;
    },
  });
}

/** The starts of streams, or of the parts of a stream: `count` starts that are `spacing` generator steps apart. */
export interface EvenStarts {
  readonly spacing: bigint;
  readonly count: number;
}

const digitsOf = (count: number): number => Math.ceil(Math.log2(Math.max(1, count)) / BITS);

/** Returns the jump over `steps` steps, which may be negative. */
export const jumpOf = <J>(jumps: JumpGroup<J>, steps: bigint): J =>
  powerBySquaring(jumps.step, modulo(steps, jumps.cycle), jumps.none, (a, b) => jumps.compose(a, b));

/** The entries of every digit of `count` starts. */
function entriesOf<J>(jumps: JumpGroup<J>, { spacing, count }: EvenStarts): number[] {
  const words: number[] = [];
  let unit = jumpOf(jumps, spacing);
  for (let digit = 0; digit < digitsOf(count); digit++) {
    const used = Math.min(ENTRIES, Math.ceil(count / 2 ** (BITS * digit)) - 1);
    let jump = jumps.none;
    for (let k = 1; k <= ENTRIES; k++) {
      if (k <= used) jump = jumps.compose(jump, unit);
      words.push(...(k <= used ? jumps.words(jump) : new Array<number>(jumps.jumpWords).fill(0)));
    }
    unit = jumps.compose(jump, unit);
  }
  return words;
}

/**
 * Returns the words of the jumps in a table of `tableOf`. They do not depend on the table's state, so callers can use
 * them again if only the offset changes.
 */
export const jumpEntries = <J>(jumps: JumpGroup<J>, streams: EvenStarts, parts: EvenStarts): Uint32Array =>
  Uint32Array.from([...entriesOf(jumps, streams), ...entriesOf(jumps, parts)]);

/**
 * Returns the table from which the function of `startOf` reads: a state, and the jumps from it to `streams.count`
 * streams with `parts.count` parts each. `entries` are the words of the jumps.
 */
export function tableOf(
  state: readonly number[],
  entries: Uint32Array,
  streams: Pick<EvenStarts, "count">,
  parts: Pick<EvenStarts, "count">,
): Uint32Array {
  const table = new Uint32Array(HEADER + state.length + entries.length);
  table[0] = digitsOf(streams.count);
  table[1] = table[0] + digitsOf(parts.count);
  table.set(state, HEADER);
  table.set(entries, HEADER + state.length);
  return table;
}
