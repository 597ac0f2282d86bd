/**
 * Options under a volatility that falls or rises in time by up to fifty times, or has an event of three days: against
 * Black's formula with the integrated variance, and an independent fine solution.
 */
import { afterAll, describe, expect, it } from "vitest";
import { createCpuDevice } from "../../src/device/cpu/index.ts";
import { parseBook, priceBook } from "../../src/index.ts";
import { blackPrice, varyingPrice } from "../support/volatility-in-time.ts";
import { Random } from "../../tools/properties/random.ts";
import { SHAPES, type VaryingCase, varyingCase, type VaryingKind } from "./varying-cases.ts";

const device = createCpuDevice({ threads: 2 });
afterAll(() => device[Symbol.dispose]());

/** Prices a book as it comes from a file, without types. */
const priced = async (book: object, greeks: "all" | "none" = "all") =>
  (await priceBook(parseBook(JSON.parse(JSON.stringify(book))), { device, greeks })).results;

function pricesOf(cases: readonly VaryingCase[]) {
  const rates: Record<string, number> = {};
  const underlyings: Record<string, object> = {};
  const trades = cases.map(({ trade, underlying, terms }, i) => {
    const { spot, volatility, dividends } = underlying as Record<string, unknown>;
    rates[`C${i}`] = terms.rate;
    underlyings[`U${i}`] = { spot, volatility, dividends, currency: `C${i}` };
    return { ...trade, id: `${i}`, underlying: `U${i}` };
  });
  return priced({ asOf: "2026-01-01", market: { rates, underlyings }, trades }, "none");
}

/** The right value, and how far it is to be trusted. */
function rightValue({ kind, terms }: VaryingCase): { readonly value: number; readonly error: number } {
  if (kind === "european") return { value: blackPrice(terms), error: 1e-9 };
  const solved = varyingPrice(terms, kind === "american" ? 600 : 400);
  return kind === "knock-in" ? { ...solved, value: blackPrice(terms) - solved.value } : solved;
}

describe("a volatility that varies in time", () => {
  it.each<VaryingKind>(["european", "knock-out", "knock-in", "american", "bermudan"])(
    "%s: values are within their estimates of independent ones",
    async (kind) => {
      const random = new Random(36);
      const cases = SHAPES.map((_, i) => varyingCase(random, kind, i));
      const results = await pricesOf(cases);
      results.forEach((result, i) => {
        if (result.status !== "ok") throw new Error(JSON.stringify(result));
        const right = rightValue(cases[i]);
        const distance = Math.abs(result.value - right.value);
        const about = JSON.stringify(cases[i].trade) + JSON.stringify(cases[i].underlying);
        expect(distance, `error of ${about}`).toBeLessThan(result.errorEstimate + right.error);
        // The accuracy that books have unless they ask for another one: 1e-5 of the spot, with some room.
        expect(result.errorEstimate, `estimate of ${about}`).toBeLessThan(5e-3);
      });
    },
  );

  it("drift that outweighs a low volatility late in life brings nothing in from beyond the mesh", async () => {
    const random = new Random(77);
    const cases = Array.from({ length: 20 }, (): VaryingCase => {
      const expiry = random.uniform(1, 3);
      const [date, high, low] = [
        expiry * random.uniform(0.25, 0.4),
        random.uniform(0.6, 1),
        random.uniform(0.01, 0.03),
      ];
      const [rate, dividendYield] = [random.uniform(0.05, 0.08), random.uniform(0, 0.02)];
      const strike = random.uniform(50, 90);
      const pieces = [high, low].map((sigma, i) => ({ end: [date, expiry][i], at: () => sigma }));
      const volatility = { local: `t < ${date} ? ${high} : ${low}` };
      return {
        kind: "european",
        trade: { payoff: "call", strike, expiry },
        underlying: { spot: 100, volatility, dividends: { yield: dividendYield } },
        terms: { right: "call", spot: 100, strike, expiry, rate, dividendYield, pieces },
      };
    });
    (await pricesOf(cases)).forEach((result, i) => {
      if (result.status !== "ok") throw new Error(JSON.stringify(result));
      const distance = Math.abs(result.value - blackPrice(cases[i].terms));
      expect(distance, `error of ${JSON.stringify(cases[i])}`).toBeLessThan(result.errorEstimate);
    });
  });

  it("50 % for a quarter and 5 % for the next: what is knocked in or out is seen while it is high", async () => {
    const volatility = {
      surface: { times: [0, 0.249, 0.25, 0.5], spots: [100], volatility: [[0.5], [0.5], [0.05], [0.05]] },
    };
    const market = { rates: { USD: 0 }, underlyings: { X: { spot: 100, currency: "USD", volatility } } };
    const trade = { underlying: "X", payoff: "call", strike: 100, expiry: 0.5 };
    const barriers = { out: "up-and-out", in: "up-and-in" };
    const trades = [
      { ...trade, id: "vanilla" },
      ...Object.entries(barriers).map(([id, type]) => ({ ...trade, id, barriers: [{ type, level: 130 }] })),
    ];
    const results = await priced({ asOf: "2026-03-03", market, trades });
    // Black's formula with ∫σ² dt; a fine solution.
    for (const [i, right] of [9.98459, 2.07011, 7.91447].entries()) {
      const result = results[i];
      if (result.status !== "ok") throw new Error(JSON.stringify(result));
      expect(Math.abs(result.value - right)).toBeLessThan(result.errorEstimate + 1e-5);
      // Less in a day's time where gamma is above 0, and more where it is below: −½σ²S²Γ without rates.
      expect(result.theta).toBeCloseTo(-0.5 * 0.25 * 1e4 * result.gamma!, 6);
    }
  });
});
