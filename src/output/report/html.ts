/** Writes a report as one self-contained HTML file, for reading, printing or sending. */
import { type CurrencyTotals, placeText, type Scenarios } from "../../book/index.ts";
import { CHART_STYLE, drawChart, escapeXml } from "../charts/index.ts";
import {
  decimalsFor,
  formatFixed,
  incompleteSumNotes,
  largestUnderlyings,
  formatErrorEstimate,
} from "../formats/index.ts";
import { reportCharts } from "./charts.ts";
import { REPORT_STYLE } from "./style.ts";
import type { ReportListName, NamedTrade, ReportSummary } from "./summary.ts";

/** A description of how the results in a report were computed, and from which files. */
export interface ReportProvenance {
  readonly title: string;
  readonly asOf: string;
  readonly version: string;
  readonly device: string;
  readonly scenarios: Scenarios | undefined;
  /** Further lines of the section "How it was computed": accuracy, method, seconds. */
  readonly settings: readonly (readonly [name: string, value: string])[];
  /** The input files, with the SHA-256 of each. */
  readonly inputs: readonly { readonly name: string; readonly sha256: string | undefined }[];
}

/** Returns a report on a priced book as one HTML document. */
export function reportHtml(summary: ReportSummary, run: ReportProvenance): string {
  const body = [
    head(summary, run),
    section("Totals", totalsTable(summary.totals)),
    section("By underlying", underlyingsTable(summary.totals)),
    section("By bucket", bucketsTable(summary.totals)),
    section("Structured products", notesTable(summary)),
    failures(summary),
    warnings(summary),
    chartSection(summary, run),
    list(summary, "value", "Largest positions", "Value × quantity"),
    list(summary, "vega", "Largest vegas", "Vega × quantity"),
    list(summary, "theta", "Largest thetas", "Theta × quantity, a year"),
    list(summary, "errorEstimate", "Largest error estimates", "Estimate × |quantity|"),
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

const whole = (value: number): string => value.toLocaleString("en-US");

function head({ priced, failed }: ReportSummary, { title, asOf, device }: ReportProvenance): string {
  const moment = asOf
    .replace("T", " ")
    .replace(/:00\.000Z$/, " UTC")
    .replace(" 00:00 UTC", "");
  const not = failed > 0 ? ` <strong class="bad">${whole(failed)} not priced.</strong>` : "";
  return `<header><h1>${escapeXml(title)}</h1>
<p>Valued as of ${escapeXml(moment)}. ${whole(priced)} ${priced === 1 ? "trade" : "trades"} priced on ${escapeXml(device)}.${not}</p></header>`;
}

function section(title: string, content: string): string {
  return content === "" ? "" : `<section><h2>${escapeXml(title)}</h2>\n${content}\n</section>`;
}

type Cell = string | { readonly number: string };

function table(titles: readonly Cell[], rows: readonly (readonly Cell[])[]): string {
  const cell = (tag: "th" | "td", content: Cell): string =>
    typeof content === "string"
      ? `<${tag}>${escapeXml(content)}</${tag}>`
      : `<${tag} class="number">${escapeXml(content.number)}</${tag}>`;
  const line = (tag: "th" | "td", cells: readonly Cell[]): string =>
    `<tr>${cells.map((content) => cell(tag, content)).join("")}</tr>`;
  return `<div class="scroll" tabindex="0"><table><thead>${line("th", titles)}</thead><tbody>${rows.map((row) => line("td", row)).join("\n")}</tbody></table></div>`;
}

function totalsTable(totals: readonly CurrencyTotals[]): string {
  if (totals.length === 0) return "";
  const titles = ["Trades", "Value", "Cash delta", "Theta, a year", "Rho, per 1.00", "Error estimate"];
  const rows = totals.map(({ currency, trades, value, cashDelta, theta, rho, errorEstimate }): Cell[] => [
    currency,
    { number: whole(trades) },
    ...[value, cashDelta, theta, rho].map(numberCell),
    { number: formatErrorEstimate(errorEstimate) },
  ]);
  const notes = incompleteSumNotes(totals).map((note) => `<p class="note">${escapeXml(note)}.</p>`);
  return [table(["Currency", ...titles.map((number) => ({ number }))], rows), ...notes].join("\n");
}

const numberCell = (value: number | null): Cell => ({ number: formatFixed(value, decimalsFor([value], 8)) });

const MAX_UNDERLYINGS = 50;

function underlyingsTable(totals: readonly CurrencyTotals[]): string {
  const { shown, hidden } = largestUnderlyings(totals, MAX_UNDERLYINGS);
  const rows = shown.flatMap(({ currency, underlyings }) =>
    underlyings.map(({ underlying, trades, delta, gamma, vega, cashDelta }): Cell[] => [
      underlying,
      currency,
      { number: whole(trades) },
      ...[delta, gamma, vega, cashDelta].map(numberCell),
    ]),
  );
  if (rows.length === 0) return "";
  const titles = ["Trades", "Delta, per 1 of spot", "Gamma, per 1 of spot²", "Vega, per 1.00", "Cash delta"];
  const rest = hidden === 0 ? "" : `<p class="note">${whole(hidden)} more underlyings are not shown.</p>`;
  return `${table(["Underlying", "Currency", ...titles.map((number) => ({ number }))], rows)}${rest}`;
}

/** The most buckets that a report lists. */
const MAX_BUCKETS = 100;

function bucketsTable(totals: readonly CurrencyTotals[]): string {
  const all = totals.flatMap(({ currency, buckets = [] }) => buckets.map((bucket) => ({ ...bucket, currency })));
  // Grids show what has an expiry and a strike.
  const listed = all.filter(({ at }) => typeof at !== "object" || at === null);
  const rows = listed
    .slice(0, MAX_BUCKETS)
    .map(({ factor, of, at, currency, value, errorEstimate }): Cell[] => [
      factor,
      of,
      placeText(at),
      currency,
      numberCell(value),
      { number: errorEstimate === null ? "–" : formatErrorEstimate(errorEstimate) },
    ]);
  if (rows.length === 0) return "";
  const hidden = listed.length - rows.length;
  const rest = hidden === 0 ? "" : `<p class="note">${whole(hidden)} more buckets are not shown.</p>`;
  const titles = ["Factor", "Of", "At", "Currency", { number: "Sensitivity, per 1.00" }, { number: "Error estimate" }];
  return `${table(titles, rows)}${rest}`;
}

/** The states of structured products: what has happened, and with which probability what will. */
function notesTable({ notes, noteCount }: ReportSummary): string {
  if (notes.length === 0) return "";
  const rows = notes.flatMap(({ id, product, states }) =>
    Object.entries(states).map(([name, { now, expected, errorEstimate }], i): Cell[] => [
      i === 0 ? id : "",
      i === 0 ? product : "",
      name === "stop()" ? "has ended" : name,
      numberCell(now),
      { number: formatFixed(expected, 4) },
      { number: errorEstimate === null ? "–" : formatErrorEstimate(errorEstimate) },
    ]),
  );
  const hidden = noteCount - notes.length;
  const rest = hidden === 0 ? "" : ` ${whole(hidden)} more products are not shown.`;
  const titles = ["Trade", "Product", "State", { number: "Now" }, { number: "Expected" }, { number: "Error estimate" }];
  return `${table(titles, rows)}
<p class="note">Expected at the end of the product, under the measure of pricing; of a state that is 0 or 1 it is a probability.${rest}</p>`;
}

function failures({ failures: all }: ReportSummary): string {
  const rows = [...all].map(([text, { count, first }]): Cell[] => [first, { number: whole(count) }, text]);
  return section("Not priced", rows.length === 0 ? "" : table(["First trade", { number: "Trades" }, "Why"], rows));
}

function warnings({ warnings: all }: ReportSummary): string {
  const rows = [...all].map(([text, { count, first }]): Cell[] => [first, { number: whole(count) }, text]);
  return section("Warnings", rows.length === 0 ? "" : table(["First trade", { number: "Trades" }, "Warning"], rows));
}

function chartSection(summary: ReportSummary, { scenarios }: ReportProvenance): string {
  const charts = reportCharts(summary, scenarios).map((chart) => {
    const lines = chart.kind === "waterfall" ? chart.steps.length : 0;
    const height = lines > 0 ? Math.max(70 + 30 * lines, 160) : 320;
    return `<figure>${drawChart(chart, { width: 560, height })}</figure>`;
  });
  return section("Pictures", charts.length === 0 ? "" : `<div class="charts">${charts.join("\n")}</div>`);
}

function list({ lists }: ReportSummary, name: ReportListName, title: string, amount: string): string {
  const all = lists[name].filter((trade) => trade.amount !== 0);
  if (all.length === 0) return "";
  const decimals = decimalsFor(
    all.map((trade) => trade.amount),
    7,
  );
  const rows = all.map((trade: NamedTrade): Cell[] => [
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
    ...inputs.map(
      ({ name, sha256 }) => [name, sha256 === undefined ? "from standard input" : `SHA-256 ${sha256}`] as const,
    ),
  ];
  return `<dl>${entries.map(([name, value]) => `<dt>${escapeXml(name)}</dt><dd>${escapeXml(value)}</dd>`).join("\n")}</dl>
<p class="note">An error estimate is a bound that is meant to hold the error of a value. What is computed here is no advice, and models can be wrong.</p>`;
}
