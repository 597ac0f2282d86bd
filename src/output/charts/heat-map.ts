import { extent, verticalLabel } from "./axes.ts";
import { colourOf } from "./colours.ts";
import { svgElement, svgText, formatShort, chartTitle, textWidth } from "./text.ts";
import type { ChartSize, HeatMapChart } from "./types.ts";

const TOP = 36;
const BELOW = 74;
const MAX_CELLS_WITH_TEXT = 260;

/** Returns the content of the SVG element of a heat map. The first row of values is at the bottom, as on an axis. */
export function drawHeatMap(chart: HeatMapChart, { width, height }: ChartSize): string {
  const { x, y, values, unit } = chart;
  const left = 34 + Math.max(...y.values.map(textWidth), 10);
  const [right, bottom] = [width - 14, height - BELOW];
  const [cellWidth, cellHeight] = [(right - left) / x.values.length, (bottom - TOP) / y.values.length];
  const range = rangeOf(chart);
  const hasText = x.values.length * y.values.length <= MAX_CELLS_WITH_TEXT && cellWidth >= 44 && cellHeight >= 15;
  const cells = values.flatMap((row, j) =>
    row.map((value, i) => {
      const place = { x: left + i * cellWidth, y: bottom - (j + 1) * cellHeight };
      const title = `${x.label}: ${x.values[i]}\n${y.label}: ${y.values[j]}\n${value === null ? "–" : formatShort(value)} ${unit}`;
      const part = value === null ? undefined : partOf(value, range);
      const rect = svgElement(
        "rect",
        {
          ...place,
          width: cellWidth + 0.3,
          height: cellHeight + 0.3,
          class: "c-cell",
          style: part === undefined ? "fill:none" : `fill:${colourOf(part, chart.colours)}`,
        },
        svgElement("title", {}, title.replaceAll("&", "&amp;").replaceAll("<", "&lt;")),
      );
      if (!hasText || value === null || part === undefined) return rect;
      const ink = Math.abs(chart.colours === "diverging" ? 2 * part - 1 : part) > 0.55 ? "c-on-dark" : "c-on-light";
      return (
        rect +
        svgText(formatShort(value), place.x + cellWidth / 2, place.y + cellHeight / 2 + 4, {
          class: `c-value ${ink}`,
          "text-anchor": "middle",
        })
      );
    }),
  );
  return [
    chartTitle(chart.title, width),
    ...cells,
    ...thinned(x.values, cellWidth, 12).map(([text, i]) => {
      // The last label may be wider than its cell and the margin.
      const place = Math.min(left + (i + 0.5) * cellWidth, width - textWidth(text) / 2);
      return svgText(text, place, bottom + 16, { class: "c-tick", "text-anchor": "middle" });
    }),
    ...thinned(y.values, cellHeight, 0).map(([text, j]) =>
      svgText(text, left - 7, bottom - (j + 0.5) * cellHeight + 4, { class: "c-tick", "text-anchor": "end" }),
    ),
    svgText(x.label, (left + right) / 2, bottom + 34, { class: "c-label", "text-anchor": "middle" }),
    verticalLabel(y.label, (TOP + bottom) / 2),
    legend(range, chart, left, bottom + 50, Math.min(right - left, 320)),
  ].join("");
}

/** Selects every n-th label so that they do not overlap. */
function thinned(texts: readonly string[], size: number, gap: number): (readonly [string, number])[] {
  const needed = gap === 0 ? 15 : Math.max(...texts.map(textWidth)) + gap;
  const step = Math.max(Math.ceil(needed / size), 1);
  return texts.map((text, i) => [text, i] as const).filter(([, i]) => i % step === 0);
}

function rangeOf({ values, colours }: HeatMapChart): readonly [number, number] {
  const [low, high] = extent(
    values.flat().filter((value) => value !== null),
    [0, 1],
  );
  const most = Math.max(Math.abs(low), Math.abs(high)) || 1;
  return colours === "diverging" ? [-most, most] : [low, high > low ? high : low + (Math.abs(low) || 1)];
}

const partOf = (value: number, [low, high]: readonly [number, number]): number => (value - low) / (high - low);

function legend(range: readonly [number, number], chart: HeatMapChart, x: number, y: number, width: number): string {
  const steps = Array.from({ length: 48 }, (_, i) => i);
  const bar = steps.map((i) =>
    svgElement("rect", {
      x: x + (i * width) / 48,
      y,
      width: width / 48 + 0.5,
      height: 7,
      style: `fill:${colourOf(i / 47, chart.colours)}`,
    }),
  );
  const [low, high] = range;
  const texts = [
    // What is next to nothing beside the largest value is nothing to the eye.
    svgText(formatShort(Math.abs(low) < 1e-9 * Math.abs(high) ? 0 : low), x, y + 20, { class: "c-tick" }),
    svgText(chart.unit, x + width / 2, y + 20, { class: "c-tick", "text-anchor": "middle" }),
    svgText(formatShort(high), x + width, y + 20, { class: "c-tick", "text-anchor": "end" }),
  ];
  return [...bar, ...texts].join("");
}
