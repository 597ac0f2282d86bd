/** Axes with round ticks, from the scales of d3-scale. */
import { scaleLinear, scaleLog } from "d3-scale";
import type { Axis } from "./types.ts";
import { svgElement, svgText, formatShort, textWidth } from "./text.ts";

/** The scale of a chart's axis: a function from values to pixels, with the values of the ticks and their texts. */
export interface Scale {
  (value: number): number;
  readonly ticks: readonly number[];
  readonly texts: readonly string[];
}

/** The rectangle of a chart in which data are drawn, inside titles, tick labels and legend. Its sides are in pixels. */
export interface Frame {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

const TICK_WIDTH = 78;
const TICK_HEIGHT = 40;

/**
 * Returns the scale of an axis, whose range covers the given values.
 *
 * @param range the pixels of the two ends.
 * @param isTight true if the axis ends at the smallest and largest value, false if it is extended to round ticks.
 */
export function scaleOf(
  axis: Axis,
  values: readonly number[],
  range: readonly [number, number],
  isTight: boolean,
): Scale {
  const count = Math.max(Math.floor(Math.abs(range[1] - range[0]) / (isTight ? TICK_WIDTH : TICK_HEIGHT)), 2);
  if (axis.scale === "log") {
    const positive = values.filter((value) => value > 0);
    const scale = scaleLog(axis.domain ?? spread(extent(positive, [0.1, 1])), range);
    if (axis.domain === undefined && !isTight) scale.nice();
    const ticks = scale.ticks(count).filter((tick, _, all) => all.length <= 2 * count || isPowerOfTen(tick));
    return Object.assign((value: number): number => scale(value), { ticks, texts: ticks.map(formatShort) });
  }
  const scale = scaleLinear(axis.domain ?? spread(extent(values, [0, 1])), range);
  if (axis.domain === undefined && !isTight) scale.nice(count);
  const ticks = scale.ticks(count);
  const format = scale.tickFormat(count);
  return Object.assign((value: number): number => scale(value), {
    ticks,
    texts: ticks.map((tick) =>
      Math.abs(tick) >= 1e9 || (tick !== 0 && Math.abs(tick) < 1e-4) ? formatShort(tick) : format(tick),
    ),
  });
}

function isPowerOfTen(value: number): boolean {
  const power = Math.log10(value);
  return Math.abs(power - Math.round(power)) < 1e-9;
}

/** Returns the smallest and the largest finite value, or `none` if no value is finite. */
export function extent(values: readonly number[], none: readonly [number, number]): readonly [number, number] {
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const value of values) {
    if (!Number.isFinite(value)) continue;
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  return low <= high ? [low, high] : none;
}

/** Extends the domain of an axis if all values are equal. */
function spread([low, high]: readonly [number, number]): readonly [number, number] {
  return low < high ? [low, high] : [low - (Math.abs(low) || 1) / 2, high + (Math.abs(high) || 1) / 2];
}

/** Returns the width in pixels that tick labels and the axis label need to the left of the vertical axis. */
export function leftMarginOf(texts: readonly string[]): number {
  return 34 + Math.max(...texts.map(textWidth), 10);
}

/** Returns the axes of a chart as SVG text. */
export function drawAxes(frame: Frame, x: Scale, y: Scale, xAxis: Axis, yAxis: Axis): string {
  const { left, right, top, bottom } = frame;
  const rows = y.ticks.map(
    (tick, i) =>
      svgElement("line", { class: "c-grid", x1: left, x2: right, y1: y(tick), y2: y(tick) }) +
      svgText(y.texts[i], left - 7, y(tick) + 4, { class: "c-tick", "text-anchor": "end" }),
  );
  const columns = x.ticks.map(
    (tick, i) =>
      svgElement("line", { class: "c-axis", x1: x(tick), x2: x(tick), y1: bottom, y2: bottom + 4 }) +
      svgText(x.texts[i], x(tick), bottom + 17, { class: "c-tick", "text-anchor": "middle" }),
  );
  return [
    ...rows,
    svgElement("line", { class: "c-axis", x1: left, x2: right, y1: bottom, y2: bottom }),
    ...columns,
    svgText(xAxis.label, (left + right) / 2, bottom + 35, { class: "c-label", "text-anchor": "middle" }),
    verticalLabel(yAxis.label, (top + bottom) / 2),
  ].join("");
}

/** Returns the label of a vertical axis as SVG text, written from bottom to top and centred at height `y`. */
export function verticalLabel(text: string, y: number): string {
  const transform = `translate(13 ${Math.round(y)}) rotate(-90)`;
  return svgText(text, 0, 0, { class: "c-label", "text-anchor": "middle", transform });
}
