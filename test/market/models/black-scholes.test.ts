/** Derivatives of Black and Scholes' formula against differences of its values. */
import { afterAll, expect, test } from "vitest";
import { createCpuDevice } from "../../../src/device/cpu/index.ts";
import {
  BLACK_SCHOLES_INPUTS,
  BLACK_SCHOLES_OUTPUTS,
  blackScholesKernel,
} from "../../../src/market/models/black-scholes.ts";

const device = createCpuDevice({ threads: 1 });
afterAll(() => device[Symbol.dispose]());

/** Value, ∂S, ∂S², ∂w and ∂R of rows of S, K, R, Q, w, φ, cash. */
async function outputsOf(rows: readonly (readonly number[])[]): Promise<number[][]> {
  const items = rows.length;
  const compiled = await device.compile(blackScholesKernel, { precision: "f64" });
  using input = device.createBuffer("f64", BLACK_SCHOLES_INPUTS * items);
  using output = device.createBuffer("f64", BLACK_SCHOLES_OUTPUTS * items);
  device.write(input, Float64Array.from(rows[0].flatMap((_, i) => rows.map((row) => row[i]))));
  device.launch(compiled, { items, input, output }, { items });
  const values = await device.read(output);
  return rows.map((_, l) => Array.from({ length: BLACK_SCHOLES_OUTPUTS }, (__, i) => values[i * items + l]));
}

test.each([
  ["call", 1, 0],
  ["put", -1, 0],
  ["digital call", 1, 7],
  ["digital put", -1, 7],
])("%s", async (_, sign, cash) => {
  for (const spot of [80, 100, 130]) {
    const base = [spot, 100, 0.03, 0.01, 0.06, sign, cash];
    const steps = [1e-3 * spot, 0, 1e-5, 0, 1e-5];
    const moved = (place: number, by: number): number[] => base.with(place, base[place] + by);
    const [at, up, down, wider, narrower, higher, lower] = await outputsOf([
      base,
      moved(0, steps[0]),
      moved(0, -steps[0]),
      moved(4, steps[4]),
      moved(4, -steps[4]),
      moved(2, steps[2]),
      moved(2, -steps[2]),
    ]);
    const [, delta, gamma, byVariance, byRates] = at;
    const near = (got: number, expected: number): void =>
      expect(Math.abs(got - expected)).toBeLessThan(1e-5 * (1 + Math.abs(expected)));
    near(delta, (up[0] - down[0]) / (2 * steps[0]));
    near(gamma, (up[0] - 2 * at[0] + down[0]) / steps[0] ** 2);
    near(byVariance, (wider[0] - narrower[0]) / (2 * steps[4]));
    near(byRates, (higher[0] - lower[0]) / (2 * steps[2]));
  }
});

test("a call and a put of cash are the cash", async () => {
  const rows = [1, -1].map((sign) => [90, 100, 0.03, 0.01, 0.06, sign, 7]);
  const [call, put] = await outputsOf(rows);
  expect(call[0] + put[0]).toBeCloseTo(7 * Math.exp(-0.03), 12);
  for (const k of [1, 2, 3]) expect(call[k] + put[k]).toBeCloseTo(0, 12);
});
