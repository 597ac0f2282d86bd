/** Dates of a term structure begin after today. */
import { expect, test } from "vitest";
import { readBook } from "../../src/book/index.ts";

test.each([0, -1])("a volatility up to %d years is refused", (date) => {
  const termStructure = [date, 1].map((time) => ({ date: time, volatility: 0.2 }));
  const underlyings = { X: { spot: 100, currency: "EUR", volatility: { termStructure } } };
  const book = { asOf: "2026-01-01", market: { rates: { EUR: 0.03 }, underlyings }, trades: [] };
  expect(() => readBook(book)).toThrow("termStructure[0].date: expected a date after asOf");
});
