/** Tags: what a table or a book says of its trades beside their terms, and totals by them. */
import { parquetWriteBuffer } from "hyparquet-writer";
import { describe, expect, test } from "vitest";
import {
  labelsOf,
  type ParsedTrade,
  readBook,
  readCsv,
  readHeader,
  readParquet,
  Totals,
  unreadResult,
} from "../../src/book/index.ts";
import { BookError } from "../../src/base/errors.ts";
import { asOf, book, market, pieces, trade } from "./books.ts";
import { onUnderlyings } from "../support/on-underlyings.ts";

const header = () => readHeader({ asOf, market: market() });
const HEAD = "id,underlying,payoff,strike,expiry";

async function csv(text: string, keep: readonly string[] = []): Promise<{ tags: unknown; trades: ParsedTrade[] }> {
  const stream = await readCsv(pieces(text, 7), header(), { keep });
  const trades: ParsedTrade[] = [];
  for await (const one of stream.trades) trades.push(one);
  return { tags: stream.tags, trades };
}

const tagsOf = (parsed: ParsedTrade): unknown => (parsed.ok ? parsed.trade.tags : parsed.tags);

describe("tags", () => {
  test("of JSON are texts and numbers, and anything else is an error of its trade", () => {
    const { trades } = readBook(
      book(
        trade({ tags: { desk: "Paris", row: 7 } }),
        trade({ id: "T2", tags: { desk: true } }),
        trade({ id: "T3", tags: { desk: "Rome" }, strike: -1 }),
        trade({ id: "T4" }),
      ),
    );
    expect(trades.map(tagsOf)).toEqual([{ desk: "Paris", row: 7 }, undefined, { desk: "Rome" }, undefined]);
    expect(trades[1].ok ? "" : trades[1].error.message).toBe(
      'trades[1].tags: expected an object of texts and numbers, { "desk": "Paris" }, got an object',
    );
    expect(trades[2].ok ? undefined : unreadResult(trades[2])).toMatchObject({ id: "T3", tags: { desk: "Rome" } });
  });

  test("are the columns of CSV that say so, or that are kept, as text", async () => {
    const rows = `${HEAD},tag.book,desk,__proto__\nA,ACME,put,100,1,007,Paris,x\nB,ACME,put,0,1,,"Rome, south",\n`;
    const { tags, trades } = await csv(rows, ["desk", "__proto__"]);
    expect(tags).toEqual(["book", "desk", "__proto__"]);
    expect(JSON.stringify(tagsOf(trades[0]))).toBe('{"book":"007","desk":"Paris","__proto__":"x"}');
    expect(trades[1]).toMatchObject({ ok: false, id: "B", tags: { desk: "Rome, south" } });
  });

  test("of Parquet have the types of their columns", async () => {
    const file = parquetWriteBuffer({
      columnData: [
        { name: "id", data: ["A"] },
        { name: "underlying", data: ["ACME"] },
        { name: "payoff", data: ["put"] },
        { name: "strike", data: [100], type: "DOUBLE" },
        { name: "expiry", data: ["6M"] },
        { name: "portfolio", data: [12], type: "INT32" },
        { name: "tag.hedged", data: [true], type: "BOOLEAN" },
      ],
    });
    const { tags, trades } = await readParquet(file, header(), { keep: ["portfolio"] });
    expect(tags).toEqual(["portfolio", "hedged"]);
    for await (const one of trades) expect(tagsOf(one)).toEqual({ portfolio: 12, hedged: "true" });
  });

  test.each([
    [
      [],
      /^line 1: unknown columns "ticker", "desk"; to carry them to the results, --keep ticker,desk, or a name such as "tag\.ticker"/,
    ],
    [["desk"], /unknown column "ticker"/],
    [["desk", "tikcer"], /no column "tikcer" to keep \(did you mean "ticker"\?\)/],
    [["desk", "ticker", "strike"], /cannot keep "strike" as a tag: it is a term of the trade/],
  ])("keeping %j of two further columns is an error that says what to do", async (keep, message) => {
    await expect(csv(`${HEAD},ticker,desk\n`, keep)).rejects.toThrow(BookError);
    await expect(csv(`${HEAD},ticker,desk\n`, keep)).rejects.toThrow(message);
  });
});

test("totals by tags, underlyings and currencies: Σ quantity × value of each group", () => {
  const { trades } = readBook(
    book(
      trade({ id: "A", quantity: 2, tags: { desk: "Paris" } }),
      trade({ id: "B", quantity: -3, tags: { desk: "Rome" } }),
      trade({ id: "C", quantity: 5, tags: { desk: "Paris" } }),
      trade({ id: "D" }),
    ),
  );
  const groupsBy = (...groupBy: string[]) => {
    const totals = new Totals({ groupBy });
    trades.forEach((parsed, i) => {
      if (!parsed.ok) throw parsed.error;
      totals.add(parsed.trade, {
        id: parsed.trade.id,
        ...labelsOf(parsed.trade),
        status: "ok",
        value: 10 ** i,
        delta: 0,
        gamma: 0,
        theta: 0,
        vega: null,
        rho: 0,
        errorEstimate: 0.5,
        method: "fdm",
        precision: "f64",
        backend: "cpu",
        warnings: [],
      });
    });
    return totals.groups.map(({ group, trades: count, value, underlyings: [{ vega }], errorEstimate, currency }) => {
      expect([vega, currency]).toEqual([null, "EUR"]);
      return [group, count, value, errorEstimate];
    });
  };
  expect(groupsBy("desk")).toEqual([
    [{ desk: "Paris" }, 2, 502, 3.5],
    [{ desk: "Rome" }, 1, -30, 1.5],
    [{ desk: null }, 1, 1000, 0.5],
  ]);
  expect(groupsBy("underlying", "tag.desk").map(([group]) => group)).toEqual([
    { underlying: "ACME", "tag.desk": "Paris" },
    { underlying: "ACME", "tag.desk": "Rome" },
    { underlying: "ACME", "tag.desk": null },
  ]);
  expect(groupsBy("currency")).toEqual([[{ currency: "EUR" }, 4, 1472, 5.5]]);
  expect(groupsBy()).toEqual([]);
});

test("a group of trades in two currencies is two groups, one of each currency", () => {
  const totals = new Totals({ groupBy: ["desk"] });
  const market = {
    rates: { EUR: 0.03, USD: 0.04 },
    underlyings: {
      ACME: { spot: 100, currency: "EUR", volatility: 0.2 },
      BETA: { spot: 100, currency: "USD", volatility: 0.2 },
    },
  };
  const trades = [
    trade({ id: "A", tags: { desk: "Paris" } }),
    trade({ id: "B", underlying: "BETA", tags: { desk: "Paris" } }),
  ];
  for (const parsed of readBook({ asOf, market, trades }).trades) {
    if (!parsed.ok) throw parsed.error;
    const numbers = { value: 7, delta: 0, gamma: 0, theta: 0, vega: null, rho: 0, errorEstimate: 0.5 };
    totals.add(parsed.trade, {
      id: parsed.trade.id,
      ...labelsOf(parsed.trade),
      status: "ok",
      ...numbers,
      method: "fdm",
      precision: "f64",
      backend: "cpu",
      warnings: [],
    });
  }
  expect(totals.groups.map(({ group, currency, value }) => [group, currency, value])).toEqual([
    [{ desk: "Paris" }, "EUR", 7],
    [{ desk: "Paris" }, "USD", 7],
  ]);
});

describe("flat columns", () => {
  test.each([
    [
      "volatility.heston.v0,volatility.heston.kappa,volatility.heston.theta,volatility.heston.sigma,volatility.heston.rho",
      "0.04,1.5,0.05,0.3,-0.7",
      { volatility: { heston: { v0: 0.04, kappa: 1.5, theta: 0.05, sigma: 0.3, rho: -0.7 } } },
    ],
    [
      "volatility.sabr.alpha,volatility.sabr.beta,volatility.sabr.nu,volatility.sabr.rho",
      "0.3,0.5,0.4,-0.2",
      { volatility: { sabr: { alpha: 0.3, beta: 0.5, nu: 0.4, rho: -0.2 } } },
    ],
    [
      "volatility.gaussianFactors.alpha,volatility.gaussianFactors.sigma,volatility.gaussianFactors.rho",
      '"[1,2]","[0.2,0.3]",0.1',
      { volatility: { gaussianFactors: { alpha: [1, 2], sigma: [0.2, 0.3], rho: 0.1 } } },
    ],
    [
      "average.kind,average.dates,average.past.count,average.past.mean",
      'arithmetic,"[0.5,1]",2,99',
      { average: { kind: "arithmetic", dates: [0.5, 1], past: { count: 2, mean: 99 } } },
    ],
    ["average.kind,average.dates", "geometric,continuous", { average: { kind: "geometric", dates: "continuous" } }],
    [
      "lookback.strike,lookback.monitoring,lookback.from,lookback.extremum",
      "fixed,continuous,0,120",
      { lookback: { strike: "fixed", monitoring: "continuous", from: 0, extremum: 120 } },
    ],
    ["swing.dates,swing.min,swing.max", '"[""6M"",""1Y""]",1,2', { swing: { dates: ["6M", "1Y"], min: 1, max: 2 } }],
    ["swing", '"{""dates"":[0.5,1],""max"":1}"', { swing: { dates: [0.5, 1], max: 1 } }],
  ])("%s say what JSON says", async (columns, cells, fields) => {
    const {
      trades: [read],
    } = await csv(`${HEAD},${columns}\nA,ACME,call,100,1,${cells}\n`);
    const [written] = readBook(book(trade({ id: "A", payoff: "call", ...fields }))).trades;
    const [one, other] = [onUnderlyings(read), onUnderlyings(written)];
    expect(one.payoff).toEqual(other.payoff);
    expect(one.volatility).toEqual(other.volatility);
  });
});
