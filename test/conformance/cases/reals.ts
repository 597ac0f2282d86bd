/** Reals: arithmetic, comparisons, rounding, the functions every back end supplies, special values. */
import { i32, kernel, read, real, write } from "../../../src/kernel/index.ts";
import { type ConformanceCase, i32s, pairs, range, uniforms } from "../case.ts";

const [LEFT, RIGHT] = pairs([1, -1, 0.1, -2.75, 3, 1e-3, 12345.678, -7]);
const COUNT = LEFT.length;

const arithmetic: ConformanceCase = {
  name: "real + − × ÷ and negation",
  kernel: kernel({
    name: "realArithmetic",
    params: { a: read(real), b: read(real), sum: write(real), product: write(real), quotient: write(real) },
    body({ a, b, sum, product, quotient }, gpu) {
      const i = gpu.globalId();
      sum[i] = a[i] + b[i];
      product[i] = a[i] * b[i];
      quotient[i] = -a[i] / b[i];
    },
  }),
  size: { items: COUNT },
  args: ({ real, zeros }) => ({
    a: real(LEFT),
    b: real(RIGHT),
    sum: zeros(COUNT),
    product: zeros(COUNT),
    quotient: zeros(COUNT),
  }),
  webgpu: { ulps: 3, because: "WGSL divides to 2.5 ulp" },
};

const fused: ConformanceCase = {
  name: "a·b + c is rounded twice",
  kernel: kernel({
    name: "multiplyAdd",
    params: { a: read(real), b: read(real), out: write(real) },
    body({ a, b, out }, gpu) {
      const i = gpu.globalId();
      out[i] = a[i] * a[i] - b[i] * b[i];
    },
  }),
  size: { items: 100 },
  args: ({ real, zeros }) => ({ a: real(uniforms(100)), b: real(uniforms(101).slice(1)), out: zeros(100) }),
  webgpu: { absolute: 2e-7, because: "WGSL may contract into fused multiply-adds; terms are below 1" },
};

const remainders: ConformanceCase = {
  name: "real remainder has the sign of the dividend",
  kernel: kernel({
    name: "remainder",
    params: { a: read(real), b: read(real), out: write(real) },
    body({ a, b, out }, gpu) {
      const i = gpu.globalId();
      out[i] = a[i] % b[i];
    },
  }),
  size: { items: 49 },
  args: ({ real, zeros }) => {
    const [a, b] = pairs([1, -1, 5.5, -5.5, 0.25, 3, 100]);
    return { a: real(a), b: real(b), out: zeros(49) };
  },
};

const comparisons: ConformanceCase = {
  name: "comparisons of reals",
  kernel: kernel({
    name: "compareReals",
    params: { a: read(real), b: read(real), out: write(i32) },
    body({ a, b, out }, gpu) {
      const i = gpu.globalId();
      const x = a[i];
      const y = b[i];
      let bits = 0;
      if (x < y) bits |= 1;
      if (x <= y) bits |= 2;
      if (x > y) bits |= 4;
      if (x >= y) bits |= 8;
      if (x === y) bits |= 16;
      if (x !== y) bits |= 32;
      if (!(x < y)) bits |= 64;
      out[i] = bits;
    },
  }),
  size: { items: COUNT },
  args: ({ real }) => ({ a: real(LEFT), b: real(RIGHT), out: new Int32Array(COUNT) }),
};

const special: ConformanceCase = {
  name: "NaN and infinities are told apart",
  kernel: kernel({
    name: "specialValues",
    params: { a: read(real), out: write(i32) },
    body({ a, out }, gpu) {
      const i = gpu.globalId();
      const nan = Number.isNaN(a[i]) ? 1 : 0;
      const finite = Number.isFinite(a[i]) ? 2 : 0;
      out[i] = nan + finite;
    },
  }),
  size: { items: 7 },
  args: ({ real }) => ({ a: real([0, -0, 1, NaN, Infinity, -Infinity, -1e30]), out: new Int32Array(7) }),
};

const unordered: ConformanceCase = {
  name: "comparisons with NaN are false, except !==",
  kernel: kernel({
    name: "compareNaN",
    params: { a: read(real), b: read(real), out: write(i32) },
    body({ a, b, out }, gpu) {
      const i = gpu.globalId();
      let bits = 0;
      if (a[i] < b[i]) bits += 1;
      if (a[i] >= b[i]) bits += 2;
      if (a[i] === b[i]) bits += 4;
      if (a[i] !== b[i]) bits += 8;
      if (!(a[i] > b[i])) bits += 16;
      out[i] = bits;
    },
  }),
  size: { items: 9 },
  args: ({ real }) => {
    const [a, b] = pairs([NaN, 1, Infinity]);
    return { a: real(a), b: real(b), out: new Int32Array(9) };
  },
};

const HALVES = [0, -0, 0.5, -0.5, 1.5, 2.5, -2.5, 0.49999997, -0.2, 3.7, -3.7, 8388609, -1e10, 4.000001];

const roundings: ConformanceCase = {
  name: "floor, ceil, trunc, nearest, round, sign, abs",
  kernel: kernel({
    name: "roundings",
    params: { n: i32, a: read(real), out: write(real) },
    body({ n, a, out }, gpu) {
      const i = gpu.globalId();
      const x = a[i];
      out[i] = Math.floor(x);
      out[i + n] = Math.ceil(x);
      out[i + 2 * n] = Math.trunc(x);
      out[i + 3 * n] = gpu.nearest(x);
      out[i + 4 * n] = Math.round(x);
      out[i + 5 * n] = Math.sign(x);
      out[i + 6 * n] = Math.abs(x);
    },
  }),
  size: { items: HALVES.length },
  args: ({ real, zeros }) => ({ n: HALVES.length, a: real(HALVES), out: zeros(7 * HALVES.length) }),
  javaScript: { because: "Math.round gives 0 where JavaScript gives −0" },
};

const extrema: ConformanceCase = {
  name: "min and max of reals, of two and more",
  kernel: kernel({
    name: "extrema",
    params: { a: read(real), b: read(real), out: write(real) },
    body({ a, b, out }, gpu) {
      const i = gpu.globalId();
      out[2 * i] = Math.min(a[i], b[i], 2);
      out[2 * i + 1] = Math.max(a[i], b[i]);
    },
  }),
  size: { items: COUNT },
  args: ({ real, zeros }) => ({ a: real(LEFT), b: real(RIGHT), out: zeros(2 * COUNT) }),
};

const roots: ConformanceCase = {
  name: "square roots are correctly rounded",
  kernel: kernel({
    name: "squareRoot",
    params: { a: read(real), out: write(real) },
    body({ a, out }, gpu) {
      const i = gpu.globalId();
      out[i] = Math.sqrt(a[i]);
    },
  }),
  size: { items: 67 },
  args: ({ real, zeros }) => ({ a: real([0, 1, 4, ...uniforms(64, 0, 1e6)]), out: zeros(67) }),
  webgpu: { ulps: 4, because: "WGSL's sqrt is 1 / inverseSqrt, good to a few ulp" },
};

const reciprocals: ConformanceCase = {
  name: "reciprocals",
  kernel: kernel({
    name: "reciprocals",
    params: { a: read(real), out: write(real) },
    body({ a, out }, gpu) {
      const i = gpu.globalId();
      out[2 * i] = gpu.reciprocal(a[i]);
      // Of a value that all items share, as back ends compute it otherwise.
      out[2 * i + 1] = gpu.reciprocal(a[1]) * gpu.reciprocal(3);
    },
  }),
  size: { items: 67 },
  args: ({ real, zeros }) => ({ a: real([1, -3, 1e-15, ...uniforms(64, -10, 1e6)]), out: zeros(134) }),
  webgpu: { ulps: 6, because: "WGSL's division is good to 2.5 ulp, and two of them are multiplied" },
};

const positiveParts: ConformanceCase = {
  name: "positive parts",
  kernel: kernel({
    name: "positiveParts",
    params: { a: read(real), out: write(real) },
    body({ a, out }, gpu) {
      const i = gpu.globalId();
      // Of a negative number it is nothing beside any other, and times 2⁻⁶⁴ it is 0.
      out[3 * i] = gpu.positivePart(a[i]) * 2 ** -64;
      out[3 * i + 1] = 1 - gpu.positivePart(-a[i]);
      out[3 * i + 2] = gpu.positivePart(a[1]) + gpu.positivePart(a[2]) + gpu.positivePart(2) + gpu.positivePart(-2);
    },
  }),
  size: { items: 67 },
  args: ({ real, zeros }) => ({ a: real([0, -3, 1e-15, ...uniforms(64, -10, 10)]), out: zeros(201) }),
};

const BITS = [1, -1, 2, 3, -10, 0.1, 1e-28, 1e30, 1.9999999, Math.PI];

const exponents: ConformanceCase = {
  name: "exponent, significand, headBits, copysign",
  kernel: kernel({
    name: "fields",
    params: { a: read(real), exponents: write(i32), out: write(real) },
    body({ a, exponents, out }, gpu) {
      const i = gpu.globalId();
      exponents[i] = gpu.exponent(a[i]);
      out[3 * i] = gpu.significand(a[i]);
      out[3 * i + 1] = gpu.headBits(a[i]);
      out[3 * i + 2] = gpu.copysign(2.5, a[i]);
    },
  }),
  size: { items: BITS.length },
  args: ({ real, zeros }) => ({
    a: real(BITS),
    exponents: new Int32Array(BITS.length),
    out: zeros(3 * BITS.length),
  }),
};

const STEPS = [0, 1, -1, 30, -30, 127, -126, -149, -150, 1023, -1022, -1023, -1074, 2000, -2000, 2100, -2100];

const scaling: ConformanceCase = {
  name: "ldexp over- and underflows once",
  kernel: kernel({
    name: "scale",
    params: { a: read(real), n: read(i32), out: write(real) },
    body({ a, n, out }, gpu) {
      const i = gpu.globalId();
      out[i] = gpu.ldexp(a[i], n[i]);
    },
  }),
  size: { items: 3 * STEPS.length },
  args: ({ real, zeros }) => ({
    a: real([1, -1.5, 1.1].flatMap((x) => STEPS.map(() => x))),
    n: i32s(...STEPS, ...STEPS, ...STEPS),
    out: zeros(3 * STEPS.length),
  }),
};

const constants: ConformanceCase = {
  name: "literals take the kernel's precision",
  kernel: kernel({
    name: "literals",
    params: { x: real, out: write(real) },
    body({ x, out }, gpu) {
      const i = gpu.globalId();
      if (i === 0) out[0] = x + 0.1;
      if (i === 1) out[1] = x * Math.PI;
      if (i === 2) out[2] = x * 1e-7 + 3;
      if (i === 3) out[3] = x * 2 ** -20;
      if (i === 4) out[4] = x ** 3;
      if (i === 5) out[5] = -x;
      if (i === 6) out[6] = Math.sqrt(2) * x;
    },
  }),
  size: { items: 7 },
  args: ({ precision, zeros }) => ({ x: precision === "f32" ? Math.fround(0.7) : 0.7, out: zeros(7) }),
  webgpu: { ulps: 2, because: "WGSL may contract x·c + d" },
};

const powers: ConformanceCase = {
  name: "whole powers by multiplication",
  kernel: kernel({
    name: "powers",
    params: { a: read(real), out: write(real) },
    body({ a, out }, gpu) {
      const i = gpu.globalId();
      out[4 * i] = a[i] ** 2;
      out[4 * i + 1] = a[i] ** 7;
      out[4 * i + 2] = Math.pow(a[i], -3);
      out[4 * i + 3] = a[i] ** 16;
    },
  }),
  size: { items: 20 },
  args: ({ real, zeros }) => ({ a: real(range(20).map((i) => 0.5 + i / 9)), out: zeros(80) }),
  webgpu: { ulps: 8, because: "WGSL divides to 2.5 ulp" },
  javaScript: { ulps: 8, because: "engines raise to a power in other ways" },
};

export const realCases: readonly ConformanceCase[] = [
  arithmetic,
  fused,
  remainders,
  comparisons,
  special,
  unordered,
  roundings,
  extrema,
  roots,
  reciprocals,
  positiveParts,
  exponents,
  scaling,
  constants,
  powers,
];
