/** Bonds with rights and Bermudan swaptions under Gaussian short rates, against independent quadrature. */
import { afterAll, describe, expect, test } from "vitest";
import { createCpuDevice } from "../../../src/device/cpu/index.ts";
import type { Device } from "../../../src/device/index.ts";
import { integrate, zeroCurve } from "../../../src/market/index.ts";
import {
  type ExerciseDate,
  type GaussianMarket,
  oneFactorInduction,
  BackwardInductionEngine,
  type ShortRateTrade,
} from "../../../src/quadrature/rates/index.ts";
import { openCudaForTests } from "../../support/cuda.ts";
import { readFixture } from "../../support/fixtures.ts";

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
  using engine = new BackwardInductionEngine(oneFactorInduction, on);
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
    using engine = new BackwardInductionEngine(oneFactorInduction, device);
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
    using engine = new BackwardInductionEngine(oneFactorInduction, device);
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
    using engine = new BackwardInductionEngine(oneFactorInduction, device);
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

const market = (meanReversion: number, sigma: number): GaussianMarket => ({
  meanReversion,
  volatility: { times: [], values: [sigma] },
  logDiscount: (t) => -0.05 * t,
});

test("what the issuer pays is discounted from its own settlement", async () => {
  using engine = new BackwardInductionEngine(oneFactorInduction, device);
  const dates = [{ time: 1, settlement: 1, capSettlement: 1.5, floor: 10, cap: 50 }];
  const trade: ShortRateTrade = { kind: "bond", flows: [[3, 100]], dates };
  const [value] = await engine.values([trade], [market(0.1, 0)], [{ trade: 0, market: 0 }], { density: 4, reach: 7 });
  expect(value).toBeCloseTo(50 * Math.exp(-0.05 * 1.5), 10);
});

test("a trade in markets of other dynamics has the value that it has alone", async () => {
  using engine = new BackwardInductionEngine(oneFactorInduction, device);
  const flows = Array.from({ length: 20 }, (_, i): readonly [number, number] => [(i + 1) / 2, i === 19 ? 102 : 2]);
  const dates = flows.slice(1, -1).map(([time]) => ({ time, settlement: time, cap: 98 }));
  const trade: ShortRateTrade = { kind: "bond", flows, dates };
  // The second one's volatility falls to a fifth at the end, where nodes have to be as much closer.
  const falling = { ...market(0.001, 0), volatility: { times: [8], values: [0.02, 0.004] } };
  const markets = [market(0.001, 0.02), falling, market(0.05, 0.01)];
  const fineness = { density: 2.5, reach: 7 };
  const instances = markets.map((_, k) => ({ trade: 0, market: k }));
  const together = await engine.values([trade], markets, instances, fineness);
  for (const instance of instances) {
    const [alone] = await engine.values([trade], markets, [instance], fineness);
    expect(together[instance.market]).toBe(alone);
  }
});
