/** The yield and the forwards of put–call parity, and stale quotes. */
import { expect, test } from "vitest";
import { readHeader } from "../../src/book/index.ts";
import { hostNormalCdf } from "../../src/market/models/index.ts";

const [SPOT, RATE, YIELD, CASH, PAID] = [100, 0.03, 0.018, 2.5, 0.4];

/** The forward of a spot that pays one cash dividend. */
function forwardTo(t: number): number {
  const drift = RATE - YIELD;
  return t < PAID ? SPOT * Math.exp(drift * t) : (SPOT * Math.exp(drift * PAID) - CASH) * Math.exp(drift * (t - PAID));
}

function price(t: number, strike: number, sign: number): number {
  const [forward, deviation] = [forwardTo(t), 0.25 * Math.sqrt(t)];
  const d1 = Math.log(forward / strike) / deviation + 0.5 * deviation;
  const value = forward * hostNormalCdf(sign * d1) - strike * hostNormalCdf(sign * (d1 - deviation));
  return sign * Math.exp(-RATE * t) * value;
}

const quotes = [0.25, 1, 2].flatMap((expiry) =>
  [80, 100, 125].flatMap((strike) => [
    { expiry, strike, type: "call", price: price(expiry, strike, 1) },
    { expiry, strike, type: "put", price: price(expiry, strike, -1) },
  ]),
);
const market = (of: unknown[], extra: object = {}): unknown => ({
  asOf: "2026-11-20",
  market: {
    rates: { EUR: RATE },
    underlyings: {
      A: {
        spot: SPOT,
        currency: "EUR",
        dividends: { yield: "parity", discrete: [{ date: PAID, cash: CASH }] },
        volatility: { quotes: of, fit: "svi", ...extra },
      },
    },
  },
});

test("parity gives the yield and the forwards that the prices were made with", () => {
  const { market: read } = readHeader(market(quotes));
  const { parity, quotes: rows } = read.calibration.underlyings.A;
  expect(parity!.yield).toBeCloseTo(YIELD, 12);
  expect(read.underlyings.get("A")!.dividends.yield).toBe(parity!.yield);
  [0.25, 1, 2].forEach((t, i) => {
    expect(parity!.forwards[i].forward).toBeCloseTo(forwardTo(t), 9);
    expect(parity!.forwards[i]).toMatchObject({ expiry: t, strikes: 3 });
    expect(Math.abs(parity!.forwards[i].error)).toBeLessThan(1e-12);
  });
  for (const { implied } of rows) expect(implied).toBeCloseTo(0.25, 10);
});

test("American quotes take no part in parity, whatever their prices", () => {
  const american = [0.25, 1, 2].flatMap((expiry) => [
    { expiry, strike: 90, type: "call", exercise: "american", price: price(expiry, 90, 1) + 0.2 },
    { expiry, strike: 90, type: "put", exercise: "american", price: price(expiry, 90, -1) + 1 },
  ]);
  for (const all of [
    [...quotes, ...american],
    [...american, ...quotes],
  ]) {
    const { parity } = readHeader(market(all)).market.calibration.underlyings.A;
    expect(parity!.yield).toBeCloseTo(YIELD, 12);
    expect(parity!.forwards.map(({ strikes }) => strikes)).toEqual([3, 3, 3]);
  }
});

test("parity without a call and a put of one strike is an error at its place", () => {
  expect(() => readHeader(market(quotes.filter(({ type }) => type === "call")))).toThrow(
    /^market\.underlyings\.A\.dividends\.yield: expected quotes with the prices of a call and a put/,
  );
});

test("stale quotes are left out of the fit, and said to be", () => {
  const wild = { expiry: 1, strike: 90, implied: 0.9 };
  const dated = (date: string): unknown => market([...quotes, { ...wild, date }], { maxAge: 2 });
  const { rmse, warnings } = readHeader(dated("2026-11-17")).market.calibration.underlyings.A;
  expect(rmse).toBeLessThan(1e-6);
  expect(warnings).toContain(
    "market.underlyings.A.volatility.quotes[18]: the quote is 3.0 days old, more than 2, and is not fitted",
  );
  expect(readHeader(dated("2026-11-18")).market.calibration.underlyings.A.rmse).toBeGreaterThan(0.01);
  expect(() => readHeader(dated("2026-11-21"))).toThrow(/quotes\[18\]\.date: expected a date that is not after asOf/);
});

test("a pair counts with the smaller of its two weights", () => {
  // Puts that are wrong: of weight 0 they say nothing, and neither do their calls.
  const wrong = [0.25, 1, 2].flatMap((expiry) => [
    { expiry, strike: 90, type: "call", price: price(expiry, 90, 1) },
    { expiry, strike: 90, type: "put", price: price(expiry, 90, -1) + 1, weight: 0 },
  ]);
  const { parity } = readHeader(market([...quotes, ...wrong])).market.calibration.underlyings.A;
  expect(parity!.yield).toBeCloseTo(YIELD, 12);
  expect(parity!.forwards.map(({ strikes }) => strikes)).toEqual([3, 3, 3]);
});
