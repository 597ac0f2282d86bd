/** Every kind of kernel on two and three axes on every device, against one thread of the CPU in f64. */
import { afterAll, describe, expect, test } from "vitest";
import { createCpuDevice } from "../../../../src/device/cpu/index.ts";
import type { Device } from "../../../../src/device/index.ts";
import type { Precision } from "../../../../src/kernel/index.ts";
import { disposeAll, openTestDevices } from "../../../support/devices.ts";
import { dealt } from "../../../support/extent.ts";
import { InterpreterDevice } from "../../../support/interpreter-device.ts";
import { difference, problems, shared, solveAxes, tolerance } from "./device-cases.ts";

const PRECISIONS = ["f64", "f32"] as const;

const reference = createCpuDevice({ threads: 1 });
const devices = await openTestDevices();
afterAll(() => {
  for (const { device } of devices) expect(device?.liveBuffers ?? 0).toBe(0);
  disposeAll(devices);
  expect(reference.liveBuffers).toBe(0);
  reference[Symbol.dispose]();
});

async function compare(name: string, device: Device, precision: Precision): Promise<void> {
  const worst = await difference(name, device, precision, reference);
  console.log(`${name}, ${device.name}, ${precision}: ${worst.toExponential(1)}`);
  expect(worst).toBeLessThan(tolerance[precision]);
}

describe.each(devices)("$label", ({ device, label, missing }) => {
  // One thread solves all in one precision or the other; the others, and what slow devices compile, have a part each.
  const isFirst = label === devices[0].label;
  const hand = devices.findIndex((one) => one.label === label);
  for (const precision of PRECISIONS)
    for (const name of dealt(
      [...Object.keys(problems), ...Object.keys(shared)],
      isFirst ? PRECISIONS.indexOf(precision) : 2 * hand + PRECISIONS.indexOf(precision),
      isFirst ? 2 : 24,
    )) {
      if (device !== undefined && !device.precisions.includes(precision)) continue;
      test.skipIf(device === undefined)(`${name}, ${precision}${device === undefined ? ` (${missing})` : ""}`, () =>
        compare(name, device!, precision),
      );
    }
});

describe("the interpreter, with its checks", () => {
  test.each(dealt(Object.keys(problems), 0, 6))("%s", async (name) => {
    const device = new InterpreterDevice();
    await compare(name, device, "f64");
    expect(device.liveBuffers).toBe(0);
  });
});

test("a time loop in parts gives the same bits", async () => {
  const problem = { ...problems["two axes, exercise at all times"], steps: 200 };
  const whole = await solveAxes(problem, reference);
  let launches = 0;
  const slow = new Proxy(reference, {
    get(target, key) {
      // As if nodes took so long that few rows fit into a launch.
      if (key === "threads") return 1e-3;
      if (key === "launch") launches++;
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  const parts = await solveAxes(problem, slow);
  expect(launches).toBeGreaterThan(5);
  expect([...parts.entries[1].values]).toEqual([...whole.entries[1].values]);
});

test("threads of the CPU that share a grid give the bits of one", async () => {
  const [problem] = Object.values(shared);
  const large = {
    ...problem,
    axes: { S: { ...problem.axes["S"], nodes: 401 }, v: { ...problem.axes["v"], nodes: 261 } },
  };
  const alone = await solveAxes(large, reference);
  const device = createCpuDevice({ threads: 2 });
  let launches = 0;
  const counted = new Proxy(device, {
    get(target, key) {
      if (key === "launch") launches++;
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  const together = await solveAxes(large, counted);
  expect(launches).toBeGreaterThan(20);
  expect([...together.entries[0].values]).toEqual([...alone.entries[0].values]);
  expect(device.liveBuffers).toBe(0);
  device[Symbol.dispose]();
});
