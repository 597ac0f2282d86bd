/**
 * Charts as SVG text, from pure functions of plain data, for the browser page, reports and images in documents. Ticks,
 * scales and paths come from d3-scale and d3-shape. Colours are the CSS variables of `CHART_STYLE`.
 */
export { calibrationCharts } from "./calibration.ts";
import { drawContours } from "./contour.ts";
import { drawHeatMap } from "./heat-map.ts";
import { drawPlot } from "./plot.ts";
export { percentText, profitChart } from "./profits.ts";
import { CHART_STYLE } from "./style.ts";
import { svgElement, svgText } from "./text.ts";
import type { Chart, ChartSize } from "./types.ts";
import { drawWaterfall } from "./waterfall.ts";

export type { Axis, Chart, PlotChart, Point, Series, WaterfallChart } from "./types.ts";
export { CHART_STYLE } from "./style.ts";
export { escapeXml } from "./text.ts";

/** Returns a chart as an `svg` element for an HTML page that includes `CHART_STYLE`. */
export function drawChart(chart: Chart, size: ChartSize): string {
  const { width, height } = size;
  const box = { viewBox: `0 0 ${Math.round(width)} ${Math.round(height)}`, width, height };
  return svgElement("svg", { ...box, class: "chart", role: "img", "aria-label": chart.title }, inside(chart, size));
}

/** Returns a chart as the text of an SVG file, with its style. */
export function chartSvg(chart: Chart, size: ChartSize): string {
  const svg = drawChart(chart, size).replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ');
  return `${svg.replace(/>/, `><style>${CHART_STYLE}</style><rect width="100%" height="100%" class="c-paper"/>`)}\n`;
}

/** Several charts that are drawn together under one title. */
export interface Sheet {
  readonly title: string;
  readonly subtitle: string;
  /** The charts, row by row. */
  readonly rows: readonly (readonly Chart[])[];
}

/** The height of the title of a sheet, with room for the last tick labels, in pixels. */
const SHEET_HEAD = 56;
const SHEET_MARGIN = 20;

/** Returns several charts, each of the given size, as the text of one SVG file. */
export function sheetSvg({ title, subtitle, rows }: Sheet, size: ChartSize): string {
  const width = size.width * Math.max(...rows.map((row) => row.length)) + SHEET_MARGIN;
  const height = SHEET_HEAD + size.height * rows.length;
  const charts = rows.flatMap((row, r) =>
    row.map((chart, c) =>
      svgElement(
        "svg",
        { x: c * size.width, y: SHEET_HEAD + r * size.height, ...size, overflow: "visible" },
        inside(chart, size),
      ),
    ),
  );
  const box = { xmlns: "http://www.w3.org/2000/svg", viewBox: `0 0 ${width} ${height}`, width, height };
  const about = { class: "chart", role: "img", "aria-label": title };
  return `${svgElement(
    "svg",
    { ...box, ...about },
    `<style>${CHART_STYLE}</style><rect width="100%" height="100%" class="c-paper"/>`,
    svgText(title, 20, 26, { class: "c-title" }),
    svgText(subtitle, 20, 44, { class: "c-label" }),
    ...charts,
  )}\n`;
}

function inside(chart: Chart, size: ChartSize): string {
  switch (chart.kind) {
    case "plot":
      return drawPlot(chart, size);
    case "heat-map":
      return drawHeatMap(chart, size);
    case "contour":
      return drawContours(chart, size);
    case "waterfall":
      return drawWaterfall(chart, size);
    default:
      return chart satisfies never;
  }
}
