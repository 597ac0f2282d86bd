/** The scalar functions that kernel functions get in plain JavaScript. */
import { describe, expect, test } from "vitest";

import { KernelError } from "../../src/base/errors.ts";
import { hostGpu as gpu } from "../../src/kernel/host-gpu.ts";

describe("reals", () => {
  test("nearest: ties to even, signs of zeros, large numbers", () => {
    expect([0.5, 1.5, 2.5, -0.5, -1.5, 2 ** 51 + 0.5, 2 ** 53 + 2].map(gpu.nearest)).toEqual([
      0,
      2,
      2,
      -0,
      -2,
      2 ** 51,
      2 ** 53 + 2,
    ]);
    expect(gpu.nearest(0.49999999999999994)).toBe(0);
    expect(gpu.nearest(-Infinity)).toBe(-Infinity);
    expect(gpu.nearest(NaN)).toBeNaN();
  });

  test("copysign takes the sign of zeros", () => {
    expect(gpu.copysign(3, -0)).toBe(-3);
    expect(gpu.copysign(-3, 0)).toBe(3);
    expect(gpu.copysign(0, -2)).toBe(-0);
  });

  test("ldexp rounds once, and over- and underflows", () => {
    expect(gpu.ldexp(1, 1023)).toBe(2 ** 1023);
    expect(gpu.ldexp(5e-324, 2097)).toBe(2 ** 1023);
    expect(gpu.ldexp(2 ** 1023, -2097)).toBe(5e-324);
    expect(gpu.ldexp(1, -1074)).toBe(5e-324);
    expect(gpu.ldexp(1, -1075)).toBe(0); // a tie, to even
    expect(gpu.ldexp(1 + 2 ** -52, -1075)).toBe(5e-324);
    // 3 + 2⁻⁵¹ of the smallest units, halved: above the tie at 1.5, so 2, where rounding twice would also meet a tie
    expect(gpu.ldexp(1.5 - 2 ** -52, -1074)).toBe(5e-324);
    expect(gpu.ldexp(1.5 + 2 ** -52, -1074)).toBe(1e-323);
    expect(gpu.ldexp(1, 1024)).toBe(Infinity);
    expect(gpu.ldexp(-1, 2100)).toBe(-Infinity);
    expect(gpu.ldexp(-0, 3)).toBe(-0);
    expect(gpu.ldexp(NaN, 3)).toBeNaN();
  });

  test("exponent and significand take a number apart", () => {
    for (const x of [1, -1.75, 0.1, 2 ** -1022, 1.7976931348623157e308, 3])
      expect(gpu.ldexp(gpu.significand(x), gpu.exponent(x))).toBe(x);
    expect(gpu.exponent(0.75)).toBe(-1);
    expect(gpu.significand(-0.75)).toBe(-1.5);
  });

  test("headBits keeps 26 bits, whose square is exact", () => {
    const head = gpu.headBits(Math.PI);
    expect(BigInt(head * 2 ** 51) % 2n ** 27n).toBe(0n);
    expect(Math.PI - head).toBeGreaterThanOrEqual(0);
    expect(Math.PI - head).toBeLessThan(2 ** -24);
  });
});

describe("integers", () => {
  test("mulHigh and popcount", () => {
    expect(gpu.mulHigh(0xffffffff, 0xffffffff)).toBe(0xfffffffe);
    expect(gpu.mulHigh(0x10000, 0x10000)).toBe(1);
    expect([0, 1, 0xffffffff, -1, 0x0f0f0f0f].map(gpu.popcount)).toEqual([0, 1, 32, 32, 16]);
  });

  test("conversions truncate and saturate; between i32 and u32 bits stay", () => {
    expect([1.9, -1.9, 1e30, -1e30, NaN, Infinity, true, 0xffffffff].map(gpu.i32)).toEqual([
      1, -1, 2147483647, -2147483648, 0, 2147483647, 1, -1,
    ]);
    expect([1.9, -1.9, 1e30, -1e30, NaN, false, -1].map(gpu.u32)).toEqual([1, 0, 4294967295, 0, 0, 0, 4294967295]);
  });
});

test("work items and collectives are not there, and the error says what to do", () => {
  expect(() => gpu.globalId()).toThrow(KernelError);
  expect(() => gpu.atomicAdd([0], 0, 1)).toThrow(/atomicAdd.*launch or interpret/);
  expect(() => gpu.shuffle(1, 0)).toThrow(KernelError);
});
