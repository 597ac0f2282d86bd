/** Named joint scenarios: each value is that of the trade in a book of its own whose market has moved. */
import * as fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import {
  type BookInput,
  columnOf,
  parseBook,
  type PricedTrade,
  readBook,
  scenariosOfRows,
} from "../../src/book/index.ts";
import { createCpuDevice } from "../../src/device/cpu/index.ts";
import { priceBook } from "../../src/pricing/index.ts";

const device = createCpuDevice({ threads: 1 });
afterAll(() => device[Symbol.dispose]());

const ASOF = "2026-11-20";
/** The years until the spot date of the pair. */
const date = "2026-11-24";

/** The numbers of a market, which scenarios move one by one. */
interface Numbers {
  readonly spot: Readonly<Record<string, number>>;
  readonly volatility: Readonly<Record<string, number>>;
  readonly rate: Readonly<Record<string, number>>;
  readonly dividend: Readonly<Record<string, number>>;
  readonly fx: Readonly<Record<string, number>>;
  readonly credit: Readonly<Record<string, number>>;
  readonly rateVolatility: Readonly<Record<string, number>>;
}
/** The moves of rates by tenor, by currency. */
type Tilts = Readonly<Record<string, ByTenor>>;

const TODAY: Numbers = {
  spot: { SAP: 100, BETA: 50, HEST: 80, TREE: 60 },
  volatility: { SAP: 0.22, BETA: 0.3, HEST: 0.25, TREE: 0.35, EURUSD: 0.1 },
  rate: { EUR: 0.025, USD: 0.04, CHF: 0.01 },
  dividend: { SAP: 0.01, BETA: 0.02, HEST: 0, TREE: 0.015 },
  fx: { EURUSD: 1.1, USDCHF: 0.9 },
  credit: { TREE: 0.03, ISSUER: 0.02 },
  rateVolatility: { EUR: 0.009, USD: 0.01, CHF: 0.008 },
};
const KINDS = Object.keys(TODAY) as (keyof Numbers)[];

/** Moves of zero rates at some of these tenors, in years as Act/365F has them. */
const TENORS = { "3M": 92 / 365, "1Y": 1, "2Y": 731 / 365, "5Y": 1826 / 365 };
type ByTenor = Readonly<Partial<Record<keyof typeof TENORS, number>>>;

/**
 * Returns the move of a zero rate at a time: that of z·t is linear between the tenors, z is as at the first before, and
 * z·t grows as at the last after.
 */
function zeroMove(move: ByTenor, t: number): number {
  const nodes = (Object.keys(TENORS) as (keyof ByTenor)[]).flatMap((tenor) =>
    move[tenor] === undefined ? [] : [{ time: TENORS[tenor], product: move[tenor] * TENORS[tenor], by: move[tenor] }],
  );
  if (nodes.length === 0) return 0;
  const after = nodes.findIndex(({ time }) => t <= time);
  if (after === 0) return nodes[0].by;
  const before = nodes.at(after < 0 ? -1 : after - 1)!;
  if (after < 0) return (before.product + before.by * (t - before.time)) / t;
  const next = nodes[after];
  return (before.product + ((next.product - before.product) * (t - before.time)) / (next.time - before.time)) / t;
}

/** A book's market of the numbers, with zero rates that are moved by tenor as well. */
function marketOf(
  { spot, volatility, rate, dividend, fx, credit, rateVolatility }: Numbers,
  tilts: Tilts = {},
): object {
  const asset = (name: string, currency: string, own: object | number) => ({
    spot: spot[name],
    currency,
    volatility: own,
    dividends: { yield: dividend[name], discrete: [{ date: 0.4, cash: 0.01 * TODAY.spot[name] }] },
  });
  // Between a year and five, z·t is linear; the forward rate after five is that before.
  const zeroAt = (level: number, t: number): number => {
    const [first, last] = [
      { time: 1, zero: level - 0.002 },
      { time: TENORS["5Y"], zero: level + 0.003 },
    ];
    const slope = (last.zero * last.time - first.zero) / (last.time - first.time);
    return t <= 1 ? first.zero : (first.zero + slope * (t - 1)) / t;
  };
  const zeros = (level: number, currency = "") =>
    Object.entries({ ...TENORS, "40Y": 14_610 / 365 }).map(([date, t]) => ({
      date,
      zero: zeroAt(level, t) + zeroMove(tilts[currency] ?? {}, t),
    }));
  const flat = (name: string) => volatility[name];
  const v = volatility["HEST"];
  return {
    curves: {
      "EUR-ESTR": { index: "ESTR", zeros: zeros(rate["EUR"], "EUR") },
      "USD-SOFR": { index: "SOFR", zeros: zeros(rate["USD"], "USD") },
      ISSUER: { currency: "EUR", recovery: 0.4, zeros: zeros(credit["ISSUER"]) },
    },
    rates: {
      EUR: { discount: "EUR-ESTR" },
      USD: { discount: "USD-SOFR" },
      CHF: { hullWhite: { curve: zeros(rate["CHF"], "CHF"), meanReversion: 0.1, volatility: rateVolatility["CHF"] } },
    },
    fx: { EURUSD: { rate: fx["EURUSD"], date }, USDCHF: { rate: fx["USDCHF"], date } },
    underlyings: {
      SAP: asset("SAP", "EUR", flat("SAP")),
      BETA: asset("BETA", "EUR", flat("BETA")),
      HEST: asset("HEST", "EUR", { heston: { v0: v * v, kappa: 2, theta: 0.06, sigma: 0.4, rho: -0.6 } }),
      TREE: { ...asset("TREE", "USD", flat("TREE")), dividends: { yield: dividend["TREE"] } },
      EURUSD: { fx: "EURUSD", volatility: volatility["EURUSD"] },
    },
    credit: { TREE: { spread: [{ date: "10Y", spread: credit["TREE"] }] } },
    correlations: [
      ["SAP", "BETA", 0.4],
      ["TREE", "EURUSD", -0.2],
    ],
  };
}

/** The volatility of a trade's own, which moves as that of its underlying does. */
function ownVolatility({ volatility }: Numbers): number {
  return volatility["BETA"] + 0.1;
}

const option = (id: string, underlying: string, more: object) => ({
  id,
  underlying,
  payoff: "put",
  strike: TODAY.spot[underlying] ?? 1.1,
  expiry: 0.75,
  ...more,
});
const barrier = (type: string, level: number) => ({ barriers: [{ type, level }] });
const average = { kind: "arithmetic", dates: [0.25, 0.5, 0.75] };
const script = { events: [{ on: "dates", do: "pay(max(S - 95, 0) * 0.1)" }] };

/** A trade of many kinds; those that are quick to price come first. */
const QUICK: readonly object[] = [
  option("european", "SAP", { payoff: "call" }),
  option("american", "SAP", { exercise: "american" }),
  option("digital", "BETA", { payoff: { digital: "call", cash: 3 } }),
  option("knock-out", "SAP", barrier("down-and-out", 75)),
  option("american knock-in", "BETA", { ...barrier("up-and-in", 55), exercise: "american" }),
  option("own volatility", "BETA", { volatility: ownVolatility(TODAY), exercise: "american" }),
  option("heston", "HEST", { payoff: "call" }),
  option("pair", "EURUSD", { payoff: "call", expiry: "2027-08-20" }),
  option("quanto", "TREE", { quanto: "EUR", expiry: "2027-08-20" }),
  { id: "forward", underlying: "SAP", forward: 99, expiry: 1 },
  { id: "swap", swap: { end: "5Y", notional: 100, pay: { rate: 0.025 }, receive: { index: "ESTR" } } },
  { id: "fx forward", fxForward: { pair: "EURUSD", amount: 100, rate: 1.12, delivery: "2027-11-24" } },
  { id: "cds", cds: { curve: "ISSUER", end: "5Y", notional: 100, coupon: 0.01 } },
  { id: "bond", currency: "CHF", bond: { maturity: 5, coupon: 0.02, frequency: 1, notional: 100 } },
  {
    id: "swaption",
    currency: "CHF",
    swaption: "payer",
    strike: 0.015,
    expiry: 2,
    swap: { start: 2, end: 6, frequency: 1, notional: 100 },
  },
];
const straight = { maturity: 4, coupon: 0.03, frequency: 1, notional: 100, ratio: 1.5 };
const SLOW: readonly object[] = [
  option("heston american", "HEST", { exercise: "american" }),
  { id: "basket", underlyings: ["SAP", "BETA"], payoff: { worstOf: "put" }, strike: 60, expiry: 0.5 },
  option("asian", "SAP", { payoff: "call", average }),
  { id: "script", underlying: "SAP", script, data: { dates: [0.5, 1] } },
  {
    id: "convertible",
    underlying: "TREE",
    convertible: { ...straight, conversion: "american" },
  },
];

type Moves = Readonly<Partial<Record<keyof Numbers, Readonly<Record<string, number | ByTenor>>>>>;

/** The sizes of moves, and the factors that they multiply. */
const SIZES = {
  spot: 0.3,
  volatility: 0.06,
  rate: 0.015,
  dividend: 0.01,
  fx: 0.1,
  credit: 0.01,
  rateVolatility: 0.004,
};
const isRelative = (kind: keyof Numbers): boolean => kind === "spot" || kind === "fx";

const moveOf = (moves: Moves, kind: keyof Numbers, name: string): number | ByTenor =>
  moves[kind]?.[name] ?? moves[kind]?.["*"] ?? 0;

/** Returns the moves of rates by tenor. */
const tiltsOf = (moves: Moves): Tilts =>
  Object.fromEntries(
    Object.keys(TODAY.rate).flatMap((name) => {
      const move = moveOf(moves, "rate", name);
      return typeof move === "number" ? [] : [[name, move]];
    }),
  );

/** Returns the numbers of a market that has moved. */
function moved(moves: Moves): Numbers {
  const own = (kind: keyof Numbers) =>
    Object.entries(TODAY[kind]).map(([name, value]) => {
      const move = moveOf(moves, kind, name);
      const by = typeof move === "number" ? move : 0;
      return [name, isRelative(kind) ? value * (1 + by) : value + by];
    });
  return Object.fromEntries(KINDS.map((kind) => [kind, Object.fromEntries(own(kind))])) as object as Numbers;
}

async function priced(
  market: object,
  trades: readonly object[],
  more: object = {},
  batchSize?: number,
): Promise<readonly PricedTrade[]> {
  const book = readBook({ asOf: ASOF, market, trades, ...more });
  const { results } = await priceBook(book, {
    device,
    greeks: "none",
    ...(batchSize === undefined ? {} : { batchSize }),
  });
  return results.map((result) => {
    if (result.status === "error") throw new Error(result.error.message);
    return result;
  });
}

/** Some moves of a few factors by name, with a move of all others now and then. */
const someMoves: fc.Arbitrary<Moves> = fc.record(
  Object.fromEntries(
    KINDS.map((kind) => {
      const size = fc.integer({ min: -8, max: 8 }).map((part) => (part / 8) * SIZES[kind]);
      const names = [...Object.keys(TODAY[kind]), "*"];
      const tenors = fc.constantFrom(...Object.keys(TENORS));
      const byTenor = fc.dictionary(tenors, size, { minKeys: 1, maxKeys: 4 }) as fc.Arbitrary<ByTenor>;
      const move = kind === "rate" ? fc.oneof(size, byTenor) : size;
      return [kind, fc.dictionary(fc.constantFrom(...names), move, { maxKeys: 3 })];
    }),
  ),
  { requiredKeys: [] },
);

/** Prices trades under scenarios, and compares each value with that of a book whose market has moved. */
async function check(trades: readonly object[], all: readonly Moves[], batchSize?: number): Promise<void> {
  const scenarios = all.map((moves, s) => ({ name: `s${s}`, moves }));
  const results = await priced(marketOf(TODAY), trades, { scenarios }, batchSize);
  for (const [s, moves] of all.entries()) {
    const then = moved(moves);
    const withOwn = trades.map((trade) =>
      "volatility" in trade ? { ...trade, volatility: ownVolatility(then) } : trade,
    );
    const alone = await priced(marketOf(then, tiltsOf(moves)), withOwn);
    results.forEach(({ id, scenarioValues, scenarioValueErrorEstimates: errors }, i) => {
      const rounding = 1e-9 * (1 + Math.abs(alone[i].value));
      const allowed = errors![s]! + alone[i].errorEstimate + rounding;
      expect(Math.abs(scenarioValues![s]! - alone[i].value), `${id} under ${JSON.stringify(moves)}`).toBeLessThan(
        allowed,
      );
    });
  }
}

describe("values under named scenarios are those of books in moved markets", () => {
  test("options, forwards, swaps, pairs, credit and rates", { timeout: 120_000 }, async () => {
    const books = fc.record({
      trades: fc.subarray([...QUICK], { minLength: 3, maxLength: 7 }),
      all: fc.array(someMoves, { minLength: 1, maxLength: 4 }),
      batchSize: fc.constantFrom(undefined, 2),
    });
    const run = fc.asyncProperty(books, ({ trades, all, batchSize }) => check(trades, all, batchSize));
    await fc.assert(run, { numRuns: 5 });
  });

  test("several factors, paths, scripts and convertibles", { timeout: 240_000 }, async () => {
    const run = fc.asyncProperty(
      fc.shuffledSubarray([...SLOW], { minLength: 2, maxLength: 2 }),
      someMoves,
      (trades, one) => check(trades, [one, { spot: { SAP: -0.1 } }, { spot: { SAP: 0.05, BETA: 0.1 } }]),
    );
    await fc.assert(run, { numRuns: 2 });
  });

  test("the moves of all names at once are those of the axes, at later dates too", async () => {
    const trades = [...QUICK].filter((trade) => !("cds" in trade));
    const [time, spot, volatility, rate] = [0.3, -0.06, 0.004, 0.007];
    const axes = { time: [time], spot: [spot], volatility: [volatility], rate: [rate] };
    const market = marketOf(TODAY);
    const ladder = await priced(market, trades, { scenarios: axes });
    const moves = {
      time,
      spot: { "*": spot },
      fx: { "*": spot },
      volatility: { "*": volatility },
      rateVolatility: { "*": volatility },
      // Equal moves at all maturities are a parallel one.
      rate: { "*": rate, EUR: { "6M": rate, "2Y": rate } },
    };
    const named = await priced(market, trades, { scenarios: [{ name: "all", moves }] });
    named.forEach(({ id, scenarioValues, scenarioValueErrorEstimates: errors }, i) => {
      const { scenarios, scenarioErrorEstimates } = ladder[i];
      const value = scenarios![0][0][0][0]!;
      const allowed = errors![0]! + scenarioErrorEstimates![0][0][0]! + 1e-9 * (1 + Math.abs(value));
      expect(Math.abs(scenarioValues![0]! - value), `${id}: ${value}`).toBeLessThan(allowed);
    });
  });
});

test(
  "a move to below zero is one to zero: of volatilities, spreads and hazard rates",
  { timeout: 120_000 },
  async () => {
    const kinds = ["volatility", "rateVolatility", "credit"] as const;
    const hazard = { TREE: { hazard: TODAY.credit["TREE"], recovery: 0.4, jump: 1 } };
    const tree = SLOW.at(-1)!;
    const bond = { ...tree, id: "bond", convertible: { ...straight, conversion: "none" } };
    const books: readonly (readonly [object, readonly object[]])[] = [
      [marketOf(TODAY), [...QUICK, tree, { ...bond, id: "straight" }]],
      [{ ...marketOf(TODAY), credit: hazard }, [tree, bond]],
    ];
    for (const [market, trades] of books) {
      const scenarios = kinds.flatMap((kind) =>
        [-1, -3].map((by) => ({ name: `${kind} ${by}`, moves: { [kind]: { "*": by } } })),
      );
      for (const { id, scenarioValues, warnings } of await priced(market, trades, { scenarios })) {
        expect(scenarioValues, `${id}: ${warnings.join("; ")}`).not.toContain(null);
        kinds.forEach((kind, k) => {
          expect(scenarioValues![2 * k + 1], `${kind} of ${id}`).toBe(scenarioValues![2 * k]);
        });
      }
    }
  },
);

test("a volatility that cannot move leaves trades alone that do not take it", async () => {
  const [forward, own, shared] = [
    { id: "forward", underlying: "HEST", forward: 82, expiry: 1 },
    option("own", "HEST", { payoff: "call", volatility: 0.2 }),
    option("shared", "HEST", {}),
  ];
  // Heston's volatility does not move by expiry, and has no quotes; a number moves by expiry.
  const byExpiry = { HEST: { "1Y": 0.05 } };
  const scenarios = [
    { name: "by expiry", moves: { volatility: byExpiry } },
    { name: "and in spot", moves: { volatility: byExpiry, spot: { HEST: 0.1 }, rate: { EUR: 0.01 } } },
    { name: "skew", moves: { skew: { "*": -0.1 } } },
  ];
  const results = await priced(marketOf(TODAY), [forward, own, shared], { scenarios });
  const then = moved({ spot: { HEST: 0.1 }, rate: { EUR: 0.01 } });
  const alone = await priced(marketOf(then), [forward, { ...own, volatility: 0.25 }]);
  expect(results[0].scenarioValues).toEqual([results[0].value, alone[0].value, results[0].value]);
  const errors = results[1].scenarioValueErrorEstimates![1]! + alone[1].errorEstimate;
  expect(Math.abs(results[1].scenarioValues![1]! - alone[1].value)).toBeLessThan(errors + 1e-9);
  expect(results[2].scenarioValues).toEqual([null, null, null]);
});

test("a table has the scenarios of a book, by maturity too", () => {
  const scenarios = [
    { name: "a", moves: { rate: { EUR: { "5Y": 0.01, "1Y": 0.02 }, "*": -0.01 }, spot: { SAP: 0.1 } } },
    { name: "b", moves: { rate: { EUR: 0.03 } } },
  ];
  const book = readBook({ asOf: ASOF, market: marketOf(TODAY), trades: [], scenarios });
  const columns = ["rate.EUR.5Y", "name", "rate.*", "spot.SAP", "rate.EUR.1Y", "rate.EUR"];
  const rows = [
    [0.01, "a", -0.01, 0.1, "0.02", ""],
    ["", "b", "", null, "", 0.03],
  ];
  const table = scenariosOfRows({ columns, rows }, book);
  const factors = ["EUR", "USD"].flatMap((of) =>
    [undefined, 1, 1826 / 365].map((at) => ({ kind: "rate", of, at }) as const),
  );
  for (const factor of factors) expect(columnOf(table, factor)).toEqual(columnOf(book.scenarioTable!, factor));
  const [eur, year, , usd, usdYear] = factors.map((factor) => [...columnOf(table, factor)]);
  expect([eur, year, usd, usdYear]).toEqual([
    [0, 0.03],
    [0.02, NaN],
    [-0.01, 0],
    [NaN, NaN],
  ]);
});

test("values do not depend on the order of scenarios and trades, nor on scenarios of other names", async () => {
  const scenarios = [
    { name: "a", moves: { spot: { SAP: -0.1 }, rate: { EUR: 0.01 } } },
    { name: "b", moves: { spot: { SAP: 0.1 } } },
    { name: "c", moves: { spot: { SAP: 0.2 } } },
    { name: "d", moves: { volatility: { SAP: 0.02 } } },
  ];
  const other = { name: "other", moves: { spot: { HEST: -0.4 }, credit: { ISSUER: 0.01 } } };
  const trades = QUICK.slice(0, 5);
  const market = marketOf(TODAY);
  const one = await priced(market, trades, { scenarios });
  const two = await priced(market, trades.toReversed(), { scenarios: [other, ...scenarios.toReversed()] });
  one.forEach((result, i) => {
    const { value, scenarioValues } = two[trades.length - 1 - i];
    expect(scenarioValues![0]).toBe(value);
    result.scenarioValues!.forEach((each, s) => {
      const allowed = 2 * result.scenarioValueErrorEstimates![s]! + 1e-9;
      expect(Math.abs(scenarioValues![4 - s]! - each!)).toBeLessThan(allowed);
    });
  });
});

test("totals are sums over trades, in each group of trades too", async () => {
  const trades = QUICK.slice(0, 3).map((trade, i) => ({ ...trade, quantity: i - 1 }));
  const scenarios = [{ name: "down", moves: { spot: { "*": -0.1 } } }];
  const book = readBook({ asOf: ASOF, market: marketOf(TODAY), trades, scenarios });
  const { totals, results, scenarioNames } = await priceBook(book, { device, greeks: "none" });
  const sum = results.reduce((all, result, i) => all + (i - 1) * (result as PricedTrade).scenarioValues![0]!, 0);
  expect(totals[0].scenarioValues![0]).toBeCloseTo(sum, 12);
  expect(scenarioNames).toEqual(["down"]);
});

describe("what cannot be used is an error with its place and what works", () => {
  const read = (moves: object, more: object = {}) =>
    parseBook({
      asOf: ASOF,
      market: marketOf(TODAY),
      trades: [],
      scenarios: [{ name: "a", moves, ...more }],
    } as object as BookInput);
  test.each([
    [{ spot: { SAQ: 0.1 } }, 'scenarios[0].moves.spot.SAQ: no spot of "SAQ" (did you mean "SAP"?)'],
    [{ spot: { EURUSD: 0.1 } }, 'no spot of "EURUSD"; "EURUSD" has a volatility'],
    [{ rate: { XXX: 0.1 } }, "known are EUR, USD, CHF"],
    [{ credit: { ISSUE: 0.1 } }, '(did you mean "ISSUER"?)'],
    [{ spot: { SAP: { by: -100 } } }, 'expected a move that leaves "SAP" above 0, which is 100 today'],
    [{ spot: { "*": { to: 100 } } }, "expected a relative move of every spot"],
    [{ time: "2026-11-19" }, "scenarios[0].moves.time: expected a date from asOf"],
    [{ rate: { EUR: { "2027-03-19": 0.01 } } }, 'scenarios[0].moves.rate.EUR["2027-03-19"]: expected a tenor such as'],
    [{ rate: { EUR: { "2Y": 0.01, "24M": 0.02 } } }, 'moves.rate.EUR["24M"]: the scenario moves this already'],
    [{ dividend: { SAP: { "1Y": 0.01 } } }, "scenarios[0].moves.dividend.SAP: expected an absolute move"],
    [{ sopt: {} }, 'unknown field (did you mean "spot"?)'],
  ])("%j", (moves, message) => {
    expect(() => read(moves)).toThrow(message);
  });
  test("two scenarios of one name", () => {
    const scenarios = [0, 1].map(() => ({ name: "a", moves: {} }));
    expect(() => readBook({ asOf: ASOF, market: marketOf(TODAY), trades: [], scenarios })).toThrow(
      'scenarios[1].name: another scenario has the name "a"',
    );
  });
});
