/** Explanations of bonds, rates trades and convertibles: parts add up, and each is what it is by hand. */
import { describe, expect, it } from "vitest";
import { openDevice } from "../../src/device/index.ts";
import { explainBook, parseBook, type TradeInput } from "../../src/index.ts";

const bond = { maturity: "2031-11-20", coupon: 0.04, frequency: 1, notional: 100 };
const trades: TradeInput[] = [
  { id: "B", currency: "EUR", bond },
  { id: "K", currency: "EUR", bond: { ...bond, calls: [{ date: "2028-11-20", price: 100 }] } },
  {
    id: "S",
    currency: "EUR",
    swaption: "payer",
    strike: 0.03,
    expiry: "2027-11-20",
    swap: { start: "2027-11-20", end: "2032-11-20", frequency: 1, notional: 100 },
  },
  {
    id: "F",
    currency: "EUR",
    cap: { start: "2027-05-20", end: "2031-05-20", frequency: 2, notional: 100 },
    strike: 0.03,
    volatility: { normal: 0.008 },
  },
  { id: "V", underlying: "A", convertible: { ...bond, ratio: 1, conversion: "american", coupon: 0.02 } },
];

interface Market {
  readonly asOf?: string;
  readonly rate?: number;
  readonly sigma?: number;
  readonly spot?: number;
  readonly volatility?: number;
  readonly spread?: number;
}

function book({ asOf = "2026-11-16", rate = 0.03, sigma = 0.01, spot = 95, volatility = 0.3, spread = 0.02 }: Market) {
  const underlying = { spot, currency: "USD", volatility };
  const hullWhite = { meanReversion: 0.05, volatility: sigma, curve: rate };
  return parseBook({
    asOf,
    market: {
      rates: { EUR: { hullWhite }, USD: rate },
      underlyings: { A: underlying },
      credit: { A: { spread } },
    },
    trades,
  });
}

const LATER = { rate: 0.0303, sigma: 0.0101, spot: 96, volatility: 0.302, spread: 0.0205 } as const;

describe.each(["taylor", "revaluation"] as const)("%s", (method) => {
  it("adds up, over a coupon date too", async () => {
    using device = await openDevice({ backend: "cpu", threads: 1 });
    const report = await explainBook(book({}), book({ ...LATER, asOf: "2026-11-23" }), { device, method });
    expect(report.failed).toBe(0);
    expect(report.results.map(({ id, status }) => [id, status])).toEqual(trades.map(({ id }) => [id, "explained"]));
    for (const { id, before, after, cash, change, terms, unexplained } of report.results) {
      expect(cash).toBeCloseTo({ B: 4, K: 4, V: 2 }[id!] ?? 0, 12);
      expect(change).toBeCloseTo(after! + cash! - before!, 12);
      const sum = Object.values(terms!).reduce((a, b) => a + b, 0);
      expect(sum + unexplained!).toBeCloseTo(change!, 12);
      // Moves are small: what is left is of second order in them.
      expect(Math.abs(unexplained!)).toBeLessThan(method === "revaluation" ? 1e-12 : 0.02);
    }
    const sums = report.totals.map(({ change, terms, unexplained }) => [
      change,
      Object.values(terms).reduce((a, b) => a + b, unexplained),
    ]);
    for (const [change, sum] of sums) expect(sum).toBeCloseTo(change, 10);
  });

  it("has each part by itself", async () => {
    using device = await openDevice({ backend: "cpu", threads: 1 });
    const parts: readonly (readonly [Market, Readonly<Record<typeof method, string>>, readonly string[]])[] = [
      [{ rate: 0.0301 }, { taylor: "rho", revaluation: "rate" }, ["B", "K", "S", "F", "V"]],
      [{ sigma: 0.0101 }, { taylor: "vega", revaluation: "volatility" }, ["K", "S"]],
      [{ spread: 0.0205 }, { taylor: "credit", revaluation: "credit" }, ["V"]],
      [{ spot: 95.1 }, { taylor: "delta", revaluation: "spot" }, ["V"]],
      [{ volatility: 0.301 }, { taylor: "vega", revaluation: "volatility" }, ["V"]],
      [{ asOf: "2026-11-17" }, { taylor: "theta", revaluation: "time" }, ["B", "K", "S", "F", "V"]],
    ];
    for (const [market, names, moved] of parts) {
      const { results } = await explainBook(book({}), book(market), { device, method });
      for (const { id, change, terms } of results) {
        const part = (terms as Readonly<Record<string, number>>)[names[method]];
        if (!moved.includes(id!)) expect(Math.abs(change!)).toBeLessThan(1e-9);
        else {
          expect(Math.abs(change!)).toBeGreaterThan(1e-5);
          expect(Math.abs(part / change! - 1)).toBeLessThan(0.02);
        }
      }
    }
  });

  it("has a bond's parts by hand", async () => {
    using device = await openDevice({ backend: "cpu", threads: 1 });
    const { results } = await explainBook(book({}), book({ rate: 0.031, asOf: "2026-11-23" }), { device, method });
    const value = (rate: number, days: number): number =>
      [2026, 2027, 2028, 2029, 2030, 2031].reduce((sum, year) => {
        const t = (Date.parse(`${year}-11-20`) - Date.parse("2026-11-16")) / 864e5 - days;
        return t > 0 ? sum + (year === 2031 ? 104 : 4) * Math.exp((-rate * t) / 365) : sum;
      }, 0);
    const [{ terms, moves, change }] = results;
    expect(change).toBeCloseTo(value(0.031, 7) + 4 - value(0.03, 0), 9);
    expect(moves!.rate).toBeCloseTo(0.001, 12);
    if (method === "revaluation") {
      expect(terms!.time).toBeCloseTo(value(0.03, 7) + 4 - value(0.03, 0), 9);
      expect(terms!.rate).toBeCloseTo(value(0.031, 7) - value(0.03, 7), 9);
    }
  });
});

it("says which terms differ", async () => {
  using device = await openDevice({ backend: "cpu", threads: 1 });
  const other = (coupon: number) =>
    parseBook({
      asOf: "2026-11-16",
      market: { rates: { EUR: 0.03 } },
      trades: [{ id: "B", currency: "EUR", bond: { ...bond, coupon } }],
    });
  const { results } = await explainBook(other(0.04), other(0.05), { device });
  expect(results[0]).toMatchObject({ status: "changed", reason: "its terms differ" });
});

it("a period of a cap or floor that ends between the dates pays what its fixing says", async () => {
  using device = await openDevice({ backend: "cpu", threads: 1 });
  const books = [
    { asOf: "2026-11-16", fixing: 0.01 },
    { asOf: "2026-11-23", fixing: 0.025 },
  ].map(({ asOf, fixing }) => {
    const leg = { start: "2026-05-20", end: "2027-11-20", frequency: 2, notional: 100, fixing };
    const rest = { currency: "EUR", strike: 0.03, volatility: { normal: 0.008 } };
    return parseBook({
      asOf,
      market: { rates: { EUR: 0.03 } },
      trades: [
        { id: "floor", floor: leg, ...rest },
        { id: "cap", cap: leg, ...rest },
      ],
    });
  });
  const { results } = await explainBook(books[0], books[1], { device });
  // 184 days from 20 May to 20 November.
  expect(results[0].cash).toBeCloseTo((100 * 0.02 * 184) / 365, 10);
  expect(results[1].cash).toBe(0);
});

it("a period that begins and ends between the dates is refused, as nobody knows its rate", async () => {
  using device = await openDevice({ backend: "cpu", threads: 1 });
  const leg = { start: "2026-11-01", end: "2027-11-01", frequency: 12, notional: 100, fixing: 0.02 };
  const [before, after] = ["2026-11-16", "2027-01-16"].map((asOf) =>
    parseBook({
      asOf,
      market: { rates: { EUR: 0.03 } },
      trades: [{ id: "C", currency: "EUR", cap: leg, strike: 0.03, volatility: { normal: 0.008 } }],
    }),
  );
  const { results } = await explainBook(before, after, { device });
  expect(results[0]).toMatchObject({
    status: "error",
    error: { message: expect.stringContaining("a period began and ended between the two dates") },
  });
});
