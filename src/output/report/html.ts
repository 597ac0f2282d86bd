/** Writes a report as one self-contained HTML file, for reading, printing or sending. */
import type { Market, Scenarios } from "../../book/index.ts";
import type { ApproximateRisk, RiskHorizon } from "../../pricing/index.ts";
import { type Chart, CHART_STYLE, drawChart, escapeXml, profitChart } from "../charts/index.ts";
import { decimalsFor, formatErrorEstimate, formatFixed } from "../formats/index.ts";
import type { ReportChanges } from "./changes.ts";
import { allGrids, reportCharts } from "./charts.ts";
import { marketTables } from "./market.ts";
import { riskSection } from "./risk.ts";
import { firstScreen } from "./screen.ts";
import { REPORT_STYLE } from "./style.ts";
import type { ReportListName, ReportSummary } from "./summary.ts";
import { type Cell, note, section, table, whole } from "./table.ts";
import { bucketsTable, DAYS, groupsTable, notesTable, totalsTable, underlyingsTable } from "./totals.ts";

/** A description of how the results in a report were computed, and from which files. */
export interface ReportProvenance {
  readonly title: string;
  readonly asOf: string;
  readonly version: string;
  readonly device: string;
  readonly scenarios: Scenarios | undefined;
  /** The confidence of value at risk, 0.99 by default, and its period. */
  readonly confidence?: number | undefined;
  readonly horizon?: RiskHorizon | undefined;
  /** What approximates the profits, or stands beside their revaluation. */
  readonly approximation?: ApproximateRisk | undefined;
  /** The market, if it is known. */
  readonly market?: Market | undefined;
  /** The comparison with earlier results, if there are any. */
  readonly changes?: ReportChanges | undefined;
  /** Further lines of the section "How it was computed": accuracy, method, seconds. */
  readonly settings: readonly (readonly [name: string, value: string])[];
  /** The input files, with the SHA-256 of each. */
  readonly inputs: readonly { readonly name: string; readonly sha256: string | undefined }[];
}

/** Returns a report on a priced book as one HTML document. */
export function reportHtml(summary: ReportSummary, run: ReportProvenance): string {
  const { confidence = 0.99, approximation, changes, horizon, market } = run;
  const body = [
    head(summary, run),
    firstScreen(summary, { changes, confidence, chart: mainChart(summary, run, confidence) }),
    section("By group", groupsTable(summary)),
    section("Totals", totalsTable(summary)),
    section("By underlying", underlyingsTable(summary.totals)),
    riskSection(summary, confidence, { horizon, approximation }),
    section("By bucket", bucketsTable(summary.totals)),
    section("Structured products", notesTable(summary)),
    section("Not priced", textsTable(summary.failures, "Why")),
    section("Warnings", textsTable(summary.warnings, "Warning")),
    chartSection(summary, run),
    list(summary, "value", "Largest positions", "Value × quantity", 1),
    list(summary, "vega", "Largest vegas", "Vega × quantity, a point", 100),
    list(summary, "theta", "Largest thetas", "Theta × quantity, a day", DAYS),
    list(summary, "errorEstimate", "Largest error estimates", "Estimate × |quantity|", 1),
    market === undefined ? "" : section("Market", marketTables(market)),
    section("How it was computed", computed(summary, run)),
  ];
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeXml(run.title)}</title>
<style>${REPORT_STYLE}${CHART_STYLE}</style>
</head>
<body>
<main>
${body.filter((part) => part !== "").join("\n")}
</main>
</body>
</html>
`;
}

function head({ priced, failed }: ReportSummary, { title, asOf, device }: ReportProvenance): string {
  const moment = asOf
    .replace("T", " ")
    .replace(/:00\.000Z$/, " UTC")
    .replace(" 00:00 UTC", "");
  const valued = asOf === "" ? "" : `Valued as of ${escapeXml(moment)}. `;
  const not = failed > 0 ? ` <strong class="bad">${whole(failed)} not priced.</strong>` : "";
  return `<header><h1>${escapeXml(title)}</h1>
<p>${valued}${whole(priced)} ${priced === 1 ? "trade" : "trades"} priced on ${escapeXml(device)}.${not}</p></header>`;
}

/** The chart of the first screen: profit or loss on the grid of scenarios, or its distribution under named ones. */
function mainChart(summary: ReportSummary, { scenarios }: ReportProvenance, confidence: number): Chart | undefined {
  const [grid] = allGrids(summary, scenarios);
  const [[, risk] = []] = summary.risks;
  return grid ?? (risk && profitChart(risk.risk(confidence), risk.distribution));
}

function textsTable(all: ReportSummary["warnings"], title: string): string {
  const rows = [...all].map(([text, { count, first }]): Cell[] => [first, { number: whole(count) }, text]);
  return rows.length === 0 ? "" : table(["First trade", { number: "Trades" }, title], rows);
}

function chartSection(summary: ReportSummary, { scenarios }: ReportProvenance): string {
  const charts = reportCharts(summary, scenarios).map((chart) => {
    const lines = chart.kind === "waterfall" ? chart.steps.length : 0;
    const height = lines > 0 ? Math.max(70 + 30 * lines, 160) : 320;
    return `<figure>${drawChart(chart, { width: 560, height })}</figure>`;
  });
  return section("Pictures", charts.length === 0 ? "" : `<div class="charts">${charts.join("\n")}</div>`);
}

function list({ lists }: ReportSummary, name: ReportListName, title: string, amount: string, divisor: number): string {
  const listed = lists[name].filter((trade) => trade.amount !== 0);
  const all = listed.map((trade) => ({ ...trade, amount: trade.amount / divisor }));
  if (all.length === 0) return "";
  const decimals = decimalsFor(
    all.map((trade) => trade.amount),
    7,
  );
  const rows = all.map((trade): Cell[] => [
    trade.id,
    trade.product,
    trade.underlying,
    { number: whole(trade.quantity) },
    { number: name === "errorEstimate" ? formatErrorEstimate(trade.amount) : formatFixed(trade.amount, decimals) },
    trade.currency,
  ]);
  return section(
    title,
    table(["Trade", "Product", "Underlying", { number: "Quantity" }, { number: amount }, ""], rows),
  );
}

function computed(summary: ReportSummary, { version, device, settings, inputs }: ReportProvenance): string {
  const counts = (all: ReadonlyMap<string, number>): string =>
    [...all].map(([name, trades]) => `${name}: ${whole(trades)}`).join(", ");
  const seeds = [...summary.seeds].join(", ");
  const entries: (readonly [string, string])[] = [
    ["Feynkac", version],
    ["Device", device],
    ["Precision, trades", counts(summary.precisions)],
    ["Methods, trades", counts(summary.methods)],
    ...(seeds === "" ? [] : [["Seed of random numbers", seeds] as const]),
    ...settings,
    ...inputs.map(({ name, sha256 }) => [name, sha256 === undefined ? "not hashed" : `SHA-256 ${sha256}`] as const),
  ];
  return `<dl class="facts">${entries.map(([name, value]) => `<dt>${escapeXml(name)}</dt><dd>${escapeXml(value)}</dd>`).join("\n")}</dl>
${note("An error estimate is a bound that is meant to hold the error of a value. A point is 0.01. What is computed here is no advice, and models can be wrong.")}`;
}
