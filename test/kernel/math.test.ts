/**
 * The functions of src/kernel/math against mpmath (test/fixtures/math): errors in ulps as plain JavaScript, in the
 * interpreter and on every device; special values; and the same bits from every way of computing in f64.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { disposeAll, openTestDevices, type TestDevice } from "../support/devices.ts";
import {
  casesOf,
  columns,
  type Evaluator,
  host,
  interpreter,
  names,
  onDevice,
  worstError,
  wrongSpecials,
} from "./math-accuracy.ts";
import { dealt } from "../support/extent.ts";

const table = new Map<string, Map<string, number>>();

async function expectWithinBound(name: string, evaluator: Evaluator): Promise<void> {
  const { worst, at } = await worstError(name, evaluator);
  const column = `${evaluator.label} ${evaluator.precision}`;
  table.set(name, (table.get(name) ?? new Map()).set(column, worst));
  const bound = evaluator.bound(name);
  expect(worst <= bound ? [] : [`${at}: ${worst} ulps, at most ${bound} allowed`]).toEqual([]);
}

async function expectSpecials(evaluator: Evaluator): Promise<void> {
  expect(await wrongSpecials(evaluator)).toEqual([]);
}

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
  devices = await openTestDevices({ emulatedDouble: true });
}, 300_000);
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
  ["webgpu", "f32x2"],
] as const)("%s, %s", (backend, precision) => {
  const find = (): TestDevice => devices.find(({ label }) => label.startsWith(backend))!;

  // A software adapter takes a second to compile a function in pairs.
  const own = precision === "f32x2" ? dealt(names, 0, 6) : names;
  test.for(own)("%s is as accurate as documented", async (name, context) => {
    const { device, missing } = find();
    if (!device) return context.skip(missing);
    await expectWithinBound(name, onDevice(device, { precision }));
  });

  test("special values", async (context) => {
    const { device, missing } = find();
    if (!device) return context.skip(missing);
    // WGSL implementations may assume that there are neither NaNs nor infinities, and flush or drop signs of zeros.
    if (backend === "webgpu") return context.skip("WGSL promises nothing about NaN, infinities and signs of zeros");
    await expectSpecials(onDevice(device, { precision }));
  });
});

describe("the same bits", () => {
  test.each(names)("%s: plain JavaScript, the interpreter and the CPU agree", async (name) => {
    const device = devices.find(({ label }) => label.startsWith("cpu"))!.device!;
    for (const precision of ["f64", "f32"] as const) {
      const [x, y] = columns(precision, casesOf(name, precision));
      const reference = await interpreter(precision).run(name, x, y);
      expect(await onDevice(device, { precision }).run(name, x, y)).toEqual(reference);
      if (precision === "f64") expect(Float64Array.from(await host.run(name, x, y))).toEqual(reference);
    }
  });
});
