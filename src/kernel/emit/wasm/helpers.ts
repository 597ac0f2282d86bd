/**
 * Helper functions that are added to a module if its kernel needs them. They are too long, or used too rarely, to be
 * emitted inline.
 */
import { FunctionCode } from "./code.ts";
import type { HelperFunction } from "./emitter.ts";

/**
 * The helper function for the exact remainder of two f64. It subtracts |b|·2ᵏ for decreasing k. Each subtraction is
 * exact, because its operands are within a factor of two of each other (Sterbenz). The number of iterations is the
 * difference of the exponents.
 */
export const REMAINDER: HelperFunction = {
  name: "remainder",
  build() {
    const c = new FunctionCode(["f64", "f64"], ["f64"]);
    const [a, b, rest, part] = [0, 1, c.addLocal("f64"), c.addLocal("f64")];
    c.get(a).op("f64.abs").set(rest);
    c.get(b).op("f64.abs").tee(b).set(part);
    // Not (|a| < ∞ and |b| > 0): NaN.
    c.get(rest).f64(Infinity).op("f64.lt").get(b).f64(0).op("f64.gt").op("i32.and").op("i32.eqz");
    c.if();
    c.f64(NaN).op("return");
    c.end();
    doubleUp(c, rest, part);
    subtractDown(c, rest, part, b);
    c.get(rest).get(a).op("f64.copysign");
    return c;
  },
};

/** part *= 2 while part ≤ rest − part. */
function doubleUp(c: FunctionCode, rest: number, part: number): void {
  const done = c.block();
  const again = c.loop();
  c.get(part).get(rest).get(part).op("f64.sub").op("f64.le").op("i32.eqz").brIf(done);
  c.get(part).get(part).op("f64.add").set(part);
  c.br(again);
  c.end().end();
}

function subtractDown(c: FunctionCode, rest: number, part: number, b: number): void {
  const done = c.block();
  const again = c.loop();
  c.get(rest).get(part).op("f64.ge").if();
  c.get(rest).get(part).op("f64.sub").set(rest);
  c.end();
  c.get(part).get(b).op("f64.le").brIf(done);
  c.get(part).f64(0.5).op("f64.mul").set(part);
  c.br(again);
  c.end().end();
}

interface Scaling {
  readonly name: string;
  readonly simd: "f64x2" | "f32x4";
  readonly int: "i64x2" | "i32x4";
  readonly bits: number;
  readonly bias: number;
  /**
   * The exponent of each downward step. It is smaller than the exponent range, so that only the last step can round (as
   * in fdlibm's scalbn).
   */
  readonly down: number;
  readonly steps: number;
}

/** The helper function for x·2ⁿ in f64. */
export const LDEXP_F64 = scaling({
  name: "ldexp.f64",
  simd: "f64x2",
  int: "i64x2",
  bits: 52,
  bias: 1023,
  down: 969,
  steps: 2,
});
/** The helper function for x·2ⁿ in f32. */
export const LDEXP_F32 = scaling({
  name: "ldexp.f32",
  simd: "f32x4",
  int: "i32x4",
  bits: 23,
  bias: 127,
  down: 102,
  steps: 20,
});

/**
 * Returns the helper (x, n) → x·2ⁿ. It multiplies by 2^−down or 2^bias until the remaining power of two is a normal
 * number.
 */
function scaling(s: Scaling): HelperFunction {
  return { name: s.name, build: () => buildScaling(s) };
}

function buildScaling(s: Scaling): FunctionCode {
  const c = new FunctionCode(["v128", "v128"], ["v128"]);
  const [x, n, part] = [0, 1, c.addLocal("v128")];
  const constant = (value: number): FunctionCode => c.v128([value, value, value, value]);
  const power = (): void => {
    constant(s.bias).op("i32x4.add").i32(s.bits).op(`${s.int}.shl`);
    c.op(`${s.simd}.mul`).set(x);
  };
  const count = c.addLocal("i32");
  c.i32(s.steps).set(count);
  const again = c.loop();
  // part = n > bias ? bias : n ≤ −bias ? −down : 0
  constant(s.bias).get(n);
  constant(s.bias).op("i32x4.gt_s").op("v128.and");
  constant(-s.down).get(n);
  constant(1 - s.bias)
    .op("i32x4.lt_s")
    .op("v128.and")
    .op("v128.or")
    .set(part);
  c.get(n).get(part).op("i32x4.sub").set(n);
  c.get(x).get(part);
  power();
  c.get(count).i32(1).op("i32.sub").tee(count).brIf(again);
  c.end();
  c.get(x).get(n);
  constant(1 - s.bias).op("i32x4.max_s");
  constant(s.bias).op("i32x4.min_s");
  power();
  c.get(x);
  return c;
}
