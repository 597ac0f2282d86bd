/** Problems that differ in their literals share a kernel, and are solved as those with constants in it were. */
import { afterAll, describe, expect, test } from "vitest";
import { type Device, openDevice } from "../../../../src/device/index.ts";
import { createCpuDevice } from "../../../../src/device/cpu/index.ts";
import { solve } from "../../../../src/pde/fdm/index.ts";
import { countingDevice } from "../../../support/counting-device.ts";
import { openCudaForTests } from "../../../support/cuda.ts";
import { InterpreterDevice } from "../../../support/interpreter-device.ts";
import { openWebGpuForTests } from "../../../support/webgpu.ts";
import { type AnyProblem } from "./support.ts";

const cpu = createCpuDevice({ threads: 1 });
const cuda = await openCudaForTests();
const webgpu = await openWebGpuForTests();
afterAll(() => {
  for (const device of [cpu, cuda, webgpu]) device?.[Symbol.dispose]();
});

/** A put in numbers and formulas, exercised early, with a barrier on dates; `k` tells one from another. */
const inFormulas = (k: number): AnyProblem => ({
  axes: { S: { from: 0, to: 400, nodes: 65 } },
  equation: { SS: `${0.03 + 0.01 * k}*S^2`, S: `${0.04 + 0.01 * k}*S`, V: -0.04 - 0.01 * k },
  terminal: `max(${90 + k} - S, 0)`,
  expiry: 1,
  conditions: [
    { kind: "exercise", payoff: `max(${90 + k} - S, 0)` },
    { kind: "knock-out", above: 180 + k, value: 0.25 * k + 3, at: [0.3, 0.6] },
    { kind: "jump", at: [0.7], to: `S - ${3 + k}` },
  ],
  boundaries: { S: { low: { kind: "dirichlet", value: 90 + k } } },
  steps: 12,
});

/** The same numbers as parameters of the user's. */
const inParameters = (k: number): AnyProblem => ({
  ...inFormulas(k),
  parameters: { a: 0.03 + 0.01 * k, r: 0.04 + 0.01 * k, K: 90 + k, high: 180 + k, paid: 0.25 * k + 3, cash: 3 + k },
  equation: { SS: "a*S^2", S: "r*S", V: "-r" },
  terminal: "max(K - S, 0)",
  conditions: [
    { kind: "exercise", payoff: "max(K - S, 0)" },
    { kind: "knock-out", above: "high", value: "paid", at: [0.3, 0.6] },
    { kind: "jump", at: [0.7], to: "S - cash" },
  ],
  boundaries: { S: { low: { kind: "dirichlet", value: "K" } } },
});

const functions: readonly (readonly [AnyProblem["equation"], AnyProblem["terminal"]])[] = [
  [({ S }) => ({ SS: 0.5 * 0.3 ** 2 * S * S, S: 0.05 * S, V: -0.05 }), ({ S }) => Math.max(100 - S, 0)],
  [({ S }) => ({ SS: 0.5 * 0.4 ** 2 * S * S, S: 0.06 * S, V: -0.06 }), ({ S }) => Math.max(110 - S, 0)],
];
const inFunctions = (k: number): AnyProblem => ({
  axes: { S: { from: 0, to: 400, nodes: 65 } },
  equation: functions[k][0],
  terminal: functions[k][1],
  expiry: 1,
  steps: 12,
});

const valuesOf = async (problem: AnyProblem, device: Device, precision?: "f64" | "f32"): Promise<number[]> => {
  const { entries } = await solve({ ...problem, ...(precision === undefined ? {} : { precision }) }, { device });
  return entries.flatMap(({ values }) => [...values]);
};

const devices: readonly (readonly [string, Device | undefined, "f64" | "f32"])[] = [
  ["CPU, f64", cpu, "f64"],
  ["CPU, f32", cpu, "f32"],
  ["the interpreter", new InterpreterDevice(), "f64"],
  ["CUDA, f64", cuda, "f64"],
  ["WebGPU, f32", webgpu, "f32"],
  ["WebGPU, f32x2", webgpu?.precisions.includes("f32x2") === true ? webgpu : undefined, "f64"],
];

describe.each(devices)("%s", (_, device, precision) => {
  test.skipIf(device === undefined)(
    "problems that differ in literals share a kernel, which is compiled once",
    async () => {
      for (const problemOf of [inFormulas, inFunctions]) {
        const { device: counting, counts } = countingDevice(device!);
        await valuesOf(problemOf(0), counting, precision);
        const { compilations } = counts;
        await valuesOf(problemOf(1), counting, precision);
        expect({ kernels: counts.kernels.size, more: counts.compilations - compilations }).toEqual({
          kernels: 1,
          more: 0,
        });
      }
    },
  );

  test.skipIf(device === undefined)("they give what the same numbers give as parameters", async () => {
    const both = await Promise.all([0, 1].map((k) => valuesOf(inFormulas(k), device!, precision)));
    const expected = await Promise.all([0, 1].map((k) => valuesOf(inParameters(k), device!, precision)));
    expect(both[0]).not.toEqual(both[1]);
    expect(both).toEqual(expected);
  });
});

test("what has to be a constant is a kernel of its own", async () => {
  const { device, counts } = countingDevice(cpu);
  for (const power of [3, 4, 3]) await valuesOf({ ...inFormulas(0), terminal: `0.3*S^${power}` }, device);
  expect(counts.kernels.size).toBe(2);
  const powersOf: readonly AnyProblem["terminal"][] = [
    ({ S }, gpu) => {
      const powers = gpu.privateReal(3);
      powers[0] = 0.3;
      for (let i = 1; i < 3; i++) powers[i] = powers[i - 1] * 0.01 * S;
      return powers[2];
    },
    ({ S }, gpu) => {
      const powers = gpu.privateReal(4);
      powers[0] = 0.3;
      for (let i = 1; i < 4; i++) powers[i] = powers[i - 1] * 0.01 * S;
      return powers[3];
    },
  ];
  const [square, cube] = [
    await valuesOf({ ...inFunctions(0), terminal: powersOf[0], expiry: 1e-6, steps: 2 }, device),
    await valuesOf({ ...inFunctions(0), terminal: powersOf[1], expiry: 1e-6, steps: 2 }, device),
  ];
  expect(counts.kernels.size).toBe(4);
  expect(square[32]).toBeCloseTo(0.3 * 2 ** 2, 3);
  expect(cube[32]).toBeCloseTo(0.3 * 2 ** 3, 3);
});

test("an endless loop is shown in the function's own text, whoever brought the kernel", async () => {
  const ends: AnyProblem = {
    ...inFunctions(0),
    terminal: ({ S }) => {
      let x = S;
      while (x > 700) x = x * 1.0000000001;
      return x;
    },
  };
  const endless: AnyProblem = {
    ...inFunctions(0),
    terminal: ({ S }) => {
      let x = S; // another text of the same shape
      while (x > 300) x = x * 1.0000000003;
      return x;
    },
  };
  const { device, counts } = countingDevice(cpu);
  const first = await solve(ends, { device });
  expect(first.entries[0].error).toBeUndefined();
  const { entries } = await solve(endless, { device });
  expect(counts.kernels.size).toBe(1);
  expect(entries[0].error!.message).toMatch(/^terminal.*this loop does not end[^]*while \(x > 300\)[^]*\n +\^\n/);
});

test("a kernel that is shared is compiled again on another device, and no buffer stays", async () => {
  const { device, counts } = countingDevice(await openDevice({ backend: "cpu", threads: 1 }));
  await valuesOf(inFormulas(0), device);
  await valuesOf(inFormulas(1), device);
  expect(counts.compilations).toBe(1);
  expect(device.liveBuffers).toBe(0);
  device[Symbol.dispose]();
});
