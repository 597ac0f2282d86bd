import { expect, test } from "vitest";
import { type BookInput, priceBook } from "../../src/index.ts";
import { readBook } from "../../src/book/index.ts";
import { PlainDevice } from "../support/plain-device.ts";

const device = new PlainDevice();

async function warningsOf(rate: number, volatility: number, yieldOf = 0): Promise<readonly string[]> {
  const book: BookInput = {
    asOf: "2026-01-01",
    market: {
      rates: { EUR: rate },
      underlyings: { ACME: { spot: 100, currency: "EUR", volatility, dividends: { yield: yieldOf } } },
    },
    trades: [{ id: "T", underlying: "ACME", payoff: "call", strike: 100, expiry: 1 }],
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
