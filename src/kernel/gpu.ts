import type { ElementType, Precision } from "./ir.ts";
import type { Collective, Numbers, ReadonlyNumbers } from "./numbers.ts";

/**
 * The second argument of every body. May be destructured: `body({ u }, { globalId, real })`. Besides these, bodies may
 * use `Math` (FEATURES.md lists its functions), `Number.isNaN`, `Number.isFinite`, `Infinity` and `NaN`.
 */
export interface Gpu {
  /** The precision of `real` in this compilation; a constant, so that `if (gpu.precision === "f32")` costs nothing. */
  readonly precision: Precision;

  // The work item's place. All i32.
  /** The number of the item: 0 … items − 1 (or groups·groupSize − 1). */
  globalId(): number;
  localId(): number;
  groupId(): number;
  /** The number of items per workgroup: a compile-time constant. */
  groupSize(): number;
  groupCount(): number;
  subgroupLane(): number;
  subgroupSize(): number;

  // Conversions; nothing converts by itself. `(a / b) | 0` and `(a / b) >>> 0` divide integers, as in JavaScript.
  real(x: number | boolean): number;
  /** Converts a number. A real is truncated and saturates, NaN gives 0; a u32 keeps its bits. */
  i32(x: number | boolean): number;
  u32(x: number | boolean): number;

  // Arrays of a compile-time length, declared with const. Uninitialised.
  privateReal(length: number): Numbers<"real">;
  privateI32(length: number): Numbers<"i32">;
  privateU32(length: number): Numbers<"u32">;
  sharedReal(length: number): Numbers<"real">;
  sharedI32(length: number): Numbers<"i32">;
  sharedU32(length: number): Numbers<"u32">;
  /**
   * Returns `length` (a constant) elements of a shared array from the i32 `from` on, as an array, for workgroups that
   * work on several things side by side.
   */
  part<E extends ElementType>(shared: Numbers<E>, from: number, length: number): Numbers<E>;

  /**
   * Returns 0, or the number (from 1, in `KernelIR.countedLoops`) of the loop that has exceeded the kernel's
   * `loopBudget` in this item, so that the function's result is meaningless. From then on the item's counted loops end
   * at once.
   */
  endlessLoop(): number;

  // Functions JavaScript lacks.
  /** Rounds to nearest, ties to even. */
  nearest(x: number): number;
  /**
   * Returns 1/x to 2 ulp where x and 1/x are normal. On a GPU this takes fewer operations than the division, which
   * rounds correctly for all numbers. Elsewhere it is 1/x, or NaN (for 0, ±∞), or 0 (where 1/x is subnormal). On a CPU,
   * and with `fma: "exact"`, it is the division.
   */
  reciprocal(x: number): number;
  /**
   * Returns max(x, 0); for NaN it is NaN or 0. On CUDA in f64 it takes one integer operation on the high word instead
   * of three: there a negative x may give up to 2⁻¹⁰²² (2e-308) instead of 0, but never with `fma: "exact"`.
   */
  positivePart(x: number): number;
  copysign(magnitude: number, sign: number): number;
  /** Returns x·2ⁿ. */
  ldexp(x: number, n: number): number;
  /** Returns floor(log2 |x|) for normal x ≠ 0. */
  exponent(x: number): number;
  /** Returns x / 2^exponent(x). */
  significand(x: number): number;
  /**
   * Returns x with the low half of its significand cleared, so that headBits(x)² is exact; in f32x2 the nearest f32.
   */
  headBits(x: number): number;
  /** Returns the high 32 bits of the 64-bit product of two u32 (`Math.imul` gives the low ones). */
  mulHigh(a: number, b: number): number;
  popcount(x: number): number;
  erf(x: number): number;
  erfc(x: number): number;
  normalCdf(x: number): number;
  normalPdf(x: number): number;
  inverseNormalCdf(p: number): number;

  // Atomics on i32 and u32 arrays (buffers declared write(…), or shared arrays). All return the old value.
  atomicAdd(array: Numbers<"i32"> | Numbers<"u32">, index: number, value: number): number;
  atomicMin(array: Numbers<"i32"> | Numbers<"u32">, index: number, value: number): number;
  atomicMax(array: Numbers<"i32"> | Numbers<"u32">, index: number, value: number): number;
  atomicAnd(array: Numbers<"i32"> | Numbers<"u32">, index: number, value: number): number;
  atomicOr(array: Numbers<"i32"> | Numbers<"u32">, index: number, value: number): number;
  atomicXor(array: Numbers<"i32"> | Numbers<"u32">, index: number, value: number): number;
  atomicExchange(array: Numbers<"i32"> | Numbers<"u32">, index: number, value: number): number;
  atomicCompareExchange(array: Numbers<"i32"> | Numbers<"u32">, index: number, expected: number, value: number): number;
  atomicLoad(array: ReadonlyNumbers<"i32"> | ReadonlyNumbers<"u32">, index: number): number;
  atomicStore(array: Numbers<"i32"> | Numbers<"u32">, index: number, value: number): void;

  /**
   * Starts to copy `words` elements (1, 2 or 4) from a buffer to a shared array, `shared[at …] = buffer[index …]`:
   * asynchronously on CUDA, at once elsewhere. `at` and `index` are multiples of `words`. See `awaitFetches`.
   */
  fetch<E extends ElementType>(
    shared: Numbers<E>,
    at: number,
    buffer: ReadonlyNumbers<E>,
    index: number,
    words: number,
  ): void;

  /**
   * A barrier of the workgroup, `yield gpu.awaitFetches(n)`. The fetches of an item since its last one form a group;
   * after the barrier all groups but the newest `n` (a constant) of each item have arrived.
   */
  awaitFetches(n: number): Collective;

  // Collectives: yielded, `const y = yield gpu.shuffleDown(x, 1)`; a bare `yield` is a workgroup barrier.
  shuffle(x: number, lane: number): Collective;
  /**
   * Returns the item's x from `distance` lanes below. With a `width`, a constant power of two, lanes exchange within
   * each such part of a subgroup; an item without a source lane gets its own x.
   */
  shuffleUp(x: number, distance: number, width?: number): Collective;
  shuffleDown(x: number, distance: number, width?: number): Collective;
  shuffleXor(x: number, mask: number): Collective;
  subgroupBroadcast(x: number, lane: number): Collective;
  subgroupAdd(x: number): Collective;
  subgroupMin(x: number): Collective;
  subgroupMax(x: number): Collective;
}
