/**
 * drand48 of POSIX: X(n+1) = (a·X(n) + c) mod 2⁴⁸ with a = 5DEECE66D₁₆, c = 11, in two words of 32 bits. X(n+s) =
 * A·X(n) + C with A = aˢ and C = c·(1 + a + … + aˢ⁻¹), so that a jump costs as much as a step.
 */
import { fn, i32, read, record, u32, type ValueOf } from "../../../kernel/index.ts";
import type { JumpGroup, TableFunctions } from "./generator.ts";
import { fromWords, wordsOf } from "./words.ts";

/** The state X of drand48: `low` has its lower 32 bits, `high` the upper 16. @stable */
export const Drand48State = record({ low: u32, high: u32 });
type State = ValueOf<typeof Drand48State>;

/** (A·X + C) mod 2⁴⁸. */
const affine = fn({
  name: "drand48Affine",
  params: { state: Drand48State, a: Drand48State, c: Drand48State },
  body({ state, a, c }, gpu): State {
    const product = Math.imul(state.low, a.low) >>> 0;
    const low = (product + c.low) >>> 0;
    const carry = gpu.u32(low < product ? 1 : 0);
    const cross = (Math.imul(state.high, a.low) + Math.imul(state.low, a.high)) >>> 0;
    const upper = (((gpu.mulHigh(state.low, a.low) + cross) >>> 0) + c.high + carry) >>> 0;
    return { low, high: (upper & 0xffff) >>> 0 };
  },
});

/**
 * Returns the next state of drand48: X ← (5DEECE66D₁₆·X + 11) mod 2⁴⁸.
 *
 * Cost: 10 integer operations, 4 of them products. Source: POSIX.1-2017, drand48. Verified: test/numerics/random.
 *
 * @param state the state before.
 * @example
 * import { drand48Next, drand48Word } from "feynkac/random";
 *
 * const state = drand48Next({ state: { low: 0x330e, high: 0 } }); // srand48(0)
 * console.log(drand48Word({ state }) / 2 ** 32); // 0.1708280360326171
 * @stable
 */
export const drand48Next = fn({
  name: "drand48Next",
  params: { state: Drand48State },
  env: { affine },
  body({ state }, gpu, { affine }): State {
    const a = { low: gpu.u32(0xdeece66d), high: gpu.u32(5) };
    return affine({ state, a, c: { low: gpu.u32(11), high: gpu.u32(0) } });
  },
});

/**
 * Returns the upper 32 of the 48 bits of a drand48 state; the lower bits have short periods.
 *
 * @param state the state after `drand48Next`.
 * @example
 * import { drand48Word } from "feynkac/random";
 *
 * console.log(drand48Word({ state: { low: 0, high: 0x8000 } })); // 2147483648
 * @stable
 */
export const drand48Word = fn({
  name: "drand48Word",
  params: { state: Drand48State },
  body: ({ state: { low, high } }) => ((high << 16) | (low >>> 16)) >>> 0,
});

/** The kernel functions that read the states and jumps of drand48 from a table. */
export const drand48Table: TableFunctions<State> = {
  load: fn({
    name: "drand48Load",
    params: { table: read(u32), at: i32 },
    body: ({ table, at }): State => ({ low: table[at], high: table[at + 1] }),
  }),
  jump: fn({
    name: "drand48Jump",
    params: { state: Drand48State, table: read(u32), at: i32 },
    env: { affine },
    body({ state, table, at }, _gpu, { affine }): State {
      const a = { low: table[at], high: table[at + 1] };
      return affine({ state, a, c: { low: table[at + 2], high: table[at + 3] } });
    },
  }),
};

/** X ← a·X + c. */
interface Affine {
  readonly a: bigint;
  readonly c: bigint;
}

const MASK = (1n << 48n) - 1n;

/** The jumps of drand48 over any number of steps, on the host. */
export const drand48Jumps: JumpGroup<Affine> = {
  stateWords: 2,
  jumpWords: 4,
  cycle: 1n << 48n,
  none: { a: 1n, c: 0n },
  step: { a: 0x5deece66dn, c: 11n },
  compose: (first, second) => ({ a: (first.a * second.a) & MASK, c: (second.a * first.c + second.c) & MASK }),
  words: ({ a, c }) => [...wordsOf(a, 2), ...wordsOf(c, 2)],
  apply: ({ a, c }, state) => wordsOf((a * fromWords(state) + c) & MASK, 2),
};
