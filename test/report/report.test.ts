/** Numbers of a report: its groups, lists and charts, from results that are written here by hand. */
import { expect, test } from "vitest";
import { parseBook } from "../../src/book/index.ts";
import type { Chart } from "../../src/charts/index.ts";
import { reportCharts } from "../../src/report/charts.ts";
import { ReportSummary } from "../../src/report/summary.ts";

const market = (names: readonly string[], currency: (name: string) => string = () => "EUR") => ({
  rates: { EUR: 0.02, USD: 0.03 },
  underlyings: Object.fromEntries(
    names.map((name) => [name, { spot: 100, currency: currency(name), volatility: 0.2 }]),
  ),
});
const option = (id: string, underlying: string, more: object = {}) => ({
  id,
  underlying,
  payoff: "call",
  strike: 100,
  expiry: 1,
  ...more,
});

/** A summary of trades whose results have the given numbers. */
function summaryOf(book: object, results: readonly Partial<Record<string, unknown>>[]): ReportSummary {
  const summary = new ReportSummary();
  for (const [i, parsed] of parseBook(JSON.stringify({ asOf: "2026-11-20", ...book })).trades.entries()) {
    if (!parsed.ok) throw parsed.error;
    const numbers = { value: 1, vega: 0, theta: 0, errorEstimate: 1e-6, warnings: [], ...results[i] };
    summary.add(parsed.trade, {
      id: parsed.trade.id,
      status: "ok",
      method: "fdm",
      precision: "f64",
      ...numbers,
    } as never);
  }
  return summary;
}

const chartOf = (charts: readonly Chart[], title: RegExp): Chart => {
  const found = charts.find((chart) => title.test(chart.title));
  if (found === undefined) throw new Error(`no chart ${title} among ${charts.map((chart) => chart.title).join("; ")}`);
  return found;
};

test("groups have sums of quantity times number, and a trade without a vega is counted", () => {
  const trades = [option("a", "ACME", { quantity: 3 }), option("b", "ACME", { quantity: -2 }), option("c", "BETA")];
  const summary = summaryOf({ market: market(["ACME", "BETA"]), trades }, [
    { value: 10, vega: 4 },
    { value: 1, vega: null },
    { value: 7, vega: 5 },
  ]);
  expect([...summary.byUnderlying.values()]).toEqual([
    { name: "ACME", currency: "EUR", trades: 2, value: 28, vega: 12, withoutVega: 1 },
    { name: "BETA", currency: "EUR", trades: 1, value: 7, vega: 5, withoutVega: 0 },
  ]);
});

test("underlyings beyond the first 2,000 are others; the first ones keep their own trades", () => {
  const names = Array.from({ length: 2003 }, (_, i) => `U${i}`);
  const trades = [...names, "U0", "U2002"].map((name, i) => option(`t${i}`, name));
  const summary = summaryOf({ market: market(names), trades }, []);
  const groups = summary.byUnderlying;
  expect(groups.get("U0, EUR")?.trades).toBe(2);
  expect(groups.get("others, EUR")).toMatchObject({ name: "others", trades: 4, value: 4 });
  expect(groups.size).toBe(2001);
});

test("lists have the largest amounts first, by their size", () => {
  const trades = [option("a", "ACME", { quantity: 2 }), option("b", "ACME", { quantity: -5 }), option("c", "ACME")];
  const { lists } = summaryOf({ market: market(["ACME"]), trades }, [{ value: 3 }, { value: 2 }, { value: 1 }]);
  expect(lists.value.map(({ id, amount }) => [id, amount])).toEqual([
    ["b", -10],
    ["a", 6],
    ["c", 1],
  ]);
});

test("vega by expiry: per point of volatility, in the order of the expiries", () => {
  const trades = [option("a", "ACME", { expiry: 1.5 }), option("b", "ACME", { expiry: 0.05, quantity: 2 })];
  const summary = summaryOf({ market: market(["ACME"]), trades }, [{ vega: 30 }, { vega: 10 }]);
  expect(chartOf(reportCharts(summary, undefined), /Vega by expiry/)).toMatchObject({
    unit: "EUR per 1 % of volatility",
    steps: [
      { label: "up to 1 month", value: 0.2 },
      { label: "1 to 2 years", value: 0.3 },
    ],
  });
});

/** Scenario values 1000·s + 100·v + 10·r, s, v and r the indices of their moves. */
function scenarioMap(axes: { spot: number[]; volatility?: number[]; rate?: number[] }): Chart {
  const scenarios = { time: [0], volatility: [0], rate: [0], ...axes };
  const values = [
    scenarios.spot.map((_, s) =>
      scenarios.volatility.map((__, v) => scenarios.rate.map((___, r) => 1000 * s + 100 * v + 10 * r)),
    ),
  ];
  const book = { market: market(["ACME"]), trades: [option("a", "ACME")], scenarios: axes };
  return chartOf(reportCharts(summaryOf(book, [{ scenarios: values }]), scenarios), /scenarios, EUR/);
}

test("the scenario map has gains against the case in which nothing moves, wherever 0 stands on its axes", () => {
  expect(scenarioMap({ spot: [-0.1, 0, 0.1], volatility: [-0.02, 0], rate: [-0.01, 0, 0.01] })).toMatchObject({
    title: "Gain or loss under the book's scenarios, EUR",
    x: { label: "move of the spot", values: ["−10 %", "0 %", "+10 %"] },
    y: { label: "move of volatility", values: ["−2 %", "0 %"] },
    // Rows are volatilities; the base is at the second spot, the second volatility and the second rate.
    values: [
      [-1100, -100, 900],
      [-1000, 0, 1000],
    ],
  });
});

test("the scenario map has values where no case is unmoved, and names what is moved and not drawn", () => {
  expect(scenarioMap({ spot: [-0.1, 0], volatility: [0, 0.02], rate: [0.01, 0.02] })).toMatchObject({
    title: "Value under the book's scenarios, EUR, at rate +1 %",
    values: [
      [0, 1000],
      [100, 1100],
    ],
  });
});
