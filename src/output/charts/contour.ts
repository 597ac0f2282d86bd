import { scaleLinear } from "d3-scale";
import { drawAxes, extent, type Frame, leftMarginOf, type Scale, scaleOf } from "./axes.ts";
import { colourOf, levelLegend } from "./colours.ts";
import { chartTitle, escapeXml, formatPixels, formatShort, svgElement } from "./text.ts";
import type { ChartSize, ContourChart } from "./types.ts";

const TOP = 36;
const BELOW = 92;
/** About so many bands of values; their edges are round numbers. */
const BANDS = 9;

/** A corner of a cell in pixels, with its value. */
interface Corner {
  readonly x: number;
  readonly y: number;
  readonly value: number;
}

type Place = Pick<Corner, "x" | "y">;

/** Returns the content of the SVG element of a chart with filled contours: bands of values with round edges. */
export function drawContours(chart: ContourChart, { width, height }: ChartSize): string {
  const { title, x: across, y: up, values, unit, colours } = chart;
  const bottom = height - BELOW;
  const y = scaleOf({ ...up, domain: ends(up.values) }, up.values, [bottom, TOP], false);
  const frame: Frame = { left: leftMarginOf(y.texts), right: width - 14, top: TOP, bottom };
  const x = scaleOf({ ...across, domain: ends(across.values) }, across.values, [frame.left, frame.right], true);
  const levels = levelsOf(values);
  const cells = cellsOf(chart, x, y);
  // Each level is painted over what lies below it, the lowest over everything that has a value.
  const parts = partsOf(levels, colours);
  const bands = [-Infinity, ...levels].map((level, band) =>
    svgElement("path", {
      d: cells.flatMap((row) => rowAbove(row, level)).join(""),
      style: `fill:${colourOf(parts[band], colours)}`,
    }),
  );
  const lines = levels
    .map((level) =>
      cells
        .flat()
        .map((cell) => edgeOf(cell, level))
        .join(""),
    )
    .join("");
  return [
    chartTitle(title, width),
    drawAxes(frame, x, y, across, up),
    ...bands,
    lines === "" ? "" : svgElement("path", { class: "c-contour", d: lines }),
    hovers(chart, x, y, frame),
    levelLegend(levels, parts, colours, unit, { x: frame.left, y: bottom + 56, width: frame.right - frame.left }),
  ].join("");
}

const ends = (values: readonly number[]): readonly [number, number] => [values[0], values[values.length - 1]];

/** The round values at which a band ends and the next one begins. */
function levelsOf(values: ContourChart["values"]): readonly number[] {
  const [low, high] = extent(
    values.flat().map((value) => value ?? Number.NaN),
    [0, 1],
  );
  // What is next to nothing beside the largest value is nothing to the eye.
  const spread = high - low > 1e-9 * Math.max(Math.abs(low), Math.abs(high));
  return spread
    ? scaleLinear([low, high], [0, 1])
        .ticks(BANDS)
        .filter((level) => level > low && level < high)
    : [];
}

/** The place of each band on the scale of colours, 0 … 1; for changes, the band around zero has the neutral colour. */
function partsOf(levels: readonly number[], colours: ContourChart["colours"]): readonly number[] {
  const bands = levels.length + 1;
  if (colours !== "diverging")
    return Array.from({ length: bands }, (_, band) => (bands < 2 ? 0.5 : band / (bands - 1)));
  const step = levels.length > 1 ? levels[1] - levels[0] : 1;
  const centres = Array.from({ length: bands }, (_, band) => (levels[0] ?? 0) + (band - 0.5) * step);
  const most = Math.max(...centres.map((centre) => Math.abs(centre)), Number.MIN_VALUE);
  return centres.map((centre) => 0.5 + centre / (2 * most));
}

/** The cells between neighbouring nodes, row by row; undefined where a corner has no value. */
function cellsOf({ x: across, y: up, values }: ContourChart, x: Scale, y: Scale): (readonly Corner[] | undefined)[][] {
  const corner = (i: number, j: number): Corner => ({
    x: x(across.values[i]),
    y: y(up.values[j]),
    value: values[j][i] ?? Number.NaN,
  });
  return up.values.slice(1).map((_, j) =>
    across.values.slice(1).map((_, i) => {
      const corners = [corner(i, j), corner(i + 1, j), corner(i + 1, j + 1), corner(i, j + 1)];
      return corners.every(({ value }) => Number.isFinite(value)) ? corners : undefined;
    }),
  );
}

const pathOf = (places: readonly Place[]): string =>
  `M${places.map(({ x, y }) => `${formatPixels(x)} ${formatPixels(y)}`).join("L")}Z`;

/** The parts of a row of cells that lie above a level. Whole cells beside each other are one rectangle. */
function rowAbove(row: readonly (readonly Corner[] | undefined)[], level: number): string[] {
  const paths: string[] = [];
  let from: readonly Corner[] | undefined;
  let last: readonly Corner[] | undefined;
  const close = (): void => {
    if (from !== undefined && last !== undefined) paths.push(pathOf([from[0], last[1], last[2], from[3]]));
    from = undefined;
  };
  for (const cell of row) {
    if (cell?.every(({ value }) => value >= level) === true) {
      from ??= cell;
      last = cell;
      continue;
    }
    close();
    if (cell !== undefined) paths.push(...partAbove(cell, level));
  }
  close();
  return paths;
}

/** The part of one cell above a level: what remains of its corners, and where its edges cross the level. */
function partAbove(cell: readonly Corner[], level: number): string[] {
  const around = cell.flatMap((corner, i) => {
    const next = cell[(i + 1) % 4];
    return [...(corner.value >= level ? [corner] : []), ...crossing(corner, next, level)];
  });
  if (around.length < 3) return [];
  // Two opposite corners are above: they are joined if the middle of the cell is above as well.
  const isSplit = around.length === 6 && isSaddle(cell, level) && middle(cell) < level;
  if (!isSplit) return [pathOf(around)];
  const at = cell[0].value >= level ? 0 : 1;
  const turned = [...around.slice(at), ...around.slice(0, at)];
  return [pathOf([turned[5], turned[0], turned[1]]), pathOf([turned[2], turned[3], turned[4]])];
}

const isSaddle = (cell: readonly Corner[], level: number): boolean =>
  cell[0].value >= level === cell[2].value >= level && cell[1].value >= level === cell[3].value >= level;
const middle = (cell: readonly Corner[]): number => cell.reduce((sum, { value }) => sum + value / 4, 0);

function crossing(a: Corner, b: Corner, level: number): Place[] {
  if (a.value >= level === b.value >= level) return [];
  const part = (level - a.value) / (b.value - a.value);
  return [{ x: a.x + part * (b.x - a.x), y: a.y + part * (b.y - a.y) }];
}

/** The line at a level through one cell. */
function edgeOf(cell: readonly Corner[] | undefined, level: number): string {
  if (cell === undefined) return "";
  const points = cell.flatMap((corner, i) => crossing(corner, cell[(i + 1) % 4], level));
  if (points.length < 2) return "";
  const isTurned = points.length === 4 && middle(cell) >= level === cell[0].value >= level;
  const order = isTurned ? [points[0], points[1], points[2], points[3]] : [points[3], points[0], points[1], points[2]];
  const used = points.length === 4 ? order : points;
  const line = (a: Place, b: Place): string =>
    `M${formatPixels(a.x)} ${formatPixels(a.y)}L${formatPixels(b.x)} ${formatPixels(b.y)}`;
  return line(used[0], used[1]) + (used.length === 4 ? line(used[2], used[3]) : "");
}

/** Rectangles around the nodes that tell their values under the pointer. */
function hovers({ x: across, y: up, values, unit }: ContourChart, x: Scale, y: Scale, frame: Frame): string {
  const columns = edges(across.values.map(x), frame.left, frame.right);
  const rows = edges(up.values.map(y), frame.bottom, frame.top);
  return up.values
    .flatMap((height, j) =>
      across.values.map((place, i) => {
        const value = values[j][i];
        const text = `${across.label}: ${formatShort(place)}\n${up.label}: ${formatShort(height)}\n${value === null ? "–" : formatShort(value)} ${unit}`;
        const box = {
          x: columns[i],
          width: columns[i + 1] - columns[i],
          y: rows[j + 1],
          height: rows[j] - rows[j + 1],
        };
        return svgElement("rect", { ...box, class: "c-cell c-clear" }, svgElement("title", {}, escapeXml(text)));
      }),
    )
    .join("");
}

function edges(places: readonly number[], first: number, last: number): number[] {
  return [first, ...places.slice(1).map((place, i) => (place + places[i]) / 2), last];
}
