/** Numbers as people read them, and what is said of sums. */
import { expect, test } from "vitest";
import { type CurrencyTotals, parseBook } from "../../../src/book/index.ts";
import {
  decimalsFor,
  formatFixed,
  needsBondColumns,
  incompleteSumNotes,
  largestUnderlyings,
} from "../../../src/output/formats/index.ts";

test("a column has as many decimals as its largest number needs, 0 to 8", () => {
  expect([1234, 12, 1.5, 0.02, 1e9].map((value) => decimalsFor([value, null, -value / 10], 4))).toEqual([
    0, 2, 3, 5, 0,
  ]);
  expect(decimalsFor([1e-6], 4)).toBe(8);
  expect(decimalsFor([-1e-9], 7)).toBe(8);
  expect(formatFixed(-1e-9, 8)).toBe("0.00000000");
});

const sumsOf = (underlying: string, cashDelta: number | null, more: object = {}): object => ({
  underlying,
  trades: 3,
  delta: 1,
  gamma: 1,
  vega: 1,
  cashDelta,
  ...more,
});

test("the largest underlyings are those that move most, whatever the sign", () => {
  const totals = [
    { currency: "EUR", trades: 6, underlyings: [sumsOf("A", -50), sumsOf("B", 10), sumsOf("C", null)] },
    { currency: "USD", trades: 6, underlyings: [sumsOf("D", 20), sumsOf("E", -5)] },
  ] as unknown as CurrencyTotals[];
  const namesOf = (max: number): string[] =>
    largestUnderlyings(totals, max).shown.flatMap(({ underlyings }) => underlyings.map((one) => one.underlying));
  expect([1, 2, 3, 4, 5].map(namesOf)).toEqual([
    ["A"],
    ["A", "D"],
    ["A", "B", "D"],
    ["A", "B", "D", "E"],
    ["A", "B", "C", "D", "E"],
  ]);
  expect(largestUnderlyings(totals, 2).hidden).toBe(3);
});

test("what a sum leaves out is a part of its own trades", () => {
  const underlyings = [sumsOf("A", 1, { trades: 4, missing: { gamma: 2 } }), sumsOf("B", 1)];
  const totals = [
    { currency: "EUR", trades: 7000, missing: { rho: 1200 }, underlyings },
  ] as unknown as CurrencyTotals[];
  expect(incompleteSumNotes(totals)).toEqual([
    "rho of EUR leaves out 1,200 of 7,000 trades, which have none",
    "gamma of A leaves out 2 of 4 trades, which have none",
  ]);
});

test("a book has columns for figures of bonds if one of its rates is a model", () => {
  const underlyings = { ACME: { spot: 100, currency: "EUR", volatility: 0.2 } };
  const model = { hullWhite: { meanReversion: 0.1, volatility: 0.01, curve: 0.02 } };
  const marketOf = (rates: object) =>
    parseBook(JSON.stringify({ asOf: "2026-11-20", market: { rates, underlyings }, trades: [] })).market;
  expect(needsBondColumns(marketOf({ EUR: 0.02, USD: 0.03 }))).toBe(false);
  expect(needsBondColumns(marketOf({ EUR: 0.02, USD: model }))).toBe(true);
  expect(needsBondColumns(marketOf({ EUR: model }))).toBe(true);
});
