import type { CurrencyTotals, Scenarios } from "../../book/index.ts";
import { alignColumns, printable, type TextColumn, widthsOf } from "./columns.ts";
import { decimalsFor, fixed } from "./numbers.ts";

/** The totals under every scenario: for each currency and rate shift one table, spot down and volatility across. */
export function scenarioTables(scenarios: Scenarios | undefined, totals: readonly CurrencyTotals[]): string[] {
  if (scenarios === undefined) return [];
  return totals.flatMap((total) => scenarios.rate.map((shift, k) => scenarioTable(scenarios, total, shift, k)));
}

function scenarioTable(
  { spot, volatility }: Scenarios,
  { currency, scenarios }: CurrencyTotals,
  rateShift: number,
  k: number,
): string {
  if (scenarios === undefined) return "";
  const decimals = decimalsFor(
    scenarios.flatMap((plane) => plane.map((row) => row[k])),
    8,
  );
  const columns: TextColumn[] = [
    { title: `${printable(currency)}, rates ${signed(rateShift)}`, align: "left" },
    ...volatility.map((shift) => ({ title: `vol ${signed(shift)}`, align: "right" }) as const),
  ];
  const rows = spot.map((shift, i) => [
    `spot ${percent(shift)}`,
    ...volatility.map((_, j) => fixed(scenarios[i][j][k], decimals)),
  ]);
  const lines = alignColumns(columns, [columns.map(({ title }) => title), ...rows], widthsOf(columns, rows));
  return `${lines.join("\n")}\n`;
}

function signed(shift: number): string {
  return shift > 0 ? `+${shift}` : String(shift);
}

function percent(shift: number): string {
  return `${signed(Number((100 * shift).toPrecision(6)))} %`;
}
