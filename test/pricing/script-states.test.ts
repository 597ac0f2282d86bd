/** What is expected of the states of structured products, beside probabilities in closed form. */
import { expect, test } from "vitest";
import { priceBook, readBook } from "../../src/index.ts";
import { Random } from "../../tools/properties/random.ts";
import { normalCdf } from "../support/normal.ts";

async function statesOf(trades: readonly object[], market: object, greeks: "all" | "none" = "all") {
  const { results } = await priceBook(readBook({ asOf: "2026-11-20", market, trades }), { greeks });
  return results.map((result) => {
    if (result.status === "error") throw new Error(result.error.message);
    return result.states;
  });
}

const MARKET = { rates: { EUR: 0.03 }, underlyings: { ACME: { spot: 100, currency: "EUR", volatility: 0.25 } } };
const script = {
  state: { low: false, fixings: 0 },
  events: [
    { on: "first", do: "fixings += 1; if (S < barrier) low = true" },
    { on: "end", do: "fixings += 1; if (S >= trigger) stop()" },
    { on: "maturity", do: "pay(1)" },
  ],
};

test("states and the end by stop() have the probabilities of the lognormal law, in any company", async () => {
  const random = new Random(11);
  const notes = Array.from({ length: 12 }, () => {
    const first = random.uniform(0.1, 1);
    return {
      first,
      end: first + random.uniform(0.1, 1),
      maturity: 2.5,
      barrier: random.uniform(70, 110),
      trigger: random.uniform(80, 130),
    };
  });
  const trades = notes.map((data, i) => ({ id: `${i}`, underlying: "ACME", script, data }));
  const all = await statesOf(trades, MARKET);
  const [alone] = await statesOf([trades[3]], MARKET);
  expect(alone).toEqual(all[3]);
  const above = (level: number, t: number): number =>
    normalCdf((Math.log(100 / level) + (0.03 - 0.5 * 0.25 ** 2) * t) / (0.25 * Math.sqrt(t)));
  let misses = 0;
  notes.forEach(({ first, end, barrier, trigger }, i) => {
    const states = all[i]!;
    for (const [name, exact] of [
      ["low", 1 - above(barrier, first)],
      ["stop()", above(trigger, end)],
    ] as const) {
      const { now, expected, errorEstimate } = states[name];
      expect(now).toBe(0);
      expect(errorEstimate!).toBeLessThan(0.02);
      if (Math.abs(expected - exact) > errorEstimate!) misses++;
    }
    expect(states["fixings"].expected).toBeCloseTo(2, 12);
  });
  expect(misses).toBeLessThanOrEqual(2);
});

test("the past of a note is its state now; one that has ended expects no other; none is asked for without Greeks", async () => {
  const data = { first: "2026-08-20", end: "2027-11-20", barrier: 90, trigger: 100, maturity: 2 };
  const note = { id: "1", underlying: "ACME", script, data };
  const market = { ...MARKET, fixings: { ACME: { "2026-08-20": 80 } } };
  const [open] = await statesOf([note], market);
  expect(open!["low"]).toMatchObject({ now: 1, expected: 1 });
  const past = { ...note, data: { ...data, end: "2026-09-20" } };
  const fixings = { ACME: { "2026-08-20": 95, "2026-09-20": 120 } };
  const [ended] = await statesOf([past], { ...MARKET, fixings });
  expect(ended).toEqual({
    "stop()": { now: 1, expected: 1, errorEstimate: 0 },
    low: { now: 0, expected: 0, errorEstimate: 0 },
    fixings: { now: 2, expected: 2, errorEstimate: 0 },
  });
  expect(await statesOf([note], market, "none")).toEqual([undefined]);
});
