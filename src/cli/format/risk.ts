/** Formats value at risk and expected shortfall as text. */
import { decimalsFor, formatFixed } from "../../output/formats/index.ts";
import {
  type ApproximateRisk,
  type BookRisk,
  type ComparedRisk,
  missingText,
  overHorizon,
  type RiskHorizon,
  type RiskPart,
  scalingText,
} from "../../pricing/index.ts";
import { withCommas } from "./numbers.ts";
import { alignColumns, columnWidthsOf, escapeControls, type TextColumn } from "./columns.ts";

/** The rows of each table, where nothing else is asked for. */
export const RISK_ROWS = 10;

/** What the text says beside the risk. */
export interface RiskTextOptions {
  /** The number of trades without a value. */
  readonly failed: number;
  readonly horizon: RiskHorizon;
  /** The most rows of each table. */
  readonly rows: number;
  readonly approximation: ApproximateRisk | undefined;
}

/** Returns the risk of a book as tables: its numbers, the parts of groups and trades, and the worst scenarios. */
export function riskText(risk: BookRisk, { failed, horizon, rows, approximation }: RiskTextOptions): string {
  const { currency, confidence, scenarios, trades, value, valueAtRisk, expectedShortfall, components, worst } = risk;
  const decimals = decimalsFor([valueAtRisk.value, expectedShortfall.value], 7);
  const number = (one: number | null): string => formatFixed(one, decimals);
  const percent = Number((100 * confidence).toPrecision(6));
  const scaling = scalingText(horizon);
  const head =
    `${trades} trades worth ${number(value)} ${escapeControls(currency)}, ${scenarios} scenarios${overHorizon(horizon)}` +
    `${failed > 0 ? `; without ${failed} trades that have no value` : ""}\n` +
    (scaling === undefined ? "" : `${scaling}\n`);
  const measures = table(
    [`${percent} %`, "loss", "error", "sampling"],
    (
      [
        ["value at risk", valueAtRisk],
        ["expected shortfall", expectedShortfall],
      ] as const
    ).map(([name, one]) => [name, ...[one.value, one.errorEstimate, one.samplingError].map(number)]),
  );
  const comparison = approximation?.beside === undefined ? [] : comparisonTables(approximation.beside, number, rows);
  const parts = [...Object.entries(components.groups), ["trade", components.trades] as const].map(([by, all]) =>
    partsTable(by, all, number, rows),
  );
  const tail = table(
    ["scenario", "profit", "most by"],
    worst.map(({ scenario, profit, drivers }) => [
      `${scenario}${scenario === valueAtRisk.scenario ? " *" : ""}`,
      number(profit),
      drivers.map((one) => `${one.name} ${number(one.profit)}`).join(", "),
    ]),
  );
  return [
    head + (approximation === undefined ? "" : approximationHead(approximation)),
    measures,
    ...comparison,
    ...parts,
    `${tail}${more(scenarios - worst.length)}* the scenario of the value at risk\n`,
  ].join("\n");
}

/** Says what is approximated, and what that leaves out. */
function approximationHead({ missing, beside }: ApproximateRisk): string {
  const what = beside === undefined ? "all profits are approximated by the sensitivities of today\n" : "";
  return what + missing.map((one) => `${escapeControls(missingText(one))}\n`).join("");
}

/** Returns the measures by approximation, its error with the parts of trades, and the worst scenarios of both. */
function comparisonTables(
  { risk, error, worst }: ComparedRisk,
  number: (one: number | null) => string,
  most: number,
): string[] {
  const rows = [
    ["value at risk", risk.valueAtRisk.value, error.valueAtRisk],
    ["expected shortfall", risk.expectedShortfall.value, error.expectedShortfall],
    ["largest difference of a profit", null, error.largest.value],
    ["root mean square of differences", null, error.rootMeanSquare],
  ] as const;
  const trades = error.trades.slice(0, most).map(({ name, rootMeanSquare }) => [name, number(rootMeanSquare)]);
  const scenarios = (title: string, all: ComparedRisk["worst"]): string =>
    table(
      [title, "revaluation", "approximation"],
      all.map(({ scenario, revaluation, approximation }) => [scenario, number(revaluation), number(approximation)]),
    ) + more(risk.scenarios - all.length);
  return [
    table(
      ["approximation", "loss", "difference"],
      rows.map(([name, value, by]) => [name, number(value), number(by)]),
    ) + `the largest difference is in ${escapeControls(error.largest.scenario)}\n`,
    table(["trade", "of root mean square"], trades) + more(error.trades.length - trades.length),
    scenarios("worst by revaluation", worst),
    scenarios("worst by approximation", risk.worst),
  ];
}

function partsTable(by: string, all: readonly RiskPart[], number: (one: number) => string, most: number): string {
  const largest = all.toSorted((a, b) => b.expectedShortfall - a.expectedShortfall).slice(0, most);
  const rows = largest.map(({ name, ...part }) => [
    name,
    ...[part.value, part.valueAtRisk, part.expectedShortfall].map(number),
  ]);
  return table([by, "value", "of value at risk", "of shortfall"], rows) + more(all.length - largest.length);
}

/** Returns a line that says how many rows are left out. */
const more = (left: number): string => (left > 0 ? `and ${withCommas(left)} more: --rows all\n` : "");

/** Returns a table of text. */
export function table(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const columns = titles.map((title, i): TextColumn => ({ title, align: i === 0 ? "left" : "right" }));
  const cells = rows.map((row) => row.map(escapeControls));
  return `${alignColumns(columns, [titles, ...cells], columnWidthsOf(columns, cells, 80), 80).join("\n")}\n`;
}
