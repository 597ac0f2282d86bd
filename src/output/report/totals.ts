/** The tables of totals in a report. Vega and rho are by a point (0.01), theta by a day. */
import { type CurrencyTotals, type GroupTotals, placeText } from "../../book/index.ts";
import { formatErrorEstimate, formatFixed, incompleteSumNotes, largestUnderlyings } from "../formats/index.ts";
import type { ReportSummary } from "./summary.ts";
import { alignedRows, type Cell, errorText, note, numberCell, table, whole } from "./table.ts";

/** The days of a year, by which theta is divided. */
export const DAYS = 365;

/** Returns a part of a number that may be unknown. */
export const partOf = (value: number | null, divisor: number): number | null =>
  value === null ? null : value / divisor;

const TITLES = ["Trades", "Error estimate", "Value", "Spots +1 %", "Theta, a day", "Rho, a point"];

/** The rows of totals behind their labels. */
function sumRows(all: readonly (readonly [labels: readonly string[], total: CurrencyTotals])[]): Cell[][] {
  return alignedRows(
    all.map(([labels, { trades, value, errorEstimate, cashDelta, theta, rho }]) => [
      [...labels, { number: whole(trades) }, { number: errorText(errorEstimate) }],
      [value, partOf(cashDelta, 100), partOf(theta, DAYS), partOf(rho, 100)],
    ]),
  );
}

/** Returns the totals by currency, and in the reporting currency. */
export function totalsTable({ totals, reporting }: ReportSummary): string {
  if (totals.length === 0) return "";
  const all = reporting === undefined ? [] : [[[`all in ${reporting.currency}`], reporting] as const];
  const rows = sumRows([...totals.map((total) => [[total.currency], total] as const), ...all]);
  return [
    table(["Currency", ...TITLES.map((number) => ({ number }))], rows),
    ...incompleteSumNotes(totals).map((text) => note(`${text}.`)),
  ].join("\n");
}

const MAX_GROUPS = 200;

/** Returns the totals by group, the largest values first. */
export function groupsTable({ groups, groupBy }: ReportSummary): string {
  if (groups.length === 0) return "";
  const labels = ({ group }: GroupTotals): string[] => groupBy.map((name) => String(group[name] ?? "none"));
  const largest = groups.toSorted((a, b) => Math.abs(b.value) - Math.abs(a.value)).slice(0, MAX_GROUPS);
  const rows = sumRows(largest.map((total) => [[...labels(total), total.currency], total]));
  const titles = groupBy.map((name) => name.replace(/^tag\./, ""));
  const hidden = groups.length - rows.length;
  return (
    table([...titles, "Currency", ...TITLES.map((number) => ({ number }))], rows) +
    (hidden === 0 ? "" : note(`${whole(hidden)} more groups are not shown.`))
  );
}

const MAX_UNDERLYINGS = 50;

/** Returns the sensitivities by underlying. */
export function underlyingsTable(totals: readonly CurrencyTotals[]): string {
  const { shown, hidden } = largestUnderlyings(totals, MAX_UNDERLYINGS);
  const rows = alignedRows(
    shown.flatMap(({ currency, underlyings }) =>
      underlyings.map(
        ({ underlying, trades, delta, gamma, vega, cashDelta }) =>
          [
            [underlying, currency, { number: whole(trades) }],
            [delta, gamma, partOf(cashDelta, 100), partOf(vega, 100)],
          ] as const,
      ),
    ),
  );
  if (rows.length === 0) return "";
  const titles = ["Trades", "Delta, per 1 of spot", "Gamma, per 1 of spot²", "Spot +1 %", "Vega, a point"];
  return (
    table(["Underlying", "Currency", ...titles.map((number) => ({ number }))], rows) +
    (hidden === 0 ? "" : note(`${whole(hidden)} more underlyings are not shown.`))
  );
}

/** The most buckets that a report lists. */
const MAX_BUCKETS = 100;

/** Returns the risk by bucket, but for what has an expiry and a strike, which grids show. */
export function bucketsTable(totals: readonly CurrencyTotals[]): string {
  const all = totals.flatMap(({ currency, buckets = [] }) => buckets.map((bucket) => ({ ...bucket, currency })));
  const listed = all.filter(({ at }) => typeof at !== "object" || at === null);
  const rows = listed.slice(0, MAX_BUCKETS).map(({ factor, of, at, currency, value, errorEstimate }): Cell[] => {
    const divisor = factor === "spot" ? 1 : 100;
    return [
      factor,
      of,
      placeText(at),
      currency,
      numberCell(value / divisor),
      { number: errorEstimate === null ? "–" : formatErrorEstimate(errorEstimate / divisor) },
      factor === "spot" ? "1 of spot" : "a point",
    ];
  });
  if (rows.length === 0) return "";
  const hidden = listed.length - rows.length;
  const titles = ["Factor", "Of", "At", "Currency", { number: "Sensitivity" }, { number: "Error estimate" }, "Per"];
  return table(titles, rows) + (hidden === 0 ? "" : note(`${whole(hidden)} more buckets are not shown.`));
}

/** Returns the states of structured products: what has happened, and with which probability what will. */
export function notesTable({ notes, noteCount }: ReportSummary): string {
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
  const about =
    "Expected at the end of the product, under the measure of pricing; of a state that is 0 or 1 it is a probability.";
  return `${table(titles, rows)}\n${note(about + rest)}`;
}
