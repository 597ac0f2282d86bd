/** The reporting currency: totals and results in one currency, and sensitivities to exchange rates. */
import * as fc from "fast-check";
import { parquetReadObjects } from "hyparquet";
import { afterAll, describe, expect, test } from "vitest";
import { type BookReport, type PricedTrade, readBook, type ReportingTotals, Totals } from "../../src/book/index.ts";
import { createCpuDevice } from "../../src/device/cpu/index.ts";
import { groupWriter } from "../../src/output/formats/index.ts";
import { priceBook } from "../../src/pricing/index.ts";
import { batchesOf, readMessages } from "../output/read-arrow.ts";

const device = createCpuDevice({ threads: 1 });
afterAll(() => device[Symbol.dispose]());

const RATES = { EUR: 0.02, USD: 0.04, GBP: 0.035, JPY: 0.005 };
/** The years until the spot date of all pairs. */
const LAG = 4 / 365;
const date = "2026-11-24";
const SPOTS = { EURUSD: 1.16, EURGBP: 0.87, USDJPY: 155 };
const fxOf = (spots: object) => Object.fromEntries(Object.entries(spots).map(([pair, rate]) => [pair, { rate, date }]));
const MARKET = {
  reporting: "EUR",
  rates: RATES,
  fx: fxOf(SPOTS),
  underlyings: {
    SAP: { spot: 240, currency: "EUR", volatility: 0.24 },
    IBM: { spot: 300, currency: "USD", volatility: 0.26 },
    BP: { spot: 4.5, currency: "GBP", volatility: 0.3 },
    SONY: { spot: 4000, currency: "JPY", volatility: 0.35 },
    EURUSD: { fx: "EURUSD", volatility: 0.09 },
    GBPJPY: { fx: "GBPJPY", volatility: 0.11 },
  },
  correlations: [["IBM", "EURUSD", 0.2]],
};
const asOf = "2026-11-20";
const option = (underlying: string, strike: number) => ({ underlying, payoff: "call", strike, expiry: 1 });
const ends = (rate: number, notional: number, currency: string) => ({
  rate,
  notional,
  currency,
  exchange: "ends",
  every: "1Y",
});
const swap = { end: "3Y", pay: ends(0.04, 1160, "USD"), receive: ends(0.02, 1000, "EUR") };

const TRADES = [
  option("SAP", 250),
  { ...option("IBM", 290), payoff: "put", exercise: "american" },
  option("BP", 5),
  option("SONY", 4100),
  option("EURUSD", 1.2),
  { ...option("GBPJPY", 205), payoff: "put" },
  { ...option("IBM", 260), composite: { currency: "EUR" } },
  { ...option("IBM", 300), quanto: { currency: "EUR" } },
  { underlying: "IBM", forward: 310, expiry: 0.5 },
  { fxForward: { pair: "EURUSD", amount: 1000, rate: 1.15, delivery: "2027-11-19" } },
  { fxForward: { pair: "USDJPY", amount: -500, rate: 150, delivery: "2027-06-18" } },
  { swap: { ...swap, currency: "USD" } },
  { swap: { ...swap, receive: ends(0.03, 870, "GBP"), currency: "JPY" } },
].map((trade, i) => ({ id: `T${i}`, ...trade }));

/** Numbers of a generator with period 2³², in [0, 1). */
function random(seed: number): () => number {
  let state = seed;
  return () => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0) / 2 ** 32;
}

const priced = (trades: readonly object[], market: object = {}, more: object = {}): Promise<BookReport> =>
  priceBook(readBook({ asOf, market: { ...MARKET, ...market }, trades, ...more }), { device });

async function results(trades: readonly object[], market: object = {}): Promise<readonly PricedTrade[]> {
  return (await priced(trades, market)).results.map((result) => {
    if (result.status === "error") throw new Error(result.error.message);
    return result;
  });
}

/** The value of a unit of each currency in euros today: money on the spot date, discounted in both currencies. */
function eurosOf(currency: keyof typeof RATES): number {
  const today = (pair: number, base: number, quote: number): number => pair * Math.exp((base - quote) * LAG);
  const { EUR, USD, GBP, JPY } = RATES;
  const dollar = 1 / today(SPOTS.EURUSD, EUR, USD);
  return { EUR: 1, USD: dollar, GBP: 1 / today(SPOTS.EURGBP, EUR, GBP), JPY: dollar / today(SPOTS.USDJPY, USD, JPY) }[
    currency
  ];
}

describe("totals in the reporting currency", () => {
  test("are sums of quantity × value × exchange rate, whatever the book's order and the trades' company", async () => {
    const next = random(7);
    const alone = new Map((await results(TRADES)).map((result) => [result.id, result]));
    for (let draw = 0; draw < 8; draw++) {
      const trades = TRADES.filter(() => next() < 0.6)
        .map((trade) => ({
          ...trade,
          quantity: Math.round(200 * next() - 100),
          tags: { desk: next() < 0.5 ? "A" : "B" },
        }))
        .map((trade) => [next(), trade] as const)
        .toSorted(([a], [b]) => a - b)
        .map(([, trade]) => trade);
      const report = await priced(trades);
      let [sum, size] = [0, 0];
      for (const result of report.results) {
        if (result.status === "error") throw new Error(result.error.message);
        const own = result.quantity * result.value * eurosOf(result.currency as keyof typeof RATES);
        sum += own;
        size += Math.abs(own);
        expect(result.reporting).toEqual(alone.get(result.id)!.reporting);
      }
      expect(report.reporting?.trades ?? 0).toBe(trades.length);
      expect(Math.abs((report.reporting?.value ?? 0) - sum)).toBeLessThanOrEqual(1e-13 * size);
    }
  });

  test("of chunks of a book add up to those of the book", async () => {
    const { results: all, reporting } = await priced(TRADES);
    const parsed = readBook({ asOf, market: MARKET, trades: TRADES }).trades;
    const sums = new Totals();
    for (const part of [all.slice(0, 5), all.slice(5)]) {
      const own = new Totals();
      for (const result of part) {
        const found = parsed[all.indexOf(result)];
        own.add(found.ok ? found.trade : undefined, result);
      }
      sums.addReporting(own.reporting);
    }
    const { value, fxDelta } = sums.reporting!;
    expect(value).toBeCloseTo(reporting!.value, 9);
    expect(Object.keys(fxDelta).toSorted()).toEqual(Object.keys(reporting!.fxDelta).toSorted());
    for (const [pair, delta] of Object.entries(fxDelta)) expect(delta).toBeCloseTo(reporting!.fxDelta[pair]!, 7);
  });

  test("in scenarios are those of a book with moved spots and exchange rates", async () => {
    // A cross rate does not move where both of its pairs do.
    const trades = TRADES.filter(({ id }) => !["T1", "T5"].includes(id));
    const { reporting } = await priced(trades, {}, { scenarios: { spot: [-0.1, 0, 0.05] } });
    for (const [s, move] of [-0.1, 0, 0.05].entries()) {
      const underlyings = Object.fromEntries(
        Object.entries(MARKET.underlyings).map(([name, one]) => [
          name,
          "spot" in one ? { ...one, spot: one.spot * (1 + move) } : one,
        ]),
      );
      const spots = Object.fromEntries(Object.entries(SPOTS).map(([pair, spot]) => [pair, spot * (1 + move)]));
      const moved = await priced(trades, { underlyings, fx: fxOf(spots) });
      expect(reporting!.scenarios![0][s][0][0]).toBeCloseTo(moved.reporting!.value, 6);
    }
  });
});

test("rates of named scenarios are those of a book in the moved market, also where rates move by maturity", async () => {
  // Flat rates that move at these maturities, the first of which is before the spot date.
  const tenors = { "2D": 2 / 365, "3D": 3 / 365, "1Y": 1 } as const;
  const size = fc.integer({ min: -20, max: 20 }).map((percent) => percent / 100);
  const byTenor = fc.record({ "2D": size, "3D": size, "1Y": size });
  const ofRates = fc.record({ EUR: byTenor, USD: byTenor, GBP: size, "*": fc.oneof(size, byTenor) });
  const moves = fc.record({ rate: ofRates, fx: fc.record({ EURUSD: size, "*": size }) });
  const trades = TRADES.filter(({ id }) => ["T2", "T3", "T8", "T9", "T10"].includes(id));
  const run = fc.asyncProperty(fc.array(moves, { minLength: 1, maxLength: 3 }), async (all) => {
    const scenarios = all.map((one, s) => ({ name: `s${s}`, moves: one }));
    const named = await priced(trades, {}, { scenarios });
    for (const [s, { rate, fx }] of all.entries()) {
      const rates = Object.entries(RATES).map(([currency, level]) => {
        const by = rate[currency as keyof typeof rate] ?? rate["*"];
        if (typeof by === "number") return [currency, level + by];
        const nodes = (Object.keys(tenors) as (keyof typeof tenors)[]).map((at) => [tenors[at], level + by[at]]);
        // Beyond the last maturity forward rates move as the zero rate does there.
        return [currency, [...nodes, [2, level + by["1Y"]]].map(([time, zero]) => ({ date: time, zero }))];
      });
      const spots = Object.entries(SPOTS).map(([pair, spot]) => [
        pair,
        spot * (1 + (pair in fx ? fx.EURUSD : fx["*"])),
      ]);
      const alone = await priced(trades, { rates: Object.fromEntries(rates), fx: fxOf(Object.fromEntries(spots)) });
      named.results.forEach((result, i) => {
        const { reporting } = result as PricedTrade;
        const expected = (alone.results[i] as PricedTrade).reporting!.rate;
        expect(Math.abs(reporting!.scenarioValueRates![s] / expected - 1)).toBeLessThan(1e-14);
      });
      const { value, errorEstimate } = alone.reporting!;
      const allowed = named.reporting!.scenarioValueErrorEstimates![s]! + errorEstimate + 1e-9 * Math.abs(value);
      expect(Math.abs(named.reporting!.scenarioValues![s]! - value)).toBeLessThan(allowed);
    }
  });
  await fc.assert(run, { numRuns: 20 });
});

test("FX deltas are the slopes of values in the reporting currency by each quoted spot", async () => {
  const today = await results(TRADES);
  for (const [pair, spot] of Object.entries(SPOTS)) {
    const step = 1e-4 * spot;
    const at = async (by: number) => results(TRADES, { fx: fxOf({ ...SPOTS, [pair]: spot + by }) });
    const [up, down] = [await at(step), await at(-step)];
    today.forEach(({ id, reporting, errorEstimate }, i) => {
      const slope = (up[i].reporting!.value - down[i].reporting!.value) / (2 * step);
      // Central differences are exact to the second order, and to the rounding or noise of values.
      const tolerance =
        1e-6 * Math.max(Math.abs(slope), 1e-3 * Math.abs(reporting!.value)) + (1e-7 * errorEstimate) / step;
      expect([id, pair, Math.abs((reporting!.fxDelta[pair] ?? 0) - slope) <= tolerance]).toEqual([id, pair, true]);
    });
  }
});

test("a swap that is valued in the reporting currency has the same numbers as one that is reported in it", async () => {
  const [euro, dollar] = await results(
    ["EUR", "USD"].map((currency) => ({ id: currency, swap: { ...swap, currency } })),
  );
  for (const name of ["value", "theta", "rho"] as const) {
    expect(euro.reporting![name]).toBe(euro[name]);
    expect(dollar.reporting![name]).toBeCloseTo(euro[name]!, name === "theta" ? 6 : 9);
  }
  expect(dollar.reporting!.fxDelta["EURUSD"]).toBeCloseTo(euro.delta!, 8);
});

test("a missing exchange rate is an error of its trades, an unknown currency one of the book, a contradiction too", async () => {
  const { EURUSD, USDJPY } = SPOTS;
  const { GBPJPY: _, ...underlyings } = MARKET.underlyings;
  const report = await priced([TRADES[0], TRADES[2]], { fx: fxOf({ EURUSD, USDJPY }), underlyings });
  expect(report.results.map((result) => (result.status === "error" ? result.error.message : result.id))).toEqual([
    "T0",
    'trades[1]: no exchange rate leads from GBP to EUR; add "GBPEUR" to market.fx',
  ]);
  const read = (market: object) => () => readBook({ asOf, market: { ...MARKET, ...market }, trades: [TRADES[0]] });
  expect(read({ reporting: "EUT" })).toThrow('market.reporting: market.rates has no "EUT" (did you mean "EUR"?)');
  expect(read({ fx: fxOf({ ...SPOTS, EURJPY: 200 }) })).toThrow(/market\.fx\.\w+: [\d.]+ contradicts/);
});

describe("totals of groups", () => {
  const grouped = async () => {
    const trades = TRADES.map((trade, i) => ({ ...trade, tags: { desk: i % 3 === 0 ? "A" : "B" } }));
    const { trades: parsed } = readBook({ asOf, market: MARKET, trades });
    const totals = new Totals({ groupBy: ["desk"] });
    (await priced(trades)).results.forEach((result, i) => {
      const one = parsed[i];
      totals.add(one.ok ? one.trade : undefined, result);
    });
    return totals.report;
  };

  test("in CSV, Parquet and Arrow are one table, whose levels are those of the totals and never mixed", async () => {
    const report = await grouped();
    const { groups = [], reportingGroups = [] } = report;
    const bytesOf = async (format: "csv" | "parquet" | "arrow" | "ndjson"): Promise<Buffer> => {
      const writer = groupWriter(format, ["desk"]);
      const start = {
        asOf,
        device: { backend: "cpu", name: "none" },
        scenarios: undefined,
        sensitivityErrors: false,
      } as const;
      const parts = [await writer.begin(start), writer.rows([]), writer.end(report)];
      return Buffer.concat(parts.map((part) => Buffer.from(part)));
    };
    const bytes = await bytesOf("parquet");
    const file = new Uint8Array(bytes).buffer;
    const rows = (await parquetReadObjects({ file })) as Record<string, string | number | null>[];
    const at = (level: string) => rows.filter((row) => row["level"] === level);
    expect(at("currency")).toEqual(
      groups.map(({ group, currency, trades, value, cashDelta, theta, rho, errorEstimate }) => ({
        "group.desk": group["desk"],
        level: "currency",
        currency,
        underlying: null,
        trades,
        value,
        delta: null,
        gamma: null,
        vega: null,
        cashDelta,
        theta,
        rho,
        errorEstimate,
      })),
    );
    expect(at("underlying").map((row) => row["delta"])).toEqual(
      groups.flatMap(({ underlyings }) => underlyings.map(({ delta }) => delta)),
    );
    expect(at("reporting").map((row) => [row["currency"], row["value"]])).toEqual(
      reportingGroups.map(({ value }) => ["EUR", value]),
    );
    const deltas = ({ fxDelta }: ReportingTotals) => Object.entries(fxDelta);
    expect(at("fx").map((row) => [row["underlying"], row["delta"]])).toEqual(reportingGroups.flatMap(deltas));
    const types = Object.entries(rows[0]).map(([name, cell]) => ({
      name,
      type:
        typeof cell === "number" || (cell === null && name !== "underlying")
          ? ("number" as const)
          : ("string" as const),
    }));
    const arrow = batchesOf(readMessages((await bytesOf("arrow")).subarray(8)), types);
    expect(arrow).toEqual([rows]);
    const [head, ...lines] = (await bytesOf("csv")).toString().trimEnd().split("\n");
    expect(head).toBe(Object.keys(rows[0]).join(","));
    expect(lines).toEqual(
      rows.map((row) =>
        Object.values(row)
          .map((cell) => cell ?? "")
          .join(","),
      ),
    );
    const objects = (await bytesOf("ndjson")).toString().trimEnd().split("\n");
    expect(objects.map((line) => JSON.parse(line) as unknown)).toEqual([...groups, ...reportingGroups]);
  });

  test("in the reporting currency add up to the totals of the book", async () => {
    const { reporting, reportingGroups = [], groups = [] } = await grouped();
    expect(reportingGroups.reduce((sum, { value }) => sum + value, 0)).toBeCloseTo(reporting!.value, 9);
    expect(new Set(groups.map(({ currency }) => currency)).size).toBeGreaterThan(2);
  });
});
