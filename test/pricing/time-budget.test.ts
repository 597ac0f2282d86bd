/** A limit of time: by a clock of its own, and what results say when it is over. */
import { afterAll, describe, expect, it } from "vitest";
import { parseBook } from "../../src/book/index.ts";
import { createCpuDevice } from "../../src/device/cpu/index.ts";
import { priceTrades } from "../../src/pricing/index.ts";
import { TimeBudget } from "../../src/pricing/plan/method.ts";
import { results, trade } from "./reference.ts";
import { onUnderlyings } from "../support/on-underlyings.ts";

const device = createCpuDevice({ threads: 1 });
afterAll(() => device[Symbol.dispose]());

describe("a budget", () => {
  it("divides the time of work among its trades, and allows what is left", async () => {
    let now = 0;
    const budget = new TimeBudget(10, () => now);
    await budget.spend([0, 1], async () => void (now += 4000));
    await budget.spend([0], async () => void (now += 500)).catch(() => {});
    expect([budget.spentOn(0), budget.spentOn(1), budget.spentOn(2)]).toEqual([2.5, 2, 0]);
    expect([budget.allowsTimes(0, 3), budget.allowsTimes(0, 3.1), budget.allowsTimes(1, 3.1)]).toEqual([
      true,
      false,
      true,
    ]);
    expect(new TimeBudget(undefined).allowsTimes(0, 1e9)).toBe(true);
  });

  it("counts the time of work that fails", async () => {
    let now = 0;
    const budget = new TimeBudget(1, () => now);
    const work = (): Promise<void> => {
      now += 2000;
      return Promise.reject(new Error("no"));
    };
    await expect(budget.spend([3], work)).rejects.toThrow("no");
    expect(budget.spentOn(3)).toBe(2);
  });
});

const market = {
  rates: { EUR: 0.05 },
  underlyings: {
    ACME: { spot: 100, currency: "EUR", volatility: 0.2 },
    BETA: { spot: 90, currency: "EUR", volatility: 0.3 },
  },
  correlations: [["ACME", "BETA", 0.3]],
} as const;

describe("a trade that has no time left", () => {
  it("has its value, a larger estimate, and a warning", async () => {
    const put = trade({ exercise: { kind: "american" } });
    const [best] = await results([put], { device, accuracy: { relative: 1e-7 }, method: "fdm" });
    const [quick] = await results([put], { device, accuracy: { relative: 1e-7 }, method: "fdm", timePerTrade: 1e-9 });
    if (best.status === "error" || quick.status === "error") throw new Error("not priced");
    expect(best.warnings.join()).not.toContain("time");
    expect(quick.warnings).toContain("the time of a trade was over before the accuracy was reached: see errorEstimate");
    expect(quick.errorEstimate).toBeGreaterThan(3 * best.errorEstimate);
    expect(Math.abs(quick.value - best.value)).toBeLessThan(quick.errorEstimate);
    expect(quick.vega).toBeCloseTo(best.vega!, 0);
  });

  const dates = [0.25, 0.5, 0.75, 1];
  it.each([
    ["adi", { underlyings: ["ACME", "BETA"], payoff: { bestOf: "call" }, exercise: "american" }, 1e-6],
    ["sparse-grid", { underlyings: ["ACME", "BETA"], payoff: { bestOf: "call" } }, 1e-6],
    ["montecarlo", { underlying: "ACME", payoff: "call", average: { kind: "arithmetic", dates } }, 1e-6],
    ["convolution", { underlying: "ACME", payoff: "call", swing: { dates, min: 1, max: 3 } }, 1e-8],
  ] as const)("by %s has its first value with its estimate and a warning", async (method, terms, accuracy) => {
    const [parsed] = parseBook({
      asOf: "2026-11-20",
      market,
      trades: [{ id: "T", strike: 100, expiry: 1, ...terms }],
    }).trades;
    const one = onUnderlyings(parsed);
    const [quick] = await results([one], {
      device,
      accuracy: { relative: accuracy },
      method,
      greeks: "grid",
      timePerTrade: 1e-9,
    });
    const [best] = await results([one], { device, accuracy: { relative: 50 * accuracy }, method, greeks: "none" });
    if (best.status === "error" || quick.status === "error") throw new Error("not priced");
    expect(quick.warnings).toContain("the time of a trade was over before the accuracy was reached: see errorEstimate");
    expect(quick.errorEstimate).toBeGreaterThan(100 * accuracy);
    expect(Math.abs(quick.value - best.value)).toBeLessThan(quick.errorEstimate + best.errorEstimate);
    expect(Number.isFinite(quick.delta)).toBe(true);
  });

  it("is not one that is exact already", async () => {
    const [one] = await results([trade({})], { device, timePerTrade: 1e-9 });
    expect(one).toMatchObject({ status: "ok", warnings: [] });
  });

  it.each([0, -1, NaN])("needs a limit above 0: %s", async (timePerTrade) => {
    const run = priceTrades([], { asOf: "2026-11-20T00:00:00Z", scenarios: undefined }, { device, timePerTrade });
    await expect(run.next()).rejects.toThrow("timePerTrade: expected a number of seconds above 0");
  });
});
