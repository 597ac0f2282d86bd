/** Paths of local volatilities in steps, against closed forms, and the order of their scheme. */
import { afterAll, describe, expect, test } from "vitest";
import { createCpuDevice } from "../../src/device/cpu/index.ts";
import { normalCdf } from "../support/normal.ts";
import {
  type AssetVolatility,
  blackScholes,
  european,
  localDiffusions,
  lookback,
  monteCarlo,
  type Parameter,
  type PathModel,
  type PathProduct,
} from "../../src/montecarlo/index.ts";

const device = createCpuDevice({ threads: 1 });
afterAll(() => device[Symbol.dispose]());

const T = 1;
interface Setting {
  readonly volatility: (steps: number) => AssetVolatility;
  readonly steps: number;
  readonly kept?: number;
  readonly cash?: number;
}

/** One asset at 100 without drift, whose diffusion is kept for `kept` steps. */
function model({ volatility, steps, kept = 1, cash = 0 }: Setting): PathModel {
  const dt = T / steps;
  const byStep = (of: (k: number) => number): Parameter => ({ byStep: Array.from({ length: steps }, (_, k) => of(k)) });
  const asset = {
    spot: 100,
    growth: 1,
    kept: 1,
    cash: byStep((k) => (k === steps - 1 ? cash : 0)),
    fresh: byStep((k) => (k % kept === 0 ? 1 : 0)),
    span: kept * dt,
    middle: 1,
    shown: 1,
    volatility: volatility(steps),
  };
  return localDiffusions({
    assets: [asset],
    rate: 0,
    ends: byStep((k) => (k + 1) * dt),
    root: Math.sqrt(dt),
    correlation: [[1]],
  });
}

const call = european({ payoff: "call", strike: 100 });
const priced = async (setting: Setting, product: PathProduct = call) =>
  monteCarlo({
    device,
    model: model(setting),
    product,
    dates: [T],
    substeps: setting.steps,
    sampling: "sobol",
    scramblings: 16,
    paths: 2 ** 15,
    control: "none",
  });

const root = (sigma: number) => (): AssetVolatility => ({ kind: "cev", sigma, beta: 0.5, added: 0 });

describe("calls at the money, spot 100, one year", () => {
  // Cox (1975) for CEV by the non-central χ², scipy 1.10; β = 0 is a Brownian motion absorbed at 0, by reflection;
  // displaced: Black and Scholes' value at 200 and 10 %.
  test.each<[string, Setting, number]>([
    ["constant", { steps: 2, volatility: () => ({ kind: "constant", sigma: 0.2 }) }, 7.965567],
    ["displaced", { steps: 2, volatility: () => ({ kind: "displaced", sigma: 0.1, shift: 100, added: 0 }) }, 7.975522],
    ["square root", { steps: 16, volatility: root(2) }, 7.96885],
    ["square root that is often absorbed", { steps: 32, volatility: root(6) }, 23.66242],
    ["normal, absorbed", { steps: 2, volatility: () => ({ kind: "cev", sigma: 60, beta: 0, added: 0 }) }, 23.92981],
    [
      "a volatility that is added",
      { steps: 2, volatility: () => ({ kind: "cev", sigma: 1, beta: 0, added: 0.19 }) },
      7.96686,
    ],
  ])("%s", async (_, setting, exact) => {
    const { value, errorEstimate } = await priced(setting);
    // The error of the steps is below 1e-3.
    expect(Math.abs(value[0] - exact)).toBeLessThan(errorEstimate[0] + 1e-3);
  });

  test("a formula and a table of the same volatility", async () => {
    const spots = Array.from({ length: 81 }, (_, j) => 20 * 1.05 ** j);
    const table = (): AssetVolatility => ({
      kind: "table",
      spots,
      volatility: spots.map((S) => 2 / Math.sqrt(S)),
      slopes: spots.map((S) => -1 / S ** 1.5),
      added: 0,
    });
    const written = (steps: number): AssetVolatility => {
      const time = { byStep: Array.from({ length: steps }, (_, k) => (k + 0.5) / steps) };
      return { kind: "formula", expression: "2/sqrt(S)", time, added: 0 };
    };
    const [one, other, closed] = await Promise.all(
      [table, written, root(2)].map((volatility) => priced({ steps: 8, volatility })),
    );
    // The same paths but for the interpolation, and for differences in place of derivatives.
    expect(Math.abs(one.value[0] - other.value[0])).toBeLessThan(2e-4);
    expect(Math.abs(one.value[0] - closed.value[0])).toBeLessThan(1e-3);
  });
});

test("the difference of twice as long steps is of the second order", async () => {
  const differenceAt = async (steps: number): Promise<number> => {
    const variants = [{ model: model({ steps, kept: 2, volatility: root(2) }), product: call }];
    const { sensitivities } = await monteCarlo({
      device,
      model: model({ steps, volatility: root(2) }),
      product: call,
      dates: [T],
      substeps: steps,
      sampling: "sobol",
      scramblings: 16,
      paths: 2 ** 15,
      control: "none",
      variants,
      measures: { steps: [1, -1] },
    });
    return sensitivities["steps"].value[0];
  };
  const [coarse, fine] = [await differenceAt(4), await differenceAt(16)];
  expect(coarse / fine).toBeGreaterThan(10);
});

test.each([1, 2])(
  "a continuous maximum under a constant volatility kept for %i steps is Black and Scholes'",
  async (kept) => {
    const product = lookback({ payoff: "call", strike: 100 });
    const volatility = (): AssetVolatility => ({ kind: "constant", sigma: 0.3 });
    const settings = { device, product, dates: [T], paths: 2 ** 14, sampling: "sobol", control: "none" } as const;
    const other = await monteCarlo({ ...settings, model: blackScholes({ spot: 100, volatility: 0.3 }), substeps: 4 });
    const one = await monteCarlo({ ...settings, model: model({ steps: 4, kept, volatility }), substeps: 4 });
    // The same random numbers; σ at both ends of a step is the same but for rounding.
    expect(Math.abs(one.value[0] - other.value[0])).toBeLessThan(1e-9);
  },
);

test("a spot that a dividend takes to zero stays there", async () => {
  const volatility = (): AssetVolatility => ({ kind: "constant", sigma: 0.2 });
  const { value } = await priced({ steps: 4, volatility, cash: 1000 }, european({ payoff: "put", strike: 100 }));
  expect(value[0]).toBe(100);
});

test("a continuous minimum of a spot that is absorbed at zero is that of a Brownian motion, and a number", async () => {
  // A spot of volatility 60 a √year falls by |N|·60 at most, but not below 0: E min(100, 60·|N|), by reflection.
  const exact = 60 * Math.sqrt(2 / Math.PI) * (1 - Math.exp(-(100 ** 2) / 7200)) + 200 * normalCdf(-100 / 60);
  const volatility = (): AssetVolatility => ({ kind: "cev", sigma: 60, beta: 0, added: 0 });
  const minimum = lookback({ payoff: "put", strike: 100 });
  const errorAt = async (steps: number): Promise<number> => {
    const { value, errorEstimate } = await priced({ steps, volatility }, minimum);
    return Math.max(Math.abs(value[0] - exact) - errorEstimate[0], 0);
  };
  // Bridges are those of ln S with the mean of its variances: of first order near zero.
  expect(await errorAt(256)).toBeLessThan(0.1);
  expect(await errorAt(64)).toBeLessThan(0.4);
});
