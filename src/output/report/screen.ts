/** The first screen of a report: value, change, the largest risks and errors, and profit or loss under scenarios. */
import type { CurrencyTotals } from "../../book/index.ts";
import { type Chart, drawChart, escapeXml, percentText } from "../charts/index.ts";
import { decimalsFor, formatFixed } from "../formats/index.ts";
import type { ReportChanges } from "./changes.ts";
import type { ReportSummary } from "./summary.ts";
import { type Cell, errorText, profitCell, roundedTo, table, whole } from "./table.ts";
import { DAYS, partOf } from "./totals.ts";

/** What the first screen shows beside the summary. */
export interface ScreenOptions {
  readonly changes: ReportChanges | undefined;
  readonly confidence: number;
  /** The chart of profit or loss under scenarios; undefined if there are none. */
  readonly chart: Chart | undefined;
}

/** The most currencies and rows of each list. */
const CURRENCIES = 3;
const ROWS = 6;

/** Returns the first screen. */
export function firstScreen(summary: ReportSummary, options: ScreenOptions): string {
  const { reporting, totals } = summary;
  const shown = reporting === undefined ? totals.slice(0, CURRENCIES) : [reporting];
  if (shown.length === 0) return "";
  const { chart } = options;
  const lists = [risksTable(totals), errorsTable(summary), changesTable(options.changes)].filter((one) => one !== "");
  const figure = chart === undefined ? "" : `<figure>${drawChart(chart, { width: 560, height: 300 })}</figure>`;
  return `<section aria-label="At a glance">${shown.map((total) => tiles(total, summary, options)).join("\n")}
<div class="charts">${figure}<div class="lists">${lists.join("\n")}</div></div></section>`;
}

/** A number with its name, and what is to be said of it. */
function tile(name: string, value: string, about = "", isLoss = false): string {
  const kind = isLoss ? ' class="bad"' : "";
  return `<div class="tile"><dt>${escapeXml(name)}</dt><dd${kind}>${escapeXml(value)}</dd><small>${escapeXml(about)}</small></div>`;
}

function tiles(total: CurrencyTotals, summary: ReportSummary, { changes, confidence }: ScreenOptions): string {
  const { currency, value, errorEstimate, theta, rho, cashDelta, trades, missing = {} } = total;
  const risk = summary.risks.get(currency)?.risk(confidence);
  const short = (one: number): string => formatFixed(one, decimalsFor([one], 5)).replace("-", "−");
  const signed = (name: string, one: number | null, about = ""): string =>
    one === null ? "" : tile(name, `${one > 0 ? "+" : ""}${short(one)}`, about, one < 0);
  const without = (count = 0): string => (count === 0 ? "" : `without ${whole(count)} of ${whole(trades)} trades`);
  const change = changes?.byCurrency.find((one) => one.currency === currency);
  const since =
    changes === undefined || changes.asOf === "" ? "since the earlier results" : `since ${changes.asOf.slice(0, 10)}`;
  const loss = (name: string, one: { value: number; errorEstimate: number | null }): string =>
    tile(
      `${name}, ${percentText(confidence)}`,
      short(one.value),
      one.errorEstimate === null ? "error not known" : `± ${errorText(one.errorEstimate)}`,
    );
  return `<dl class="tiles">${[
    tile(`Value, ${currency}`, roundedTo(value, errorEstimate), `± ${errorText(errorEstimate)}`),
    change === undefined
      ? ""
      : signed("Change", change.same + change.added + change.ended, changeText(change, since, short)),
    risk === undefined ? "" : loss("Value at risk", risk.valueAtRisk),
    risk === undefined ? "" : loss("Expected shortfall", risk.expectedShortfall),
    signed("All spots +1 %", partOf(cashDelta, 100), without(missing.cashDelta)),
    signed("Theta, a day", partOf(theta, DAYS), without(missing.theta)),
    signed("Rates +1 point", partOf(rho, 100), without(missing.rho)),
  ].join("")}</dl>`;
}

function changeText(
  { added, ended }: { readonly added: number; readonly ended: number },
  since: string,
  short: (one: number) => string,
): string {
  const parts = [
    ...(added === 0 ? [] : [`new trades ${short(added)}`]),
    ...(ended === 0 ? [] : [`ended trades ${short(ended)}`]),
  ];
  return parts.length === 0 ? since : `${since}, of which ${parts.join(", ")}`;
}

/** The underlyings with the largest risks, by a move of 1 % of the spot or of a point of volatility. */
function risksTable(totals: readonly CurrencyTotals[]): string {
  const all = totals.flatMap(({ currency, underlyings }) =>
    underlyings.map(({ underlying, cashDelta, vega }) => ({
      name: underlying,
      currency,
      spot: partOf(cashDelta, 100),
      vega: partOf(vega, 100),
    })),
  );
  const size = ({ spot, vega }: (typeof all)[number]): number => Math.max(Math.abs(spot ?? 0), Math.abs(vega ?? 0));
  const rows = all.toSorted((a, b) => size(b) - size(a)).slice(0, ROWS);
  if (rows.length === 0) return "";
  const titles = ["Largest risks", "", { number: "Spot +1 %" }, { number: "Volatility +1 point" }];
  return table(
    titles,
    rows.map(({ name, currency, spot, vega }): Cell[] => [name, currency, profitCell(spot), profitCell(vega)]),
  );
}

function errorsTable({ lists, failed, warnings }: ReportSummary): string {
  const rows = lists.errorEstimate
    .filter(({ amount }) => amount > 0)
    .slice(0, ROWS)
    .map(({ id, underlying, currency, amount }): Cell[] => [
      id,
      underlying,
      currency,
      { number: `± ${errorText(amount)}` },
    ]);
  const warned = [...warnings.values()].reduce((sum, { count }) => sum + count, 0);
  const about = [
    ...(failed === 0 ? [] : [`${whole(failed)} not priced`]),
    ...(warned === 0 ? [] : [`${whole(warned)} warnings`]),
  ].join(", ");
  if (rows.length === 0 && about === "") return "";
  return (
    table(["Largest errors", "", "", { number: "Error" }], rows) +
    (about === "" ? "" : `<p class="note bad">${about}.</p>`)
  );
}

function changesTable(changes: ReportChanges | undefined): string {
  const rows = (changes?.largest ?? [])
    .slice(0, ROWS)
    .map(({ id, currency, change }): Cell[] => [id, currency, profitCell(change)]);
  return rows.length === 0 ? "" : table(["Largest changes", "", { number: "Change" }], rows);
}
