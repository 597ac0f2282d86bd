import { expect, test } from "vitest";
import { type BookInput, priceBook } from "../../src/index.ts";
import { readBook, type Trade } from "../../src/book/index.ts";
import { tagWarnings, unitWarnings } from "../../src/pricing/term-warnings.ts";
import { PlainDevice } from "../support/plain-device.ts";
import { trade } from "./reference.ts";

const device = new PlainDevice();

async function warningsOf(
  rate: number,
  volatility: number,
  yieldOf = 0,
  expiry: number | string = 1,
): Promise<readonly string[]> {
  const book: BookInput = {
    asOf: "2026-01-01",
    market: {
      rates: { EUR: rate },
      underlyings: { ACME: { spot: 100, currency: "EUR", volatility, dividends: { yield: yieldOf } } },
    },
    trades: [{ id: "T", underlying: "ACME", payoff: "call", strike: 110, expiry }],
  };
  const { results } = await priceBook(readBook(book), { device });
  return results[0].status === "ok" ? results[0].warnings : [results[0].error.message];
}

test("what looks like percent has a warning that names it", async () => {
  expect(await warningsOf(0.05, 0.2)).toEqual([]);
  expect(await warningsOf(-0.9, 4, 0.9)).toEqual([]);
  const hint = "if that was not meant, write 5 % as 0.05";
  expect(await warningsOf(5, 20, 2)).toEqual([
    `the rate of EUR is 500 %; ${hint}`,
    `the dividend yield of ACME is 200 %; ${hint}`,
    `the volatility of ACME is 2000 %; ${hint}`,
  ]);
});

test("days in the place of years, and a date of today without its time, have warnings with the remedy", async () => {
  const of = (expiry: number | string): Promise<readonly string[]> => warningsOf(0.05, 0.2, 0, expiry);
  expect(await of(365)).toEqual(['expiry is 365 years; if days were meant, write "365D"']);
  expect(await of(30)).toEqual(['expiry is 30 years; if days were meant, write "30D"']);
  for (const expiry of [24, 30.5, "30Y", "365D", "2056-01-01"]) expect(await of(expiry)).toEqual([]);
  const [today, ...more] = await of("2026-01-01");
  expect(today).toMatch(/^expiry is asOf itself.*write the instant/);
  expect(more).toEqual([]);
  expect(await of("2026-01-01T16:00:00Z")).toEqual([]);
});

test("bonds may live longer than options", async () => {
  const trades = [30, 180].map((maturity) => ({
    id: `${maturity}`,
    currency: "EUR",
    bond: { maturity, coupon: 0.05, frequency: 1, notional: 100 },
  }));
  const book: BookInput = { asOf: "2026-01-01", market: { rates: { EUR: 0.05 } }, trades };
  const { results } = await priceBook(readBook(book), { device });
  expect(results.map((result) => (result.status === "ok" ? result.warnings : result.error))).toEqual([
    [],
    ['expiry is 180 years; if days were meant, write "180D"'],
  ]);
});

test("trades on rates in percent have a warning, and a price in another unit no spread", async () => {
  const cap = { start: 1, end: 3, frequency: 1, notional: 100 };
  const trades = [
    { bond: { maturity: 3, coupon: 3, frequency: 1, notional: 100 } },
    { cap, strike: 3, volatility: 0.2 },
    { cap, strike: 0.03, volatility: 20 },
    { cap, strike: 0.03, volatility: { normal: 0.8 } },
    { bond: { maturity: 5, coupon: 0.03, frequency: 1, notional: 100 }, marketPrice: 1.02 },
  ].map((trade, i) => ({ id: `T${i}`, currency: "EUR", ...trade }));
  const { results } = await priceBook(readBook({ asOf: "2026-01-01", market: { rates: { EUR: 0.03 } }, trades }), {
    device,
  });
  const hint = "if that was not meant, write 5 % as 0.05";
  expect(results.map((result) => (result.status === "ok" ? result.warnings : result.error))).toEqual([
    [`the coupon of T0 is 300 %; ${hint}`],
    [`the strike of T1 is 300 %; ${hint}`],
    [`the volatility of T2 is 2000 %; ${hint}`],
    [`the volatility of T3 is 80 %; ${hint}`],
    [expect.stringMatching(/^no parallel move of the rates.*gives the bond its market price/)],
  ]);
});

test("the wings of a fitted surface may be high, a given surface may not", () => {
  const surface = { spots: [50, 100, 200], times: [], volatility: [[6, 0.2, 0.3]] };
  const own = trade({ volatility: { kind: "surface", surface } as never });
  expect(unitWarnings(own)).toEqual([expect.stringContaining("is 600 %")]);
  expect(unitWarnings({ ...own, volatility: { ...own.volatility, fit: {} } as never })).toEqual([]);
  const high = { ...surface, volatility: [[0.2, 6, 6]] };
  const doubtful = trade({ volatility: { kind: "surface", surface: high, fit: {} } as never });
  expect(unitWarnings(doubtful)).toEqual([expect.stringContaining("is 600 %")]);
});

test.each<[NonNullable<Trade["tags"]>, readonly string[]]>([
  [{ BarrType: "Up and Out", BarrLevel: 120 }, ["barrier.type", "a barrier"]],
  [{ Style: "American", CallPut: "put" }, ["exercise"]],
  [{ Right: "Call", exercise: "European" }, ["payoff"]],
  [{ BarrType: "none", KO: 0, desk: "Paris", Barrels: 7 }, []],
])("tags that seem to be terms which the trade does not have are named: %j", (tags, terms) => {
  const expected = terms.map((term) =>
    expect.stringMatching(new RegExp(`no effect on the value.*give it as ${term}$`)),
  );
  expect(tagWarnings(trade({ tags }))).toEqual(expected);
  const barriers = [{ type: "up-and-out", level: 120 }] as never;
  const own = tagWarnings(trade({ tags: { BarrType: "knock-out", KO: 120 }, barriers }));
  expect(own).toEqual([]);
});
