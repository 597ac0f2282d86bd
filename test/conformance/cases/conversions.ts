/** Conversions between the scalar types: truncation, saturation, NaN, bits. */
import { bool, i32, kernel, read, real, u32, write } from "../../../src/kernel/index.ts";
import { type ConformanceCase, i32s, u32s } from "../case.ts";

const REALS = [
  0,
  -0,
  0.9,
  -0.9,
  1.5,
  -1.5,
  2147483520,
  2147483648,
  -2147483648,
  -2147483904,
  4294967040,
  4294967296,
  1e20,
  -1e20,
  NaN,
  Infinity,
  -Infinity,
  -1,
];

const fromReal: ConformanceCase = {
  name: "real to i32 and u32 truncates and saturates, NaN gives 0",
  kernel: kernel({
    name: "fromReal",
    params: { a: read(real), signed: write(i32), unsigned: write(u32) },
    body({ a, signed, unsigned }, gpu) {
      const i = gpu.globalId();
      signed[i] = gpu.i32(a[i]);
      unsigned[i] = gpu.u32(a[i]);
    },
  }),
  size: { items: REALS.length },
  args: ({ real }) => ({
    a: real(REALS),
    signed: new Int32Array(REALS.length),
    unsigned: new Uint32Array(REALS.length),
  }),
  notJavaScript: "JavaScript cannot tell an integral real, which saturates, from a u32",
};

const INTEGERS = [0, 1, -1, 16777217, -16777219, 0x7fffffff, -0x80000000];

const toReal: ConformanceCase = {
  name: "i32 and u32 to real round to nearest",
  kernel: kernel({
    name: "toReal",
    params: { a: read(i32), b: read(u32), out: write(real) },
    body({ a, b, out }, gpu) {
      const i = gpu.globalId();
      out[2 * i] = gpu.real(a[i]);
      out[2 * i + 1] = gpu.real(b[i]);
    },
  }),
  size: { items: 7 },
  args: ({ zeros }) => ({ a: i32s(...INTEGERS), b: u32s(...INTEGERS), out: zeros(14) }),
};

const bits: ConformanceCase = {
  name: "i32 and u32 exchange bits",
  kernel: kernel({
    name: "exchangeBits",
    params: { a: read(i32), b: read(u32), signed: write(i32), unsigned: write(u32) },
    body({ a, b, signed, unsigned }, gpu) {
      const i = gpu.globalId();
      signed[2 * i] = gpu.i32(b[i]);
      signed[2 * i + 1] = b[i] | 0;
      unsigned[2 * i] = gpu.u32(a[i]);
      unsigned[2 * i + 1] = a[i] >>> 0;
    },
  }),
  size: { items: 7 },
  args: () => ({
    a: i32s(...INTEGERS),
    b: u32s(...INTEGERS),
    signed: new Int32Array(14),
    unsigned: new Uint32Array(14),
  }),
};

const booleans: ConformanceCase = {
  name: "booleans: parameters, locals, comparison, conversion",
  kernel: kernel({
    name: "booleans",
    params: { yes: bool, no: bool, a: read(i32), out: write(i32), reals: write(real) },
    body({ yes, no, a, out, reals }, gpu) {
      const i = gpu.globalId();
      const odd = (a[i] & 1) === 1;
      let flag = yes;
      if (odd) flag = !flag;
      if (flag === no) flag = a[i] > 3;
      out[i] = gpu.i32(flag) + 2 * gpu.i32(flag !== odd) + (yes && !no ? 4 : 0) + (no || odd ? 8 : 0);
      reals[i] = gpu.real(odd) + 0.5;
    },
  }),
  size: { items: 9 },
  args: ({ zeros }) => ({
    yes: true,
    no: false,
    a: i32s(0, 1, 2, 3, 4, 5, 6, 7, -1),
    out: new Int32Array(9),
    reals: zeros(9),
  }),
};

const parameters: ConformanceCase = {
  name: "scalar parameters of every type, at their limits",
  kernel: kernel({
    name: "parameters",
    params: {
      a: i32,
      x: real,
      b: u32,
      flag: bool,
      y: real,
      c: i32,
      out: write(i32),
      unsigned: write(u32),
      reals: write(real),
    },
    body({ a, x, b, flag, y, c, out, unsigned, reals }, gpu) {
      const i = gpu.globalId();
      if (i !== 0) return;
      out[0] = a;
      out[1] = c;
      out[2] = flag ? 1 : 0;
      unsigned[0] = b;
      reals[0] = x;
      reals[1] = y;
    },
  }),
  size: { items: 3 },
  args: ({ zeros }) => ({
    a: -0x80000000,
    x: 0.1,
    b: 0xffffffff,
    flag: true,
    y: -1e30,
    c: 0x7fffffff,
    out: new Int32Array(3),
    unsigned: new Uint32Array(1),
    reals: zeros(2),
  }),
};

export const conversionCases: readonly ConformanceCase[] = [fromReal, toReal, bits, booleans, parameters];
