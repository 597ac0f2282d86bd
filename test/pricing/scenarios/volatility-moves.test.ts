/** Moves of volatilities by expiry and of skews: values are those of books whose volatilities are written moved. */
import * as fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { type PricedTrade, readBook } from "../../../src/book/index.ts";
import { createCpuDevice } from "../../../src/device/cpu/index.ts";
import { priceBook } from "../../../src/pricing/index.ts";

const device = createCpuDevice({ threads: 1 });
afterAll(() => device[Symbol.dispose]());

const TENORS = { "3M": 92 / 365, "1Y": 1, "2Y": 731 / 365 };
type ByExpiry = Readonly<Partial<Record<keyof typeof TENORS, number>>>;

/** The move of implied volatility at an expiry: linear between tenors, and flat outside. */
function moveAt(moves: ByExpiry, time: number): number {
  const nodes = (Object.keys(TENORS) as (keyof ByExpiry)[]).flatMap((tenor) =>
    moves[tenor] === undefined ? [] : [{ at: TENORS[tenor], by: moves[tenor] }],
  );
  const inside = nodes.slice(1).findIndex(({ at }) => time <= at);
  if (nodes.length === 0) return 0;
  if (time <= nodes[0].at || nodes.length === 1) return nodes[0].by;
  if (inside < 0) return nodes.at(-1)!.by;
  const [from, to] = [nodes[inside], nodes[inside + 1]];
  return from.by + ((to.by - from.by) * (time - from.at)) / (to.at - from.at);
}

/** The implied volatility for each of these years: total variance is linear between them, and grows on after them. */
const TERM = [
  { date: 0.5, volatility: 0.25 },
  { date: 1.5, volatility: 0.22 },
];
/** A number as a term structure. */
const FLAT: typeof TERM = [1, 2].map((date) => ({ date, volatility: 0.2 }));

function termAt(nodes: typeof TERM, time: number): number {
  const totals = [
    { date: 0, total: 0 },
    ...nodes.map(({ date, volatility }) => ({ date, total: volatility ** 2 * date })),
  ];
  const at = totals.findIndex(({ date }) => time <= date);
  const [from, to] = at < 0 ? totals.slice(-2) : [totals[at - 1], totals[at]];
  return Math.sqrt((from.total + ((to.total - from.total) * (time - from.date)) / (to.date - from.date)) / time);
}

/** A term structure, moved at its own nodes and at the tenors, and on to ten years. */
function movedTerm(nodes: typeof TERM, moves: ByExpiry): typeof TERM {
  const tenors = (Object.keys(moves) as (keyof ByExpiry)[]).map((tenor) => TENORS[tenor]);
  // A number has no nodes, and the last of others begins nothing: the forward volatility before it goes on.
  const own = nodes === FLAT ? [] : nodes.slice(0, -1).map(({ date }) => date);
  const times = [...own, ...tenors].sort((a, b) => a - b);
  const made = times.map((date) => ({ date, volatility: termAt(nodes, date) + moveAt(moves, date) }));
  const [[before, last], end] = [nodes.slice(-2), made.at(-1)!];
  const forward = Math.sqrt(
    (last.volatility ** 2 * last.date - before.volatility ** 2 * before.date) / (last.date - before.date),
  );
  const further = (forward + moveAt(moves, 10)) ** 2 * (10 - end.date);
  return [...made, { date: 10, volatility: Math.sqrt((end.volatility ** 2 * end.date + further) / 10) }];
}

const RATE = 0.02;
const QUOTES = [0.25, 1, 2].flatMap((expiry) =>
  [75, 85, 92, 100, 108, 118, 130].map((strike) => {
    const k = Math.log(strike / (100 * Math.exp(RATE * expiry)));
    return { expiry, strike, k, implied: 0.22 - 0.08 * k + 0.15 * k * k };
  }),
);

/** A market with volatilities of many kinds, moved by expiry and skew. */
function marketOf(moves: Readonly<Record<string, ByExpiry>> = {}, skew = 0): object {
  const of = (name: string): ByExpiry => moves[name] ?? {};
  const asset = (volatility: unknown) => ({ spot: 100, currency: "EUR", volatility });
  const quotes = QUOTES.map(({ k, implied, ...quote }) => ({
    ...quote,
    implied: implied + moveAt(of("QUOTED"), quote.expiry) + skew * k,
  }));
  return {
    rates: { EUR: RATE },
    underlyings: {
      FLAT: asset("FLAT" in moves ? { termStructure: movedTerm(FLAT, of("FLAT")) } : 0.2),
      TERM: asset({ termStructure: "TERM" in moves ? movedTerm(TERM, of("TERM")) : TERM }),
      QUOTED: asset({ quotes, fit: "svi" }),
      LOCAL: asset({ local: "0.2 + 0.05*exp(-S/100)" }),
    },
  };
}

const NAMES = ["FLAT", "TERM", "QUOTED"];
const trades = NAMES.flatMap((underlying) =>
  [0.3, 0.9, 1.8].flatMap((expiry) => {
    const terms = { underlying, expiry, strike: 97, payoff: "put" };
    const out = { barriers: [{ type: "down-and-out", level: 70 }] };
    return [
      { ...terms, id: `${underlying} ${expiry}` },
      { ...terms, id: `${underlying} ${expiry} american`, exercise: "american" },
      { ...terms, id: `${underlying} ${expiry} knock-out`, ...out },
    ];
  }),
);

async function priced(market: object, book: readonly object[], more: object = {}): Promise<readonly PricedTrade[]> {
  const { results } = await priceBook(readBook({ asOf: "2026-11-20", market, trades: book, ...more }), {
    device,
    greeks: "none",
  });
  return results.map((result) => {
    if (result.status === "error") throw new Error(result.error.message);
    return result;
  });
}

const size = fc.integer({ min: -8, max: 8 }).map((part) => part / 800);
const byExpiry = fc.dictionary(fc.constantFrom(...Object.keys(TENORS)), size, { minKeys: 1 }) as fc.Arbitrary<ByExpiry>;

test("by expiry and in skew, with quotes and without", { timeout: 240_000 }, async () => {
  const scenario = fc.record({ moves: fc.tuple(byExpiry, byExpiry, byExpiry), skew: fc.constantFrom(0, 0.03, -0.05) });
  const run = fc.asyncProperty(scenario, fc.subarray(trades, { minLength: 4, maxLength: 4 }), async (one, some) => {
    const [flat, term, quoted] = one.moves;
    const volatility = { TERM: term, QUOTED: quoted, "*": flat };
    const scenarios = [{ name: "a", moves: { volatility, ...(one.skew === 0 ? {} : { skew: { QUOTED: one.skew } }) } }];
    const results = await priced(marketOf(), some, { scenarios });
    const alone = await priced(marketOf({ FLAT: flat, TERM: term, QUOTED: quoted }, one.skew), some);
    results.forEach(({ id, scenarioValues, scenarioValueErrorEstimates: errors }, i) => {
      const allowed = errors![0]! + alone[i].errorEstimate + 1e-9;
      expect(Math.abs(scenarioValues![0]! - alone[i].value), `${id} under ${JSON.stringify(one)}`).toBeLessThan(
        allowed,
      );
    });
  });
  await fc.assert(run, { numRuns: 6 });
});

describe("what a volatility cannot do is said, and never done in parallel", () => {
  const own = { id: "own", underlying: "QUOTED", payoff: "call", strike: 100, expiry: 1, volatility: 0.2 };
  const local = { id: "local", underlying: "LOCAL", payoff: "call", strike: 100, expiry: 1 };
  test.each([
    [own, { skew: { QUOTED: 0.1 } }, "skew.QUOTED moves: expected an underlying with quotes"],
    [local, { volatility: { LOCAL: { "1Y": 0.01 } } }, "volatility.LOCAL moves by expiry: expected a number"],
    [trades[0], { volatility: { FLAT: { "3M": 0.1, "1Y": -0.1 } } }, "calendar arbitrage"],
    [trades.at(-1)!, { volatility: { QUOTED: { "1Y": -0.3 } } }, "the quote of QUOTED at 0.25, 75 moves to 0 or below"],
  ])("%j %j", async (trade, moves, message) => {
    const scenarios = [
      { name: "a", moves },
      { name: "b", moves: { volatility: { "*": 0.01 } } },
    ];
    const [{ scenarioValues, warnings }] = await priced(marketOf(), [trade], { scenarios });
    expect(scenarioValues).toEqual([null, expect.any(Number)]);
    expect(warnings.join()).toContain(`scenario "a": `);
    expect(warnings.join()).toContain(message);
  });
});
