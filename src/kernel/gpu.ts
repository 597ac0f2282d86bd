import type { ElementType, Precision } from "./ir.ts";
import type { Collective, Numbers, ReadonlyNumbers } from "./numbers.ts";

/**
 * The second argument of the body of every kernel and kernel function. It may be destructured: `body({ u }, { globalId,
 * real })`. In addition, bodies may use `Math` (docs/kernel-language.md lists its functions), `Number.isNaN`,
 * `Number.isFinite`, `Infinity` and `NaN`.
 * @stable
 */
export interface Gpu {
  /**
   * The precision of `real` for which the kernel is compiled. It is a constant, so that a branch such as `if
   * (gpu.precision === "f32")` costs nothing.
   */
  readonly precision: Precision;

  // The work item's place. All i32.
  /** Returns the i32 number of the work item in the launch: 0 … items − 1 (or groups·groupSize − 1). */
  globalId(): number;
  /** Returns the i32 number of the work item in its workgroup: 0 … groupSize − 1. */
  localId(): number;
  /** Returns the i32 number of the workgroup: 0 … groupCount − 1. */
  groupId(): number;
  /** Returns the number of work items per workgroup, a compile-time constant. */
  groupSize(): number;
  /** Returns the number of workgroups of the launch, an i32. */
  groupCount(): number;
  /** Returns the i32 number of the work item in its subgroup: 0 … subgroupSize − 1. */
  subgroupLane(): number;
  /** Returns the number of work items of a subgroup, an i32. */
  subgroupSize(): number;

  // Conversions; nothing converts by itself. `(a / b) | 0` and `(a / b) >>> 0` divide integers, as in JavaScript.
  /** Converts an integer or a bool to a real. */
  real(x: number | boolean): number;
  /** Converts a number or a bool to an i32. A real is truncated and saturates, NaN gives 0; a u32 keeps its bits. */
  i32(x: number | boolean): number;
  /** Converts a number or a bool to a u32. A real is truncated and saturates, NaN gives 0; an i32 keeps its bits. */
  u32(x: number | boolean): number;

  // Arrays of a compile-time length, declared with const. Uninitialised.
  /**
   * Declares an array of `length` reals that belongs to the work item. `length` is a compile-time constant, here and
   * below.
   */
  privateReal(length: number): Numbers<"real">;
  /** Declares an array of `length` i32 that belongs to the work item. */
  privateI32(length: number): Numbers<"i32">;
  /** Declares an array of `length` u32 that belongs to the work item. */
  privateU32(length: number): Numbers<"u32">;
  /** Declares an array of `length` reals that the work items of a workgroup share. */
  sharedReal(length: number): Numbers<"real">;
  /** Declares an array of `length` i32 that the work items of a workgroup share. */
  sharedI32(length: number): Numbers<"i32">;
  /** Declares an array of `length` u32 that the work items of a workgroup share. */
  sharedU32(length: number): Numbers<"u32">;
  /**
   * Returns the `length` elements (a constant) of a shared array from index `from` (an i32) on, as an array. A
   * workgroup that solves several problems side by side gives each its own part.
   */
  part<E extends ElementType>(shared: Numbers<E>, from: number, length: number): Numbers<E>;
  /** Returns the elements of a buffer from index `from` (an i32) on, as an array. */
  part<E extends ElementType>(buffer: Numbers<E>, from: number): Numbers<E>;
  part<E extends ElementType>(buffer: ReadonlyNumbers<E>, from: number): ReadonlyNumbers<E>;

  /**
   * Returns 0, or the number (from 1, in `KernelIR.countedLoops`) of the loop that has exceeded the kernel's
   * `loopBudget` in this work item. The result of the function with that loop is then meaningless, and from then on the
   * counted loops of the work item end at once.
   */
  endlessLoop(): number;

  // Functions JavaScript lacks.
  /** Rounds to the nearest integer, ties to even. */
  nearest(x: number): number;
  /**
   * Returns 1/x with an error of at most 2 ulp where x and 1/x are normal numbers. On a GPU this takes fewer operations
   * than a division, which rounds correctly for all numbers. For other x the result is 1/x, or NaN for 0 and ±∞, or 0
   * where 1/x is subnormal. On a CPU, and with `fma: "exact"`, it is the division.
   */
  reciprocal(x: number): number;
  /**
   * Returns max(x, 0). For NaN it returns NaN or 0. On CUDA in f64 it takes one integer operation instead of three.
   * There a negative x may give up to 2⁻¹⁰²² (2e-308) instead of 0, but never with `fma: "exact"`.
   */
  positivePart(x: number): number;
  /** Returns |magnitude| with the sign of `sign`. */
  copysign(magnitude: number, sign: number): number;
  /** Returns x·2ⁿ. */
  ldexp(x: number, n: number): number;
  /** Returns floor(log2 |x|) for a normal number x ≠ 0. */
  exponent(x: number): number;
  /** Returns x / 2^exponent(x), in ±[1, 2), for a normal number x ≠ 0. */
  significand(x: number): number;
  /**
   * Returns x with the low half of its significand bits cleared, so that headBits(x)² is exact. In f32x2 it returns the
   * f32 nearest to x.
   */
  headBits(x: number): number;
  /** Returns the high 32 bits of the 64-bit product of two u32. `Math.imul` gives the low 32 bits. */
  mulHigh(a: number, b: number): number;
  /** Returns the number of bits that are set in an integer. */
  popcount(x: number): number;
  /** Returns the error function of x. */
  erf(x: number): number;
  /** Returns the complementary error function 1 − erf(x). */
  erfc(x: number): number;
  /** Returns the standard normal distribution function Φ(x). */
  normalCdf(x: number): number;
  /** Returns the standard normal density φ(x). */
  normalPdf(x: number): number;
  /** Returns the standard normal quantile Φ⁻¹(p). */
  inverseNormalCdf(p: number): number;

  // Atomics on i32 and u32 arrays (buffers declared write(…), or shared arrays). All return the old value.
  /** Adds `value` to an element. */
  atomicAdd(array: Numbers<"i32"> | Numbers<"u32">, index: number, value: number): number;
  /** Replaces an element by the minimum of it and `value`. */
  atomicMin(array: Numbers<"i32"> | Numbers<"u32">, index: number, value: number): number;
  /** Replaces an element by the maximum of it and `value`. */
  atomicMax(array: Numbers<"i32"> | Numbers<"u32">, index: number, value: number): number;
  /** Replaces an element by the bitwise AND of it and `value`. */
  atomicAnd(array: Numbers<"i32"> | Numbers<"u32">, index: number, value: number): number;
  /** Replaces an element by the bitwise OR of it and `value`. */
  atomicOr(array: Numbers<"i32"> | Numbers<"u32">, index: number, value: number): number;
  /** Replaces an element by the bitwise XOR of it and `value`. */
  atomicXor(array: Numbers<"i32"> | Numbers<"u32">, index: number, value: number): number;
  /** Replaces an element by `value`. */
  atomicExchange(array: Numbers<"i32"> | Numbers<"u32">, index: number, value: number): number;
  /** Replaces an element by `value` if it equals `expected`. */
  atomicCompareExchange(array: Numbers<"i32"> | Numbers<"u32">, index: number, expected: number, value: number): number;
  /** Returns an element, read atomically. */
  atomicLoad(array: ReadonlyNumbers<"i32"> | ReadonlyNumbers<"u32">, index: number): number;
  /** Stores `value` in an element atomically. */
  atomicStore(array: Numbers<"i32"> | Numbers<"u32">, index: number, value: number): void;

  /**
   * Copies `words` elements (1, 2 or 4) from a buffer to a shared array, `shared[at …] = buffer[index …]`. On CUDA the
   * copy is asynchronous; elsewhere it happens at once. `at` and `index` are multiples of `words`. See `awaitFetches`.
   */
  fetch<E extends ElementType>(
    shared: Numbers<E>,
    at: number,
    buffer: ReadonlyNumbers<E>,
    index: number,
    words: number,
  ): void;

  /**
   * A barrier of the workgroup that awaits copies: `yield gpu.awaitFetches(n)`. The copies that a work item has started
   * since its last such barrier form a group. After the barrier all groups of each work item but the newest `n` (a
   * constant) have arrived.
   */
  awaitFetches(n: number): Collective;

  // Collectives: yielded, `const y = yield gpu.shuffleDown(x, 1)`; a bare `yield` is a workgroup barrier.
  /** Returns x of the lane with number `lane` of the subgroup. */
  shuffle(x: number, lane: number): Collective;
  /**
   * Returns x of the lane `distance` below. With a `width`, a constant power of two, lanes exchange values only within
   * each `width` consecutive lanes of a subgroup. A work item without a source lane gets its own x.
   */
  shuffleUp(x: number, distance: number, width?: number): Collective;
  /** Returns x of the lane `distance` above, as `shuffleUp`. */
  shuffleDown(x: number, distance: number, width?: number): Collective;
  /** Returns x of the lane whose number is the item's own lane number XOR `mask`. `width` is as for `shuffleUp`. */
  shuffleXor(x: number, mask: number): Collective;
  /** Returns x of the lane with number `lane`, the same lane for all work items of the subgroup. */
  subgroupBroadcast(x: number, lane: number): Collective;
  /** Returns the sum of x over the subgroup. */
  subgroupAdd(x: number): Collective;
  /** Returns the minimum of x over the subgroup. */
  subgroupMin(x: number): Collective;
  /** Returns the maximum of x over the subgroup. */
  subgroupMax(x: number): Collective;
}
