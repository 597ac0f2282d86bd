/**
 * Double-logarithmic charts as SVG, without a dependency: panels in a grid with one scale, a legend above, names where
 * lines end. Readable in light and dark.
 */

/**
 * A line: points in the order of x. `style` is one of the colours and marks below, so that a name looks alike in all
 * charts.
 */
export interface Series {
  readonly name: string;
  readonly style: number;
  readonly points: readonly (readonly [x: number, y: number])[];
}

export interface Panel {
  readonly title: string;
  readonly series: readonly Series[];
  /** What y cannot go below, a dashed line. */
  readonly floor?: number;
}

export interface Chart {
  readonly title: string;
  readonly subtitle: string;
  readonly xLabel: string;
  readonly yLabel: string;
  /** Rows of panels. */
  readonly panels: readonly (readonly Panel[])[];
}

/** Okabe & Ito's colours, which the colour-blind tell apart, for light and dark paper; the last is grey. */
const COLOURS = [
  ["#0072b2", "#58b0e3"],
  ["#d55e00", "#ff8a3c"],
  ["#b87f00", "#e69f00"],
  ["#aa4c86", "#de8fbd"],
  ["#1b8fd0", "#8fd0f7"],
  ["#00805d", "#2bc79b"],
  ["#5a5a5a", "#b8b8b8"],
] as const;

/** Outlines of marks about (0, 0). */
const MARKS = [
  "M3.2 0A3.2 3.2 0 1 1-3.2 0A3.2 3.2 0 1 1 3.2 0Z",
  "M-2.8-2.8H2.8V2.8H-2.8Z",
  "M0-3.8L3.6 2.6H-3.6Z",
  "M0-4L4 0L0 4L-4 0Z",
  "M0 3.8L3.6-2.6H-3.6Z",
  "M-1.2-3.6H1.2V-1.2H3.6V1.2H1.2V3.6H-1.2V1.2H-3.6V-1.2H-1.2Z",
  "M-3.4-2L-2-3.4L0-1.4L2-3.4L3.4-2L1.4 0L3.4 2L2 3.4L0 1.4L-2 3.4L-3.4 2L-1.4 0Z",
] as const;

const PANEL = { width: 372, height: 300, left: 62, right: 104, top: 34, bottom: 54 } as const;
const HEAD = 92;
/** Of the text, 12 pixels a line. */
const CHARACTER = 6.5;
const LINE = 14;

/** Where values are on the page. */
interface Scale {
  readonly x: (value: number) => number;
  readonly y: (value: number) => number;
  readonly domain: { readonly x: Range; readonly y: Range };
}
type Range = readonly [number, number];

export function chart(all: Chart): string {
  const columns = Math.max(...all.panels.map((row) => row.length));
  const outer = { width: PANEL.left + PANEL.width + PANEL.right, height: PANEL.top + PANEL.height + PANEL.bottom };
  const [width, height] = [columns * outer.width, HEAD + all.panels.length * outer.height];
  const scale = scaleOf(all.panels.flat());
  const panels = all.panels.flatMap((row, r) =>
    row.map((panel, c) =>
      moved(c * outer.width + PANEL.left, HEAD + r * outer.height + PANEL.top, panelOf(all, panel, scale)),
    ),
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escape(all.title)}">`,
    `<style>${style()}</style>`,
    `<rect class="paper" width="${width}" height="${height}"/>`,
    text(PANEL.left, 30, all.title, "title"),
    text(PANEL.left, 50, all.subtitle, "minor"),
    moved(PANEL.left, 74, legend(all.panels.flat())),
    ...panels,
    "</svg>",
    "",
  ].join("\n");
}

function style(): string {
  const colours = (dark: 0 | 1): string =>
    COLOURS.map((pair, i) => `.s${i}{stroke:${pair[dark]}}.m${i}{fill:${pair[dark]}}.t${i}{fill:${pair[dark]}}`).join(
      "",
    );
  const paper = (ink: string, background: string, grid: string, faint: string, minor: string): string =>
    `.paper{fill:${background}}text{fill:${ink}}.minor{fill:${minor}}.grid{stroke:${grid}}.faint{stroke:${faint}}.frame,.floor{stroke:${ink}}.halo{stroke:${background}}`;
  return [
    "text{font:12px system-ui,-apple-system,'Segoe UI',Helvetica,Arial,sans-serif}.title{font-size:17px;font-weight:600}.panel{font-size:13px;font-weight:600}",
    ".end{text-anchor:end}.middle{text-anchor:middle}path{fill:none}.line{stroke-width:1.8;stroke-linejoin:round}.frame{stroke-width:1}.grid,.faint{stroke-width:1}",
    ".floor{stroke-width:1.4;stroke-dasharray:6 4}.leader{stroke-width:.8}.halo{stroke-width:4;stroke-linejoin:round;paint-order:stroke}",
    paper("#1f2328", "#ffffff", "#d8dee4", "#eff2f5", "#59636e"),
    colours(0),
    `@media(prefers-color-scheme:dark){${paper("#e6edf3", "#0d1117", "#30363d", "#1b212a", "#9198a1")}${colours(1)}}`,
  ].join("");
}

function scaleOf(panels: readonly Panel[]): Scale {
  const points = panels.flatMap(({ series }) => series.flatMap((one) => one.points));
  const floors = panels.flatMap(({ floor }) => floor ?? []);
  const around = (values: readonly number[], by: number): Range => [Math.min(...values) / by, Math.max(...values) * by];
  const x = around(
    points.map(([at]) => at),
    1.25,
  );
  const y = around([...points.map(([, value]) => value), ...floors], 1.5);
  return {
    domain: { x, y },
    x: (value) => PANEL.width * position(value, x),
    y: (value) => PANEL.height * (1 - position(value, y)),
  };
}

const position = (value: number, [min, max]: Range): number => Math.log(value / min) / Math.log(max / min);

function panelOf({ xLabel, yLabel }: Chart, { title, series, floor }: Panel, scale: Scale): string {
  const { width, height } = PANEL;
  return [
    text(0, -12, title, "panel"),
    ...axis(scale.domain.x, (at, label, major) => vertical(scale.x(at), label, major)),
    ...axis(scale.domain.y, (at, label, major) => horizontal(scale.y(at), label, major)),
    `<path class="frame" d="M0 0V${height}H${width}"/>`,
    text(width / 2, height + 42, xLabel, "middle"),
    `<text class="middle" transform="translate(${-46} ${height / 2}) rotate(-90)">${escape(yLabel)}</text>`,
    ...(floor === undefined ? [] : floorLine(scale.y(floor))),
    ...series.map((one) => line(one, scale)),
    ...names(series, scale),
  ].join("\n");
}

/** Grid lines at 1 … 9 times each power of ten of a range, those at powers labelled. */
function axis([min, max]: Range, draw: (at: number, label: string, major: boolean) => string): string[] {
  const out: string[] = [];
  const short = max / min > 1e4;
  for (let power = Math.floor(Math.log10(min)); power <= Math.log10(max); power++)
    for (let digit = 1; digit < 10; digit++) {
      const at = digit * 10 ** power;
      if (at >= min && at <= max) out.push(draw(at, digit === 1 ? powerOfTen(power, short) : "", digit === 1));
    }
  return out;
}

/** An integer in raised digits. */
export const superscript = (n: number): string =>
  String(n)
    .replaceAll("-", "⁻")
    .replaceAll(/\d/g, (digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(digit)]);

const powerOfTen = (power: number, short: boolean): string =>
  short ? `10${superscript(power)}` : (10 ** power).toLocaleString("en-US", { maximumFractionDigits: 20 });

function vertical(x: number, label: string, major: boolean): string {
  const grid = `<path class="${major ? "grid" : "faint"}" d="M${round(x)} 0V${PANEL.height}"/>`;
  return grid + text(x, PANEL.height + 20, label, "middle");
}

function horizontal(y: number, label: string, major: boolean): string {
  const grid = `<path class="${major ? "grid" : "faint"}" d="M0 ${round(y)}H${PANEL.width}"/>`;
  return grid + text(-8, y + 4, label, "end");
}

function floorLine(y: number): string[] {
  return [`<path class="floor" d="M0 ${round(y)}H${PANEL.width}"/>`, text(PANEL.width + 8, y + 4, "floor", "halo")];
}

function line({ style: s, points }: Series, { x, y }: Scale): string {
  const at = points.map(([a, b]) => `${round(x(a))} ${round(y(b))}`);
  const marks = at.map((place) => `<path class="m${s}" transform="translate(${place})" d="${MARKS[s]}"/>`);
  return [`<path class="line s${s}" d="M${at.join("L")}"/>`, ...marks].join("\n");
}

/**
 * The name of each line right of its end, moved apart where two would meet, with a thread to the end then; where a line
 * would run through it, none.
 */
function names(series: readonly Series[], { x, y }: Scale): string[] {
  const ends = series.map(({ name, style: s, points }) => {
    const [a, b] = points[points.length - 1];
    return { name, s, x: x(a) + 10, end: y(b), width: CHARACTER * name.length, y: y(b) };
  });
  const meet = (a: (typeof ends)[0], b: (typeof ends)[0]): boolean =>
    a.x < b.x + b.width && b.x < a.x + a.width && Math.abs(a.y - b.y) < LINE - 0.5;
  for (let round = 0; round < 200; round++) {
    for (const a of ends)
      for (const b of ends) {
        if (a === b || a.end > b.end || (a.end === b.end && a.s > b.s) || !meet(a, b)) continue;
        const by = (LINE - (b.y - a.y)) / 2;
        a.y -= by;
        b.y += by;
      }
  }
  const free = ends.filter(
    (one) =>
      !series.some(({ points }) => crosses(points, { x, y }, { left: one.x, right: one.x + one.width, y: one.y })),
  );
  return free.map(({ name, s, x: at, end, y: middle }) => {
    const thread =
      Math.abs(middle - end) > 4
        ? `<path class="leader s${s}" d="M${round(at - 6)} ${round(end)}L${round(at - 1)} ${round(middle)}"/>`
        : "";
    return thread + text(at, middle + 4, name, `halo t${s}`);
  });
}

interface Place {
  readonly left: number;
  readonly right: number;
  readonly y: number;
}

/** Whether a line runs through a place of one line of text. */
function crosses(
  points: Series["points"],
  { x, y }: Pick<Scale, "x" | "y">,
  { left, right, y: middle }: Place,
): boolean {
  return points.slice(1).some(([toX, toY], i) => {
    const [x0, y0, x1, y1] = [x(points[i][0]), y(points[i][1]), x(toX), y(toY)];
    for (let part = 0; part <= 1; part += 1 / 32) {
      const [px, py] = [x0 + part * (x1 - x0), y0 + part * (y1 - y0)];
      if (px > left - 4 && px < right + 4 && Math.abs(py - middle) < 9) return true;
    }
    return false;
  });
}

/** Every name once, with its line and mark, and the floor. */
function legend(panels: readonly Panel[]): string {
  const known = new Map(panels.flatMap(({ series }) => series).map(({ name, style: s }) => [name, s]));
  const out: string[] = [];
  let at = 0;
  const entry = (name: string, sample: string): void => {
    out.push(moved(at, 0, sample + text(30, 4, name, "")));
    at += 30 + CHARACTER * name.length + 18;
  };
  for (const [name, s] of [...known].toSorted(([, a], [, b]) => a - b))
    entry(
      name,
      `<path class="line s${s}" d="M0 0H24"/><path class="m${s}" transform="translate(12 0)" d="${MARKS[s]}"/>`,
    );
  if (panels.some(({ floor }) => floor !== undefined)) entry("floor", '<path class="floor" d="M0 0H24"/>');
  return out.join("\n");
}

const round = (x: number): number => Math.round(10 * x) / 10;
const moved = (x: number, y: number, content: string): string =>
  `<g transform="translate(${round(x)} ${round(y)})">\n${content}\n</g>`;
const text = (x: number, y: number, content: string, className: string): string =>
  content === ""
    ? ""
    : `<text x="${round(x)}" y="${round(y)}"${className === "" ? "" : ` class="${className}"`}>${escape(content)}</text>`;
const escape = (content: string): string =>
  content.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
