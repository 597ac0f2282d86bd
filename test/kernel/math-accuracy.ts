/**
 * The functions of src/kernel/math against mpmath (test/fixtures/math), and how to compute them in several ways. Free
 * of the test runner.
 */
import type { CompileOptions, Device } from "../../src/device/device.ts";
import {
  fromPairs,
  hostRealType,
  kernel,
  lower,
  type Precision,
  read,
  real,
  toPairs,
  write,
} from "../../src/kernel/index.ts";
import { interpret } from "../../src/kernel/interpret/index.ts";
import { mathFunctions } from "../../src/kernel/math/index.ts";
import { readFixture } from "../support/fixtures.ts";
import { specials } from "./math-specials.ts";

export type Reals = Float64Array | Float32Array;

export interface MathCase {
  readonly x: number;
  readonly y: number; // the second argument, 0 where there is none
  readonly expected: number; // rounded correctly
  readonly rest: number; // what that rounding took away, in ulps
}

export const names = Object.keys(mathFunctions);
const binary = new Set(["pow", "atan2"]);

/** Bounds in ulps, of f64 and f32 where arithmetic is IEEE 754's: 2, and 4 for the normal distribution. */
const strict = (name: string): number => (/^(normal|inverse)/.test(name) ? 4 : 2);
/**
 * On WebGPU. WGSL allows division 2.5 ulps, contracts products and sums as it likes, and may flush subnormal numbers to
 * 0, so that errors below the smallest normal number do not count. With every product contracted that can be and every
 * quotient off by up to 2 ulps, simulated, no error here exceeded 3.6 ulps. CUDA contracts, too, but rounds quotients.
 */
const loose = (name: string): number => strict(name) + 2;

export function casesOf(name: string, precision: Precision): MathCase[] {
  if (precision === "f32x2") return pairCases(name);
  const rows = (readFixture(`math/${name}.json`) as Record<Precision, (number | string)[][]>)[precision];
  return rows.map((row) => {
    const [x, ...more] = row.map(Number);
    const [y, expected, rest] = binary.has(name) ? more : [0, ...more];
    return { x, y, expected, rest };
  });
}

/**
 * At the pairs next to the arguments of f64, which are others: the function in f64 is 200 times more exact than pairs.
 */
function pairCases(name: string): MathCase[] {
  return casesOf(name, "f64")
    .map((one) => {
      const [x, y] = fromPairs(toPairs([one.x, one.y]));
      return { x, y, expected: callOnHost(name, x, y), rest: 0 };
    })
    .filter(({ x, y, expected }) => [x, y, expected].every(isWholePair));
}

/**
 * A number of f32's range whose products are good to 48 bits, too: their smallest parts are normal numbers
 * (LIMITATIONS.md).
 */
const isWholePair = (x: number): boolean => x === 0 || (Math.abs(x) >= 2 ** -78 && Math.abs(x) < 2 ** 127);

export const newReals = (precision: Precision, values: readonly number[]): Reals =>
  precision === "f32" ? Float32Array.from(values) : Float64Array.from(values);

/** Both arguments of cases, as columns. */
export const columns = (
  precision: Precision,
  cases: readonly { readonly x: number; readonly y: number }[],
): [Reals, Reals] => [
  newReals(
    precision,
    cases.map(({ x }) => x),
  ),
  newReals(
    precision,
    cases.map(({ y }) => y),
  ),
];

export function kernelOf(name: string) {
  const params = { x: read(real), y: read(real), out: write(real) };
  const f = mathFunctions[name];
  if (binary.has(name)) {
    return kernel({
      name,
      params,
      env: { f },
      body({ x, y, out }, gpu, { f }) {
        const i = gpu.globalId();
        out[i] = f(x[i], y[i]);
      },
    });
  }
  return kernel({
    name,
    params,
    env: { f },
    body({ x, out }, gpu, { f }) {
      const i = gpu.globalId();
      out[i] = f(x[i]);
    },
  });
}

/** A way to compute a function of many arguments. */
export interface Evaluator {
  readonly label: string;
  readonly precision: Precision;
  /** Largest error allowed, in `unitOf(precision)`. */
  readonly bound: (name: string) => number;
  readonly flushes: boolean;
  run(name: string, x: Reals, y: Reals): Promise<ArrayLike<number>>;
}

function callOnHost(name: string, x: number, y: number): number {
  const f = mathFunctions[name] as unknown as (...args: number[]) => number;
  return binary.has(name) ? f(x, y) : f(x);
}

export const host: Evaluator = {
  label: "JavaScript",
  precision: "f64",
  bound: strict,
  flushes: false,
  run: (name, x, y) => Promise.resolve(Array.from(x, (value, i) => callOnHost(name, value, y[i]))),
};

export function interpreter(precision: Precision): Evaluator {
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

export function onDevice(device: Device, options: CompileOptions): Evaluator {
  const { precision } = options;
  const exact = device.backend === "cpu" || options.fma === "exact";
  return {
    label: device.backend,
    precision,
    bound: precision === "f32x2" ? pairBound : exact ? strict : loose,
    flushes: device.backend === "webgpu",
    async run(name, x, y) {
      const compiled = await device.compile(kernelOf(name), options);
      using xs = device.createBuffer(hostRealType(precision), x.length);
      using ys = device.createBuffer(hostRealType(precision), x.length);
      using out = device.createBuffer(hostRealType(precision), x.length);
      device.write(xs, x);
      device.write(ys, y);
      device.launch(compiled, { x: xs, y: ys, out }, { items: x.length });
      return await device.read(out);
    },
  };
}

export const PAIR_UNIT = 2 ** -44;
export const unitOf = (precision: Precision): string => (precision === "f32x2" ? "2⁻⁴⁴, relative" : "ulps");

/** 0.2 is the most observed; divisions of a GPU cost more than those of SwiftShader. */
const pairBound = (): number => 2;

/** The distance between neighbours at x. */
function ulp(x: number, precision: Precision): number {
  const [bits, lowest] = precision === "f64" ? [52, -1074] : [23, -149];
  const a = Math.abs(x);
  let e = Math.floor(Math.log2(a));
  if (2 ** e > a) e--;
  if (2 ** (e + 1) <= a) e++;
  return Math.max(2 ** (e - bits), 2 ** lowest);
}

function errorOf(got: number, { expected, rest }: MathCase, { precision, flushes }: Evaluator): number {
  if (!Number.isFinite(expected)) return Object.is(got, expected) ? 0 : Infinity;
  if (Number.isNaN(got)) return Infinity;
  if (flushes && Math.abs(got - expected) <= 2 ** -126) return 0;
  if (precision === "f32x2") return Math.abs((got - expected) / (PAIR_UNIT * expected));
  return Math.abs((got - expected) / ulp(expected, precision) - rest);
}

const normal = (x: number): boolean => x === 0 || Math.abs(x) >= 2 ** -126;

export interface WorstError {
  /** In `unitOf(precision)`. */
  readonly worst: number;
  readonly at: string;
  readonly count: number;
}

/** Over all cases of a function, or every `stride`-th. */
export async function worstError(name: string, evaluator: Evaluator, stride = 1): Promise<WorstError> {
  const all = casesOf(name, evaluator.precision).filter((_, i) => i % stride === 0);
  const cases = evaluator.flushes ? all.filter(({ x, y }) => normal(x) && normal(y)) : all;
  const got = await evaluator.run(name, ...columns(evaluator.precision, cases));
  let found = { worst: 0, at: "" };
  for (const [i, c] of cases.entries()) {
    const error = errorOf(got[i], c, evaluator);
    if (error <= found.worst) continue;
    const at = `${name}(${c.x}${binary.has(name) ? `, ${c.y}` : ""}): ${got[i]}, expected ${c.expected}`;
    found = { worst: error, at };
  }
  return { ...found, count: cases.length };
}

/** The special values that come out wrong. */
export async function wrongSpecials(evaluator: Evaluator): Promise<string[]> {
  const wrong: string[] = [];
  for (const name of names) {
    const rows = specials.filter(([function_]) => function_ === name).map(([, ...numbers]) => numbers);
    const cases = rows.map((row) => ({ x: row[0], y: row.length === 3 ? row[1] : 0 }));
    const got = await evaluator.run(name, ...columns(evaluator.precision, cases));
    rows.forEach((row, i) => {
      const call = `${name}(${row.slice(0, -1).map(show).join(", ")})`;
      const expected = row[row.length - 1];
      if (!Object.is(got[i], expected)) wrong.push(`${call} = ${show(got[i])}, expected ${show(expected)}`);
    });
  }
  return wrong;
}

const show = (x: number): string => (Object.is(x, -0) ? "-0" : String(x));
