/** Numbers of a report: its groups, lists and charts, from results that are written here by hand. */
import { expect, test } from "vitest";
import { labelsOf, parseBook } from "../../../src/book/index.ts";
import type { Chart } from "../../../src/output/charts/index.ts";
import { writerFor } from "../../../src/output/formats/index.ts";
import { allGrids, reportCharts } from "../../../src/output/report/charts.ts";
import { reportHtml } from "../../../src/output/report/html.ts";
import { readParquetResults } from "../../../src/output/report/read-results.ts";
import { ReportSummary } from "../../../src/output/report/summary.ts";

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
      ...labelsOf(parsed.trade),
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
    unit: "EUR a point of volatility",
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
  return chartOf(allGrids(summaryOf(book, [{ scenarios: values }]), scenarios), /scenarios, EUR/);
}

test("the scenario map has gains against the case in which nothing moves, wherever 0 stands on its axes", () => {
  expect(scenarioMap({ spot: [-0.1, 0, 0.1], volatility: [-0.02, 0], rate: [-0.01, 0, 0.01] })).toMatchObject({
    title: "Gain or loss under the book's scenarios, EUR",
    x: { label: "move of the spot", values: ["−10 %", "0 %", "+10 %"] },
    y: { label: "move of volatility, points", values: ["−2", "0"] },
    // Rows are volatilities; the base is at the second spot, the second volatility and the second rate.
    values: [
      [-1100, -100, 900],
      [-1000, 0, 1000],
    ],
  });
});

test("the scenario map has values where no case is unmoved, and names what is moved and not drawn", () => {
  expect(scenarioMap({ spot: [-0.1, 0], volatility: [0, 0.02], rate: [0.01, 0.02] })).toMatchObject({
    title: "Value under the book's scenarios, EUR, at rate +1 points",
    values: [
      [0, 1000],
      [100, 1100],
    ],
  });
});

test("the scenario map has later dates above one another where volatility does not move", () => {
  const scenarios = { time: [0, 0.25, 1], spot: [0, 0.1], volatility: [0], rate: [0] };
  const values = scenarios.time.map((_, t) => scenarios.spot.map((__, s) => [[1000 * t + 10 * s]]));
  const book = {
    market: market(["ACME"]),
    trades: [option("a", "ACME")],
    scenarios: { time: scenarios.time, spot: [0, 0.1] },
  };
  expect(chartOf(allGrids(summaryOf(book, [{ scenarios: values }]), scenarios), /scenarios, EUR/)).toMatchObject({
    y: { label: "years from today", values: ["0.00", "0.25", "1.00"] },
    values: [
      [0, 10],
      [1000, 1010],
      [2000, 2010],
    ],
  });
});

test("a list keeps the twelve largest amounts, whatever their sign, in whatever order they come", () => {
  const values = [...Array.from({ length: 12 }, (_, i) => i + 1), -20, 0.5, -3.5];
  const trades = values.map((_, i) => option(`t${i}`, "ACME"));
  const { lists } = summaryOf(
    { market: market(["ACME"]), trades },
    values.map((value) => ({ value })),
  );
  expect(lists.value.map(({ amount }) => amount)).toEqual([-20, 12, 11, 10, 9, 8, 7, 6, 5, 4, -3.5, 3]);
});

test("a trade that expires at the end of a bucket is in it", () => {
  const trades = [0.25, 0.5, 1, 2, 5, 5.001].map((expiry, i) => option(`t${i}`, "ACME", { expiry }));
  const summary = summaryOf({ market: market(["ACME"]), trades }, []);
  expect([...summary.byExpiry.values()].map(({ name }) => name)).toEqual([
    "1 to 3 months",
    "3 to 6 months",
    "6 to 12 months",
    "1 to 2 years",
    "2 to 5 years",
    "beyond 5 years",
  ]);
});

test("error estimates are counted by half decades of the estimate as a part of the spot", () => {
  const estimates = [1e-5, 1e-5, 4e-5, 1e-3];
  const trades = estimates.map((_, i) => option(`t${i}`, "ACME"));
  const summary = summaryOf(
    { market: market(["ACME"]), trades },
    estimates.map((one) => ({ errorEstimate: 1.01 * one })),
  );
  const chart = chartOf(reportCharts(summary, undefined), /Error estimates/);
  if (chart.kind !== "plot") throw new Error("no plot");
  // 1e-7, 4e-7 and 1e-5 of a spot of 100: the middles of half decades, with an empty one on either side.
  expect(chart.series[0].points).toEqual([
    [-7.25, 0],
    [-6.75, 2],
    [-6.25, 1],
    [-5.75, 0],
    [-5.25, 0],
    [-4.75, 1],
    [-4.25, 0],
  ]);
});

test("scenarios come back from Parquet with their axes in order", async () => {
  const scenarios = { time: [0], spot: [-0.1, 0, 0.1], volatility: [0, 0.02], rate: [0] };
  const values = [scenarios.spot.map((_, s) => scenarios.volatility.map((__, v) => [10 * s + v]))];
  const result = {
    id: "a",
    status: "ok",
    value: 1,
    warnings: [],
    scenarios: values,
    scenarioErrorEstimates: [[[0], [0]]],
  };
  const format = writerFor("parquet");
  const device = { backend: "cpu", name: "none" } as const;
  const parts = [
    await format.begin({ asOf: "2026-11-20T00:00:00Z", device, scenarios, sensitivityErrors: false, tags: [] }),
    format.rows([{ trade: undefined, result: result as never }]),
    format.end({ priced: 1, failed: 0, totals: [] }),
  ];
  const bytes = Buffer.concat(parts.map((part) => (typeof part === "string" ? Buffer.from(part) : part)));
  const whole = new Uint8Array(bytes).buffer;
  const file = { byteLength: whole.byteLength, slice: (from: number, to?: number) => whole.slice(from, to) };
  const read = await readParquetResults(file);
  expect(read).toMatchObject({ asOf: "2026-11-20T00:00:00Z", device, scenarios });
  expect(read.results[0]).toMatchObject({ id: "a", scenarios: values });
});

const run = { title: "A", version: "1", device: "CPU", scenarios: undefined, settings: [], inputs: [] };

test("a report names the minute of its values, and none for a whole day", () => {
  const summary = summaryOf({ market: market(["ACME"]), trades: [option("a", "ACME")] }, []);
  const asOf = (moment: string): string =>
    /Valued as of ([^.]*)\./.exec(reportHtml(summary, { ...run, asOf: moment }))![1];
  expect(asOf("2026-11-20T16:05:00.000Z")).toBe("2026-11-20 16:05 UTC");
  expect(asOf("2026-11-20T00:00:00.000Z")).toBe("2026-11-20");
});

test("a list has no trades whose amount is 0, and there is none of such trades alone", () => {
  const trades = ["first", "second"].map((id) => option(id, "ACME"));
  const page = reportHtml(summaryOf({ market: market(["ACME"]), trades }, [{ vega: 3 }, { vega: 0, theta: 0 }]), {
    ...run,
    asOf: "2026-11-20T00:00:00.000Z",
  });
  const vegas = /<h2>Largest vegas<\/h2>(.*?)<\/section>/s.exec(page)![1];
  expect(vegas).toContain("first");
  expect(vegas).not.toContain("second");
  expect(page).not.toContain("Largest thetas");
});

test("moves of single spots are none where each of them is 0", () => {
  const names = ["ACME", "BETA"];
  const spot = [
    { ACME: 0, BETA: 0.1 },
    { ACME: 0, BETA: 0 },
    { ACME: -0.1, BETA: 0 },
  ];
  const scenarios = { time: [0], spot, volatility: [0], rate: [0] };
  const values = [spot.map((_, s) => [[10 + s * s]])];
  const book = { market: market(names), trades: [option("a", "ACME")], scenarios: { spot: [0, 0.1, 0.2] } };
  const chart = chartOf(allGrids(summaryOf(book, [{ scenarios: values }]), scenarios), /scenarios, EUR/);
  expect(chart).toMatchObject({ values: [[-1, 0, 3]] });
});

test("values by underlying begin with the largest, whatever their sign", () => {
  const names = Array.from({ length: 16 }, (_, i) => `U${i}`);
  const values = names.map((_, i) => (i % 2 === 0 ? -1 : 1) * (i + 1));
  const summary = summaryOf(
    { market: market(names), trades: names.map((name, i) => option(`t${i}`, name)) },
    values.map((value) => ({ value })),
  );
  const chart = chartOf(reportCharts(summary, undefined), /Value by underlying/);
  if (chart.kind !== "waterfall") throw new Error("no waterfall");
  // Fourteen of them: what is left is −1 + 2.
  expect(chart.steps.map(({ label, value }) => [label, value])).toEqual([
    ...names
      .map((name, i) => [name, values[i]] as const)
      .reverse()
      .slice(0, 14),
    ["others", 1],
  ]);
});

test("structured products are listed with their states, and with probabilities to four digits", () => {
  const note = {
    id: "note",
    underlying: "ACME",
    script: { state: { low: false }, events: [{ on: "end", do: "if (S < 80) low = true; pay(1); stop()" }] },
    data: { end: 1 },
  };
  const states = {
    "stop()": { now: 0, expected: 1, errorEstimate: 0.0006 },
    low: { now: 0, expected: 0.14256, errorEstimate: 0.004 },
  };
  const html = reportHtml(summaryOf({ market: market(["ACME"]), trades: [note] }, [{ states }]), {
    title: "Notes",
    asOf: "2026-11-20",
    version: "0",
    device: "none",
    scenarios: undefined,
    settings: [],
    inputs: [],
  });
  expect(html).toMatch(/has ended<\/td><td class="number">0(\.0+)?<\/td><td class="number">1\.0000/);
  expect(html).toMatch(/low<\/td>.*0\.1426<\/td><td class="number">4/);
});
