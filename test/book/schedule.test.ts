/** Schedules in the place of lists of dates, against the lists that they stand for. */
import { expect, test } from "vitest";
import { parseBook, readBook, type TradeInput } from "../../src/book/index.ts";

const book = (trades: readonly TradeInput[]) => ({
  asOf: "2026-11-20T16:00:00Z",
  market: { rates: { EUR: 0.03 }, underlyings: { A: { spot: 100, currency: "EUR", volatility: 0.2 } } },
  trades,
});

/** Month ends of business days: 31 January 2027 is a Sunday, 28 February too. */
const DATES = ["2026-11-30", "2026-12-31", "2027-01-29", "2027-02-26", "2027-03-31"];
const MONTHLY = {
  schedule: { from: "2026-11-30", to: "2027-03-31", every: "1M", calendar: "TARGET", rollDay: 31 },
} as const;

const on = { id: "1", underlying: "A", payoff: "put", strike: 100, expiry: "2027-04-30" } as const;
const swap = { start: "2027-04-01", end: "2028-04-01", frequency: 2, notional: 1 };

const uses: Readonly<Record<string, (dates: typeof MONTHLY | readonly string[]) => TradeInput>> = {
  exercise: (dates) => ({ ...on, exercise: dates }),
  monitoring: (dates) => ({ ...on, barriers: [{ type: "down-and-out", level: 80, monitoring: dates }] }),
  average: (dates) => ({ ...on, average: { kind: "arithmetic", dates } }),
  lookback: (dates) => ({ ...on, lookback: { strike: "fixed", monitoring: dates } }),
  swing: (dates) => ({ ...on, swing: { dates, max: 2 } }),
  conversion: (dates) => ({
    id: "1",
    underlying: "A",
    convertible: { maturity: "2028-01-31", notional: 100, ratio: 1, conversion: dates },
  }),
  swaption: (dates) => ({ id: "1", currency: "EUR", swaption: "payer", strike: 0.03, exercise: dates, swap }),
};

test.each(Object.entries(uses))("%s takes a schedule as it takes its dates", (_, use) => {
  const [listed, scheduled] = [DATES, MONTHLY].map((dates) => parseBook(book([use(dates)])).trades[0]);
  expect(scheduled).toEqual(listed);
  expect(listed.ok ? "" : listed.error.message).toBe("");
});

test("a schedule of days leaves out weekends and holidays", () => {
  const daily = { schedule: { from: "2026-12-23", to: "2026-12-30", every: "1D", calendar: "TARGET" } } as const;
  const [parsed] = parseBook(book([{ ...on, exercise: daily }])).trades;
  const [wanted] = parseBook(
    book([{ ...on, exercise: ["2026-12-23", "2026-12-24", "2026-12-28", "2026-12-29", "2026-12-30"] }]),
  ).trades;
  expect(parsed).toEqual(wanted);
});

test.each([
  [{ from: "1M", to: "2027-03-31", every: "1M" }, /exercise: schedule: expected dates, such as/],
  [{ from: "2027-03-31", to: "2026-12-31", every: "1M" }, /exercise: schedule: it ends on 2026-12-31/],
  [{ from: "2026-12-31", to: "2027-03-31", every: "month" }, /exercise\.schedule\.every: .*expected a tenor/],
  [{ from: "2026-12-31", to: "2027-03-31" }, /exercise\.schedule\.every: expected/],
  [{ from: "2026-12-31", to: "2027-03-31", every: "1M", calendar: "XETRA" }, /exercise\.schedule\.calendar: expected/],
])("%j is an error with its path", (schedule, message) => {
  const [parsed] = readBook(book([{ ...on, exercise: { schedule } } as object as TradeInput])).trades;
  expect(parsed.ok ? "read" : parsed.error.message).toMatch(message);
});
