import { area, line } from "d3-shape";
import { drawAxes, type Frame, leftMarginOf, type Scale, scaleOf } from "./axes.ts";
import { svgElement, svgText, formatShort, chartTitle, textWidth } from "./text.ts";
import type { ChartSize, PlotChart, Point, Series } from "./types.ts";

const HEAD = 34;
const LEGEND_LINE = 18;
const MARK_LINE = 14;
const BELOW = 44;
/** The maximum number of points for which values are shown under the pointer. */
const MAX_BANDS = 400;
/** The distinct hues of the style sheet. */
const HUES = 8;

/** Returns the content of the SVG element of a plot of lines, dots and bars. */
export function drawPlot(chart: PlotChart, { width, height }: ChartSize): string {
  const { series, marks = [] } = chart;
  const legend = legendOf(chart, width);
  const markRoom = marks.length > 0 ? MARK_LINE : 0;
  const [top, bottom] = [HEAD + legend.height + markRoom, height - BELOW];
  const values = series.flatMap((one) => one.points.map(([, value]) => value));
  const fromZero = series.some(({ style }) => style === "bars" || style === "area");
  const y = scaleOf(chart.y, fromZero ? [...values, 0] : values, [bottom, top + 4], false);
  const left = leftMarginOf(y.texts);
  const right = width - 14;
  const places = [...series.flatMap(placesOf), ...marks.map((mark) => mark.x)];
  const x = scaleOf(chart.x, places, [left, right], true);
  const frame: Frame = { left, right, top, bottom };
  const drawn = series.map((one, i) => drawSeries(one, colourOf(chart, i), x, y, frame));
  return [
    chartTitle(chart.title, width),
    legend.text,
    drawAxes(frame, x, y, chart.x, chart.y),
    ...marks.map((mark) => markLine(mark.x, mark.label, x, frame)),
    ...drawn,
    bands(chart, x, frame),
  ].join("");
}

/** The x coordinates that a series occupies. The first and last bars extend half a step further. */
function placesOf({ points, style }: Series): number[] {
  const places = points.map(([place]) => place);
  if (style !== "bars" || places.length < 2) return places;
  const half = (places[1] - places[0]) / 2;
  return [places[0] - half, ...places, places[places.length - 1] + half];
}

function drawSeries(
  { points, style = "line", weights }: Series,
  colour: string,
  x: Scale,
  y: Scale,
  frame: Frame,
): string {
  const isDefined = ([a, b]: Point): boolean => Number.isFinite(x(a)) && Number.isFinite(y(b));
  const at = { x: ([a]: Point): number => x(a), y: ([, b]: Point): number => y(b) };
  const zero = Math.min(Math.max(y(0), frame.top), frame.bottom);
  switch (style) {
    case "dots": {
      const most = Math.max(...(weights ?? [1]));
      return points
        .map((point, i) => {
          const r = weights === undefined ? 2.6 : 1 + 6 * Math.sqrt(Math.max(weights[i], 0) / most);
          return isDefined(point)
            ? svgElement("circle", { class: "c-dot", cx: at.x(point), cy: at.y(point), r, style: `fill:${colour}` })
            : "";
        })
        .join("");
    }
    case "bars": {
      const step = points.length > 1 ? x(points[1][0]) - x(points[0][0]) : 24;
      return points
        .filter((point) => isDefined(point) && point[1] !== 0)
        .map((point) => bar(at.x(point) - step * 0.44, Math.max(step * 0.88, 1), at.y(point), zero, colour))
        .join("");
    }
    case "area": {
      const d = area<Point>(at.x, zero, at.y).defined(isDefined).digits(1)([...points]) ?? "";
      const edge = line<Point>(at.x, at.y).defined(isDefined).digits(1)([...points]) ?? "";
      return (
        svgElement("path", { class: "c-area", d, style: `fill:${colour}` }) +
        svgElement("path", { class: "c-line", d: edge, style: `stroke:${colour}` })
      );
    }
    default: {
      const d = line<Point>(at.x, at.y).defined(isDefined).digits(1)([...points]) ?? "";
      return svgElement("path", {
        class: `c-line c-${style}`,
        d,
        style: style === "reference" ? undefined : `stroke:${colour}`,
      });
    }
  }
}

function bar(x: number, width: number, y: number, zero: number, colour: string): string {
  return svgElement("rect", {
    x,
    width,
    y: Math.min(y, zero),
    height: Math.max(Math.abs(zero - y), 0.5),
    rx: 1.5,
    style: `fill:${colour}`,
  });
}

function markLine(at: number, text: string, x: Scale, { top, bottom, left, right }: Frame): string {
  const place = x(at);
  const anchor = place > right - 30 ? "end" : place < left + 30 ? "start" : "middle";
  return (
    svgElement("line", { class: "c-mark", x1: place, x2: place, y1: top, y2: bottom }) +
    svgText(text, place, top - 4, { class: "c-tick", "text-anchor": anchor })
  );
}

/** The colour of a series, a CSS variable, so that it follows the light or dark mode. */
function colourOf({ series, colours = "distinct" }: PlotChart, index: number): string {
  const places = series.map(({ colour }, i) => colour ?? i);
  const used = [...new Set(places)].sort((a, b) => a - b);
  // More series than hues go from light to dark: no colour stands for two of them.
  if (colours === "distinct" && used.length <= HUES) return `var(--c${used.indexOf(places[index])})`;
  const part = used.length < 2 ? 1 : used.indexOf(places[index]) / (used.length - 1);
  return `color-mix(in oklab, var(--c-high) ${Math.round(100 * part)}%, var(--c-low))`;
}

function legendOf(chart: PlotChart, width: number): { readonly text: string; readonly height: number } {
  const { series } = chart;
  if (series.length < 2) return { text: "", height: 0 };
  let [x, y] = [20, HEAD + 8];
  // Of series with one colour the first stands for all.
  const isNamed = ({ colour }: Series, i: number): boolean =>
    colour === undefined || series.findIndex((other) => other.colour === colour) === i;
  const entries = series.map((one, i) => {
    if (!isNamed(one, i)) return "";
    const { label: text, style = "line" } = one;
    const needed = 40 + textWidth(text);
    if (x + needed > width && x > 20) [x, y] = [20, y + LEGEND_LINE];
    const colour = style === "reference" ? undefined : colourOf(chart, i);
    const key =
      style === "dots"
        ? svgElement("circle", { cx: x + 9, cy: y - 4, r: 3.2, style: `fill:${colour}` })
        : style === "bars" || style === "area"
          ? svgElement("rect", { x: x + 3, y: y - 9, width: 12, height: 10, rx: 2, style: `fill:${colour}` })
          : svgElement("path", {
              class: `c-line c-${style}`,
              d: `M${x} ${y - 4}h18`,
              style: colour && `stroke:${colour}`,
            });
    const entry = key + svgText(text, x + 23, y, { class: "c-tick" });
    x += needed;
    return entry;
  });
  return { text: entries.join(""), height: y - HEAD + 12 };
}

/** Vertical strips that show the values of all series at one x in a tooltip under the pointer. */
function bands({ series, x: axis }: PlotChart, x: Scale, { top, bottom, left, right }: Frame): string {
  const lines = series.filter(({ style }) => style !== "dots");
  const places = [...new Set(lines.flatMap(({ points }) => points.map(([at]) => at)))].sort((a, b) => a - b);
  if (places.length < 2 || places.length > MAX_BANDS) return "";
  const at = lines.map(({ points }) => new Map(points));
  return places
    .map((place, i) => {
      const from = i === 0 ? left : (x(places[i - 1]) + x(place)) / 2;
      const to = i === places.length - 1 ? right : (x(places[i + 1]) + x(place)) / 2;
      const values = lines.flatMap(({ label: name }, k) => {
        const value = at[k].get(place);
        return value === undefined || !Number.isFinite(value) ? [] : [`${name}: ${formatShort(value)}`];
      });
      const title = svgElement(
        "title",
        {},
        [`${axis.label}: ${formatShort(place)}`, ...values].join("\n").replaceAll("&", "&amp;").replaceAll("<", "&lt;"),
      );
      const strip = svgElement("rect", { x: from, y: top, width: Math.max(to - from, 0), height: bottom - top }, title);
      const hair = svgElement("line", { x1: x(place), x2: x(place), y1: top, y2: bottom });
      return svgElement("g", { class: "c-band" }, strip, hair);
    })
    .join("");
}
