/** Tenors: calendar months and days after the day of asOf. */
import { describe, expect, test } from "vitest";
import { readBook } from "../../src/book/index.ts";
import { market, trade } from "./books.ts";
import { onUnderlyings } from "../support/on-underlyings.ts";

/** The day on which a trade of that tenor expires, at asOf's time of day. */
function dayOf(asOf: string, expiry: string): string {
  const [parsed] = readBook({ asOf, market: market(), trades: [trade({ expiry })] }).trades;
  if (!parsed.ok) throw parsed.error;
  return new Date(Date.parse(asOf) + Math.round(parsed.trade.expiry * 365 * 86_400) * 1000).toISOString();
}

describe("tenors", () => {
  test.each([
    ["2026-11-20T16:00:00Z", "1Y", "2027-11-20T16:00:00.000Z"],
    ["2026-11-20T16:00:00Z", "6M", "2027-05-20T16:00:00.000Z"],
    ["2026-11-20T16:00:00Z", "2W", "2026-12-04T16:00:00.000Z"],
    ["2026-11-20T16:00:00Z", "10D", "2026-11-30T16:00:00.000Z"],
    ["2026-11-20T16:00:00Z", "1y6m", "2028-05-20T16:00:00.000Z"],
    ["2026-11-20T16:00:00Z", "1M1D", "2026-12-21T16:00:00.000Z"],
    ["2026-11-20T16:00:00Z", "0D", "2026-11-20T16:00:00.000Z"],
    // The last day of a shorter month, and no rule that keeps ends of months.
    ["2026-01-31T00:00:00Z", "1M", "2026-02-28T00:00:00.000Z"],
    ["2027-12-31T00:00:00Z", "2M", "2028-02-29T00:00:00.000Z"],
    ["2028-02-29T00:00:00Z", "1Y", "2029-02-28T00:00:00.000Z"],
    ["2026-02-28T00:00:00Z", "1M", "2026-03-28T00:00:00.000Z"],
    // The day is that of asOf's own offset: 31 January there, 1 February in UTC.
    ["2026-01-31T23:30:00-02:00", "1M", "2026-03-01T01:30:00.000Z"],
  ])("from %s, %s is %s", (asOf, tenor, day) => {
    expect(dayOf(asOf, tenor)).toBe(day);
  });

  test("stand wherever a date does", () => {
    const terms = {
      expiry: "1Y",
      exercise: ["3M", "6M"],
      barriers: [{ type: "up-and-out", level: 150, from: "1W", to: "9M", monitoring: ["1M", "2M"] }],
    };
    const [parsed] = readBook({
      asOf: "2026-11-20",
      market: { ...market(), rates: { EUR: [{ date: "1Y", zero: 0.03 }] } },
      trades: [trade(terms)],
      scenarios: { time: ["0D", "1W"] },
    }).trades;
    const { exercise, barriers } = onUnderlyings(parsed);
    const days = (years: number): number => Math.round(years * 365);
    expect(exercise.kind === "bermudan" && exercise.times.map(days)).toEqual([92, 181]);
    expect([barriers[0].from, barriers[0].to].map(days)).toEqual([7, 273]);
    const { monitoring } = barriers[0];
    expect(monitoring.kind === "discrete" && monitoring.times.map(days)).toEqual([30, 61]);
  });

  test.each(["", "M", "1", "6M1Y", "1.5Y", "-6M", "6 M", "1Q", "99999999Y"])("%j is none", (expiry) => {
    expect(() => dayOf("2026-11-20", expiry)).toThrow(/expected an ISO date or instant .*, a tenor \("1Y", "6M"/);
  });

  test("beyond a thousand years are errors of their trades", () => {
    expect(() => dayOf("2026-11-20", "1001Y")).toThrow(/expected at most 1000 years/);
  });
});
