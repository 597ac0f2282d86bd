/**
 * Line plots as SVG text: panels with axes, ticks, curves, a legend and a title, for light and dark pages; no dependency.
 *
 *   import { figure } from "../plot.ts";
 *   writeFileSync("picture.svg", figure("What it shows", [{ title: "Value", x: { label: "spot" }, y: { label: "EUR" }, curves }]));
 */

export interface Axis {
  readonly label: string;
  /** What the axis spans; else what the curves need, up to the next tick. */
  readonly range?: readonly [number, number];
  /** Else round numbers. */
  readonly ticks?: readonly number[];
  /** The text of a tick; else the number with the decimals that the ticks need. */
  readonly format?: (tick: number) => string;
}

export interface Curve {
  readonly label: string;
  /** A point that is not finite interrupts the curve. */
  readonly points: readonly (readonly [x: number, y: number])[];
  /** A solid line unless given. "reference" is thin, dashed and grey, for what the others are compared with. */
  readonly style?: "dashed" | "dots" | "reference";
}

export interface Panel {
  readonly title: string;
  readonly x: Axis;
  readonly y: Axis;
  readonly curves: readonly Curve[];
  /** Upright dotted lines: today's spot, a dividend's date. */
  readonly marks?: readonly { readonly x: number; readonly label: string }[];
  /** "distinct" (default): a hue each, eight at most. "ordered": one hue, darker from curve to curve (in the dark, lighter). */
  readonly colours?: "distinct" | "ordered";
  /** A heading of the legend, which stands right of the panel if there are several curves. */
  readonly legend?: string;
}

/** A panel that draws itself: see surface.ts. */
export interface Drawing {
  /** With its top left corner at (0, 0), `index` in the names of its classes, and so large without ticks and titles. */
  readonly draw: (index: number, width: number, height: number) => Drawn;
}

export interface FigureSize {
  /** Pixels of one panel's axes, without ticks, titles and legend. */
  readonly width?: number;
  readonly height?: number;
  /** Panels in a row; all of them by default. */
  readonly columns?: number;
}

/** Hues told apart by most eyes, on white and on near-black (after Okabe & Ito, 2008). */
const LIGHT = ["#0072b2", "#d55e00", "#00805e", "#a8508a", "#a87400", "#3d3d8f", "#b0203c", "#5a6b1f"];
const DARK = ["#5cb3ec", "#f28e4c", "#3fc79d", "#e39bcb", "#e6b84a", "#a3a3f0", "#f0788c", "#b5c76a"];

/** Width of a letter of the 11 px text, about: enough to leave room for it. */
const LETTER = 6.2;
/** Pixels above the axes of a panel, below them, and from line to line of its legend. */
export const ABOVE = 50;
const [BELOW, LINE] = [48, 20];

/** One SVG document. `label` is what a screen reader says. @throws RangeError a panel without a finite point, or more than eight distinct curves */
export function figure(label: string, panels: readonly (Panel | Drawing)[], size: FigureSize = {}): string {
  const { width = 330, height = 230, columns = panels.length } = size;
  const drawn = panels.map((panel, index) =>
    "draw" in panel ? panel.draw(index, width, height) : draw(panel, index, width, height),
  );
  const rows = Array.from({ length: Math.ceil(panels.length / columns) }, (_, row) =>
    drawn.slice(row * columns, (row + 1) * columns),
  );
  const rowHeight = ABOVE + height + BELOW;
  // Panels of one column stand under each other.
  const widths = rows[0]!.map((_, c) => Math.max(...rows.map((row) => row[c]?.width ?? 0)));
  const placed = rows.flatMap((row, r) =>
    row.map(({ text }, c) => {
      const left = sum(widths.slice(0, c));
      return `<g transform="translate(${px(left)} ${px(r * rowHeight)})">\n${text}\n</g>`;
    }),
  );
  const styles = drawn.map(({ style }) => style);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${px(sum(widths))} ${px(rows.length * rowHeight)}" role="img" aria-label="${escaped(label)}">
<style>
${BASE}
${styles.map(({ light }) => light).join("\n")}
@media (prefers-color-scheme: dark) {
${BASE_DARK}
${styles.map(({ dark }) => dark).join("\n")}
}
</style>
<rect width="100%" height="100%" class="page"/>
${placed.join("\n")}
</svg>
`;
}

const BASE = `text { font: 11px system-ui, sans-serif; fill: #333 } .title { font-size: 14px; font-weight: 600 } .muted { fill: #666 }
.page { fill: #fff } .grid { stroke: #e2e2e2 } .axis { stroke: #888 } .mark { stroke: #888; stroke-dasharray: 2 3 }
.curve { fill: none; stroke-width: 2; stroke-linejoin: round } .dashed { stroke-dasharray: 6 4 } .reference { stroke-width: 1.3; stroke-dasharray: 4 3 }
.dots { stroke: none }`;
const BASE_DARK = `text { fill: #ddd } .muted { fill: #aaa } .page { fill: #14171a } .grid { stroke: #2c3136 } .axis, .mark { stroke: #7d858c }`;

export interface Drawn {
  readonly text: string;
  readonly width: number;
  readonly style: { readonly light: string; readonly dark: string };
}

/** A panel with its top left corner at (0, 0). */
function draw(panel: Panel, index: number, width: number, height: number): Drawn {
  const points = panel.curves.flatMap((curve) => curve.points).filter(isFinitePoint);
  if (points.length === 0) throw new RangeError(`${panel.title}: expected a curve with a finite point, got none`);
  const marked = panel.marks?.map((mark) => mark.x) ?? [];
  const [xScale, yScale] = [
    scaleOf(panel.x, [...points.map(([x]) => x), ...marked], true),
    scaleOf(
      panel.y,
      points.map(([, y]) => y),
      false,
    ),
  ];
  const left = 34 + LETTER * Math.max(...yScale.texts.map((text) => text.length));
  const x = (value: number): number => left + width * xScale.part(value);
  const y = (value: number): number => ABOVE + height * (1 - yScale.part(value));
  const [right, bottom] = [left + width, ABOVE + height];
  const text = [
    `<text x="${px(left)}" y="22" class="title">${escaped(panel.title)}</text>`,
    ...yScale.ticks.map((tick, i) => yTick(left, right, y(tick), yScale.texts[i]!)),
    ...xScale.ticks.map((tick, i) => xTick(x(tick), bottom, xScale.texts[i]!)),
    `<line x1="${px(left)}" x2="${px(right)}" y1="${px(bottom)}" y2="${px(bottom)}" class="axis"/>`,
    `<text x="${px((left + right) / 2)}" y="${px(bottom + 36)}" text-anchor="middle">${escaped(panel.x.label)}</text>`,
    `<text transform="translate(14 ${px((ABOVE + bottom) / 2)}) rotate(-90)" text-anchor="middle">${escaped(panel.y.label)}</text>`,
    ...(panel.marks ?? []).map((mark) => markLine(x(mark.x), bottom, mark.label)),
    `<clipPath id="p${index}"><rect x="${px(left)}" y="${ABOVE - 2}" width="${px(width)}" height="${px(height + 4)}"/></clipPath>`,
    `<g clip-path="url(#p${index})">`,
    ...panel.curves.map((curve, c) => drawCurve(curve, `p${index}c${c}`, x, y)),
    "</g>",
    ...legendOf(panel, index, right + 18),
  ];
  return { text: text.join("\n"), width: right + 30 + legendWidth(panel), style: styleOf(panel, index) };
}

export interface Scale {
  readonly ticks: readonly number[];
  readonly texts: readonly string[];
  /** 0 at the axis's beginning, 1 at its end. */
  readonly part: (value: number) => number;
}

/** Where an axis ends is the data's end if `tight`, else the tick beyond. */
export function scaleOf({ range, ticks, format }: Axis, values: readonly number[], tight: boolean): Scale {
  const [low, high] = range ?? spread(Math.min(...values), Math.max(...values));
  const step = roundStep((high - low) / 6);
  const all = ticks ?? multiples(step, range !== undefined || tight ? Math.ceil : Math.floor, low, high);
  const [from, to] = range ?? (tight ? [low, high] : [Math.min(low, all[0]!), Math.max(high, all.at(-1)!)]);
  const decimals = Math.max(0, ...all.map((tick) => (String(Number(tick.toPrecision(10))).split(".")[1] ?? "").length));
  const texts = all.map(format ?? ((tick) => tick.toFixed(decimals).replace("-", "−")));
  return { ticks: all, texts, part: (value) => (value - from) / (to - from) };
}

function spread(low: number, high: number): [number, number] {
  return low < high ? [low, high] : [low - 0.5 * (Math.abs(low) || 1), high + 0.5 * (Math.abs(high) || 1)];
}

/** 1, 2 or 5 times a power of ten, the next one up. */
function roundStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least));
  return power * ([1, 2, 5].find((factor) => factor * power >= least * (1 - 1e-9)) ?? 10);
}

/** Multiples of `step` inside [low, high] (`toward` = ceil), or around it (floor). */
function multiples(step: number, toward: (x: number) => number, low: number, high: number): number[] {
  const first = toward(low / step - (toward === Math.ceil ? 1e-9 : -1e-9));
  const last = -toward(-high / step - (toward === Math.ceil ? 1e-9 : -1e-9));
  return Array.from({ length: last - first + 1 }, (_, i) => (first + i) * step);
}

function yTick(left: number, right: number, y: number, text: string): string {
  return (
    `<line x1="${px(left)}" x2="${px(right)}" y1="${px(y)}" y2="${px(y)}" class="grid"/>` +
    `<text x="${px(left - 7)}" y="${px(y + 4)}" class="muted" text-anchor="end">${escaped(text)}</text>`
  );
}

function xTick(x: number, bottom: number, text: string): string {
  return (
    `<line x1="${px(x)}" x2="${px(x)}" y1="${px(bottom)}" y2="${px(bottom + 4)}" class="axis"/>` +
    `<text x="${px(x)}" y="${px(bottom + 18)}" class="muted" text-anchor="middle">${escaped(text)}</text>`
  );
}

function markLine(x: number, bottom: number, label: string): string {
  return (
    `<line x1="${px(x)}" x2="${px(x)}" y1="${ABOVE}" y2="${px(bottom)}" class="mark"/>` +
    `<text x="${px(x)}" y="${ABOVE - 6}" class="muted" text-anchor="middle">${escaped(label)}</text>`
  );
}

type Place = (value: number) => number;

function drawCurve({ points, style }: Curve, name: string, x: Place, y: Place): string {
  if (style === "dots") {
    const circles = points.filter(isFinitePoint).map(([a, b]) => `<circle cx="${px(x(a))}" cy="${px(y(b))}" r="3"/>`);
    return `<g class="dots ${name}">${circles.join("")}</g>`;
  }
  let pen = "M";
  const path = points.map((point) => {
    const step = isFinitePoint(point) ? `${pen}${px(x(point[0]))} ${px(y(point[1]))}` : "";
    pen = step === "" ? "M" : "L";
    return step;
  });
  return `<path d="${path.join("")}" class="curve ${style ?? ""} ${name}"/>`;
}

function legendOf({ curves, legend }: Panel, index: number, left: number): string[] {
  if (curves.length < 2) return [];
  const heading = legend === undefined ? [] : [`<text x="${px(left)}" y="${ABOVE + 4}">${escaped(legend)}</text>`];
  const first = ABOVE + (legend === undefined ? 4 : LINE + 4);
  const rows = curves.map(({ label, style }, c) => {
    const y = first + LINE * c;
    const name = `p${index}c${c}`;
    const key =
      style === "dots"
        ? `<circle cx="${px(left + 9)}" cy="${px(y - 4)}" r="3" class="dots ${name}"/>`
        : `<path d="M${px(left)} ${px(y - 4)}h18" class="curve ${style ?? ""} ${name}"/>`;
    return `${key}<text x="${px(left + 24)}" y="${px(y)}">${escaped(label)}</text>`;
  });
  return [...heading, ...rows];
}

function legendWidth({ curves, legend = "" }: Panel): number {
  if (curves.length < 2) return 0;
  return 16 + LETTER * Math.max(legend.length, ...curves.map(({ label }) => label.length + 4));
}

function styleOf({ title, curves, colours = "distinct" }: Panel, index: number): Drawn["style"] {
  const coloured = curves.filter(({ style }) => style !== "reference");
  if (colours === "distinct" && coloured.length > LIGHT.length)
    throw new RangeError(`${title}: expected at most ${LIGHT.length} distinct curves, got ${coloured.length}`);
  const rules = (grey: string, hue: (k: number) => string): string => {
    let k = 0;
    return curves
      .map(({ style }, c) => {
        const colour = style === "reference" ? grey : hue(k++);
        return `.p${index}c${c} { ${style === "dots" ? "fill" : "stroke"}: ${colour} }`;
      })
      .join(" ");
  };
  const part = (k: number): number => (coloured.length < 2 ? 1 : k / (coloured.length - 1));
  return colours === "distinct"
    ? { light: rules("#777", (k) => LIGHT[k]!), dark: rules("#9aa1a8", (k) => DARK[k]!) }
    : {
        light: rules("#777", (k) => `hsl(208 ${px(60 + 20 * part(k))}% ${px(68 - 46 * part(k))}%)`),
        dark: rules("#9aa1a8", (k) => `hsl(206 ${px(65 + 15 * part(k))}% ${px(42 + 44 * part(k))}%)`),
      };
}

function isFinitePoint([x, y]: readonly [number, number]): boolean {
  return Number.isFinite(x) && Number.isFinite(y);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** Tenths of a pixel: the same file wherever the last digits of a price differ. */
export function px(value: number): string {
  return String(Math.round(10 * value) / 10 + 0);
}

export function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}
