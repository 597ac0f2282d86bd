/** Sensitivities, scenarios and explanations of options on currency pairs and in another currency. */
import { afterAll, describe, expect, test } from "vitest";
import { type PricedTrade, readBook } from "../../src/book/index.ts";
import { createCpuDevice } from "../../src/device/cpu/index.ts";
import { explainBook, priceBook } from "../../src/pricing/index.ts";
import { bookOf, EXPIRY, FIXED, type Market } from "../support/currencies.ts";

const device = createCpuDevice({ threads: 1 });
afterAll(() => device[Symbol.dispose]());

async function priced(market: Market, trades: readonly object[], more: object = {}): Promise<readonly PricedTrade[]> {
  const { results } = await priceBook(readBook(bookOf(market, trades, more)), { device });
  return results.map((result) => {
    if (result.status === "error") throw new Error(result.error.message);
    return result;
  });
}

/** Options whose sensitivities are compared with slopes of values, and the error of both. */
const SLOPED: readonly (readonly [name: string, trade: object, tolerance: number])[] = [
  ["pair", { underlying: "EURUSD", payoff: "call", strike: 1.17, expiry: EXPIRY }, 1e-6],
  ["cross", { underlying: "EURJPY", payoff: "put", strike: 180, expiry: EXPIRY }, 1e-6],
  [
    "pair in barriers",
    {
      underlying: "EURUSD",
      payoff: "call",
      strike: 1.1,
      expiry: EXPIRY,
      barriers: [{ type: "up-and-out", level: 1.4 }],
    },
    1e-4,
  ],
  ["paid later", { underlying: "SPX", payoff: "call", strike: 95, expiry: "2027-11-22", payment: "2028-05-22" }, 1e-6],
  ["quanto", { underlying: "SPX", payoff: "call", strike: 95, expiry: "2028-05-22", quanto: "EUR" }, 1e-6],
  [
    "quanto, American",
    { underlying: "SPX", payoff: "put", strike: 105, expiry: "2028-05-22", exercise: "american", quanto: "EUR" },
    2e-3,
  ],
  ["composite", { underlying: "SPX", payoff: "put", strike: 85, expiry: "2028-05-22", composite: "EUR" }, 1e-6],
  [
    "quanto on the pair",
    { underlying: "EURUSD", payoff: "call", strike: 1.1, expiry: "2028-05-22", quanto: "EUR" },
    1e-6,
  ],
  [
    "composite in barriers",
    {
      underlying: "SPX",
      payoff: "put",
      strike: 90,
      expiry: "2028-05-22",
      composite: "EUR",
      barriers: [{ type: "down-and-out", level: 60 }],
    },
    1e-4,
  ],
];

describe("sensitivities are slopes of values", () => {
  test.each(SLOPED)("%s", async (_, trade, tolerance) => {
    const valueOf = async (market: Market): Promise<number> => (await priced(market, [trade]))[0].value;
    // Formulas bear a step that makes slopes exact; meshes need one above their noise.
    const h = tolerance < 1e-5 ? 1e-4 : 1e-3;
    const slope = async (moved: (by: number) => Market): Promise<number> =>
      ((await valueOf(moved(h))) - (await valueOf(moved(-h)))) / (2 * h);
    const all = (by: number): Market => ({
      ...FIXED,
      rates: Object.fromEntries(
        Object.entries(FIXED.rates).map(([name, zeros]) => [name, zeros.map((zero) => zero + by)]),
      ) as object as Market["rates"],
    });
    const sigmas =
      (names: readonly string[]) =>
      (by: number): Market => ({
        ...FIXED,
        sigma: Object.fromEntries(
          Object.entries(FIXED.sigma).map(([name, one]) => [name, names.includes(name) ? one + by : one]),
        ),
      });
    const [result] = await priced(FIXED, [trade]);
    const scale = Math.abs(result.value) * 30;
    const near = (got: number | null | undefined, wanted: number, what: string): void => {
      expect(Math.abs(got! - wanted), `${what}: ${got} ${wanted}`).toBeLessThan(tolerance * scale);
    };
    near(result.rho, await slope(all), "rho");
    const { underlying } = trade as { underlying: string };
    const names = underlying === "SPX" ? ["SPX", "EURUSD", "USDEUR"] : [underlying];
    near(result.vega, await slope(sigmas(names)), "vega");
    if (underlying === "SPX") {
      near(result.delta, await slope((by) => ({ ...FIXED, spot: 100 + by })), "delta");
      const pair = result.sensitivities?.["EURUSD"];
      if (pair === undefined) return;
      near(pair.delta, await slope((by) => ({ ...FIXED, fx: { ...FIXED.fx, EURUSD: 1.16 + by } })), "FX delta");
      near(pair.vega, await slope(sigmas(["EURUSD", "USDEUR"])), "FX vega");
      const [[, , correlation]] = result.correlation ?? [["", "", Number.NaN]];
      near(correlation, await slope((by) => ({ ...FIXED, rho: FIXED.rho + by })), "correlation");
      return;
    }
    const of =
      (currency: "USD" | "EUR" | "JPY") =>
      (by: number): Market => ({
        ...FIXED,
        rates: { ...FIXED.rates, [currency]: FIXED.rates[currency].map((zero) => zero + by) },
      });
    // The spot of a cross follows from pairs with other spot dates, so that rates of one currency move it, too.
    if (underlying !== "EURUSD") return;
    near(result.delta, await slope((by) => ({ ...FIXED, fx: { ...FIXED.fx, EURUSD: 1.16 + by } })), "delta");
    if (result.fx === undefined) return;
    near(result.fx.rhoForeign, await slope(of("EUR")), "foreign rho");
    near(result.fx.rhoDomestic, await slope(of("USD")), "domestic rho");
  });

  test("scenarios are values in moved markets", async () => {
    const [spot, volatility, rate] = [0.03, 0.01, 0.005];
    const trades = SLOPED.map(([, trade]) => trade);
    const moved: Market = {
      ...FIXED,
      spot: 100 * (1 + spot),
      fx: { EURUSD: 1.16 * (1 + spot), USDJPY: 156 * (1 + spot) },
      sigma: Object.fromEntries(Object.entries(FIXED.sigma).map(([name, one]) => [name, one + volatility])),
      rates: Object.fromEntries(
        Object.entries(FIXED.rates).map(([name, zeros]) => [name, zeros.map((zero) => zero + rate)]),
      ) as object as Market["rates"],
    };
    const scenarios = { spot: [spot], volatility: [volatility], rate: [rate] };
    const isCross = ({ underlying }: { underlying?: string }): boolean => underlying === "EURJPY";
    const own = await priced(FIXED, trades, { scenarios });
    const expected = await priced(moved, trades);
    own.forEach(({ scenarios: ladder, scenarioErrorEstimates: errors }, i) => {
      // The spot of a cross is named by the cross: it moves as one.
      if (isCross(trades[i])) return;
      const allowed = errors![0][0][0]! + expected[i].errorEstimate + 1e-9;
      expect(Math.abs(ladder![0][0][0][0]! - expected[i].value)).toBeLessThan(allowed);
    });
  });
});

test("explanations of pairs and conversions leave nothing over, and name the moves", async () => {
  const trades = SLOPED.filter(([name]) => !name.includes("American")).map(([, trade]) => trade);
  const later: Market = {
    ...FIXED,
    spot: 102,
    fx: { EURUSD: 1.17, USDJPY: 156 },
    rates: { USD: [0.038, 0.034], EUR: [0.02, 0.023], JPY: [0.006, 0.01] },
  };
  const before = readBook(bookOf(FIXED, trades));
  const after = readBook({ ...bookOf(later, trades), asOf: "2026-12-21" });
  for (const method of ["revaluation", "taylor"] as const) {
    const { results } = await explainBook(before, after, { device, method });
    for (const { status, terms, change, unexplained } of results) {
      expect(status).toBe("explained");
      const sum = Object.values(terms!).reduce<number>((all, term) => all + (term ?? 0), unexplained ?? 0);
      expect(sum).toBeCloseTo(change!, 9);
      // The exchange rate of a composite is no axis of the expansion.
      if (method === "revaluation") expect(unexplained).toBeCloseTo(0, 9);
      expect(terms!.spot ?? terms!.delta).not.toBe(0);
    }
  }
});
