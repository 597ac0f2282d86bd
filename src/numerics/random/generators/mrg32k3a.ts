/**
 * MRG32k3a (L'Ecuyer 1999), two recurrences of order three modulo m₁ = 2³² − 209 and m₂ = 2³² − 22853:
 *
 *   x(n) = (1403580·x(n−2) − 810728·x(n−3)) mod m₁
 *   y(n) = (527612·y(n−1) − 1370589·y(n−3)) mod m₂
 *   z(n) = (x(n) − y(n)) mod m₁, with m₁ in place of 0;  u(n) = z(n)/(m₁ + 1)
 *
 * No 64-bit integers: 2³² ≡ c (mod 2³² − c) folds the high word of a product into the low one. A jump over s steps is a
 * pair of 3×3 matrices, A₁ˢ mod m₁ and A₂ˢ mod m₂.
 */
import { fn, i32, read, record, u32, type ValueOf } from "../../../kernel/index.ts";
import type { JumpGroup, TableFunctions } from "./generator.ts";

/** The state of MRG32k3a: the last three values of each recurrence, the oldest first. @stable */
export const Mrg32k3aState = record({ x0: u32, x1: u32, x2: u32, y0: u32, y1: u32, y2: u32 });
type State = ValueOf<typeof Mrg32k3aState>;

/** The modulus m₁ of MRG32k3a. */
export const M1 = 4294967087;
/** The modulus m₂ of MRG32k3a. */
export const M2 = 4294944443;

/** The constants c₁ and c₂ of MRG32k3a's moduli m₁ = 2³² − c₁ and m₂ = 2³² − c₂. */
export const [C1, C2] = [2 ** 32 - M1, 2 ** 32 - M2];

/**
 * Returns (high·2³² + low) mod m, with m = 2³² − c and high·c below 2³¹. As 2³² ≡ c (mod m), the number is congruent to
 * v = high·c + low, which is below 2·m; and v − m is v + c without its carry. Cost: 5 operations, one of them a
 * product.
 */
export const reduceSmall = fn({
  name: "reduceSmall",
  params: [u32, u32, u32],
  body([high, low, c]) {
    const folded = ((Math.imul(high, c) >>> 0) + c) >>> 0;
    const sum = (folded + low) >>> 0;
    return sum < folded ? sum : (sum - c) >>> 0;
  },
});

/**
 * Returns (high·2³² + low) mod 2³² − c for any `high`, which is folded twice. Cost: 10 operations, two of them
 * products.
 */
export const reduce = fn({
  name: "reduce",
  params: [u32, u32, u32],
  env: { reduceSmall },
  body([high, low, c], gpu, { reduceSmall }) {
    const sum = ((Math.imul(high, c) >>> 0) + low) >>> 0;
    return reduceSmall(gpu.mulHigh(high, c) + gpu.u32(sum < low ? 1 : 0), sum, c);
  },
});

/** (a·x + b·y) mod m₁, for a and b below 2²¹: the sum of the products' high words is small. */
const combine1 = fn({
  name: "combineM1",
  params: [u32, u32],
  env: { A: 1403580, B: 810728, C: C1 },
  body([x, y], gpu, { A, B, C }) {
    const low = Math.imul(x, A) >>> 0;
    const sum = (low + (Math.imul(y, B) >>> 0)) >>> 0;
    // As in `reduceSmall`, whose high word would be one more where the low words' sum has a carry.
    const folded = ((Math.imul(gpu.mulHigh(x, A) + gpu.mulHigh(y, B), C) >>> 0) + C) >>> 0;
    const carried = sum < low ? (folded + C) >>> 0 : folded;
    const all = (carried + sum) >>> 0;
    return all < carried ? all : (all - C) >>> 0;
  },
});

/** (a·x + b·y) mod m₂: c is larger here, so that the product with it has a high word, too. */
const combine2 = fn({
  name: "combineM2",
  params: [u32, u32],
  env: { A: 527612, B: 1370589, C: C2 },
  body([x, y], gpu, { A, B, C }) {
    const low = Math.imul(x, A) >>> 0;
    const sum = (low + (Math.imul(y, B) >>> 0)) >>> 0;
    const high = gpu.mulHigh(x, A) + gpu.mulHigh(y, B);
    const both = (sum + (Math.imul(high, C) >>> 0)) >>> 0;
    const folded = ((Math.imul(gpu.mulHigh(high, C), C) >>> 0) + C) >>> 0;
    const once = sum < low ? (folded + C) >>> 0 : folded;
    const carried = both < sum ? (once + C) >>> 0 : once;
    const all = (carried + both) >>> 0;
    return all < carried ? all : (all - C) >>> 0;
  },
});

/**
 * Returns the next state of MRG32k3a.
 *
 * Cost: 35 integer operations, 12 of them products. Source: P. L'Ecuyer, Good parameters and implementations for
 * combined multiple recursive random number generators, Operations Research 47 (1999). Verified: test/numerics/random,
 * against RngStreams' printed output.
 *
 * @param state the state before.
 * @example
 * import { mrg32k3aNext, mrg32k3aWord } from "feynkac/random";
 *
 * const seed = { x0: 12345, x1: 12345, x2: 12345, y0: 12345, y1: 12345, y2: 12345 };
 * console.log(mrg32k3aWord({ state: mrg32k3aNext({ state: seed }) })); // 545508589
 * @stable
 */
export const mrg32k3aNext = fn({
  name: "mrg32k3aNext",
  params: { state: Mrg32k3aState },
  env: { combine1, combine2, M1, M2 },
  body({ state: { x0, x1, x2, y0, y1, y2 } }, _gpu, { combine1, combine2, M1, M2 }): State {
    return { x0: x1, x1: x2, x2: combine1(x1, M1 - x0), y0: y1, y1: y2, y2: combine2(y2, M2 - y0) };
  },
});

/**
 * Returns the output z of MRG32k3a, from 1 to m₁ = 4294967087: u = z/(m₁ + 1) is uniform in (0, 1).
 *
 * @param state the state after `mrg32k3aNext`.
 * @example
 * import { mrg32k3aWord } from "feynkac/random";
 *
 * console.log(mrg32k3aWord({ state: { x0: 0, x1: 0, x2: 3, y0: 0, y1: 0, y2: 1 } })); // 2
 * @stable
 */
export const mrg32k3aWord = fn({
  name: "mrg32k3aWord",
  params: { state: Mrg32k3aState },
  env: { M1 },
  body: ({ state: { x2, y2 } }, _gpu, { M1 }) => (x2 > y2 ? x2 - y2 : (x2 - y2 + M1) >>> 0),
});

/** Row `row` of a 3×3 matrix in a table, times a vector, mod 2³² − c. */
const rowTimes = fn({
  name: "rowTimes",
  params: [read(u32), i32, u32, u32, u32, u32],
  env: { reduce },
  body([table, at, x, y, z, c], gpu, { reduce }) {
    const first = reduce(gpu.mulHigh(table[at], x), Math.imul(table[at], x) >>> 0, c);
    const second = reduce(gpu.mulHigh(table[at + 1], y), Math.imul(table[at + 1], y) >>> 0, c);
    const third = reduce(gpu.mulHigh(table[at + 2], z), Math.imul(table[at + 2], z) >>> 0, c);
    const two = (first + second) >>> 0;
    const sum = (two + third) >>> 0;
    return reduce(gpu.u32(two < first ? 1 : 0) + gpu.u32(sum < two ? 1 : 0), sum, c);
  },
});

/** The kernel functions that read the states and jumps of MRG32k3a from a table. */
export const mrg32k3aTable: TableFunctions<State> = {
  load: fn({
    name: "mrg32k3aLoad",
    params: { table: read(u32), at: i32 },
    body: ({ table, at }): State => ({
      x0: table[at],
      x1: table[at + 1],
      x2: table[at + 2],
      y0: table[at + 3],
      y1: table[at + 4],
      y2: table[at + 5],
    }),
  }),
  jump: fn({
    name: "mrg32k3aJump",
    params: { state: Mrg32k3aState, table: read(u32), at: i32 },
    env: { rowTimes, C1, C2 },
    body({ state: { x0, x1, x2, y0, y1, y2 }, table, at }, _gpu, { rowTimes, C1, C2 }): State {
      return {
        x0: rowTimes(table, at, x0, x1, x2, C1),
        x1: rowTimes(table, at + 3, x0, x1, x2, C1),
        x2: rowTimes(table, at + 6, x0, x1, x2, C1),
        y0: rowTimes(table, at + 9, y0, y1, y2, C2),
        y1: rowTimes(table, at + 12, y0, y1, y2, C2),
        y2: rowTimes(table, at + 15, y0, y1, y2, C2),
      };
    },
  }),
};

type Matrix = readonly bigint[];
type Pair = readonly [Matrix, Matrix];

const MODULI = [BigInt(M1), BigInt(M2)] as const;
const IDENTITY: Matrix = [1n, 0n, 0n, 0n, 1n, 0n, 0n, 0n, 1n];

const product = (a: Matrix, b: Matrix, modulus: bigint): Matrix =>
  a.map((_, k) => {
    const [row, column] = [3 * Math.floor(k / 3), k % 3];
    return (a[row] * b[column] + a[row + 1] * b[column + 3] + a[row + 2] * b[column + 6]) % modulus;
  });

const image = (a: Matrix, x: readonly number[], modulus: bigint): number[] =>
  [0, 3, 6].map((row) => Number(x.reduce((sum, each, k) => sum + a[row + k] * BigInt(each), 0n) % modulus));

/** The jumps of MRG32k3a over any number of steps, on the host. */
export const mrg32k3aJumps: JumpGroup<Pair> = {
  stateWords: 6,
  jumpWords: 18,
  // The order of each matrix divides m³ − 1, as its characteristic polynomial is primitive.
  cycle: (MODULI[0] ** 3n - 1n) * (MODULI[1] ** 3n - 1n),
  none: [IDENTITY, IDENTITY],
  step: [
    [0n, 1n, 0n, 0n, 0n, 1n, MODULI[0] - 810728n, 1403580n, 0n],
    [0n, 1n, 0n, 0n, 0n, 1n, MODULI[1] - 1370589n, 0n, 527612n],
  ],
  compose: (a, b) => [product(b[0], a[0], MODULI[0]), product(b[1], a[1], MODULI[1])],
  words: (pair) => pair.flat().map(Number),
  apply: ([a, b], state) => [...image(a, state.slice(0, 3), MODULI[0]), ...image(b, state.slice(3), MODULI[1])],
};
