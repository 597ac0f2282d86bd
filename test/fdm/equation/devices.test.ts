/** Every kind of equation kernel on every device, against one thread of the CPU in f64. */
import { afterAll, describe, expect, test } from "vitest";
import { createCpuDevice } from "../../../src/device/cpu/index.ts";
import type { Device } from "../../../src/device/index.ts";
import { solve } from "../../../src/fdm/index.ts";
import type { Precision } from "../../../src/kernel/index.ts";
import { disposeAll, openTestDevices } from "../../support/devices.ts";
import { InterpreterDevice } from "../../support/interpreter-device.ts";
import { type AnyProblem, axis, blackScholes, put as closedPut } from "./support.ts";

const reference = createCpuDevice({ threads: 1 });
const devices = await openTestDevices();
afterAll(() => {
  for (const { device } of devices) expect(device?.liveBuffers ?? 0).toBe(0);
  disposeAll(devices);
  expect(reference.liveBuffers).toBe(0);
  reference[Symbol.dispose]();
});

const batch = { K: [90, 100, 110, 120, 105], r: [0.05, 0.01, 0.08, 0.02, 0.03], sigma: [0.2, 0.3, 0.15, 0.4, 0.25] };
const put: AnyProblem = { ...blackScholes, parameters: batch, axes: axis(40), terminal: "max(K - S, 0)", steps: 8 };
const exercise = { kind: "exercise", payoff: "max(K - S, 0)" } as const;

const problems: Readonly<Record<string, AnyProblem>> = {
  "Crank–Nicolson, linear ends": put,
  "TR-BDF2, ln S, Neumann ends": {
    ...put,
    axes: axis(40, { from: 20, coordinate: "log" }),
    scheme: { kind: "tr-bdf2" },
    boundaries: { S: { low: { kind: "neumann", slope: -1 }, high: { kind: "neumann", slope: 0 } } },
  },
  "coefficients, source and ends in time": {
    ...put,
    equation: ({ t, S, r, sigma }) => ({
      SS: 0.5 * (sigma * (1 + 0.5 * t)) ** 2 * S * S,
      S: r * S,
      V: -r,
      source: 0.1 * t,
    }),
    boundaries: { S: { low: { kind: "dirichlet", value: "K*exp(-r*(1 - t))" }, high: { kind: "zero-curvature" } } },
  },
  penalty: { ...put, conditions: [exercise] },
  "Brennan and Schwartz": { ...put, conditions: [{ ...exercise, method: "brennan-schwartz" }] },
  "operator splitting, TR-BDF2": {
    ...put,
    scheme: { kind: "tr-bdf2" },
    conditions: [{ ...exercise, method: "operator-splitting" }],
  },
  "exercise on dates, a jump, knock-outs on a date and in a window": {
    ...put,
    conditions: [
      { ...exercise, at: [0.25, 0.5, 1] },
      { kind: "jump", at: [0.5], to: "max(S - 3, 0)" },
      { kind: "knock-out", above: "1.5*K", at: [0.75] },
      { kind: "knock-out", below: "0.5*K", value: 1, from: 0.25, until: 0.75 },
    ],
  },
  "penalty, TR-BDF2, a jump at expiry, a barrier in time": {
    ...put,
    scheme: { kind: "tr-bdf2" },
    conditions: [
      exercise,
      { kind: "jump", at: [1, 0.5], to: "max(S - 3, 0)" },
      { kind: "knock-out", above: "1.7*K*exp(0.1*t)", value: 0.5 },
    ],
  },
};

/** Everything a solution has, in one array. */
async function numbersOf(problem: AnyProblem, device: Device, precision: Precision): Promise<number[]> {
  const { entries } = await solve({ ...problem, precision }, device);
  return entries.flatMap(({ values, exerciseBoundary }) => [
    ...values,
    ...(exerciseBoundary?.levels ?? []).map((level) => (Number.isNaN(level) ? -1 : level)),
  ]);
}

/**
 * f64: the same operations but for contraction (CUDA). f32: values up to 120, of which rounding leaves 1e-4, and where an exercise boundary passes
 * a node to a cell's width, which the boundary is allowed.
 */
const tolerance = { f64: 1e-9, f32x2: 1e-7, f32: 5e-3 } as const;

async function compare(name: string, device: Device, precision: Precision): Promise<void> {
  const problem = problems[name];
  const expected = await numbersOf(problem, reference, "f64");
  const got = await numbersOf(problem, device, precision);
  expect(got.length).toBe(expected.length);
  const nodes = 41;
  const perEntry = expected.length / batch.K.length;
  let worst = 0;
  expected.forEach((value, i) => {
    const isValue = i % perEntry < nodes;
    const difference = Math.abs(got[i] - value);
    if (isValue || precision !== "f32") worst = Math.max(worst, difference);
    else expect(difference, `boundary ${i}`).toBeLessThan(5);
  });
  console.log(`${name}, ${device.name}, ${precision}: ${worst.toExponential(1)}`);
  expect(worst).toBeLessThan(tolerance[precision]);
}

describe.each(devices)("$label", ({ device, missing }) => {
  for (const precision of ["f64", "f32"] as const)
    for (const name of Object.keys(problems)) {
      if (device !== undefined && !device.precisions.includes(precision)) continue;
      test.skipIf(device === undefined)(`${name}, ${precision}${device === undefined ? ` (${missing})` : ""}`, () =>
        compare(name, device!, precision),
      );
    }
});

describe("the interpreter, with its checks", () => {
  test.each(Object.keys(problems))("%s", async (name) => {
    const device = new InterpreterDevice();
    await compare(name, device, "f64");
    expect(device.liveBuffers).toBe(0);
  });
});

describe("f32", () => {
  test("the error estimate covers rounding: more steps do not help, and it says so", async () => {
    for (const n of [100, 200, 400, 800]) {
      const problem = {
        ...blackScholes,
        axes: axis(n),
        terminal: "max(K - S, 0)",
        steps: n,
        errorEstimate: true,
      } as const;
      const { entries } = await solve({ ...problem, precision: "f32" }, reference);
      const rows = [80, 95, 100, 104.3, 130].map((S) => {
        const { value, errorEstimate = NaN } = entries[0].at(S);
        expect(Math.abs(value - closedPut(S))).toBeLessThan(errorEstimate);
        return `${Math.abs(value - closedPut(S)).toExponential(1)} ± ${errorEstimate.toExponential(1)}`;
      });
      console.log(`f32, ${n} × ${n}: ${rows.join(", ")}`);
    }
  });
});

describe("emulated double on WebGPU", () => {
  const webgpu = devices.find(({ label }) => label === "webgpu");
  test.skipIf(webgpu?.device === undefined)("asked for as f64", { timeout: 240_000 }, async () => {
    const { entries, precision } = await solve(put, webgpu?.device);
    expect(precision).toBe("f32x2");
    const expected = await solve(put, reference);
    entries.forEach(({ values }, l) =>
      values.forEach((value, i) =>
        expect(Math.abs(value - expected.entries[l].values[i])).toBeLessThan(tolerance.f32x2),
      ),
    );
  });
});

describe("batches", () => {
  test("one compilation and one launch for all entries, whatever their parameters, lives and meshes", async () => {
    const device = createCpuDevice({ threads: 1 });
    let [compilations, launches] = [0, 0];
    const counted = new Proxy(device, {
      get(target, key) {
        if (key === "compile") compilations++;
        if (key === "launch") launches++;
        const value: unknown = Reflect.get(target, key, target);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
    const count = 300;
    const strikes = Array.from({ length: count }, (_, l) => 50 + l);
    const lives = strikes.map((_, l) => 0.1 + l / 100);
    const problem: AnyProblem = { ...put, parameters: { K: strikes, r: 0.05, sigma: 0.2, T: lives }, expiry: "T" };
    const { entries } = await solve(problem, counted);
    expect([compilations, launches]).toEqual([1, 1]);
    const [alone] = (
      await solve({ ...problem, parameters: { K: strikes[123], r: 0.05, sigma: 0.2, T: lives[123] } }, device)
    ).entries;
    expect([...entries[123].values]).toEqual([...alone.values]);
    expect(entries[123].parameters).toEqual({ K: strikes[123], r: 0.05, sigma: 0.2, T: lives[123] });
    device[Symbol.dispose]();
  });

  test("entries whose dates fall otherwise are launched apart, and right", async () => {
    const problem = (date: number | readonly number[]): AnyProblem => ({
      ...put,
      parameters: { ...batch, K: 100, r: 0.05, sigma: 0.2, date },
      conditions: [{ kind: "jump", at: ["date", 0.5], to: "S - 2" }],
    });
    const dates = [0.1, 0.9, 0.5, 0.1, 0.3];
    const { entries } = await solve(problem(dates), reference);
    for (const [l, date] of dates.entries())
      expect([...entries[l].values]).toEqual([...(await solve(problem(date), reference)).entries[0].values]);
  });

  test("without a device one is opened", async () => {
    const { entries, precision } = await solve(put);
    expect(precision).toBe("f64");
    expect(entries).toHaveLength(5);
  });
});
