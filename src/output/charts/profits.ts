/** The distribution of a book's profits under scenarios. */
import type { PlotChart } from "./types.ts";

/** The measures of a book's risk that the distribution of its profits shows. */
export interface ProfitMeasures {
  readonly currency: string;
  readonly confidence: number;
  /** The number of scenarios. */
  readonly scenarios: number;
  readonly valueAtRisk: { readonly value: number };
  readonly expectedShortfall: { readonly value: number };
}

/** Returns a confidence as text: `99 %`. */
export const percentText = (part: number): string => `${Number((100 * part).toPrecision(6))} %`;

/** Returns the distribution of profits as a histogram, with marks at value at risk and expected shortfall. */
export function profitChart(
  { currency, confidence, scenarios, valueAtRisk, expectedShortfall }: ProfitMeasures,
  { profits, weights }: { readonly profits: ArrayLike<number>; readonly weights: ArrayLike<number> | undefined },
): PlotChart {
  const { first, step, counts } = histogramOf(profits, weights);
  return {
    kind: "plot",
    title: `Profit or loss under ${scenarios.toLocaleString("en-US")} scenarios, ${currency}`,
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
