/** What results of bonds, options on rates, forwards and convertibles say beside their values. */
import { afterAll, expect, it } from "vitest";
import { type BookInput, parseBook, type PricedTrade, type TradeInput } from "../../src/book/index.ts";
import { createCpuDevice } from "../../src/device/cpu/index.ts";
import { constant, dividendSchedule } from "../../src/market/index.ts";
import { priceBook } from "../../src/pricing/index.ts";
import { kindOf } from "../../src/pricing/kinds.ts";
import { boundsOf } from "../../src/pricing/methods/convertibles/kind.ts";

const device = createCpuDevice({ threads: 1 });
afterAll(() => device[Symbol.dispose]());

const HW = { hullWhite: { curve: 0.03, meanReversion: 0.1, volatility: 0.01 } };
const TERMS = { maturity: 5, coupon: 0.04, frequency: 1, notional: 100 };

async function priced(
  trades: readonly object[],
  { rates = HW, asset = {}, scenarios }: { rates?: unknown; asset?: object; scenarios?: BookInput["scenarios"] } = {},
): Promise<readonly PricedTrade[]> {
  const underlyings = { A: { spot: 100, currency: "E", volatility: 0.2, ...asset } };
  const book: BookInput = {
    asOf: "2026-11-20",
    market: { rates: { E: rates } as NonNullable<BookInput["market"]["rates"]>, underlyings },
    trades: trades.map((one, i) => ({ id: `T${i}`, ...one }) as TradeInput),
    ...(scenarios === undefined ? {} : { scenarios }),
  };
  const { results } = await priceBook(parseBook(book), { device });
  return results.map((result) => {
    if (result.status === "error") throw new Error(result.error.message);
    return result;
  });
}

const bond = (terms: object = {}) => ({ currency: "E", bond: { ...TERMS, ...terms } });
const forward = { underlying: "A", forward: 100, expiry: 30 };
const cap = { currency: "E", cap: { start: 1, end: 3, frequency: 1, notional: 100 }, strike: 0.03 };
const bondOption = { currency: "E", on: { bond: TERMS }, payoff: "put", strike: 90, expiry: 1 };

it.each([
  ["a forward in days", forward, {}, [/^expiry is 30 years; if days were meant/]],
  ["a yield in percent", { ...forward, expiry: 1 }, { asset: { dividends: { yield: 2 } } }, [/yield of A is 200 %/]],
  ["a rate in percent", { ...forward, expiry: 1 }, { rates: 3 }, [/rate of E is 300 %/]],
  ["a coupon in percent", bond({ coupon: 1.5, frequency: 2 }), {}, [/coupon of T0 is 150 %/]],
  ["a coupon of a year in parts", bond({ coupon: 0.9, frequency: 2 }), {}, []],
  ["a normal volatility in percent", { ...cap, volatility: { normal: 0.2 } }, {}, [/volatility of T0 is 20 %/]],
  ["a volatility of Black's", { ...cap, volatility: 0.2 }, { rates: 0.03 }, []],
  ["no volatility", cap, { rates: 0.03 }, [/intrinsic value.*give the trade a "volatility"/]],
  ["no model", bondOption, { rates: 0.03 }, [/intrinsic value.*give market.rates.E a model/]],
])("%s has its warnings", async (_, trade, market, expected) => {
  const [{ warnings }] = await priced([trade], market);
  expect(warnings).toEqual(expected.map((words) => expect.stringMatching(words) as string));
});

it("the adjusted spread of a bond that its holder may put is a move of the rates, or is said to be none", async () => {
  const puttable = bond({ puts: [{ date: 3, price: 100 }] });
  const scenarios = { rate: [0.0123], time: [0, 6] };
  const [{ scenarios: moved, accrued = 0 }] = await priced([puttable], { scenarios });
  const marketPrice = moved![0][0][0][0]! - accrued;
  // A bond that has been paid back is worth nothing.
  expect(moved![1][0][0][0]).toBe(0);
  const [{ optionAdjustedSpread, warnings }] = await priced([{ ...puttable, marketPrice }]);
  expect(optionAdjustedSpread).toBeCloseTo(0.0123, 8);
  expect(warnings).toEqual([]);
  for (const one of [puttable, bond()]) {
    const [none] = await priced([{ ...one, marketPrice: 1e6 }]);
    expect(none.optionAdjustedSpread).toBeUndefined();
    expect(none.warnings).toEqual([expect.stringMatching(/^no parallel move of the rates/)]);
  }
});

it("a convertible has its values at the spots of scenarios, and the parity of a right that comes later", async () => {
  const convertible = { underlying: "A", convertible: { ...TERMS, ratio: 2, conversion: "american" } };
  const moves = [-0.5, 1];
  const market = { rates: 0.03 };
  const [{ scenarios, scenarioErrorEstimates }] = await priced([convertible], {
    ...market,
    scenarios: { spot: moves },
  });
  for (const [s, move] of moves.entries()) {
    const [alone] = await priced([convertible], { ...market, asset: { spot: 100 * (1 + move) } });
    const error = alone.errorEstimate + scenarioErrorEstimates![0][0][0]!;
    expect(Math.abs(scenarios![0][s][0][0]! - alone.value)).toBeLessThan(error);
  }
  const late = { ...convertible, convertible: { ...convertible.convertible, ratio: 1.5, conversion: "european" } };
  expect((await priced([late], market))[0].parity).toBeCloseTo(150, 12);
});

it("a convertible is worth its bond at least, unless it may be called", () => {
  const lowOf = (terms: object): number => {
    const trades = [{ id: "T", underlying: "A", convertible: { ...TERMS, ratio: 0.1, ...terms } }] as TradeInput[];
    const market = { rates: { E: 0.03 }, underlyings: { A: { spot: 1, currency: "E", volatility: 0.2 } } };
    const [parsed] = parseBook({ asOf: "2026-11-20", market, trades }).trades;
    if (!parsed.ok || parsed.trade.kind !== "convertible") throw new Error("no convertible");
    const credit = { kind: "spread", spread: constant(0) } as const;
    const [rates, volatility, dividends] = [constant(0.03), constant(0.2), dividendSchedule(0, [])];
    return boundsOf(parsed.trade.convertible, { rates, volatility, dividends, credit }, 1).low;
  };
  const straight = [1, 2, 3, 4, 5].reduce((sum, t) => sum + (t === 5 ? 104 : 4) * Math.exp(-0.03 * t), 0);
  expect(lowOf({})).toBeCloseTo(straight, 9);
  expect(lowOf({ puts: [{ date: 3, price: 90 }] })).toBeGreaterThan(straight - 1e-9);
  expect(lowOf({ calls: [{ date: 3, price: 90 }] })).toBe(0);
});

it("an option on a bond says that its time was over", async () => {
  const rates = { blackKarasinski: { curve: 0.03, meanReversion: 0.1, volatility: 0.2 } };
  const trades = [{ id: "T", ...bondOption, strike: 103 }] as TradeInput[];
  const book = parseBook({ asOf: "2026-11-20", market: { rates: { E: rates } }, trades });
  const options = { device, accuracy: { relative: 1e-8 }, greeks: "none" } as const;
  const [quick] = (await priceBook(book, { ...options, timePerTrade: 1e-9 })).results;
  expect(quick.warnings).toContain("the time of a trade was over before the accuracy was reached: see errorEstimate");
});

it("a cap with a volatility of its own does not depend on the fit of a model", () => {
  const doubtsOf = (terms: object): readonly string[] => {
    const trades = [{ id: "T", ...cap, ...terms }] as TradeInput[];
    const [parsed] = parseBook({ asOf: "2026-11-20", market: { rates: { E: HW } }, trades }).trades;
    if (!parsed.ok || parsed.trade.kind !== "rates") throw new Error("no cap");
    const rates = { ...parsed.trade.rates, fit: { place: "market.rates.E", doubts: ["not converged"] } };
    return kindOf(parsed.trade).doubts({ ...parsed.trade, rates });
  };
  expect(doubtsOf({})).toHaveLength(1);
  expect(doubtsOf({ volatility: { normal: 0.01 } })).toEqual([]);
});
