/** Value at risk in a report: the distribution of profits under named scenarios, the worst of them, and the parts. */
import type { BookRisk, RiskCollector, RiskPart } from "../../pricing/index.ts";
import { type Chart, drawChart, escapeXml } from "../charts/index.ts";
import { decimalsFor, formatFixed } from "../formats/index.ts";
import type { ReportSummary } from "./summary.ts";
import { type Cell, note, profitCell, section, table, whole } from "./table.ts";

/** Returns a confidence as text: `99 %`. */
export const percentText = (part: number): string => `${Number((100 * part).toPrecision(6))} %`;

/** Returns the distribution of profits as a histogram, with marks at value at risk and expected shortfall. */
export function profitChart({ distribution: { profits, weights } }: RiskCollector, risk: BookRisk): Chart {
  const { currency, confidence, valueAtRisk, expectedShortfall } = risk;
  const { first, step, counts } = histogramOf(profits, weights);
  return {
    kind: "plot",
    title: `Profit or loss under ${whole(risk.scenarios)} scenarios, ${currency}`,
    x: { label: `profit or loss, ${currency}` },
    y: { label: weights === undefined ? "scenarios" : "weight, %" },
    series: [
      { label: "scenarios", style: "bars", points: counts.map((count, bin) => [first + (bin + 0.5) * step, count]) },
    ],
    marks: [
      { x: -valueAtRisk.value, label: `VaR ${percentText(confidence)}` },
      // Its name has room beside the other one's only where they are apart.
      ...(expectedShortfall.value - valueAtRisk.value < 0.2 * step * counts.length
        ? []
        : [{ x: -expectedShortfall.value, label: "ES" }]),
    ],
  };
}

/** The most bins of a histogram. */
const MAX_BINS = 40;

/**
 * Returns a histogram whose bins have round edges, about √n of them: numbers of scenarios, or where they have weights
 * the parts of the weights in per cent.
 */
export function histogramOf(
  profits: ArrayLike<number>,
  weights: ArrayLike<number> | undefined,
): { readonly first: number; readonly step: number; readonly counts: readonly number[] } {
  const all = Array.from(profits);
  const [min, max] = all.reduce(([a, b], one) => [Math.min(a, one), Math.max(b, one)], [Infinity, -Infinity]);
  const bins = Math.min(Math.max(Math.ceil(2 * Math.sqrt(all.length)), 5), MAX_BINS);
  const step = roundStep((max - min || Math.abs(max) || 1) / bins);
  const first = step * Math.floor(min / step);
  const counts = new Array<number>(Math.floor((max - first) / step) + 1).fill(0);
  const total = weights === undefined ? 1 : all.reduce((sum, _, s) => sum + weights[s], 0) / 100;
  const binOf = (one: number): number => Math.max(Math.floor((one - first) / step), 0);
  all.forEach((one, s) => (counts[binOf(one)] += (weights?.[s] ?? 1) / total));
  return { first, step, counts };
}

/** Returns the next of 1, 2 and 5 times a power of ten. */
function roundStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 5, 10].map((digit) => digit * power).find((step) => step >= least) ?? 10 * power;
}

const MAX_PARTS = 20;

/** Returns the section on value at risk; nothing if the results have no values under named scenarios. */
export function riskSection(summary: ReportSummary, confidence: number, horizon: string | undefined): string {
  const parts = [...summary.risks.values()].map((collector) => {
    const risk = collector.risk(confidence);
    const { components, worst } = risk;
    const decimals = decimalsFor([risk.valueAtRisk.value, risk.expectedShortfall.value], 6);
    const groups = Object.entries(components.groups).map(([by, all]) =>
      partsTable(by.replace(/^tag\./, ""), all, risk, decimals),
    );
    const chart = drawChart(profitChart(collector, risk), { width: 560, height: 320 });
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

function measuresTable(risk: BookRisk, decimals: number, horizon: string | undefined): string {
  const { valueAtRisk, expectedShortfall, confidence, currency, scenarios, trades } = risk;
  const row = (name: string, one: BookRisk["expectedShortfall"]): Cell[] => [
    name,
    ...[one.value, one.errorEstimate, one.samplingError].map((number) => ({ number: formatFixed(number, decimals) })),
  ];
  const titles = [
    `At ${percentText(confidence)}, ${currency}`,
    ...["Loss", "Error", "Sampling"].map((number) => ({ number })),
  ];
  const over = horizon === undefined ? "" : ` over ${horizon}`;
  return (
    table(titles, [row("Value at risk", valueAtRisk), row("Expected shortfall", expectedShortfall)]) +
    note(
      `${whole(trades)} trades under ${whole(scenarios)} scenarios${over}, each a full revaluation. ` +
        "Error: what values may be off by. Sampling: the standard error that the number of scenarios leaves.",
    )
  );
}

function partsTable(by: string, all: readonly RiskPart[], { expectedShortfall }: BookRisk, decimals: number): string {
  const largest = all.toSorted((a, b) => Math.abs(b.expectedShortfall) - Math.abs(a.expectedShortfall));
  const shown = largest.slice(0, MAX_PARTS);
  const shortfall = expectedShortfall.value;
  const rows = shown.map((part): Cell[] => [
    part.name,
    ...[part.value, part.valueAtRisk, part.expectedShortfall].map((one) => ({ number: formatFixed(one, decimals) })),
    { number: shortfall > 0 ? `${((100 * part.expectedShortfall) / shortfall).toFixed(1)} %` : "–" },
  ]);
  const titles = ["Value", "Of value at risk", "Of shortfall", "Part"].map((number) => ({ number }));
  const hidden = all.length - shown.length;
  return (
    table([`By ${by}`, ...titles], rows) + (hidden === 0 ? "" : note(`${whole(hidden)} more parts are not shown.`))
  );
}
