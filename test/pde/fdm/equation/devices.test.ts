/** Every kind of equation kernel on every device, against one thread of the CPU in f64. */
import { afterAll, describe, expect, test } from "vitest";
import { createCpuDevice } from "../../../../src/device/cpu/index.ts";
import type { Device } from "../../../../src/device/index.ts";
import { solve } from "../../../../src/pde/fdm/index.ts";
import type { Precision } from "../../../../src/kernel/index.ts";
import { disposeAll, openTestDevices } from "../../../support/devices.ts";
import { dealt, everything } from "../../../support/extent.ts";
import { InterpreterDevice } from "../../../support/interpreter-device.ts";
import { batch, difference, problems, put, tolerance } from "./device-cases.ts";
import { type AnyProblem, axis, blackScholes, put as closedPut } from "./support.ts";

const reference = createCpuDevice({ threads: 1 });
const devices = await openTestDevices();
afterAll(() => {
  for (const { device } of devices) expect(device?.liveBuffers ?? 0).toBe(0);
  disposeAll(devices);
  expect(reference.liveBuffers).toBe(0);
  reference[Symbol.dispose]();
});

async function compare(name: string, device: Device, precision: Precision): Promise<void> {
  const { worst, boundary } = await difference(name, device, precision, reference);
  console.log(
    `${name}, ${device.name}, ${precision}: ${worst.toExponential(1)}, the boundary ${boundary.toExponential(1)}`,
  );
  expect(worst).toBeLessThan(tolerance[precision]);
  expect(boundary).toBeLessThan(precision === "f32" ? 5 : tolerance[precision]);
}

describe.each(devices)("$label", ({ device, label, missing }) => {
  // One thread solves all in one precision or the other; the others, and what slow devices compile, have a part each.
  const isFirst = label === devices[0].label;
  const hand = devices.findIndex((one) => one.label === label);
  for (const [k, precision] of (["f64", "f32"] as const).entries())
    for (const name of dealt(Object.keys(problems), isFirst ? k : 2 * hand + k, isFirst ? 2 : 6)) {
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
      const { entries } = await solve({ ...problem, precision: "f32" }, { device: reference });
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
  // Its kernel takes a software adapter 10 s; test/pricing/emulated-double prices formulas in every run.
  test.skipIf(webgpu?.device === undefined || !everything)("asked for as f64", { timeout: 240_000 }, async () => {
    const { entries, precision } = await solve(put, { device: webgpu?.device });
    expect(precision).toBe("f32x2");
    const expected = await solve(put, { device: reference });
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
    const { entries } = await solve(problem, { device: counted });
    expect([compilations, launches]).toEqual([1, 1]);
    const [alone] = (
      await solve<string, string, string>(
        { ...problem, parameters: { K: strikes[123], r: 0.05, sigma: 0.2, T: lives[123] } },
        { device },
      )
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
    const { entries } = await solve(problem(dates), { device: reference });
    for (const [l, date] of dates.entries())
      expect([...entries[l].values]).toEqual([
        ...(await solve(problem(date), { device: reference })).entries[0].values,
      ]);
  });

  test("without a device one is opened", async () => {
    const { entries, precision } = await solve(put);
    expect(precision).toBe("f64");
    expect(entries).toHaveLength(5);
  });
});
