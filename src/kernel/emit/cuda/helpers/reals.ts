import type { Precision } from "../../../ir.ts";
import { deviceFunctionText, type HelperTexts } from "./inline.ts";

/** The format of a precision in memory, and the names of its functions in CUDA. */
interface Format {
  readonly real: "double" | "float";
  readonly word: "unsigned long long" | "unsigned";
  readonly toBits: string;
  readonly fromBits: string;
  readonly magnitude: string;
  readonly infinity: string;
  readonly one: string;
  /** The bit mask of sign and significand. */
  readonly signAndFraction: string;
  readonly head: string;
  readonly fractionBits: number;
  readonly exponentMask: string;
  readonly bias: number;
  /**
   * The exponent of each downward step of ldexp. It is smaller than the exponent range, so that only the last step can
   * round (as in fdlibm's scalbn).
   */
  readonly down: number;
  /** The factors 2^bias and, below, 2^−down. */
  readonly upFactor: string;
  readonly downFactor: string;
  readonly toInt: string;
  readonly toUnsigned: string;
}

const formats: Readonly<Record<"f64" | "f32", Format>> = {
  f64: {
    real: "double",
    word: "unsigned long long",
    toBits: "(unsigned long long)__double_as_longlong(x)",
    fromBits: "__longlong_as_double((long long)bits)",
    magnitude: "0x7fffffffffffffffull",
    infinity: "0x7ff0000000000000ull",
    one: "0x3ff0000000000000ull",
    signAndFraction: "0x800fffffffffffffull",
    head: "0xfffffffff8000000ull",
    fractionBits: 52,
    exponentMask: "0x7ffull",
    bias: 1023,
    down: 969,
    upFactor: "0x1p1023",
    downFactor: "0x1p-969",
    toInt: "__double2int_rz",
    toUnsigned: "__double2uint_rz",
  },
  f32: {
    real: "float",
    word: "unsigned",
    toBits: "__float_as_uint(x)",
    fromBits: "__uint_as_float(bits)",
    magnitude: "0x7fffffffu",
    infinity: "0x7f800000u",
    one: "0x3f800000u",
    signAndFraction: "0x807fffffu",
    head: "0xfffff000u",
    fractionBits: 23,
    exponentMask: "0xffu",
    bias: 127,
    down: 102,
    upFactor: "0x1p127f",
    downFactor: "0x1p-102f",
    toInt: "__float2int_rz",
    toUnsigned: "__float2uint_rz",
  },
};

type Write = (format: Format) => string;

/** Makes a helper whose text depends on the precision. */
const real = (write: Write, ...needs: readonly string[]) => ({
  needs,
  text: ({ precision }: { readonly precision: Precision }) => write(formats[precision === "f64" ? "f64" : "f32"]),
});

function fields() {
  return {
    bits: real((f) => deviceFunctionText(`${f.word} bits(${f.real} x)`, `return ${f.toBits};`)),
    from_bits: real((f) => deviceFunctionText(`${f.real} from_bits(${f.word} bits)`, `return ${f.fromBits};`)),
    is_nan: real(
      (f) => deviceFunctionText(`bool is_nan(${f.real} x)`, `return (bits(x) & ${f.magnitude}) > ${f.infinity};`),
      "bits",
    ),
    is_finite: real(
      (f) => deviceFunctionText(`bool is_finite(${f.real} x)`, `return (bits(x) & ${f.infinity}) != ${f.infinity};`),
      "bits",
    ),
    exponent: real(
      (f) =>
        deviceFunctionText(
          `int exponent(${f.real} x)`,
          `return int((bits(x) >> ${f.fractionBits}) & ${f.exponentMask}) - ${f.bias};`,
        ),
      "bits",
    ),
    significand: real(
      (f) =>
        deviceFunctionText(
          `${f.real} significand(${f.real} x)`,
          `return from_bits((bits(x) & ${f.signAndFraction}) | ${f.one});`,
        ),
      "bits",
      "from_bits",
    ),
    head_bits: real(
      (f) => deviceFunctionText(`${f.real} head_bits(${f.real} x)`, `return from_bits(bits(x) & ${f.head});`),
      "bits",
      "from_bits",
    ),
    power_of_two: real(
      (f) =>
        deviceFunctionText(
          `${f.real} power_of_two(int n)`,
          `return from_bits((${f.word})(n + ${f.bias}) << ${f.fractionBits});`,
        ),
      "from_bits",
    ),
  };
}

function arithmetic() {
  return {
    min: real((f) => extreme(f, "min", "<")),
    max: real((f) => extreme(f, "max", ">")),
    reciprocal: real(reciprocal),
    positive_part: real(positivePart),
    /** x·2ⁿ for n in −2100 … 2100: two steps of 2^bias or 2^−down, then the rest, which alone may round. */
    ldexp: real(ldexp, "from_bits", "power_of_two"),
  };
}

/**
 * Prints min or max. Of NaN and a number the result is the second operand. In f32 there is an instruction in place of a
 * comparison and a selection; by it the result is the number, and +0 is larger than −0. It is not used with FK_EXACT.
 */
function extreme({ real }: Format, name: "min" | "max", less: "<" | ">"): string {
  const chosen = `return a ${less} b ? a : b;`;
  const either = ["#ifndef FK_EXACT", `return f${name}f(a, b);`, "#else", chosen, "#endif"];
  return deviceFunctionText(
    `${real} ${name}(${real} a, ${real} b)`,
    ...(real === "float" ? either : [chosen]),
  ).replaceAll("  #", "#");
}

/**
 * Prints the reciprocal. In f64 it is a third-order Newton step from the hardware's 20 bits: with e = 1 − x·y, y(1 + e
 * + e²) has the error e³. A division does the same, but also has a branch for numbers that are not normal, which the
 * compiler does not move code across. With FK_EXACT, for other compilers too, it is a division.
 */
function reciprocal({ real }: Format): string {
  const seed =
    real === "double"
      ? 'double y; asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));'
      : 'float y; asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));';
  const step = ["double e = __fma_rn(-x, y, 1.0);", "return __fma_rn(y, __fma_rn(e, e, e), y);"];
  return deviceFunctionText(
    `${real} reciprocal(${real} x)`,
    "#ifndef FK_EXACT",
    seed,
    ...(real === "double" ? step : ["return y;"]),
    "#else",
    "return 1 / x;",
    "#endif",
  ).replaceAll("  #", "#");
}

/**
 * Prints the positive part. In f64 the sign is in the upper 32 bits, which are replaced by 0; the rest of a negative
 * number is then below 2⁻¹⁰²².
 */
function positivePart({ real }: Format): string {
  const fast =
    real === "double"
      ? ["int high = __double2hiint(x);", "return __hiloint2double(high > 0 ? high : 0, __double2loint(x));"]
      : ["return fmaxf(x, 0.0f);"];
  return deviceFunctionText(
    `${real} positive_part(${real} x)`,
    "#ifndef FK_EXACT",
    ...fast,
    "#else",
    "return x > 0 ? x : 0;",
    "#endif",
  ).replaceAll("  #", "#");
}

function ldexp({ real, bias, down, upFactor, downFactor }: Format): string {
  return deviceFunctionText(
    `${real} ldexp(${real} x, int n)`,
    "for (int step = 0; step < 2; step++) {",
    `  if (n > ${bias}) { x *= ${upFactor}; n -= ${bias}; }`,
    `  if (n < ${1 - bias}) { x *= ${downFactor}; n += ${down}; }`,
    "}",
    `n = n > ${bias} ? ${bias} : n < ${1 - bias} ? ${1 - bias} : n;`,
    "return x * power_of_two(n);",
  );
}

/** CUDA's conversions to integers saturate. They turn an f64 NaN into INT_MIN, which is corrected here. */
function conversions() {
  return {
    to_i32: real((f) => deviceFunctionText(`int to_i32(${f.real} x)`, `return x == x ? ${f.toInt}(x) : 0;`)),
    to_u32: real((f) => deviceFunctionText(`unsigned to_u32(${f.real} x)`, `return x == x ? ${f.toUnsigned}(x) : 0u;`)),
  };
}

/**
 * The CUDA helper functions for real numbers. They work on the bits of a number where compiler flags could change the
 * result of floating-point arithmetic.
 */
export const realHelpers = { ...fields(), ...arithmetic(), ...conversions() } as const satisfies HelperTexts;
