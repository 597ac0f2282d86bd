/** What a payoff of a path cannot be, by its place, and the terms that are filled in. */
import { expect, test } from "vitest";
import { parseBook } from "../../src/book/index.ts";
import { onUnderlyings } from "../support/on-underlyings.ts";

const acme = { spot: 100, currency: "EUR", volatility: 0.2 };
const market = { rates: { EUR: 0.03 }, underlyings: { ACME: acme } };
function read(terms: object) {
  const trade = { id: "T", underlying: "ACME", payoff: "call", expiry: 1, ...terms };
  const [parsed] = parseBook(JSON.stringify({ asOf: "2026-11-20", market, trades: [trade] })).trades;
  return parsed;
}
const swing = { dates: [0.25, 0.5, 1] };
const fixed = { strike: "fixed", monitoring: "continuous" };

test.each([
  [{ strike: 100, lookback: { ...fixed, from: 0.5, extremum: 120 } }, "lookback.extremum: expected none"],
  [{ lookback: { ...fixed, from: 1 }, strike: 100 }, "lookback.from: expected a date before expiry"],
  [{ strike: 100, lookback: { ...fixed, strike: "floating" } }, "strike: expected none: the strike of this lookback"],
  [{ lookback: fixed }, "strike: expected a positive number, got nothing"],
  [{ strike: 100, swing: { ...swing, min: 4 } }, "swing.min: expected at most 3, one unit a date, got 4"],
  [{ strike: 100, swing: { ...swing, min: 2, max: 1 } }, "swing.max: expected at least 2, got 1"],
  [{ strike: 100, swing: { dates: [0.5, 0.5] } }, "swing.dates[1]: expected dates that increase"],
  [{ strike: 100, swing: { dates: [0.5, 1.5] } }, "swing.dates[1]: expected a date up to expiry, 1 years from asOf"],
  [{ strike: 100, swing, exercise: "american" }, 'exercise: expected "european" beside "swing"'],
  [{ strike: 100, swing, average: { kind: "arithmetic", dates: [1] } }, 'swing: expected none beside "average"'],
  [
    { strike: 100, average: { kind: "arithmetic", dates: "continuous", past: { count: 1, mean: 90 } } },
    "average.past: expected none beside continuous averaging",
  ],
])("%j", (terms, message) => {
  const parsed = read(terms);
  if (parsed.ok) throw new Error("it was read");
  expect(parsed.error.message).toContain(`trades[0].${message}`);
});

test("a swing has by default no duty, and one unit a date at most", () => {
  const of = (more: object) => onUnderlyings(read({ strike: 100, swing: { ...swing, ...more } })).payoff;
  expect(of({})).toMatchObject({ times: [0.25, 0.5, 1], min: 0, max: 3 });
  expect(of({ max: 9 })).toMatchObject({ min: 0, max: 3 });
  expect(of({ min: 1, max: 2 })).toMatchObject({ min: 1, max: 2 });
});
