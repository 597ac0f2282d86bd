/** The state of a fit to quotes reaches every result that depends on it. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type BookInput, parseBook, type TradeInput } from "../../src/book/index.ts";
import { type Device, openDevice } from "../../src/device/index.ts";
import { isDoubt } from "../../src/market/index.ts";
import { explainBook, priceBook } from "../../src/pricing/index.ts";
import { kindOf } from "../../src/pricing/kinds.ts";
import { uniform } from "../calibration/uniform.ts";

let device: Device;
beforeAll(async () => {
  device = await openDevice({ backend: "cpu", threads: 1 });
});
afterAll(() => device[Symbol.dispose]());

interface Quote {
  readonly expiry: number;
  readonly strike: number;
  readonly type?: "call" | "put";
  readonly implied?: number;
  readonly price?: number;
  readonly bid?: number;
  readonly ask?: number;
}

const EXPIRIES = [0.25, 0.5, 1];
const STRIKES = [80, 90, 95, 100, 105, 110, 120];

/** Quotes of a random SVI surface without arbitrage: w = t·(v + b·(ρk + √(k² + s²))). */
function smoothQuotes(draw: () => number): Quote[] {
  const [v, b, rho, s] = [0.02 + 0.03 * draw(), 0.02 + 0.05 * draw(), -0.5 * draw(), 0.15 + 0.1 * draw()];
  return EXPIRIES.flatMap((expiry) =>
    STRIKES.map((strike) => {
      const k = Math.log(strike / 100);
      return { expiry, strike, implied: Math.sqrt(v + b * (rho * k + Math.sqrt(k * k + s * s))) };
    }),
  );
}

const PLACE = "market.underlyings.X.volatility";

function bookOf(quotes: readonly Quote[], trades?: readonly TradeInput[], fit = "svi", rules = {}): BookInput {
  const common = { underlying: "X", strike: 100, expiry: 0.75 } as const;
  const all: readonly TradeInput[] = trades ?? [
    { id: "call", ...common, payoff: "call" },
    { id: "put", ...common, payoff: "put", exercise: "american" },
    {
      id: "convertible",
      underlying: "X",
      convertible: { maturity: 0.75, coupon: 0, frequency: 1, notional: 100, ratio: 1 },
    },
  ];
  return {
    asOf: "2026-11-20",
    market: {
      rates: { EUR: 0 },
      underlyings: {
        X: { spot: 100, currency: "EUR", volatility: { quotes, fit, ...rules } as never },
        Y: { spot: 100, currency: "EUR", volatility: 0.2 },
      },
      correlations: [["X", "Y", 0.3]],
    },
    trades: all,
  };
}

const OPTIONS = { greeks: "none", accuracy: { relative: 1e-3 } } as const;

/** What may be wrong with quotes or a fit, and the words by which every result says so. */
const STATES: readonly {
  readonly name: string;
  readonly says: RegExp;
  readonly spoil: (quotes: Quote[], draw: () => number) => Quote[];
}[] = [
  {
    name: "calendar arbitrage",
    says: /calendar arbitrage/,
    spoil: (quotes, draw) =>
      quotes.map((one) => (one.expiry === 1 ? { ...one, implied: (0.5 + 0.15 * draw()) * one.implied! } : one)),
  },
  {
    name: "butterfly arbitrage",
    says: /butterfly arbitrage/,
    spoil: (quotes, draw) =>
      quotes.map((one) => ({ ...one, implied: 0.1 + (3 + draw()) * Math.abs(Math.log(one.strike / 100)) })),
  },
  {
    name: "too few quotes",
    says: /not converged/,
    spoil: (quotes) => quotes.filter(({ strike }) => strike > 85 && strike < 105),
  },
  {
    name: "a price below its bound",
    says: /1 of 21 quotes left out/,
    spoil: ([{ expiry, strike }, ...others], draw) => [{ expiry, strike, type: "call", price: 19 * draw() }, ...others],
  },
  {
    name: "misfit of implied volatilities",
    says: /quotes are missed by [\d.]+ points/,
    spoil: (quotes, draw) =>
      quotes.map((one, i) => ({ ...one, implied: one.implied! * (1 + (i % 2 === 0 ? 0.1 : -0.1) * (1 + draw())) })),
  },
  {
    name: "misfit beyond bid and ask",
    says: /missed beyond bid and ask: 1 of 1 quotes/,
    spoil: (quotes, draw) =>
      quotes.map(({ implied, ...one }, i) =>
        i === 10 ? { ...one, type: "call", bid: 9 + draw(), ask: 10 } : { ...one, implied: implied! },
      ),
  },
];

/** What is said of the fits of each trade of a book: doubts and notes, or the error of the trade. */
const saidOf = (book: BookInput): (readonly string[])[] =>
  parseBook(book).trades.map((parsed) =>
    parsed.ok ? kindOf(parsed.trade).doubts(parsed.trade) : [parsed.error.message],
  );

/** The doubts about each trade of a book. */
const doubtsOf = (book: BookInput): string[][] => saidOf(book).map((said) => said.filter(isDoubt));

test.each(STATES)("$name is said of every result, and a strict run refuses it", async ({ says, spoil }) => {
  const draw = uniform(7);
  const all = expect.stringMatching(says);
  for (let round = 0; round < 5; round++) {
    const quotes = smoothQuotes(draw);
    expect(doubtsOf(bookOf(quotes))).toEqual([[], [], []]);
    const book = bookOf(spoil(quotes, draw));
    expect(doubtsOf(book)).toEqual([[all], [all], [all]]);
    if (round > 0) continue;
    const { results } = await priceBook(parseBook(book), { device, ...OPTIONS });
    for (const { id, status, warnings } of results) {
      const doubts = warnings.filter(isDoubt);
      expect([id, status, ...doubts]).toEqual([id, "ok", all]);
      expect(doubts[0].startsWith(`${PLACE}: `)).toBe(true);
    }
    const strict = await priceBook(parseBook(book), { device, ...OPTIONS, strict: true });
    for (const result of strict.results)
      expect(result.status === "error" && result.error).toMatchObject({ path: PLACE, message: all });
  }
});

test("simulated trades, and trades on several underlyings, say it as well", async () => {
  const draw = uniform(3);
  const quotes = STATES[2].spoil(smoothQuotes(draw), draw).slice(0, 4);
  const common = { strike: 100, expiry: 0.25 } as const;
  const average = { kind: "arithmetic", dates: [0.2, 0.25] } as const;
  const trades: readonly TradeInput[] = [
    { id: "average", underlying: "X", payoff: "call", ...common, average },
    { id: "basket", underlyings: ["Y", "X"], payoff: { basket: "call", weights: [0.5, 0.5] }, ...common },
  ];
  const book = parseBook(bookOf(quotes, trades, "heston"));
  const { results } = await priceBook(book, { device, ...OPTIONS });
  expect(results[0].method).toBe("montecarlo");
  expect(results[0].warnings.filter(isDoubt)).toEqual([expect.stringMatching(/not converged/)]);
  for (const parsed of book.trades) {
    const doubts = parsed.ok ? kindOf(parsed.trade).doubts(parsed.trade) : [];
    expect(doubts).toEqual([expect.stringMatching(/not converged/)]);
  }
});

test("a trade outside the quoted expiries says so, today and in scenarios and explanations", async () => {
  const quotes = smoothQuotes(uniform(11));
  const trades = [0.1, 0.25, 0.6, 1, 1.2].map((expiry, i): TradeInput => ({
    id: `T${i}`,
    underlying: "X",
    payoff: "call",
    strike: 100,
    expiry,
  }));
  const book = bookOf(quotes, trades);
  const said = [/before the first quoted expiry, 0.25 years/, undefined, undefined, undefined, /after the last quoted/];
  const scenarios = { spot: [-0.1, 0.1], quotes: "sticky-strike" } as const;
  const check = (results: readonly { readonly warnings: readonly string[] }[]): void =>
    results.forEach(({ warnings }, i) => {
      const expected = said[i] === undefined ? [] : [expect.stringMatching(said[i])];
      expect(warnings.filter(isDoubt)).toEqual(expected);
    });
  check((await priceBook(parseBook(book), { device, ...OPTIONS })).results);
  check((await priceBook(parseBook({ ...book, scenarios }), { device, ...OPTIONS })).results);
  const { results } = await explainBook(parseBook(book), parseBook(book), { device, method: "revaluation" });
  check(results);
});

test("quotes that a rule of the book leaves out are said, and are no doubt about the fit", () => {
  const draw = uniform(11);
  for (let round = 0; round < 5; round++) {
    const [first, second, ...others] = smoothQuotes(draw);
    const { expiry, strike } = second;
    const stale = { ...first, implied: 3 * draw() + 1, date: "2026-11-01" };
    const withoutBid = { expiry, strike, bid: 0, ask: 0.01 + draw() };
    const book = bookOf([stale, withoutBid, ...others], undefined, "svi", { maxAge: 5 });
    for (const warnings of saidOf(book)) {
      expect(warnings).toEqual([`${PLACE}: 2 of 21 quotes not fitted: a bid of 0, or older than maxAge`]);
      expect(warnings.filter(isDoubt)).toEqual([]);
    }
    // Without the rule the stale quote is fitted, and is missed.
    expect(doubtsOf(bookOf([stale, ...others])).flat()).not.toEqual([]);
  }
});

test.each([
  ["too old", { date: "2026-10-01", implied: 0.2 }, "the quote is 50.0 days old, more than 5, and is not fitted"],
  ["without weight", { weight: 0, implied: 0.2 }, "its weight is 0"],
  ["without a bid", { bid: 0, ask: 0.1 }, "the bid is 0, so the quote is not fitted"],
  ["out of bounds", { price: 101 }, "the price is not below its arbitrage bound"],
])("trades on quotes that are all %s say why there is no volatility", (_, more, says) => {
  const quotes = STRIKES.map((strike) => ({ expiry: 0.5, strike, ...more }));
  const fault = `"X" has quotes for its volatility, but none that can be fitted: quotes[0]: ${says}`;
  for (const errors of saidOf(bookOf(quotes, undefined, "svi", { maxAge: 5 })))
    expect(errors).toEqual([expect.stringContaining(fault)]);
});

test("a quote that is missed by more than 0.2 points is said, and is no doubt", () => {
  const draw = uniform(13);
  for (let round = 0; round < 5; round++) {
    const quotes = smoothQuotes(draw);
    expect(saidOf(bookOf(quotes))).toEqual([[], [], []]);
    const moved = 0.004 + 0.004 * draw();
    const spoilt = quotes.map((one, i) => (i === 10 ? { ...one, implied: one.implied! + moved } : one));
    for (const warnings of saidOf(bookOf(spoilt))) {
      const [, points] = /: a quote is missed by ([\d.]+) points of volatility$/.exec(warnings[0])!;
      expect(Number(points)).toBeGreaterThan(0.2);
      expect(Number(points)).toBeLessThan(100 * moved);
      expect(warnings).toHaveLength(1);
      expect(warnings.filter(isDoubt)).toEqual([]);
    }
  }
});

test("a fit of SABR as a word is told how it is written", () => {
  expect(() => parseBook(bookOf([{ expiry: 1, strike: 100, implied: 0.2 }], undefined, "sabr"))).toThrow(
    /"none", .*\{ "sabr": \{ "beta": 0\.7 \} \}.* or .*, got "sabr"$/,
  );
});

test.each([
  [{ deposit: 1, rate: 3.2 }, /instruments\[0\]\.rate is 320 %; .*3\.2 % as 0\.032/],
  [{ fra: 1, end: 1.25, rate: 96.5 }, /instruments\[0\]\.rate is 9650 %; .*a futures price as "future"/],
  [{ future: 1, end: 1.25, price: 3.5 }, /instruments\[0\]\.price is a rate of 96\.5 %; .*write the price, 96\.5/],
  [{ future: 1, end: 1.25, price: 0.035 }, /instruments\[0\]\.price is a rate of 99\.965 %/],
])("an instrument in another unit is said: %o", (instrument, says) => {
  const rates = { EUR: { instruments: [instrument] } } as unknown as BookInput["market"]["rates"];
  const book = bookOf([], [{ id: "bond", currency: "EUR", bond: { maturity: 1, notional: 1 } }]);
  const doubts = doubtsOf({ ...book, market: { rates } });
  expect(doubts).toEqual([[expect.stringMatching(says)]]);
});

test("a curve from instruments and a model fitted to quotes say what they do not reach", async () => {
  const instruments = [
    { deposit: 1, rate: 0.02 },
    { swap: 3, rate: 0.022, frequency: 1 },
  ] as const;
  const swaption = (expiry: number, price: number) =>
    ({ type: "payer", expiry, length: 2, frequency: 1, strike: 0.02, price }) as const;
  const book: BookInput = {
    asOf: "2026-11-20",
    market: {
      rates: {
        EUR: { instruments },
        // The two prices contradict each other under any parameters.
        USD: {
          hullWhite: { curve: 0.02, swaptions: [swaption(1, 0.004), swaption(1.01, 0.012), swaption(1.02, 0.004)] },
        },
      },
      underlyings: {
        X: { spot: 100, currency: "EUR", volatility: 0.2 },
        Z: { spot: 100, currency: "USD", volatility: 0.2 },
      },
      correlations: [["Z", "USD", 0]],
    },
    trades: [
      { id: "near", underlying: "X", payoff: "call", strike: 100, expiry: 2 },
      { id: "far", underlying: "X", payoff: "call", strike: 100, expiry: 4 },
      { id: "bond", currency: "EUR", bond: { maturity: 10, coupon: 0.02, frequency: 1, notional: 100 } },
      { id: "callable", currency: "USD", bond: { maturity: 3, coupon: 0.02, frequency: 1, notional: 100 } },
      { id: "hybrid", underlying: "Z", payoff: "call", strike: 100, expiry: 1 },
    ],
  };
  const { results } = await priceBook(parseBook(book), { device, ...OPTIONS });
  const after = expect.stringMatching(/^market.rates.EUR: .*after the last end of an instrument, 3 years/);
  const missed = expect.stringMatching(/^market.rates.USD.hullWhite: .*prices for a notional of 1 are missed by/);
  const doubts = results.map(({ warnings }) => warnings.filter(isDoubt));
  expect(doubts).toEqual([[], [after], [after], [missed], [missed]]);
});
