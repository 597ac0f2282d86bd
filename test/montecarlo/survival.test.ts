/** Survival between barriers: the corridor against its sine series, bounds of bridges, singular correlations. */
import { afterAll, expect, test } from "vitest";
import { createCpuDevice } from "../../src/device/cpu/index.ts";
import {
  type BarrierSettings,
  basket,
  blackScholes,
  geometricBrownian,
  monteCarlo,
  terminalPayoff,
  withBarriers,
} from "../../src/montecarlo/index.ts";

const device = createCpuDevice({ threads: 1 });
afterAll(() => device[Symbol.dispose]());

/** E[e^(−rT)·1{80 < S < 125 until T}] for S = 100, by the sine series of a Brownian motion with drift in a corridor. */
function noTouch(rate: number, sigma: number, expiry: number): number {
  const [a, x] = [Math.log(125 / 80), Math.log(100 / 80)];
  const drift = rate - 0.5 * sigma * sigma;
  const tilt = drift / (sigma * sigma);
  let sum = 0;
  for (let k = 1; k <= 200; k++) {
    const w = (k * Math.PI) / a;
    const integral = (w * (1 - Math.exp(tilt * a) * (-1) ** k)) / (tilt * tilt + w * w);
    sum += Math.sin(w * x) * Math.exp(-0.5 * (sigma * w) ** 2 * expiry) * integral;
  }
  return Math.exp(-rate * expiry - tilt * x - 0.5 * tilt * drift * expiry) * (2 / a) * sum;
}

test.each([
  [0.1, 0.25],
  [0.25, 1],
  [0.25, 5],
  [0.6, 5],
])("a corridor with a volatility of %f for %f years", async (volatility, expiry) => {
  const product = withBarriers({
    product: terminalPayoff({ payoff: "1", assets: 1 }),
    barriers: [
      { type: "up-and-out", level: 125 },
      { type: "down-and-out", level: 80 },
    ],
  });
  const model = blackScholes({ spot: 100, rate: 0.03, volatility });
  const settings = { device, model, product, sampling: "sobol", paths: 2 ** 14 } as const;
  const exact = noTouch(0.03, volatility, expiry);
  for (const dates of [[expiry], [0.3 * expiry, 0.5 * expiry, expiry]]) {
    const { value, errorEstimate, halfWidth } = await monteCarlo({ ...settings, dates });
    // A few roundings where nearly nothing survives.
    expect(Math.abs(value[0] - exact)).toBeLessThan(1.5 * errorEstimate[0] + 1e-14);
    expect(halfWidth[0]).toBe(0);
  }
});

const one = [0, 1, 2];
const onEach = (settings: Partial<BarrierSettings>) =>
  withBarriers({
    product: basket({ payoff: "call", strike: 90, weights: one.map(() => 1 / 3) }),
    barriers: [{ type: "up-and-out", level: 130, asset: "each" }],
    ...settings,
  });
const modelWith = (rho: number) =>
  geometricBrownian({
    spots: [100, 95, 105],
    volatilities: [0.2, 0.25, 0.3],
    correlation: one.map((i) => one.map((j) => (i === j ? 1 : rho))),
  });

test("bounds come together with steps, and lie within wider ones", async () => {
  const at = async (substeps: number, dependence: "positive" | "any") => {
    const settings = { device, model: modelWith(0.7), product: onEach({ dependence }), dates: [1], paths: 2 ** 14 };
    const { value, halfWidth, errorEstimate } = await monteCarlo({ ...settings, substeps });
    expect(errorEstimate[0]).toBeGreaterThan(halfWidth[0]);
    return { low: value[0] - halfWidth[0], high: value[0] + halfWidth[0], width: halfWidth[0] };
  };
  const [few, wide, many] = [await at(4, "positive"), await at(4, "any"), await at(64, "positive")];
  expect(many.width).toBeLessThan(0.3 * few.width);
  expect(few.width).toBeLessThan(wide.width);
  expect(wide.low).toBeLessThan(few.low);
});

test("assets with one driver have the same bridge, however many there are", async () => {
  const correlated = { device, model: modelWith(1), dates: [1], paths: 2 ** 14, sampling: "sobol" } as const;
  const at = async (substeps: number) =>
    monteCarlo({ ...correlated, substeps, product: onEach({ dependence: "independent", drivers: [0, 0, 0] }) });
  const [few, many] = [await at(1), await at(64)];
  expect(Math.abs(few.value[0] - many.value[0])).toBeLessThan(few.errorEstimate[0] + many.errorEstimate[0]);
  expect(() => onEach({ drivers: [0, 0] })).toThrow("expected 3");
});

test("a singular matrix of correlations is simulated, one that is none is refused", async () => {
  // A basket of 1 · S₁ − 1 · S₂ with equal volatilities is spot S₁(0) − S₂(0) times a lognormal number.
  const model = (rows: readonly (readonly number[])[]) =>
    geometricBrownian({ spots: [100, 80, 60], volatilities: [0.2, 0.2, 0.2], correlation: rows });
  const product = basket({ payoff: "call", strike: 0, weights: [1, -1, 0] });
  const singular = [
    [1, 1, 0.5],
    [1, 1, 0.5],
    [0.5, 0.5, 1],
  ];
  const { value, errorEstimate } = await monteCarlo({ device, model: model(singular), product, dates: [1] });
  expect(Math.abs(value[0] - 20)).toBeLessThan(1.5 * errorEstimate[0]);
  const none = [
    [1, 1, 0.5],
    [1, 1, 0.4],
    [0.5, 0.4, 1],
  ];
  expect(() => model(none)).toThrow("positive");
});
