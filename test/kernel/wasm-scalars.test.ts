import { describe, it } from "vitest";

import { bool, i32, kernel, type Precision, read, real, u32, write } from "../../src/kernel/index.ts";
import { expectSame } from "./wasm-support.ts";

const COUNTS = [1, 7, 37];
const PRECISIONS: readonly Precision[] = ["f64", "f32"];
const reals = (precision: Precision, values: readonly number[]) =>
  precision === "f64" ? Float64Array.from(values) : Float32Array.from(values);

const AWKWARD = [
  0,
  -0,
  1,
  -1,
  0.5,
  -1.5,
  2.5,
  -2.5,
  3.999,
  -7.25,
  1e-3,
  1e9,
  -1e9,
  3e9,
  5e9,
  1e300,
  -1e300,
  Infinity,
  -Infinity,
  NaN,
  5e-324,
  1e-310,
  2 ** 31,
  -(2 ** 31),
  2 ** 32,
];
const WORDS = [
  0,
  1,
  -1,
  2,
  -2,
  7,
  -7,
  31,
  32,
  33,
  100,
  -100,
  65_535,
  65_536,
  2 ** 31 - 1,
  -(2 ** 31),
  0x12345678,
  -0x12345678,
];

/** Every pair of values, and an output of the same length. */
function pairs(values: readonly number[]) {
  const a = values.flatMap((x) => values.map(() => x));
  const b = values.flatMap(() => values);
  return { a, b, items: a.length };
}

describe("WebAssembly: operations on lanes", () => {
  for (const precision of PRECISIONS) {
    it(`real arithmetic, ${precision}`, async () => {
      const { a, b, items } = pairs(AWKWARD);
      const k = kernel({
        params: { a: read(real), b: read(real), out: write(real) },
        body({ a, b, out }, gpu) {
          const i = gpu.globalId();
          const x = a[i];
          const y = b[i];
          out[10 * i] = x + y;
          out[10 * i + 1] = x - y;
          out[10 * i + 2] = x * y;
          out[10 * i + 3] = x / y;
          out[10 * i + 4] = -x;
          out[10 * i + 5] = x < y ? 1 : x === y ? 2 : x > y ? 3 : 4;
          out[10 * i + 6] = x !== y ? Math.abs(x) : gpu.copysign(x, y);
          out[10 * i + 7] = Number.isNaN(x) ? 1 : 0;
          out[10 * i + 8] = Number.isFinite(x) ? 1 : 0;
          out[10 * i + 9] = gpu.headBits(x);
        },
      });
      const args = { a: reals(precision, a), b: reals(precision, b), out: reals(precision, Array(10 * items).fill(0)) };
      await expectSame(k, precision, args, { items });
    });

    it(`rounding and roots, ${precision}`, async () => {
      const k = kernel({
        params: { a: read(real), out: write(real) },
        body({ a, out }, gpu) {
          const i = gpu.globalId();
          const x = a[i];
          out[5 * i] = Math.floor(x);
          out[5 * i + 1] = Math.ceil(x);
          out[5 * i + 2] = Math.trunc(x);
          out[5 * i + 3] = gpu.nearest(x);
          out[5 * i + 4] = Math.sqrt(x);
        },
      });
      const args = { a: reals(precision, AWKWARD), out: reals(precision, Array(5 * AWKWARD.length).fill(0)) };
      await expectSame(k, precision, args, { items: AWKWARD.length });
    });

    it(`remainders are exact, ${precision}`, async () => {
      const { a, b, items } = pairs([...AWKWARD.filter((x) => Math.abs(x) !== 1e300), 0.1, 0.3, 123456.789, 7]);
      const k = kernel({
        params: { a: read(real), b: read(real), out: write(real) },
        body({ a, b, out }, gpu) {
          const i = gpu.globalId();
          out[i] = a[i] % b[i];
        },
      });
      await expectSame(
        k,
        precision,
        { a: reals(precision, a), b: reals(precision, b), out: reals(precision, Array(items).fill(0)) },
        { items },
      );
    });

    it(`conversions saturate, ${precision}`, async () => {
      const k = kernel({
        params: { a: read(real), n: write(i32), m: write(u32), out: write(real) },
        body({ a, n, m, out }, gpu) {
          const i = gpu.globalId();
          n[i] = gpu.i32(a[i]);
          m[i] = gpu.u32(a[i]);
          out[3 * i] = gpu.real(n[i]);
          out[3 * i + 1] = gpu.real(m[i]);
          out[3 * i + 2] = gpu.real(a[i] > 0);
        },
      });
      const items = AWKWARD.length;
      const args = {
        a: reals(precision, AWKWARD),
        n: new Int32Array(items),
        m: new Uint32Array(items),
        out: reals(precision, Array(3 * items).fill(0)),
      };
      await expectSame(k, precision, args, { items });
    });

    it(`the fields of a real, ${precision}`, async () => {
      const values = [1, -1, 1.5, -3.25, 1e-30, 1e30, 0.1, 1023.999, -1e-5];
      const exponents = [0, 1, -1, 100, -100, -149, 127, 128, -127];
      const extreme = [1023, 1024, -1022, -1023, -1074, 2047, -2100, 2100];
      const { a, items } = pairs(values);
      const powers = values.flatMap(() => (precision === "f64" ? [...exponents.slice(0, 1), ...extreme] : exponents));
      const k = kernel({
        params: { a: read(real), n: read(i32), out: write(real) },
        body({ a, n, out }, gpu) {
          const i = gpu.globalId();
          out[3 * i] = gpu.real(gpu.exponent(a[i]));
          out[3 * i + 1] = gpu.significand(a[i]);
          out[3 * i + 2] = gpu.ldexp(a[i], n[i]);
        },
      });
      await expectSame(
        k,
        precision,
        { a: reals(precision, a), n: Int32Array.from(powers), out: reals(precision, Array(3 * items).fill(0)) },
        { items },
      );
    });

    it(`integers beside reals, ${precision}`, async () => {
      const { a, b, items } = pairs(WORDS);
      const k = kernel({
        params: { a: read(i32), b: read(i32), out: write(i32), bits: write(u32), sum: write(real) },
        body({ a, b, out, bits, sum }, gpu) {
          const i = gpu.globalId();
          const x = a[i];
          const y = b[i];
          const p = gpu.u32(x);
          const q = gpu.u32(y);
          out[12 * i] = x + y;
          out[12 * i + 1] = x - y;
          out[12 * i + 2] = Math.imul(x, y);
          out[12 * i + 3] = (x / y) | 0;
          out[12 * i + 4] = x % y;
          out[12 * i + 5] = x << y;
          out[12 * i + 6] = x >> y;
          out[12 * i + 7] = x < y ? x & y : x | y;
          out[12 * i + 8] = -x ^ y;
          out[12 * i + 9] = Math.min(x, y) - Math.max(x, y);
          out[12 * i + 10] = Math.abs(x) + (x >> 3) + (x << 2);
          out[12 * i + 11] = Math.clz32(x);
          bits[6 * i] = (p / q) >>> 0;
          bits[6 * i + 1] = p % q;
          bits[6 * i + 2] = p >>> q;
          bits[6 * i + 3] = gpu.mulHigh(p, q);
          bits[6 * i + 4] = p < q ? Math.min(p, q) : gpu.u32(~p);
          bits[6 * i + 5] = gpu.u32(gpu.popcount(p));
          sum[i] = gpu.real(x) + gpu.real(q);
        },
      });
      const args = {
        a: Int32Array.from(a),
        b: Int32Array.from(b),
        out: new Int32Array(12 * items),
        bits: new Uint32Array(6 * items),
        sum: reals(precision, Array(items).fill(0)),
      };
      await expectSame(k, precision, args, { items });
    });
  }

  it("integers alone", async () => {
    const k = kernel({
      params: { n: i32, flag: bool, scale: u32, out: write(i32) },
      body({ n, flag, scale, out }, gpu) {
        const i = gpu.globalId();
        const big = gpu.mulHigh(gpu.u32(i) * scale, scale);
        out[i] = flag ? (i / n) | 0 : i % n;
        out[i] = out[i] + gpu.i32(big) + (((n * 7) / 3) | 0) + (n % 4);
      },
    });
    for (const items of COUNTS) {
      for (const flag of [true, false])
        await expectSame(k, "f64", { n: 5, flag, scale: 0xfedcba98, out: new Int32Array(items) }, { items });
    }
  });

  it("uniform values", async () => {
    const k = kernel({
      params: { x: real, y: real, n: i32, flag: bool, u: read(real), out: write(real) },
      body({ x, y, n, flag, u, out }, gpu) {
        const i = gpu.globalId();
        const size = u.length;
        const a = flag && n < size ? u[n] : x % y;
        const b = Math.max(x, y) * Math.sqrt(Math.abs(x)) + gpu.ldexp(x, n) + gpu.headBits(y);
        const c = gpu.real(Math.min(n, size)) + gpu.real(gpu.exponent(y)) + gpu.significand(y) + gpu.real((n / 2) | 0);
        const d = Number.isNaN(x) || !Number.isFinite(y) ? 1 : Math.floor(x) + gpu.copysign(x, -y);
        out[i] = a + b * c + d + (flag ? gpu.real(i) : 0);
      },
    });
    const u = Float64Array.from([1.5, 2.5, 3.5]);
    for (const n of [0, 2, 3, 100]) {
      for (const flag of [true, false])
        await expectSame(k, "f64", { x: 7.3, y: -2.2, n, flag, u, out: new Float64Array(11) }, { items: 11 });
    }
  });
});
