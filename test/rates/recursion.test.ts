/** Bonds with rights and Bermudan swaptions under Gaussian short rates, against independent quadrature. */
import { afterAll, describe, expect, test } from "vitest";
import { createCpuDevice } from "../../src/device/cpu/index.ts";
import type { Device } from "../../src/device/index.ts";
import { integrate, zeroCurve } from "../../src/market/index.ts";
import {
  type ExerciseDate,
  type GaussianMarket,
  oneFactorRecursion,
  RecursionEngine,
  type ShortRateTrade,
} from "../../src/rates/index.ts";
import { openCudaForTests } from "../support/cuda.ts";
import { readFixture } from "../support/fixtures.ts";

/**
 * Random trades from ordinary to extreme and their values by an independent program (numpy): recursion under the
 * measure of the last payment by Gauss and Legendre's rule on panels that are split at every exercise boundary.
 */
interface Case extends ShortRateTrade {
  readonly a: number;
  readonly volTimes: readonly number[];
  readonly vols: readonly number[];
  readonly curveTimes: readonly number[];
  readonly zeros: readonly number[];
  readonly dates: readonly ExerciseDate[];
  readonly value: number;
}

const cases = readFixture("rates/rights-on-dates.json") as readonly Case[];
const markets = cases.map(({ a, volTimes, vols, curveTimes, zeros }): GaussianMarket => {
  const curve = zeroCurve(curveTimes.map((time, i) => ({ time, zero: zeros[i] })));
  return {
    meanReversion: a,
    volatility: { times: volTimes, values: vols },
    logDiscount: (t) => -integrate(curve, t),
  };
});

const device = createCpuDevice({ threads: 1 });
afterAll(() => {
  expect(device.liveBuffers).toBe(0);
  device[Symbol.dispose]();
});

async function errorsAt(density: number, on: Device = device): Promise<number[]> {
  using engine = new RecursionEngine(oneFactorRecursion, on);
  const instances = cases.map((_, k) => ({ trade: k, market: k }));
  const values = await engine.values(cases, markets, instances, { density, reach: 7.5 });
  return instances.map((_, k) => Math.abs(values[k] - cases[k].value));
}

describe("claims with rights on dates", () => {
  test("agree with independent quadrature, and converge to high order", async () => {
    const [coarse, fine, finest] = [await errorsAt(1.75), await errorsAt(2.5), await errorsAt(4)];
    expect(Math.max(...coarse)).toBeLessThan(1e-6);
    expect(Math.max(...fine)).toBeLessThan(3e-8);
    expect(Math.max(...finest)).toBeLessThan(1e-9);
  });

  test("without rights are their discounted payments", async () => {
    using engine = new RecursionEngine(oneFactorRecursion, device);
    const bare = cases.map(({ flows }): ShortRateTrade => ({ kind: "bond", flows, dates: [] }));
    const instances = cases.map((_, k) => ({ trade: k, market: k }));
    const values = await engine.values(bare, markets, instances, { density: 2, reach: 7 });
    bare.forEach(({ flows }, k) => {
      const price = flows.reduce((sum, [time, amount]) => sum + amount * Math.exp(markets[k].logDiscount(time)), 0);
      expect(values[k]).toBeCloseTo(price, 13);
    });
  });

  /** A right that nobody uses leaves the curve to be met through all the integrals. */
  test("with rights that are worth nothing reprice the curve to 1e-10", async () => {
    using engine = new RecursionEngine(oneFactorRecursion, device);
    const idle = cases.map(({ flows, dates }): ShortRateTrade => {
      return { kind: "bond", flows, dates: dates.map(({ time }) => ({ time, settlement: time, floor: -10 })) };
    });
    const instances = cases.map((_, k) => ({ trade: k, market: k }));
    const values = await engine.values(idle, markets, instances, { density: 2.5, reach: 7 });
    idle.forEach(({ flows }, k) => {
      const price = flows.reduce((sum, [time, amount]) => sum + amount * Math.exp(markets[k].logDiscount(time)), 0);
      expect(Math.abs(values[k] - price)).toBeLessThan(1e-10);
    });
  });

  test("without volatility have the best of what is certain", async () => {
    using engine = new RecursionEngine(oneFactorRecursion, device);
    const certain = markets.map((market) => ({ ...market, volatility: { times: [], values: [0] } }));
    const trades = cases.filter(({ kind }) => kind !== "bond");
    const values = await engine.values(
      trades,
      certain,
      trades.map((trade, k) => ({ trade: k, market: cases.indexOf(trade) })),
      { density: 2.5, reach: 7 },
    );
    trades.forEach((trade, k) => {
      const discount = (t: number): number => Math.exp(certain[cases.indexOf(trade)].logDiscount(t));
      const exercised = trade.dates.map(({ time, floor = 0 }) => {
        const later = trade.flows.filter(([paid]) => paid > time);
        const bond = later.reduce((sum, [paid, amount]) => sum + amount * discount(paid), 0);
        return (trade.kind === "receiver" ? 1 : -1) * (bond - floor * discount(time));
      });
      expect(Math.abs(values[k] - Math.max(0, ...exercised))).toBeLessThan(1e-8);
    });
  });

  test("are the same on a GPU", async (context) => {
    using cuda = await openCudaForTests();
    if (cuda === undefined) return context.skip("no NVIDIA GPU here, and no g++ for the emulator");
    expect(Math.max(...(await errorsAt(2.5, cuda)))).toBeLessThan(3e-8);
  });
});
