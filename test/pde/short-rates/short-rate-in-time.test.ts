/**
 * Short rates by formulas that depend on time: random ones beside closed forms, and rights beside Hull and White's
 * model with a volatility by date. `npm run check:properties -- --factors rates` prices more of the random ones.
 */
import { afterAll, describe, expect, test } from "vitest";
import { type PricedTrade, readBook } from "../../../src/book/index.ts";
import { createCpuDevice } from "../../../src/device/cpu/index.ts";
import { priceBook } from "../../../src/pricing/index.ts";
import { GridEngine, usersRateOnGrid } from "../../../src/pde/short-rates/index.ts";
import { breaksInTime, stepsInTime } from "../../../src/pde/short-rates/in-time.ts";
import { checkShortRates } from "../../../tools/properties/short-rates.ts";
import { counted } from "../../support/extent.ts";

const TRADES = counted("FEYNKAC_SHORT_RATES", 6, 40);

const device = createCpuDevice({ threads: 1 });
afterAll(() => {
  expect(device.liveBuffers).toBe(0);
  device[Symbol.dispose]();
});

test("random formulas of the time have the values of closed forms, within their estimates", async () => {
  const { within, worstRatio, worst } = await checkShortRates(device, TRADES, 1);
  expect(worstRatio > 3 ? worst : "").toBe("");
  expect(within).toBeGreaterThanOrEqual(Math.floor(0.98 * TRADES));
});

describe("a volatility that jumps", () => {
  const swap = { start: 3, end: 8, frequency: 1, notional: 100 };
  const calls = [2, 3].map((date) => ({ date, price: 100 }));
  const trades = [
    { swaption: "payer", strike: 0.03, expiry: 3, swap },
    { swaption: "receiver", strike: 0.03, exercise: [3, 4, 5], swap },
    { bond: { maturity: 5, coupon: 0.03, frequency: 1, notional: 100, calls } },
  ];
  const curve = [1, 10].map((date, i) => ({ date, zero: 0.025 + 0.005 * i }));
  const byDate = [
    { date: 1.7, volatility: 0.005 },
    { date: 50, volatility: 0.01 },
  ];
  const rates = {
    A: { hullWhite: { meanReversion: 0.1, volatility: byDate, curve } },
    B: {
      shortRate: {
        r0: 0.03,
        drift: "0.1*(0.03-r)",
        volatility: "t < 1.7 ? 0.005 : 0.01",
        range: [-0.3, 0.4],
        curve,
      },
    },
  };
  const book = readBook({
    asOf: "2026-11-20",
    market: { rates },
    trades: ["A", "B"].flatMap((currency) => trades.map((trade, i) => ({ id: `${currency}${i}`, currency, ...trade }))),
  });

  test("gives the values and sensitivities of Hull and White's model with that volatility by date", async () => {
    const { results } = await priceBook(book, { device });
    const priced = results.map((result): PricedTrade => {
      if (result.status !== "ok") throw new Error(result.error.message);
      return result;
    });
    trades.forEach((_, i) => {
      const [named, own] = [priced[i], priced[trades.length + i]];
      expect(Math.abs(own.value - named.value)).toBeLessThan(own.errorEstimate + named.errorEstimate);
      expect(own.errorEstimate).toBeLessThan(3e-5);
      for (const name of ["vega", "rho", "theta"] as const) expect(own[name]! / named[name]!).toBeCloseTo(1, 3);
    });
  });
});

test.each(["0.004 + 0.003*t", "t < 2.2 ? 0.004 : 0.012", "0.01*max(1.6 - t, 0.5)"])(
  "seen later, %s is the formula whose time begins later",
  async (volatility) => {
    const years = 1.3;
    // Its drift is 0 where the rate begins, so that it is there later, too.
    const market = (of: string, elapsed: number) =>
      usersRateOnGrid(
        { r0: 0.03, drift: "0.1*(0.03 - r)", volatility: of, range: [-0.3, 0.4], years: elapsed, shift: 0 },
        { logDiscount: (t) => -0.03 * t, breaks: [] },
      );
    const begun = volatility.replaceAll(/\bt\b/g, `(t + ${years})`);
    const flows = [1, 2, 3].map((time) => [time, time === 3 ? 103 : 3] as const);
    const dates = [1, 2].map((time) => ({ time, settlement: time, cap: 100 }));
    using engine = new GridEngine(device);
    const trade = { kind: "bond", flows, dates } as const;
    const instances = [0, 1].map((k) => ({ trade: 0, market: k }));
    const values = await engine.values([trade], [market(volatility, years), market(begun, 0)], instances, 1);
    expect(values[0]).toBeCloseTo(values[1], 9);
    expect(values[0]).toBeLessThan(102);
  },
);

describe("formulas of the time", () => {
  const formulas = (volatility: string) => ({ drift: "0.1*(0.03 - r)", volatility, rates: [0.03] });

  test("have their jumps and kinks found, and nothing where they are smooth", () => {
    const found = (volatility: string): number[] => [...breaksInTime(formulas(volatility), 0, 8)];
    const near = (times: readonly number[], expected: readonly number[]): void => {
      for (const time of times) expect(Math.min(...expected.map((one) => Math.abs(time - one)))).toBeLessThan(1e-8);
      for (const one of expected) expect(Math.min(...times.map((time) => Math.abs(time - one)))).toBeLessThan(1e-8);
    };
    near(found("t < 1.7 ? 0.005 : 0.01"), [1.7]);
    near(found("t < 0.003 ? 0.005 : t < 6.25 ? 0.01 : 0.0101"), [0.003, 6.25]);
    near(found("0.01*max(1 - t/3.3, 0.2)"), [2.64]);
    near(found("0.01*(2 + sin(6*t))*exp(-0.3*t)"), []);
  });

  test("take as many steps as they need", () => {
    expect(stepsInTime(formulas("0.02*exp(-0.3*t)"), 0, 3, 9)).toBe(9);
    expect(stepsInTime(formulas("0.01*(1 + 0.5*sin(60*t))"), 0, 1, 3)).toBeGreaterThan(20);
  });
});
