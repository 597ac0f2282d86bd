import { scaleOf } from "./axes.ts";
import { svgElement, svgText, formatShort, chartTitle, textWidth } from "./text.ts";
import type { ChartSize, WaterfallChart } from "./types.ts";

const TOP = 40;
const BELOW = 44;

/** The axis does not begin at zero where all of the change would be in so small a part of it. */
const ZOOM = 0.35;

/**
 * Returns the content of the SVG element of a waterfall chart. Each step is a horizontal bar on a line of its own, so
 * that names have room. Where the totals are large beside their change, the axis has the change alone, and says so.
 */
export function drawWaterfall({ title, unit, steps }: WaterfallChart, { width, height }: ChartSize): string {
  const left = 20 + Math.max(...steps.map(({ label: text }) => textWidth(text)), 40);
  const right = width - 84;
  const row = (height - TOP - BELOW) / steps.length;
  let sum = 0;
  const spans = steps.map(({ value, isTotal = false }) => {
    const from = isTotal ? 0 : sum;
    sum = isTotal ? value : sum + value;
    return { from, to: sum, isTotal };
  });
  const zoomed = zoomOf(spans);
  const shown = zoomed ?? [0, ...spans.flatMap(({ from, to }) => [from, to])];
  const x = scaleOf({ label: unit }, shown, [left, right], true);
  const bars = spans.map(({ from, to, isTotal }, i) => {
    const y = TOP + i * row + row * 0.14;
    const thickness = Math.min(row * 0.72, 30);
    const colour = isTotal ? "var(--c0)" : to >= from ? "var(--c-gain)" : "var(--c-loss)";
    const base = isTotal && zoomed !== undefined ? (to > 0 ? left : right) : x(from);
    const [start, end] = [Math.min(base, x(to)), Math.max(base, x(to))];
    const next =
      i < spans.length - 1 && !(isTotal && spans[i + 1].isTotal)
        ? svgElement("line", { class: "c-axis", x1: x(to), x2: x(to), y1: y + thickness, y2: y + row })
        : "";
    const value = isTotal ? to : to - from;
    return [
      svgElement("rect", {
        x: start,
        y,
        width: Math.max(end - start, 1),
        height: thickness,
        rx: 2,
        style: `fill:${colour}`,
      }),
      next,
      svgText(steps[i].label, left - 10, y + thickness / 2 + 4, { class: "c-tick", "text-anchor": "end" }),
      svgText(`${value > 0 && !isTotal ? "+" : ""}${formatShort(value)}`, end + 6, y + thickness / 2 + 4, {
        class: "c-value",
      }),
    ].join("");
  });
  return [
    chartTitle(title, width),
    ...x.ticks.map(
      (tick, i) =>
        svgElement("line", { class: "c-grid", x1: x(tick), x2: x(tick), y1: TOP, y2: height - BELOW }) +
        svgText(x.texts[i], x(tick), height - BELOW + 16, { class: "c-tick", "text-anchor": "middle" }),
    ),
    ...bars,
    svgText(zoomed === undefined ? unit : `${unit}, without the part from zero`, width - 14, height - BELOW + 34, {
      class: "c-label",
      "text-anchor": "end",
    }),
  ].join("");
}

interface Span {
  readonly from: number;
  readonly to: number;
  readonly isTotal: boolean;
}

/** The range of a change that is small beside the totals of one sign, with a margin; undefined if it is not. */
function zoomOf(spans: readonly Span[]): readonly number[] | undefined {
  const ends = spans.flatMap(({ from, to, isTotal }) => (isTotal ? [to] : [from, to]));
  const [low, high] = [Math.min(...ends), Math.max(...ends)];
  const isFar = low * high > 0 && high - low < ZOOM * Math.max(Math.abs(low), Math.abs(high));
  if (!isFar || spans.filter(({ isTotal }) => isTotal).length < 2) return undefined;
  const margin = 0.15 * (high - low) || 0.05 * Math.abs(high);
  return [low - margin, high + margin];
}
