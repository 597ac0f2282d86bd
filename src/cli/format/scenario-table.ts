import { withCommas } from "./numbers.ts";
import type { CurrencyTotals, Scenarios } from "../../book/index.ts";
import { alignColumns, escapeControls, type TextColumn, columnWidthsOf } from "./columns.ts";
import { decimalsFor, formatFixed } from "../../output/formats/index.ts";

/**
 * Formats the totals under every scenario. There is one table for each currency, date and rate move, with a row for
 * each spot move and a column for each volatility move.
 */
export function scenarioTables(scenarios: Scenarios | undefined, totals: readonly CurrencyTotals[]): string[] {
  if (scenarios === undefined) return [];
  return totals.flatMap((total) =>
    scenarios.time.flatMap((_, t) => scenarios.rate.map((_, k) => scenarioTable(scenarios, total, t, k))),
  );
}

function scenarioTable(
  { time, spot, volatility, rate }: Scenarios,
  { currency, scenarios }: CurrencyTotals,
  t: number,
  k: number,
): string {
  if (scenarios === undefined) return "";
  const cube = scenarios[t];
  const decimals = decimalsFor(
    cube.flatMap((plane) => plane.map((row) => row[k])),
    8,
  );
  const date = time[t] === 0 ? "" : `, ${ahead(time[t])}`;
  const columns: TextColumn[] = [
    { title: `${escapeControls(currency)}${date}, rates ${signed(rate[k])}`, align: "left" },
    ...volatility.map((shift) => ({ title: `vol ${signed(shift)}`, align: "right" }) as const),
  ];
  const rows = spot.map((shift, i) => [
    typeof shift === "number" ? `spot ${percent(shift)}` : movesOf(shift),
    ...volatility.map((_, j) => formatFixed(cube[i][j][k], decimals)),
  ]);
  const lines = alignColumns(columns, [columns.map(({ title }) => title), ...rows], columnWidthsOf(columns, rows));
  return `${lines.join("\n")}\n`;
}

/** Writes a time shift, such as `+7 days` or `+0.123457 years`. */
function ahead(years: number): string {
  const days = Math.round(years * 365 * 1e6) / 1e6;
  if (!Number.isInteger(days)) return `+${Number(years.toPrecision(6))} years`;
  return `+${withCommas(days)} ${days === 1 ? "day" : "days"}`;
}

function signed(shift: number): string {
  return shift > 0 ? `+${shift}` : String(shift);
}

/** Writes spot shifts, such as `ACME +10 %, BETA 0 %`. */
const movesOf = (moves: Readonly<Record<string, number>>): string =>
  Object.entries(moves)
    .map(([name, move]) => `${escapeControls(name)} ${percent(move)}`)
    .join(", ");

function percent(shift: number): string {
  return `${signed(Number((100 * shift).toPrecision(6)))} %`;
}
