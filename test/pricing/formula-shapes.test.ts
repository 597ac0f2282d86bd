/** Underlyings whose formulas differ in numbers alone share kernels and launches, whatever their spots. */
import { afterAll, expect, test } from "vitest";
import { type Device, openDevice } from "../../src/device/index.ts";
import { parseBook, priceBook } from "../../src/index.ts";
import { countingDevice } from "../support/counting-device.ts";
import { openCudaForTests } from "../support/cuda.ts";
import { InterpreterDevice } from "../support/interpreter-device.ts";

const cpu = await openDevice({ backend: "cpu", threads: 1 });
const cuda = await openCudaForTests();
afterAll(() => {
  for (const device of [cpu, cuda]) device?.[Symbol.dispose]();
});

const UNDERLYINGS = 12;

/** An American put on each underlying; one of all underlyings alone, if it is said which. */
function book(formula: (k: number) => string, only?: number): ReturnType<typeof parseBook> {
  const numbers = Array.from({ length: UNDERLYINGS }, (_, k) => k);
  const underlyings = numbers.map((k) => [
    `U${k}`,
    { spot: 80 + 5 * k, currency: "EUR", volatility: { local: formula(k) } },
  ]);
  const trades = numbers.map((k) => ({
    id: `${k}`,
    underlying: `U${k}`,
    payoff: "put",
    strike: 80 + 5 * k,
    expiry: 1,
    exercise: "american",
  }));
  return parseBook(
    JSON.stringify({
      asOf: "2026-11-20T16:00:00Z",
      market: { rates: { EUR: 0.03 }, underlyings: Object.fromEntries(underlyings) },
      trades: trades.filter(({ id }) => only === undefined || id === `${only}`),
    }),
  );
}

const differing = (k: number): string => `${0.2 + 0.01 * k} + 0.1*exp(-S/${100 + k})*(1 + 0.1*t)`;

async function valuesOf(what: ReturnType<typeof book>, device: Device, precision?: "f32"): Promise<number[]> {
  const options = { greeks: "none", ...(precision === undefined ? {} : { precision }) } as const;
  const { results } = await priceBook(what, { device, accuracy: { relative: 1e-3 }, ...options });
  return results.map((result) => (result.status === "error" ? Number.NaN : result.value));
}

test("kernels and launches do not depend on how many numbers there are", async () => {
  const one = countingDevice(cpu);
  await valuesOf(
    book(() => differing(0)),
    one.device,
  );
  const many = countingDevice(cpu);
  await valuesOf(book(differing), many.device);
  expect(many.counts.kernels).toEqual(one.counts.kernels);
  expect(many.counts.compilations).toBe(0);
  expect(many.counts.launches).toBe(one.counts.launches);
});

test("formulas of another shape have a kernel of their own", async () => {
  const { device, counts } = countingDevice(cpu);
  await valuesOf(book(differing), device);
  const { size } = counts.kernels;
  await valuesOf(
    book((k) => `${0.2 + 0.01 * k} + 0.1*exp(-S/${100 + k})*(1 - 0.1*t)`),
    device,
  );
  expect(counts.kernels.size).toBe(2 * size);
});

test.each([
  ["CPU, f64", cpu, undefined],
  ["CPU, f32", cpu, "f32"],
  ["CUDA, f64", cuda, undefined],
] as const)("%s: trades have the values that they have alone", async (_, device, precision) => {
  if (device === undefined) return;
  const together = await valuesOf(book(differing), device, precision);
  expect(together.every((value) => value > 1)).toBe(true);
  const alone = await Promise.all([0, 5, 11].map((k) => valuesOf(book(differing, k), device, precision)));
  expect(alone.flat()).toEqual([0, 5, 11].map((k) => together[k]));
});

test("the interpreter finds nothing wrong, and the same values", async () => {
  const device = new InterpreterDevice();
  const [got, expected] = [await valuesOf(book(differing, 3), device), await valuesOf(book(differing, 3), cpu)];
  expect(got[0]).toBeCloseTo(expected[0], 9);
});
