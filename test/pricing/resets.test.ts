/** Cross-currency swaps whose notional is reset at the exchange rate; values: test/market/independent-desk. */
import { afterAll, expect, it, test } from "vitest";
import { parseBook } from "../../src/book/index.ts";
import { createCpuDevice } from "../../src/device/cpu/index.ts";
import { explainBook, priceBook, type PricingOptions } from "../../src/pricing/index.ts";

const device = createCpuDevice({ threads: 1 });
afterAll(() => device[Symbol.dispose]());

interface Level {
  readonly euros?: number;
  readonly dollars?: number;
  readonly spot?: number;
}
const BASE = { euros: 0.021, dollars: 0.037, spot: 1.16 } as const;
const zeros = (zero: number) => ({
  zeros: [
    { date: "1Y", zero },
    { date: "10Y", zero },
  ],
});
const marketOf = (level: Level) => {
  const { euros, dollars, spot } = { ...BASE, ...level };
  return {
    curves: { E: zeros(euros), U: zeros(dollars) },
    rates: { EUR: { discount: "E" }, USD: { discount: "U" } },
    fx: { EURUSD: { rate: spot, date: "2026-11-24" } },
    fixings: {
      EURUSD: { "2026-09-10": 1.17, "2026-12-10": 1.19 },
      SOFR: Object.fromEntries(
        Array.from({ length: 100 }, (_, k) => {
          return [new Date(Date.parse("2026-09-10") + k * 86_400_000).toISOString().slice(0, 10), 0.037] as const;
        }),
      ),
    },
  };
};
const resetting = (more: object = {}) => ({
  id: "R",
  swap: {
    start: "2026-09-14",
    end: "3Y",
    currency: "EUR",
    receive: { currency: "EUR", rate: 0.02, notional: 1e6, exchange: "ends", every: "3M" },
    pay: { index: "SOFR", every: "3M", resets: true },
    ...more,
  },
});

async function priced(trade: object, level: Level = {}, more: object = {}, options: Partial<PricingOptions> = {}) {
  const book = { asOf: "2026-11-20", market: marketOf(level), trades: [trade], ...more };
  const [result] = (await priceBook(parseBook(book as never), { device, ...options })).results;
  if (result.status === "error") throw new Error(result.error.message);
  return result;
}

test("sensitivities are slopes of the value, by both curves and the exchange rate", async () => {
  for (const currency of ["EUR", "USD"]) {
    const trade = resetting({ currency });
    const one = await priced(trade, {}, {}, { greeks: "buckets" });
    const slope = async (level: (by: number) => Level, by: number): Promise<number> =>
      ((await priced(trade, level(by))).value - (await priced(trade, level(-by))).value) / (2 * by);
    const bySpot = await slope((by) => ({ spot: BASE.spot + by }), 1e-4);
    expect(one.delta! / bySpot).toBeCloseTo(1, 6);
    const both = await slope((by) => ({ euros: BASE.euros + by, dollars: BASE.dollars + by }), 1e-5);
    expect((one.rho! - both) / 1e6).toBeCloseTo(0, 6);
    const sum = (of: string): number =>
      one.buckets!.reduce((all, bucket) => (bucket.of === of ? all + bucket.value : all), 0);
    expect((sum("E") - (await slope((by) => ({ euros: BASE.euros + by }), 1e-5))) / 1e6).toBeCloseTo(0, 5);
    expect((sum("U") - (await slope((by) => ({ dollars: BASE.dollars + by }), 1e-5))) / 1e6).toBeCloseTo(0, 5);
  }
});

it("is worth nothing to come where the leg pays its own curve, whatever the exchange rate will be", async () => {
  // From the next reset on, a floating leg with its exchanges is worth nothing on the curve that projects it.
  const later = resetting({
    start: "2026-12-14",
    receive: { currency: "EUR", rate: 0, notional: 1e6, exchange: "none" },
  });
  const lagless = { ...later, swap: { ...later.swap, pay: { ...later.swap.pay, paymentLag: 0 } } };
  for (const spot of [0.9, 1.4]) expect((await priced(lagless, { spot })).value / 1e6).toBeCloseTo(0, 9);
});

it("fixes the notional of periods that begin before a later date of scenarios", async () => {
  const scenarios = { time: ["2026-11-20", "2026-12-21"], spot: [-0.1, 0, 0.1] };
  const trade = resetting({ receive: { currency: "EUR", rate: 0, notional: 1e6 } });
  const { scenarios: values } = await priced(trade, {}, { scenarios });
  const [down, , up] = values![1].map(([[value]]) => value!);
  // The notional and one week of interest, in dollars, are owed at the moved rate, on which the rest does not depend.
  const owed = 1e6 * (1 + (0.037 * 7) / 360);
  expect((up - down) / (owed * (1 / 0.9 - 1 / 1.1))).toBeCloseTo(1, 2);
});

it("explains changes of value over a reset", async () => {
  const book = (asOf: string, level: Level) =>
    parseBook({ asOf, market: marketOf(level), trades: [resetting()] } as never);
  const later = { euros: 0.0213, dollars: 0.0367, spot: 1.165 };
  for (const [to, status] of [
    ["2026-12-09", "explained"],
    ["2026-12-15", "error"],
  ] as const) {
    const report = await explainBook(book("2026-11-20", {}), book(to, later), { device, method: "revaluation" });
    expect(report.results[0].status).toBe(status);
  }
});

test.each([
  [{ pay: { index: "SOFR", resets: true, notional: 1e6 } }, "swap.pay.notional: a leg that resets"],
  [
    { receive: { currency: "EUR", rate: 0, notional: [2e6, 1e6] } },
    "swap.pay.resets: expected a number as the notional",
  ],
  [{ pay: { currency: "EUR", rate: 0, resets: true } }, "swap.pay.resets: both legs are in EUR"],
  [{ start: "2026-06-15" }, "the rate of EURUSD of 2026-09-11 is missing"],
] as const)("%j: %s", (terms, message) => {
  const book = { asOf: "2026-11-20", market: marketOf({}), trades: [resetting(terms)] };
  const [read] = parseBook(book as never).trades;
  expect(read.ok ? "" : read.error.message).toContain(message);
});
