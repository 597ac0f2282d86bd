/** Times of one trade that differ by less than a second are one time. */
import { describe, expect, it, test } from "vitest";
import { parseBook, readHeader } from "../../src/book/index.ts";
import { onUnderlyings } from "../support/on-underlyings.ts";

const SECOND = 1 / 31_536_000;

function read(trade: object, discrete: readonly object[] = [], asOf = "2026-11-20") {
  const acme = { spot: 100, currency: "EUR", volatility: 0.2, dividends: { discrete } };
  const one = { id: "T", underlying: "ACME", payoff: "call", strike: 100, ...trade };
  const market = { rates: { EUR: 0.03 }, underlyings: { ACME: acme } };
  const [parsed] = parseBook(JSON.stringify({ asOf, market, trades: [one] })).trades;
  return onUnderlyings(parsed);
}

const expiry = 30 / 365;
const dates = Array.from({ length: 30 }, (_, k) => ((30 / 365) * (k + 1)) / 30);

describe("a date one unit in the last place after expiry is expiry", () => {
  it("is what the example is about", () => {
    expect(dates.some((time) => time > expiry) || (30 / 365) * 7 > 210 / 365).toBe(true);
  });
  const after = expiry * (1 + Number.EPSILON);

  it("of averages, swings, exercise, barriers and their windows", () => {
    const average = { kind: "arithmetic", dates: [0.01, after] };
    expect(read({ expiry, average }).payoff).toMatchObject({ times: [0.01, expiry] });
    expect(read({ expiry, swing: { dates: [0.01, after] } }).payoff).toMatchObject({ times: [0.01, expiry] });
    expect(read({ expiry, exercise: [0.01, after] }).exercise).toMatchObject({ times: [0.01, expiry] });
    const barrier = { type: "up-and-out", level: 120 };
    expect(
      read({ expiry, barriers: [{ ...barrier, monitoring: [0.01, after] }] }).barriers[0].monitoring,
    ).toMatchObject({
      times: [0.01, expiry],
    });
    expect(read({ expiry, barriers: [{ ...barrier, to: after }] }).barriers[0].to).toBe(expiry);
  });
});

describe("times less than a second apart", () => {
  it("of exercise are one, a second apart are two", () => {
    expect(read({ expiry: 1, exercise: [0.5, 0.5 + 0.4 * SECOND] }).exercise).toMatchObject({ times: [0.5] });
    const two = read({ expiry: 1, exercise: [0.5, 0.5 + 1.2 * SECOND] }).exercise;
    expect(two).toMatchObject({ times: [0.5, 0.5 + 1.2 * SECOND] });
  });

  it("are that of the dividend, and of asOf", () => {
    const paid = [{ date: 0.25, cash: 1 }];
    expect(read({ expiry: 0.25 - 0.4 * SECOND }, paid).expiry).toBe(0.25);
    expect(read({ expiry: 1, exercise: [-0.4 * SECOND, 1] }).exercise).toMatchObject({ times: [0, 1] });
  });

  it("of dividends are added up", () => {
    const { underlying } = read({ expiry: 1 }, [
      { date: 0.25, cash: 1 },
      { date: 0.25 + 0.4 * SECOND, cash: 2 },
    ]);
    expect(underlying.dividends.discrete).toEqual([{ time: 0.25, cash: 3, proportional: 0 }]);
  });

  it("beyond a second are refused as before", () => {
    expect(() => read({ expiry, exercise: [expiry + 2 * SECOND] })).toThrow("expected a date from asOf to expiry");
  });
});

describe("an offset from UTC counts with its hours and its minutes, in its direction", () => {
  it.each([
    ["2026-11-20T05:30:00+05:30", "2026-11-20T00:00:00Z"],
    ["2026-11-20T05:45:00+0545", "2026-11-20T00:00:00Z"],
    ["2026-11-19T20:30:00-03:30", "2026-11-20T00:00:00Z"],
    ["2026-11-20T16:00:00+01:00", "2026-11-20T15:00:00Z"],
  ])("%s is %s", (local, utc) => {
    const until = "2027-03-20T12:00:00Z";
    expect(read({ expiry: until }, [], local).expiry).toBe(read({ expiry: until }, [], utc).expiry);
    expect(read({ expiry: local }, [], "2026-01-01").expiry).toBe(read({ expiry: utc }, [], "2026-01-01").expiry);
  });
});

test("a date in results is the day that the book has, where asOf is another day in UTC", () => {
  const quotes = [90, 110].map((strike) => ({ expiry: "2027-06-18", strike, implied: 0.2 }));
  const acme = { spot: 100, currency: "EUR", volatility: { quotes, fit: "none" } };
  for (const asOf of ["2026-11-20T20:00:00-05:00", "2026-11-20T02:00:00+09:00", "2026-11-20T16:00:00Z"]) {
    const { market } = readHeader({ asOf, market: { rates: { EUR: 0.03 }, underlyings: { ACME: acme } } });
    expect(market.calibration.underlyings["ACME"].quotes.map(({ expiry }) => expiry)).toEqual([
      "2027-06-18",
      "2027-06-18",
    ]);
  }
});
