/**
 * The functions of src/kernel/math against mpmath (test/fixtures/math): errors in ulps as plain JavaScript, in the
 * interpreter and on every device; special values; and the same bits from every way of computing in f64.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readFileSync } from "node:fs";

import type { Device } from "../../src/device/device.ts";

import { interpret } from "../../src/kernel/interpret/index.ts";
import { hostReal, kernel, lower, type Precision, read, real, write } from "../../src/kernel/index.ts";
import { mathFunctions } from "../../src/kernel/math/index.ts";
import { disposeAll, openTestDevices, type TestDevice } from "../support/devices.ts";

type Reals = Float64Array | Float32Array;
interface Case {
  readonly x: number;
  readonly y: number; // the second argument, 0 where there is none
  readonly expected: number; // rounded correctly
  readonly rest: number; // what that rounding took away, in ulps
}

const names = Object.keys(mathFunctions);
const binary = new Set(["pow", "atan2"]);

/** Bounds in ulps, of f64 and f32 where arithmetic is IEEE 754's: 2, and 4 for the normal distribution. */
const strict = (name: string): number => (/^(normal|inverse)/.test(name) ? 4 : 2);
/**
 * On WebGPU. WGSL allows division 2.5 ulps, contracts products and sums as it likes, and may flush subnormal numbers to 0,
 * so that errors below the smallest normal number do not count. With every product contracted that can be and every
 * quotient off by up to 2 ulps, simulated, no error here exceeded 3.6 ulps.
 */
const loose = (name: string): number => strict(name) + 2;

function casesOf(name: string, precision: Precision): Case[] {
  const file = new URL(`../fixtures/math/${name}.json`, import.meta.url);
  const rows = (JSON.parse(readFileSync(file, "utf8")) as Record<Precision, (number | string)[][]>)[precision];
  return rows.map((row) => {
    const [x, ...more] = row.map(Number);
    const [y, expected, rest] = binary.has(name) ? more : [0, ...more];
    return { x, y, expected, rest };
  });
}

const newReals = (precision: Precision, values: readonly number[]): Reals =>
  precision === "f64" ? Float64Array.from(values) : Float32Array.from(values);

function kernelOf(name: string) {
  const params = { x: read(real), y: read(real), out: write(real) };
  const f = mathFunctions[name];
  if (binary.has(name)) {
    return kernel({
      name,
      params,
      env: { f },
      body({ x, y, out }, gpu, { f }) {
        const i = gpu.globalId();
        out[i] = f(x[i], y[i]) as number;
      },
    });
  }
  return kernel({
    name,
    params,
    env: { f },
    body({ x, out }, gpu, { f }) {
      const i = gpu.globalId();
      out[i] = f(x[i]) as number;
    },
  });
}

/** A way to compute a function of many arguments. */
interface Evaluator {
  readonly label: string;
  readonly precision: Precision;
  readonly bound: (name: string) => number;
  readonly flushes: boolean;
  run(name: string, x: Reals, y: Reals): Promise<ArrayLike<number>>;
}

const host: Evaluator = {
  label: "JavaScript",
  precision: "f64",
  bound: strict,
  flushes: false,
  run(name, x, y) {
    const f = mathFunctions[name] as unknown as (...args: number[]) => number;
    return Promise.resolve(Array.from(x, (value, i) => (binary.has(name) ? f(value, y[i]) : f(value))));
  },
};

function interpreter(precision: Precision): Evaluator {
  return {
    label: "interpreter",
    precision,
    bound: strict,
    flushes: false,
    run(name, x, y) {
      const out = newReals(
        precision,
        Array.from(x, () => 0),
      );
      interpret(lower(kernelOf(name), precision), { x, y, out }, { items: x.length }, { races: false });
      return Promise.resolve(out);
    },
  };
}

function onDevice(device: Device, precision: Precision): Evaluator {
  const exact = device.backend !== "webgpu";
  return {
    label: device.backend,
    precision,
    bound: exact ? strict : loose,
    flushes: !exact,
    async run(name, x, y) {
      const compiled = await device.compile(kernelOf(name), { precision });
      using xs = device.createBuffer(hostReal(precision), x.length);
      using ys = device.createBuffer(hostReal(precision), x.length);
      using out = device.createBuffer(hostReal(precision), x.length);
      device.write(xs, x);
      device.write(ys, y);
      device.launch(compiled, { x: xs, y: ys, out }, { items: x.length });
      return await device.read(out);
    },
  };
}

/** The distance between neighbours at x. */
function ulp(x: number, precision: Precision): number {
  const [bits, lowest] = precision === "f64" ? [52, -1074] : [23, -149];
  const a = Math.abs(x);
  let e = Math.floor(Math.log2(a));
  if (2 ** e > a) e--;
  if (2 ** (e + 1) <= a) e++;
  return Math.max(2 ** (e - bits), 2 ** lowest);
}

function errorInUlps(got: number, { expected, rest }: Case, { precision, flushes }: Evaluator): number {
  if (!Number.isFinite(expected)) return Object.is(got, expected) ? 0 : Infinity;
  if (flushes && Math.abs(got - expected) <= 2 ** -126) return 0;
  return Math.abs((got - expected) / ulp(expected, precision) - rest);
}

const normal = (x: number): boolean => x === 0 || Math.abs(x) >= 2 ** -126;

const table = new Map<string, Map<string, number>>();

async function worstError(name: string, evaluator: Evaluator): Promise<{ worst: number; at: string }> {
  const all = casesOf(name, evaluator.precision);
  const cases = evaluator.flushes ? all.filter(({ x, y }) => normal(x) && normal(y)) : all;
  const x = newReals(
    evaluator.precision,
    cases.map((c) => c.x),
  );
  const y = newReals(
    evaluator.precision,
    cases.map((c) => c.y),
  );
  const got = await evaluator.run(name, x, y);
  const found = { worst: 0, at: "" };
  for (const [i, c] of cases.entries()) {
    const error = errorInUlps(got[i], c, evaluator);
    if (error <= found.worst) continue;
    found.worst = error;
    found.at = `${name}(${c.x}${binary.has(name) ? `, ${c.y}` : ""}): ${got[i]}, expected ${c.expected}`;
  }
  const column = `${evaluator.label} ${evaluator.precision}`;
  table.set(name, (table.get(name) ?? new Map()).set(column, found.worst));
  return found;
}

async function expectWithinBound(name: string, evaluator: Evaluator): Promise<void> {
  const { worst, at } = await worstError(name, evaluator);
  const bound = evaluator.bound(name);
  expect(worst <= bound ? [] : [`${at}: ${worst} ulps, at most ${bound} allowed`]).toEqual([]);
}

const inf = Infinity;
/** [function, arguments…, result]; the same in f64 and f32. Signs of zeros count. */
const specials: readonly (readonly [string, ...number[]])[] = [
  ["exp", 0, 1],
  ["exp", -0, 1],
  ["exp", inf, inf],
  ["exp", -inf, 0],
  ["exp", NaN, NaN],
  ["exp", 1e30, inf],
  ["exp", -1e30, 0],
  ["expm1", 0, 0],
  ["expm1", -0, -0],
  ["expm1", inf, inf],
  ["expm1", -inf, -1],
  ["expm1", NaN, NaN],
  ["expm1", -1e30, -1],
  ["log", 1, 0],
  ["log", 0, -inf],
  ["log", -0, -inf],
  ["log", inf, inf],
  ["log", -1, NaN],
  ["log", -inf, NaN],
  ["log", NaN, NaN],
  ["log1p", 0, 0],
  ["log1p", -0, -0],
  ["log1p", -1, -inf],
  ["log1p", inf, inf],
  ["log1p", -2, NaN],
  ["log1p", NaN, NaN],
  ["log2", 1, 0],
  ["log2", 8, 3],
  ["log2", 2 ** -100, -100],
  ["log2", 0, -inf],
  ["log2", inf, inf],
  ["log2", -1, NaN],
  ["log10", 1, 0],
  ["log10", 1000, 3],
  ["log10", 100000, 5],
  ["log10", 0, -inf],
  ["log10", inf, inf],
  ["log10", -1, NaN],
  ["pow", 2, 10, 1024],
  ["pow", NaN, 0, 1],
  ["pow", NaN, -0, 1],
  ["pow", 1, NaN, NaN],
  ["pow", 1, inf, NaN],
  ["pow", -1, -inf, NaN],
  ["pow", 2, inf, inf],
  ["pow", 2, -inf, 0],
  ["pow", 0.5, inf, 0],
  ["pow", 0.5, -inf, inf],
  ["pow", -2, inf, inf],
  ["pow", 0, 3, 0],
  ["pow", -0, 3, -0],
  ["pow", -0, 2, 0],
  ["pow", 0, -3, inf],
  ["pow", -0, -3, -inf],
  ["pow", -0, -2, inf],
  ["pow", 0, 0.5, 0],
  ["pow", -0, 0.5, 0],
  ["pow", inf, 2, inf],
  ["pow", inf, -2, 0],
  ["pow", -inf, 3, -inf],
  ["pow", -inf, 2, inf],
  ["pow", -inf, -3, -0],
  ["pow", -inf, 0.5, inf],
  ["pow", -8, 3, -512],
  ["pow", -8, 0.5, NaN],
  ["pow", -2, -3, -0.125],
  ["pow", 0, inf, 0],
  ["pow", 0, -inf, inf],
  ["pow", 2, NaN, NaN],
  ["pow", 1e30, 30, inf],
  ["pow", 1e30, -30, 0],
  ["pow", -1e30, 31, -inf],
  ["cbrt", 0, 0],
  ["cbrt", -0, -0],
  ["cbrt", 27, 3],
  ["cbrt", -8, -2],
  ["cbrt", inf, inf],
  ["cbrt", -inf, -inf],
  ["cbrt", NaN, NaN],
  ["sin", 0, 0],
  ["sin", -0, -0],
  ["sin", inf, NaN],
  ["sin", -inf, NaN],
  ["sin", NaN, NaN],
  ["cos", 0, 1],
  ["cos", -0, 1],
  ["cos", inf, NaN],
  ["cos", NaN, NaN],
  ["tan", 0, 0],
  ["tan", -0, -0],
  ["tan", inf, NaN],
  ["tan", NaN, NaN],
  ["asin", 0, 0],
  ["asin", -0, -0],
  ["asin", 2, NaN],
  ["asin", NaN, NaN],
  ["acos", 1, 0],
  ["acos", 1.5, NaN],
  ["acos", NaN, NaN],
  ["atan", 0, 0],
  ["atan", -0, -0],
  ["atan", NaN, NaN],
  ["atan2", 0, 0, 0],
  ["atan2", -0, 0, -0],
  ["atan2", 0, 1, 0],
  ["atan2", -0, 1, -0],
  ["atan2", 1, inf, 0],
  ["atan2", NaN, 1, NaN],
  ["atan2", 1, NaN, NaN],
  ["sinh", 0, 0],
  ["sinh", -0, -0],
  ["sinh", inf, inf],
  ["sinh", -inf, -inf],
  ["sinh", NaN, NaN],
  ["cosh", 0, 1],
  ["cosh", inf, inf],
  ["cosh", -inf, inf],
  ["cosh", NaN, NaN],
  ["tanh", 0, 0],
  ["tanh", -0, -0],
  ["tanh", inf, 1],
  ["tanh", -inf, -1],
  ["tanh", NaN, NaN],
  ["erf", 0, 0],
  ["erf", -0, -0],
  ["erf", inf, 1],
  ["erf", -inf, -1],
  ["erf", NaN, NaN],
  ["erf", 30, 1],
  ["erfc", 0, 1],
  ["erfc", inf, 0],
  ["erfc", -inf, 2],
  ["erfc", NaN, NaN],
  ["erfc", -30, 2],
  ["normalCdf", 0, 0.5],
  ["normalCdf", -0, 0.5],
  ["normalCdf", inf, 1],
  ["normalCdf", -inf, 0],
  ["normalCdf", NaN, NaN],
  ["normalPdf", inf, 0],
  ["normalPdf", -inf, 0],
  ["normalPdf", NaN, NaN],
  ["inverseNormalCdf", 0.5, 0],
  ["inverseNormalCdf", 0, -inf],
  ["inverseNormalCdf", 1, inf],
  ["inverseNormalCdf", -0.1, NaN],
  ["inverseNormalCdf", 1.1, NaN],
  ["inverseNormalCdf", NaN, NaN],
];

async function expectSpecials(evaluator: Evaluator): Promise<void> {
  const wrong: string[] = [];
  for (const name of names) {
    const rows = specials.filter(([function_]) => function_ === name).map(([, ...numbers]) => numbers);
    const x = newReals(
      evaluator.precision,
      rows.map((row) => row[0]),
    );
    const y = newReals(
      evaluator.precision,
      rows.map((row) => (row.length === 3 ? row[1] : 0)),
    );
    const got = await evaluator.run(name, x, y);
    rows.forEach((row, i) => {
      if (!Object.is(got[i], row.at(-1)))
        wrong.push(
          `${name}(${row.slice(0, -1).map(show).join(", ")}) = ${show(got[i])}, expected ${show(row.at(-1)!)}`,
        );
    });
  }
  expect(wrong).toEqual([]);
}

const show = (x: number): string => (Object.is(x, -0) ? "-0" : String(x));

function printTable(): void {
  const columns = [...new Set([...table.values()].flatMap((row) => [...row.keys()]))];
  const rows = [...table].map(([name, row]) => [
    name,
    Object.fromEntries(columns.map((c) => [c, row.get(c)?.toFixed(2) ?? "-"])),
  ]);
  console.log("worst errors in ulps");
  console.table(Object.fromEntries(rows) as Record<string, Record<string, string>>);
}

let devices: TestDevice[] = [];
beforeAll(async () => {
  devices = await openTestDevices();
});
afterAll(() => {
  disposeAll(devices);
  printTable();
});

describe.each([host, interpreter("f64"), interpreter("f32")])("$label, $precision", (evaluator) => {
  test.each(names)("%s is as accurate as documented", (name) => expectWithinBound(name, evaluator));
  test("special values", () => expectSpecials(evaluator));
});

describe.each([
  ["cpu", "f64"],
  ["cpu", "f32"],
  ["webgpu", "f32"],
] as const)("%s, %s", (backend, precision) => {
  const find = (): TestDevice => devices.find(({ label }) => label.startsWith(backend))!;

  test.for(names)("%s is as accurate as documented", async (name, context) => {
    const { device, missing } = find();
    if (!device) return context.skip(missing);
    await expectWithinBound(name, onDevice(device, precision));
  });

  test("special values", async (context) => {
    const { device, missing } = find();
    if (!device) return context.skip(missing);
    // WGSL implementations may assume that there are neither NaNs nor infinities, and flush or drop signs of zeros.
    if (backend === "webgpu") return context.skip("WGSL promises nothing about NaN, infinities and signs of zeros");
    await expectSpecials(onDevice(device, precision));
  });
});

describe("the same bits", () => {
  test.each(names)("%s: plain JavaScript, the interpreter and the CPU agree", async (name) => {
    const device = devices.find(({ label }) => label.startsWith("cpu"))!.device!;
    for (const precision of ["f64", "f32"] as const) {
      const cases = casesOf(name, precision);
      const x = newReals(
        precision,
        cases.map((c) => c.x),
      );
      const y = newReals(
        precision,
        cases.map((c) => c.y),
      );
      const reference = await interpreter(precision).run(name, x, y);
      expect(await onDevice(device, precision).run(name, x, y)).toEqual(reference);
      if (precision === "f64") expect(Float64Array.from(await host.run(name, x, y))).toEqual(reference);
    }
  });
});
