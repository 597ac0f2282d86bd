/** Standard errors are honest: 95 % intervals cover the exact value in 95 % of 400 runs. */
import { afterAll, expect, test } from "vitest";
import { createCpuDevice } from "../../src/device/cpu/index.ts";
import { asian, basket, blackScholes, geometricBrownian, lookback, monteCarlo } from "../../src/montecarlo/index.ts";
import { casesOf, equalDates } from "./support.ts";

const device = createCpuDevice({ threads: 2 });
afterAll(() => device[Symbol.dispose]());

const exact = (family: string, id: string): number => casesOf(family).find((one) => one.id === id)!.expected.price;
const RUNS = 400;

/** Four standard deviations of a binomial count about 380 are 17.4. */
const expectCovered = (covered: number): void => {
  expect(covered).toBeGreaterThanOrEqual(363);
  expect(covered).toBeLessThanOrEqual(397);
};

const average = asian({ payoff: "call", strike: 100 });
const spot = blackScholes({ spot: 100, rate: 0.05, volatility: 0.2 });
const monthly = { model: spot, product: average, dates: equalDates(12, 1) };

/** Runs that differ in their streams are a batch. */
const streams = Float64Array.from({ length: RUNS }, (_, i) => i);

test.each([
  ["no variance reduction", { control: "none" }],
  ["a control variate", {}],
  ["reflections", { control: "none", antithetic: true }],
] as const)("an Asian option with %s", async (_, how) => {
  const expected = exact("asian", "ASN-O-13");
  const { value, errorEstimate } = await monteCarlo({ device, ...monthly, ...how, paths: 1024, streams });
  expectCovered(value.filter((x, i) => Math.abs(x - expected) <= errorEstimate[i]).length);
});

test.each([
  ["Sobol' points", { control: "none" }],
  ["Sobol' points and a control variate", {}],
] as const)("an Asian option with %s", async (_, how) => {
  const expected = exact("asian", "ASN-O-13");
  let covered = 0;
  for (let seed = 0; seed < RUNS; seed++) {
    const { value, errorEstimate } = await monteCarlo({
      device,
      ...monthly,
      ...how,
      sampling: "sobol",
      paths: 2048,
      seed,
    });
    if (Math.abs(value[0] - expected) <= errorEstimate[0]) covered += 1;
  }
  expectCovered(covered);
});

test("a basket", async () => {
  const model = geometricBrownian({
    spots: [100, 100],
    rate: 0.05,
    volatilities: [0.3, 0.3],
    correlation: [
      [1, 0.3],
      [0.3, 1],
    ],
  });
  const product = basket({ payoff: "call", kind: "best-of", strike: 100, weights: [1, 1] });
  const { value, errorEstimate } = await monteCarlo({ device, model, product, dates: [1], paths: 1024, streams });
  const expected = exact("multi-asset-european", "MUL-O-04");
  expectCovered(value.filter((x, i) => Math.abs(x - expected) <= errorEstimate[i]).length);
});

test("the mean of 400 runs has no bias that one run hides: extremes by bridges, in one step", async () => {
  const model = blackScholes({ spot: 100, rate: 0.05, volatility: 0.3 });
  const product = lookback({ payoff: "call", strike: "floating" });
  const { value, errorEstimate } = await monteCarlo({ device, model, product, dates: [1], paths: 1024, streams });
  const expected = exact("lookback", "LBK-O-02");
  expectCovered(value.filter((x, i) => Math.abs(x - expected) <= errorEstimate[i]).length);
  const mean = value.reduce((sum, x) => sum + x, 0) / RUNS;
  expect(Math.abs(mean - expected)).toBeLessThan((3 * errorEstimate[0]) / 1.96 / Math.sqrt(RUNS));
});
