/** Value at risk in a report: the distribution of profits under named scenarios, the worst of them, and the parts. */
import {
  type ApproximateRisk,
  type BookRisk,
  missingText,
  overHorizon,
  type RiskHorizon,
  type RiskPart,
  scalingText,
} from "../../pricing/index.ts";
import { drawChart, escapeXml, percentText, profitChart } from "../charts/index.ts";
import { decimalsFor, formatFixed } from "../formats/index.ts";
import type { ReportSummary } from "./summary.ts";
import { type Cell, note, profitCell, section, table, whole } from "./table.ts";

const MAX_PARTS = 20;

/** What a report says about the risk beside its numbers. */
export interface AboutRisk {
  readonly horizon: RiskHorizon | undefined;
  readonly approximation: ApproximateRisk | undefined;
}

/** Returns the section on value at risk; nothing if the results have no values under named scenarios. */
export function riskSection(summary: ReportSummary, confidence: number, about: AboutRisk): string {
  const parts = [...summary.risks.values()].map((collector) => {
    const risk = collector.risk(confidence);
    const { components, worst } = risk;
    const decimals = decimalsFor([risk.valueAtRisk.value, risk.expectedShortfall.value], 6);
    const groups = Object.entries(components.groups).map(([by, all]) =>
      partsTable(by.replace(/^tag\./, ""), all, risk, decimals),
    );
    const chart = drawChart(profitChart(risk, collector.distribution), { width: 560, height: 320 });
    return [
      `<div class="charts"><figure>${chart}</figure><div>${measuresTable(risk, decimals, about)}</div></div>`,
      about.approximation === undefined ? "" : approximationTables(about.approximation, risk, decimals),
      table(
        ["Worst scenarios", { number: `Profit, ${risk.currency}` }, "What loses most"],
        worst.map(({ scenario, profit, drivers }): Cell[] => [
          `${scenario}${scenario === risk.valueAtRisk.scenario ? " *" : ""}`,
          profitCell(profit, decimals),
          drivers.map((one) => `${one.name} ${formatFixed(one.profit, decimals).replace("-", "−")}`).join(", "),
        ]),
      ),
      note("* The scenario of the value at risk."),
      ...groups,
    ].join("\n");
  });
  const { count, reason } = summary.withoutProfits;
  const left = count === 0 ? "" : `<p class="bad">${whole(count)} trades are left out: ${escapeXml(reason)}</p>`;
  return section("Value at risk", `${left}${parts.join("\n")}`);
}

function measuresTable(risk: BookRisk, decimals: number, { horizon, approximation }: AboutRisk): string {
  const { valueAtRisk, expectedShortfall, confidence, currency, scenarios, trades } = risk;
  const row = (name: string, one: BookRisk["expectedShortfall"]): Cell[] => [
    name,
    ...[one.value, one.errorEstimate, one.samplingError].map((number) => ({ number: formatFixed(number, decimals) })),
  ];
  const titles = [
    `At ${percentText(confidence)}, ${currency}`,
    ...["Loss", "Error", "Sampling"].map((number) => ({ number })),
  ];
  const over = horizon === undefined ? "" : overHorizon(horizon);
  const isApproximate = approximation !== undefined && approximation.beside === undefined;
  const method = isApproximate ? "approximated by the sensitivities of today" : "each a full revaluation";
  const scaling = (horizon && scalingText(horizon)) ?? "";
  return (
    table(titles, [row("Value at risk", valueAtRisk), row("Expected shortfall", expectedShortfall)]) +
    note(
      `${whole(trades)} trades under ${whole(scenarios)} scenarios${over}, ${method}. ` +
        "Error: what values may be off by. Sampling: the standard error that the number of scenarios leaves. " +
        scaling,
    )
  );
}

/** Returns what an approximation leaves out, and where it stands beside a revaluation its measures and its error. */
function approximationTables(
  { missing, beside }: ApproximateRisk,
  { currency, scenarios }: BookRisk,
  decimals: number,
): string {
  const left = missing.map((one) => note(missingText(one))).join("");
  if (beside === undefined) return left;
  const { risk, error, worst } = beside;
  const number = (one: number) => ({ number: formatFixed(one, decimals).replace("-", "−") });
  const heads = (titles: readonly string[]) => titles.map((title) => ({ number: `${title}, ${currency}` }));
  const profits = (title: string, all: typeof worst): string =>
    table(
      [title, ...heads(["Revaluation", "Approximation"])],
      all.map((one): Cell[] => [one.scenario, number(one.revaluation), number(one.approximation)]),
    );
  return [
    table(
      ["By the sensitivities of today", ...heads(["Loss", "Difference"])],
      [
        ["Value at risk", number(risk.valueAtRisk.value), number(error.valueAtRisk)],
        ["Expected shortfall", number(risk.expectedShortfall.value), number(error.expectedShortfall)],
      ],
    ),
    note(
      `Profits under ${whole(scenarios)} scenarios differ by a root mean square of ` +
        `${number(error.rootMeanSquare).number}, and by ${number(error.largest.value).number} in ` +
        `${error.largest.scenario}, where they differ most.`,
    ),
    left,
    profits("Worst by revaluation", worst),
    profits("Worst by approximation", risk.worst),
    table(
      ["Trades that differ most", { number: "Of the root mean square" }],
      error.trades.slice(0, MAX_PARTS).map((one): Cell[] => [one.name, number(one.rootMeanSquare)]),
    ),
  ].join("\n");
}

function partsTable(by: string, all: readonly RiskPart[], { expectedShortfall }: BookRisk, decimals: number): string {
  const largest = all.toSorted((a, b) => Math.abs(b.expectedShortfall) - Math.abs(a.expectedShortfall));
  const shown = largest.slice(0, MAX_PARTS);
  const shortfall = expectedShortfall.value;
  const rows = shown.map((part): Cell[] => [
    part.name,
    ...[part.value, part.valueAtRisk, part.expectedShortfall].map((one) => ({
      number: formatFixed(one, decimals).replace("-", "−"),
    })),
    { number: shortfall > 0 ? `${((100 * part.expectedShortfall) / shortfall).toFixed(1)} %` : "–" },
  ]);
  const titles = ["Value", "Of value at risk", "Of shortfall", "Part"].map((number) => ({ number }));
  const hidden = all.length - shown.length;
  return (
    table([`By ${by}`, ...titles], rows) + (hidden === 0 ? "" : note(`${whole(hidden)} more parts are not shown.`))
  );
}
