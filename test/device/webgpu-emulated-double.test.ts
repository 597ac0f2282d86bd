/**
 * f32x2 on WebGPU: its test on the adapter, what is refused, buffers and scalars of pairs, and the corners of its
 * arithmetic.
 */
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { WebGpuDevice } from "../../src/device/webgpu/index.ts";
import { emulatedDoubleErrors } from "../../src/device/webgpu/emulated-double.ts";
import { openDevice } from "../../src/device/index.ts";
import { PrecisionError, ShapeError, SpecError } from "../../src/base/errors.ts";
import {
  fromPairs,
  i32,
  kernel,
  type Kernel,
  kernelFromSource,
  read,
  real,
  toPairs,
  write,
} from "../../src/kernel/index.ts";
import { differences } from "../conformance/compare.ts";
import { words } from "../conformance/case.ts";
import { inInterpreter } from "../conformance/run.ts";
import { everything } from "../support/extent.ts";
import { openWebGpuForTests } from "../support/webgpu.ts";

const device = (await openWebGpuForTests()) as WebGpuDevice;
/** The test on the adapter takes a software one 5 s, longer on a busy machine. */
vi.setConfig({ testTimeout: 200_000, hookTimeout: 200_000 });
const describeHere = device === undefined ? describe.skip : describe;
afterAll(() => device?.[Symbol.dispose]());

describeHere("the test on the adapter", () => {
  test("runs when a kernel is compiled, and then f32x2 is offered", async () => {
    expect(device.precisions).toEqual(["f32"]);
    const { precision } = await device.compile(scaled, { precision: "f32x2" });
    expect([precision, ...device.precisions]).toEqual(["f32x2", "f32", "f32x2"]);
    expect(device.liveBuffers).toBe(0);
  });

  test.skipIf(!everything)("is passed by far", async () => {
    await device.enableEmulatedDouble();
    const errors = await emulatedDoubleErrors(device);
    console.table(
      Object.fromEntries(Object.entries(errors).map(([name, e]) => [name, `2^${Math.log2(e).toFixed(1)}`])),
    );
    // What pair-helpers.ts states, u = 2⁻²⁴; SwiftShader rounds divisions and square roots correctly, GPUs nearly.
    const bounds = {
      add: 3,
      subtract: 3,
      multiply: 5,
      divide: 15,
      sqrt: 15,
      exp: 8,
      log: 8,
      erf: 8,
      normalCdf: 32,
      normalPdf: 8,
    };
    const over = Object.entries(bounds).filter(([name, n]) => !(errors[name as keyof typeof errors] < n * 2 ** -48));
    expect(over).toEqual([]);
  });

  test("fails, by name and with the error, where a compiler sees through the arithmetic", async () => {
    // What a compiler would make of it that contracts or folds: the same code with nothing hidden.
    using exposed = await brokenDevice((code) =>
      code.replaceAll(/fn (fk2?_hide4?)\((x: \w+)\) -> (\w+) \{.*\}/g, "fn $1($2) -> $3 { return x; }"),
    );
    const opening = exposed.enableEmulatedDouble();
    await expect(opening).rejects.toThrow(PrecisionError);
    await expect(opening).rejects.toThrow(
      /f32x2, emulated double, is not exact enough here: \w+ has a relative error of \d\.\de-\d+, at most \d\.\de-1\d allowed/,
    );
    expect(exposed.precisions).toEqual(["f32"]);
    await expect(exposed.compile(scaled, { precision: "f32x2" })).rejects.toThrow(PrecisionError);
  });

  test("names the operation that is wrong", async () => {
    using without = await brokenDevice((code) =>
      code.replace(
        "return fk2_settle(fk2_fast_sum(p.x, fk_hide(p.y +",
        "return fk2_settle(fk2_fast_sum(p.x, fk_hide(0f * p.y +",
      ),
    );
    await expect(without.enableEmulatedDouble()).rejects.toThrow(
      /: multiply has a relative error of [1-9]\.\de-8, at most 5\.7e-14/,
    );
  });

  test.skipIf(!everything)("names the operation whose result is no number", async () => {
    using nan = await brokenDevice((code) =>
      code.replace(
        "fn fk2_sqrt(a: vec2f) -> vec2f {",
        "fn fk2_sqrt(a: vec2f) -> vec2f {\n  if (a.x > 1f) { return vec2f(bitcast<f32>(0x7fc00000u ^ args.zero), 0f); }",
      ),
    );
    await expect(nan.enableEmulatedDouble()).rejects.toThrow("sqrt has a relative error of Infinity");
  });
});

describeHere("openDevice", () => {
  test("f64 on WebGPU is f32x2", async () => {
    using opened = await openDevice({ backend: "webgpu", precision: "f64" });
    expect(opened.precisions).toEqual(["f32", "f32x2"]);
    await expect(opened.compile(scaled, { precision: "f64" })).rejects.toThrow(
      /has f32 and, emulated, f32x2; the CPU offers f64/,
    );
  });

  test("f32x2 is not the CPU's", async () => {
    const opening = openDevice({ backend: "cpu", threads: 1, precision: "f32x2" });
    await expect(opening).rejects.toThrow(PrecisionError);
    await expect(opening).rejects.toThrow("offers f64, f32, not f32x2; f32x2 is WebGPU's");
    using cpu = await openDevice({ backend: "cpu", threads: 1 });
    await expect(cpu.compile(scaled, { precision: "f32x2" })).rejects.toThrow(/offers f64 itself/);
  });
});

describeHere("memory", () => {
  beforeAll(() => device.enableEmulatedDouble());

  test("f64 buffers keep 48 bits, in f32's range; parts of them are read and written at their places", async () => {
    const values = Float64Array.of(Math.PI, -1e-20, 2 ** 47 + 1, 1e39, -1e39, NaN, -0, 0);
    using buffer = device.createBuffer("f64", 10);
    device.write(buffer, values, 2);
    const expected = fromPairs(toPairs(values));
    expect(await device.read(buffer)).toEqual(Float64Array.of(0, 0, ...expected));
    expect(await device.read(buffer, 3, 2)).toEqual(expected.slice(1, 3));
    expect(expected.slice(2)).toEqual(Float64Array.of(2 ** 47 + 1, Infinity, -Infinity, NaN, -0, 0));
    device.write(buffer, Float32Array.of(0.1), 9);
    expect((await device.read(buffer, 9))[0]).toBe(Math.fround(0.1));
  });

  test("kernels of f32x2 take buffers of f64, scalars keep 48 bits", async () => {
    const compiled = await device.compile(scaled, { precision: "f32x2" });
    using x = device.createBuffer("f64", 3);
    using out = device.createBuffer("f64", 3);
    using single = device.createBuffer("f32", 3);
    device.write(x, Float64Array.of(1, -3, 1e-3));
    device.launch(compiled, { n: 3, factor: Math.PI, x, out }, { items: 3 });
    for (const [i, got] of (await device.read(out)).entries())
      expect(Math.abs(got / ([1, -3, 1e-3][i] * Math.PI) - 1)).toBeLessThan(2 ** -46);
    expect(() => device.launch(compiled, { n: 3, factor: 1, x: single, out }, { items: 3 })).toThrow(ShapeError);
  });

  test("arrays of pairs count twice, private ones once: their halves lie in two address spaces", async () => {
    const kernelWith = (source: string): Kernel =>
      kernelFromSource({ name: "large", params: { out: write(real) }, groupSize: 32, source });
    const privately = (length: number): Kernel =>
      kernelWith(`({ out }, gpu) => { const t = gpu.privateReal(${length}); for (let k = 0; k < ${length}; k++) t[k] = out[k] + 0.1;
        let s = 0; for (let k = 0; k < ${length}; k++) s += t[k]; out[gpu.globalId()] = s; }`);
    const compiled = await device.compile(privately(2048), { precision: "f32x2" });
    using out = device.createBuffer("f64", 2048);
    device.launch(compiled, { out }, { items: 1 });
    expect(Math.abs((await device.read(out, 0, 1))[0] - 204.8)).toBeLessThan(1e-10);
    await expect(device.compile(privately(2049), { precision: "f32x2" })).rejects.toThrow(SpecError);
    const words = device.limits.maxWorkgroupBytes / 8 + 1;
    const shared = kernelWith(
      `function* ({ out }, gpu) { const t = gpu.sharedReal(${words}); t[gpu.localId()] = 1; yield; out[0] = t[1]; }`,
    );
    await expect(device.compile(shared, { precision: "f32x2" })).rejects.toThrow(/bytes of shared arrays/);
  });
});

const binary = kernel({
  name: "binaryCorners",
  params: { n: i32, a: read(real), b: read(real), out: write(real), compared: write(i32) },
  body({ n, a, b, out, compared }, gpu) {
    const i = gpu.globalId();
    const x = a[i];
    const y = b[i];
    out[i] = x + y;
    out[i + n] = x - y;
    out[i + 2 * n] = x * y;
    out[i + 3 * n] = x / y;
    out[i + 4 * n] = Number.isNaN(x) || Number.isNaN(y) ? 0 : Math.min(x, y);
    out[i + 5 * n] = Number.isNaN(x) || Number.isNaN(y) ? 0 : Math.max(x, y);
    out[i + 6 * n] = gpu.copysign(x, y);
    let bits = 0;
    if (x < y) bits += 1;
    if (x <= y) bits += 2;
    if (x > y) bits += 4;
    if (x >= y) bits += 8;
    if (x === y) bits += 16;
    if (x !== y) bits += 32;
    compared[i] = bits;
  },
});

const unary = kernel({
  name: "unaryCorners",
  params: { n: i32, a: read(real), out: write(real), whole: write(i32) },
  body({ n, a, out, whole }, gpu) {
    const i = gpu.globalId();
    const x = a[i];
    out[i] = -x;
    out[i + n] = Math.abs(x);
    out[i + 2 * n] = Math.floor(x);
    out[i + 3 * n] = Math.ceil(x);
    out[i + 4 * n] = Math.trunc(x);
    out[i + 5 * n] = gpu.nearest(x);
    out[i + 6 * n] = Math.sqrt(Math.abs(x));
    out[i + 7 * n] = 2 * x;
    out[i + 8 * n] = 0.25 * x;
    out[i + 9 * n] = 3 * x;
    out[i + 10 * n] = x - 1;
    out[i + 11 * n] = 1 - x;
    out[i + 12 * n] = x * 0.1;
    out[i + 13 * n] = x / 8;
    out[i + 14 * n] = 1 / x;
    out[i + 15 * n] = gpu.ldexp(x, 3);
    out[i + 16 * n] = gpu.ldexp(x, -3);
    out[i + 17 * n] = Math.abs(x) > 1e-30 && Math.abs(x) < 2 ** 126 ? gpu.significand(x) : 0;
    whole[i] = gpu.i32(x);
    whole[i + n] = gpu.i32(gpu.u32(x));
    whole[i + 2 * n] = (Number.isNaN(x) ? 1 : 0) + (Number.isFinite(x) ? 2 : 0);
    whole[i + 3 * n] = x > 0 ? 1 : x < 0 ? 2 : x === 0 ? 3 : x >= 1 ? 4 : 5;
    whole[i + 4 * n] = Math.abs(x) > 1e-30 && Math.abs(x) < 2 ** 126 ? gpu.exponent(x) : 0;
  },
});

/** Pairs at which the low word decides, special values, and the ends of the range. */
const CORNERS = [
  0,
  -0,
  1,
  -1,
  NaN,
  Infinity,
  -Infinity,
  0.5,
  1.5,
  2.5,
  -2.5,
  1e-10,
  3.4e38,
  -3.4e38,
  1e38,
  2 ** 120,
  2 ** 115,
  1e-20,
  1 + 2 ** -40,
  1 - 2 ** -40,
  -1 + 2 ** -40,
  0.5 + 2 ** -40,
  0.5 - 2 ** -40,
  1.5 - 2 ** -45,
  2.5 + 2 ** -44,
  -2.5 - 2 ** -44,
  2 ** 24 + 0.5,
  2 ** 24 - 0.5,
  2 ** 23 + 0.5,
  2 ** 23 + 1.5,
  2 ** 25 + 1.5,
  -(2 ** 24) - 0.5,
  2 ** 30 + 2 ** -10,
  2 ** 40 + 0.25,
  2147483647,
  2147483648,
  2147483647.5,
  -2147483648,
  -2147483648.5,
  -2147483649,
  4294967295,
  4294967295.5,
  4294967296,
  16777217,
  4503599,
  123456789.75,
  -123456789.75,
  0.1,
  2 ** -60,
  2 ** -64 * 1.1,
];

describeHere("corners", () => {
  beforeAll(() => device.enableEmulatedDouble());

  async function run(
    spec: Kernel,
    args: Record<string, number | Float64Array | Int32Array>,
    items: number,
  ): Promise<string[]> {
    const compiled = await device.compile(spec, { precision: "f32x2" });
    const arrays = Object.entries(args).filter(
      (entry): entry is [string, Float64Array | Int32Array] => typeof entry[1] === "object",
    );
    const buffers = arrays.map(([name, values]) => {
      const buffer = device.createBuffer(values instanceof Float64Array ? "f64" : "i32", values.length);
      device.write(buffer, values);
      return [name, buffer] as const;
    });
    device.launch(compiled, { ...args, ...Object.fromEntries(buffers) } as Record<string, number>, { items });
    const expected = inInterpreter({ name: "", kernel: spec, size: { items }, args: () => args }, "f32x2", args);
    const found: string[] = [];
    for (const [name, buffer] of buffers) {
      const got = await device.read(buffer);
      found.push(...differences(name, got, expected[name], undefined, "f32x2"));
      buffer[Symbol.dispose]();
    }
    return found;
  }

  const stored = fromPairs(toPairs(CORNERS));
  const n = stored.length;

  test("of operations with one operand", async () => {
    const out = new Float64Array(18 * n);
    expect(await run(unary, { n, a: stored, out, whole: new Int32Array(5 * n) }, n)).toEqual([]);
  });

  test("of operations with two", async () => {
    const all = [...stored].flatMap((x) => [...stored].map((y) => [x, y]));
    const [a, b] = [0, 1].map((k) => Float64Array.from(all, (pair) => pair[k]));
    const m = all.length;
    const out = new Float64Array(7 * m);
    expect(await run(binary, { n: m, a, b, out, compared: new Int32Array(m) }, m)).toEqual([]);
  });

  test("remainders of whole numbers and of decimal fractions are exact", async () => {
    const integers = words(400).map((word, i) => (word % 2 ? -1 : 1) * (word * (i % 3 === 0 ? 65536 : 1) + (i % 7)));
    const a = Float64Array.from(integers);
    const b = Float64Array.from(words(400, 77), (word, i) => (i % 5 === 0 ? word / 1024 : (word % 100_000) + 1));
    const spec = kernel({
      name: "remainders",
      params: { a: read(real), b: read(real), out: write(real) },
      body({ a, b, out }, gpu) {
        const i = gpu.globalId();
        out[i] = a[i] % b[i];
      },
    });
    expect(await run(spec, { a, b, out: new Float64Array(400) }, 400)).toEqual([]);
  });
});

const scaled = kernel({
  name: "scaled",
  params: { n: i32, factor: real, x: read(real), out: write(real) },
  body({ n, factor, x, out }, gpu) {
    const i = gpu.globalId();
    if (i < n) out[i] = factor * x[i];
  },
});

/** A device of its own, with the WGSL of every kernel changed on its way. */
async function brokenDevice(change: (code: string) => string): Promise<WebGpuDevice> {
  const broken = (await openWebGpuForTests())!;
  const gpu = broken.opened.device;
  const create = gpu.createShaderModule.bind(gpu);
  gpu.createShaderModule = ({ code, ...rest }) => create({ ...rest, code: change(code) });
  return broken;
}
