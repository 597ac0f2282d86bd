/** Value at risk in a report: the distribution of profits under named scenarios, the worst of them, and the parts. */
import { type BookRisk, overHorizon, type RiskHorizon, type RiskPart, scalingText } from "../../pricing/index.ts";
import { drawChart, escapeXml, percentText, profitChart } from "../charts/index.ts";
import { decimalsFor, formatFixed } from "../formats/index.ts";
import type { ReportSummary } from "./summary.ts";
import { type Cell, note, profitCell, section, table, whole } from "./table.ts";

const MAX_PARTS = 20;

/** Returns the section on value at risk; nothing if the results have no values under named scenarios. */
export function riskSection(summary: ReportSummary, confidence: number, horizon?: RiskHorizon): string {
  const parts = [...summary.risks.values()].map((collector) => {
    const risk = collector.risk(confidence);
    const { components, worst } = risk;
    const decimals = decimalsFor([risk.valueAtRisk.value, risk.expectedShortfall.value], 6);
    const groups = Object.entries(components.groups).map(([by, all]) =>
      partsTable(by.replace(/^tag\./, ""), all, risk, decimals),
    );
    const chart = drawChart(profitChart(risk, collector.distribution), { width: 560, height: 320 });
    return [
      `<div class="charts"><figure>${chart}</figure><div>${measuresTable(risk, decimals, horizon)}</div></div>`,
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

function measuresTable(risk: BookRisk, decimals: number, horizon?: RiskHorizon): string {
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
  const scaling = (horizon && scalingText(horizon)) ?? "";
  return (
    table(titles, [row("Value at risk", valueAtRisk), row("Expected shortfall", expectedShortfall)]) +
    note(
      `${whole(trades)} trades under ${whole(scenarios)} scenarios${over}, each a full revaluation. ` +
        "Error: what values may be off by. Sampling: the standard error that the number of scenarios leaves. " +
        scaling,
    )
  );
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
