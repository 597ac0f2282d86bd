/** Formats the totals of a book under named scenarios as tables of text. */
import { withCommas } from "./numbers.ts";
import type { CurrencyTotals } from "../../book/index.ts";
import { decimalsFor, formatErrorEstimate, formatFixed, type OutputTotals } from "../../output/formats/index.ts";
import { alignColumns, columnWidthsOf, escapeControls, type TextColumn } from "./columns.ts";

/**
 * Returns a table for each currency, or for the reporting currency alone where there is one: the total under each
 * scenario and its change, the worst first. Scenarios beyond the first `most` are counted.
 */
export function namedScenarioTables(
  names: readonly string[] | undefined,
  { totals, reporting }: OutputTotals,
  most: number,
): string[] {
  if (names === undefined) return [];
  return (reporting === undefined ? totals : [reporting]).map((total) => tableOf(names, total, most));
}

function tableOf(names: readonly string[], total: CurrencyTotals, most: number): string {
  const { currency, value: today, scenarioValues = [], scenarioValueErrorEstimates: errors = [] } = total;
  const known = scenarioValues.flatMap((value, s) => (value === null ? [] : [{ s, value, change: value - today }]));
  const worst = known.toSorted((a, b) => a.change - b.change || a.s - b.s);
  const shown = worst.slice(0, most);
  const decimals = decimalsFor([today, ...known.map(({ value }) => value)], 8);
  const columns: TextColumn[] = [
    { title: `scenario, ${escapeControls(currency)}`, align: "left" },
    ...["value", "change", "error"].map((title) => ({ title, align: "right" }) as const),
  ];
  const rows = shown.map(({ s, value, change }) => [
    escapeControls(names[s]),
    formatFixed(value, decimals),
    formatFixed(change, decimals),
    formatErrorEstimate(errors[s] ?? null),
  ]);
  const lines = alignColumns(columns, [columns.map(({ title }) => title), ...rows], columnWidthsOf(columns, rows));
  const left = worst.length - shown.length;
  const without = scenarioValues.length - worst.length;
  const count = (number: number): string => `${withCommas(number)} ${number === 1 ? "scenario" : "scenarios"}`;
  if (left > 0)
    lines.push(`… and ${count(left)} more: --rows all shows them, --output FILE writes those of each trade`);
  if (without > 0)
    lines.push(`${count(without)} without a value of every trade: --output FILE has those that are known`);
  return `${lines.join("\n")}\n`;
}
