/** Columns of tables: terms of trades by dotted paths, lists by semicolons, and columns of a desk's own. */
import { describe, expect, test } from "vitest";
import { type ColumnMap, readBook, readCsv, readHeader } from "../../src/book/index.ts";
import { pieces } from "./books.ts";

const asOf = "2026-11-20";
const market = {
  rates: { EUR: 0.03, USD: 0.04 },
  fx: { EURUSD: 1.1 },
  fixings: { "EURIBOR-6M": { "2026-11-18": 0.021 } },
  curves: { CREDIT: { currency: "EUR", recovery: 0.4, zeros: [{ date: "5Y", zero: 0.02 }] } },
  underlyings: {
    ACME: { spot: 100, currency: "EUR", volatility: 0.25 },
    BETA: { spot: 50, currency: "EUR", volatility: 0.3 },
    EURUSD: { fx: "EURUSD", volatility: 0.08 },
  },
  correlations: [["ACME", "EURUSD", 0.2]],
};
const option = { underlying: "ACME", payoff: "call", strike: 100, expiry: "2027-11-19" };
const basket = { underlyings: ["ACME", "BETA"], strike: 100, expiry: "2027-11-19" };
const schedule = { from: "2026-12-21", to: "2027-11-19", every: "1M", calendar: "TARGET", endOfMonth: true };
const leg = { index: "EURIBOR-6M", every: "6M", calendar: ["TARGET", "UK"], adjust: "following", stub: "short" };

const TRADES: readonly Readonly<Record<string, unknown>>[] = [
  { ...option, quantity: -3, tags: { desk: "Paris", row: "007" } },
  { ...option, exercise: ["2027-05-20", "2027-11-19"] },
  { ...option, exercise: { schedule } },
  { ...option, barriers: [{ type: "up-and-out", level: 140, rebate: 1, rebateAt: "hit", from: "2026-12-01" }] },
  {
    ...option,
    barriers: [
      { type: "down-and-out", level: 70, monitoring: { schedule } },
      { type: "up-and-out", level: 150, monitoring: ["2027-01-20", "2027-02-19"] },
    ],
  },
  { ...option, average: { kind: "arithmetic", dates: { schedule }, past: { count: 2, mean: 101 } } },
  { ...option, lookback: { strike: "fixed", monitoring: { schedule }, extremum: 90 } },
  { ...option, swing: { dates: { schedule: { ...schedule, endOfMonth: false } }, max: 3 } },
  { ...option, quanto: { currency: "USD", rate: 1.05 }, paymentLag: 2, paymentCalendar: ["TARGET", "UK"] },
  { ...option, composite: { currency: "USD" } },
  { ...option, strike: undefined, payoff: { touch: [80, 120], cash: 10, at: "expiry" } },
  { ...option, strike: undefined, payoff: { expression: "max(S - 100, 0)", kinks: [100] } },
  { ...basket, payoff: { basket: "call", weights: [0.5, 1] } },
  { swap: { end: "5Y", notional: [2e7, 1e7], pay: { rate: [0.02, 0.021], every: "1Y" }, receive: leg } },
  { swap: { start: "2026-11-20", end: "3Y", notional: 1e7, pay: { rate: 0.02, zeroCoupon: true }, receive: leg } },
  { fra: { index: "EURIBOR-6M", start: "3M", rate: 0.021, notional: 1e7, side: "pay" } },
  { note: { ...leg, end: "2Y", notional: 1e6, spread: 0.001, exchange: "ends" }, report: ["cashflows"] },
  { fxForward: { pair: "EURUSD", amount: 1e6, rate: 1.09, delivery: "2027-05-20" } },
  {
    cds: { curve: "CREDIT", start: "2026-09-21", end: "5Y", notional: 1e7, coupon: 0.01, side: "sell", recovery: 0.3 },
  },
  { cap: { index: "EURIBOR-6M", end: "3Y", notional: 1e6, adjust: "following" }, strike: 0.02, volatility: 0.2 },
  {
    swaption: "payer",
    swap: { index: "EURIBOR-6M", start: "2Y", end: "5Y", notional: 1e6, fixed: { every: "6M", dayCount: "30E/360" } },
    strike: 0.02,
    expiry: "2Y",
    volatility: 0.2,
  },
  { currency: "EUR", floor: { start: 0.5, end: 2.5, frequency: 2, notional: 100 }, strike: 0.02, volatility: 0.3 },
].map((terms, i) => ({ id: `T${i}`, ...terms }));

/** The cells of a trade by columns, as a person would write them. */
function cellsOf(value: unknown, path: string): readonly (readonly [name: string, cell: string])[] {
  if (Array.isArray(value) && path === "barriers")
    return value.flatMap((barrier, i) => cellsOf(barrier, i === 0 ? "barrier" : "barrier2"));
  if (Array.isArray(value)) return [[path, value.length === 1 ? `${value[0]};` : value.join("; ")]];
  if (typeof value === "object" && value !== null)
    return Object.entries(value).flatMap(([name, own]) =>
      cellsOf(own, (path === "" ? name : `${path}.${name}`).replace(/^tags\./, "tag.")),
    );
  return value === undefined ? [] : [[path, `${value as string | number | boolean}`]];
}

async function read(text: string, map?: ColumnMap, keep?: readonly string[]) {
  const stream = await readCsv(pieces(text, 50), readHeader({ asOf, market }), { map, keep });
  const trades = [];
  for await (const parsed of stream.trades) trades.push(parsed.ok ? parsed.trade : parsed.error.message);
  return trades;
}

const written = (...trades: readonly object[]) =>
  readBook({ asOf, market, trades }).trades.map((parsed) => (parsed.ok ? parsed.trade : parsed.error.message));

test("no trade needs JSON in its cells: columns by dotted paths are the trades of a JSON book", async () => {
  const rows = TRADES.map((trade) => new Map(cellsOf(trade, "")));
  const names = [...new Set(rows.flatMap((row) => [...row.keys()]))];
  const lines = rows.map((row) => names.map((name) => `"${row.get(name) ?? ""}"`).join(","));
  const trades = await read([names.join(","), ...lines, ""].join("\n"));
  expect(written(...TRADES).filter((one) => typeof one === "string")).toEqual([]);
  // Where a formula was written is not the same, of course.
  const without = (trade: unknown) => ({
    ...(trade as { payoff?: object }),
    payoff: { ...Object(trade).payoff, place: "" },
  });
  expect(trades.map(without)).toEqual(written(...TRADES).map(without));
});

describe("columns of a desk", () => {
  const head = "TradeRef,Underlying,CallPut,Strike,Maturity,Style,BarrierType,BarrierLevel,Side,Comment,desk";
  const rows =
    "A,ACME,C,100,2027-11-19,European,up-and-out,140,Sell,x,Paris\nB,ACME,p,90,2027-11-19,AMERICAN,,,buy,,Rome\n";
  const map = {
    TradeRef: "id",
    Underlying: "underlying",
    CallPut: "payoff",
    Strike: "strike",
    Maturity: "expiry",
    Style: "exercise",
    BarrierType: "barrier.type",
    BarrierLevel: "barrier.level",
    Side: { term: "quantity", values: { Buy: 1, Sell: -1 } },
    Comment: "",
    desk: "tag.desk",
  };

  test("are terms by a map, with words of their own, and are left out by an empty term", async () => {
    const { strike: _, ...terms } = { ...option, exercise: "european" };
    const [first, second] = [
      { id: "A", ...terms, strike: 100, barriers: [{ type: "up-and-out", level: 140 }], quantity: -1 },
      { id: "B", ...terms, payoff: "put", strike: 90, exercise: "american", quantity: 1 },
    ];
    const expected = written({ ...first, tags: { desk: "Paris" } }, { ...second, tags: { desk: "Rome" } });
    expect(await read(`${head}\n${rows}`, map)).toEqual(expected);
    const { desk: __, ...others } = map;
    expect(await read(`${head}\n${rows}`, others, ["desk"])).toEqual(expected);
  });

  test("that are unknown are named all at once, each with the nearest term and what to write", async () => {
    await expect(read(`${head}\n`)).rejects.toThrow(
      'line 1: unknown columns "TradeRef" (did you mean "id"?), "Underlying" (did you mean "underlying"?), ' +
        '"CallPut" (did you mean "payoff"?), "Strike" (did you mean "strike"?), "Maturity" (did you mean "expiry"?), ' +
        '"Style" (did you mean "exercise"?), "BarrierType" (did you mean "barrier.type"?), ' +
        '"BarrierLevel" (did you mean "barrier.level"?), "Side", "Comment", "desk"; to read what is meant, --map ' +
        '"TradeRef=id,Underlying=underlying,CallPut=payoff,Strike=strike,Maturity=expiry,Style=exercise,' +
        'BarrierType=barrier.type,BarrierLevel=barrier.level"; to carry them to the results, --keep ' +
        'Side,Comment,desk, or a name such as "tag.Side"',
    );
  });

  test.each([
    ["BarrType,BarrLevel", "BarrType=barrier.type,BarrLevel=barrier.level"],
    ["barr_type,KO", "barr_type=barrier.type,KO=barrier.level"],
    ["KnockoutType,Knockout", "KnockoutType=barrier.type,Knockout=barrier.level"],
    ["LowerBarrier,UpperBarrier", "LowerBarrier=barrier2.level,UpperBarrier=barrier.level"],
    ["Feature,KILevel", "Feature=barrier.type,KILevel=barrier.level"],
  ])("that describe a barrier by %s are never proposed to be kept", async (names, mapped) => {
    const table = `id,underlying,payoff,strike,expiry,${names}\nA,ACME,C,100,1Y,,\nB,ACME,C,100,1Y,Up-and-Out,120\n`;
    await expect(read(table)).rejects.toThrow(new RegExp(`, --map "${mapped}"$`));
  });

  test("that hold words of terms are never proposed to be kept; Barra may be", async () => {
    const table = "id,underlying,exercise,Feature,Kind,Barra,KI,KO,Knockin\nA,ACME,european,put,american,x,1,2,3\n";
    const problem = read(table);
    await expect(problem).rejects.toThrow('to read what is meant, --map "Feature=payoff,KI=barrier.level');
    await expect(problem).rejects.toThrow('to leave out "Kind", "Knockin" without any effect on prices, --map "Kind=,');
    await expect(problem).rejects.toThrow("--keep Barra, or");
  });

  test.each<[ColumnMap, string]>([
    [{ ...map, Sied: "quantity" }, 'there is no column "Sied" to map (did you mean "Side"?)'],
    [
      { ...map, Side: "quantty" },
      'column "Side" is mapped to "quantty", which is no term of a trade (did you mean "quantity"?)',
    ],
    [{ ...map, Comment: "strike" }, 'column "Comment", which is "strike", is there twice'],
  ])("with a map that is wrong are an error: %#", async (wrong, message) => {
    await expect(read(`${head}\n${rows}`, wrong)).rejects.toThrow(message);
  });

  test("with barriers in two ways are an error of their row", async () => {
    expect(await read('id,barriers,barrier.level\nA,"[{""level"": 3}]",140\n')).toEqual([
      "line 2: barriers: given in two columns",
    ]);
  });
});
