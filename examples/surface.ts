/**
 * A surface z(x, y) as a panel of a figure: parallel projection, cells coloured by z, for light and dark pages.
 *
 *   import { surface } from "../surface.ts";
 *   figure("What it shows", [surface({ title: "Value", x, y, z: { label: "EUR" }, values })]);
 */
import { ABOVE, type Axis, type Drawing, escaped, px, type Scale, scaleOf } from "./plot.ts";

export interface Surface {
  readonly title: string;
  /** The axis that comes towards the reader, and its values, ascending. */
  readonly x: Axis & { readonly at: readonly number[] };
  /** The axis that goes away to the right. */
  readonly y: Axis & { readonly at: readonly number[] };
  readonly z: Axis;
  /** values[j][i] at x.at[i] and y.at[j]. */
  readonly values: readonly (readonly number[])[];
}

/** The reader's place: how far round the vertical axis, and how far above, in radians. */
const [AROUND, ABOVE_GROUND] = [0.62, 0.5];
/** How high the box is beside its sides. */
const TALL = 0.75;
/** Colours from low to high. */
const COLOURS = 12;

type Point = readonly [number, number];
type Project = (x: number, y: number, z: number) => Point;

/** Places in the box, each coordinate from 0 to 1, to pixels. */
function projection(left: number, width: number, height: number): Project {
  const [cos, sin] = [Math.cos(AROUND), Math.sin(AROUND)];
  const [up, flat] = [TALL * Math.cos(ABOVE_GROUND), Math.sin(ABOVE_GROUND)];
  const [across, tall] = [cos + sin, up + flat * (cos + sin)];
  return (x, y, z) => [
    left + (width * (x * cos + y * sin)) / across,
    ABOVE + height * (1 - (z * up + flat * (y * cos + (1 - x) * sin)) / tall),
  ];
}

const path = (points: readonly Point[]): string => points.map(([x, y]) => `${px(x)} ${px(y)}`).join("L");

/** The panel. @throws RangeError values that are not as many as the points of the axes */
export function surface({ title, x, y, z, values }: Surface): Drawing {
  if (values.length !== y.at.length || values.some((row) => row.length !== x.at.length))
    throw new RangeError(`${title}: expected ${y.at.length} rows of ${x.at.length} values`);
  return {
    draw(index, width, height) {
      const scales = [scaleOf(x, x.at, true), scaleOf(y, y.at, true), scaleOf(z, values.flat(), false)] as const;
      const left = 44;
      const project = projection(left, width, height);
      const text = [
        `<text x="${px(left)}" y="22" class="title">${escaped(title)}</text>`,
        ...box(project),
        ...cells({ x, y, values }, scales, project, index),
        ...ticks(x, scales[0], (part) => project(part, 0, 0), [-5, 14], [-34, 38], "end"),
        ...ticks(y, scales[1], (part) => project(1, part, 0), [5, 14], [38, 38], "start"),
        ...ticks(z, scales[2], (part) => project(0, 0, part), [-7, 4], [-30, -12], "end", 1),
      ];
      return { text: text.join("\n"), width: left + width + 30, style: styleOf(index) };
    },
  };
}

/** The edges of the box behind the surface, and its ground. */
function box(project: Project): string[] {
  const corners = (points: readonly (readonly [number, number, number])[]): string =>
    `<path d="M${path(points.map(([x, y, z]) => project(x, y, z)))}" class="grid" fill="none"/>`;
  return [
    corners([
      [0, 0, 0],
      [0, 1, 0],
      [1, 1, 0],
      [1, 0, 0],
      [0, 0, 0],
      [0, 0, 1],
      [0, 1, 1],
      [0, 1, 0],
    ]),
    corners([
      [0, 1, 1],
      [1, 1, 1],
      [1, 1, 0],
    ]),
  ];
}

function cells(
  { x, y, values }: Pick<Surface, "x" | "y" | "values">,
  [xScale, yScale, zScale]: readonly [Scale, Scale, Scale],
  project: Project,
  index: number,
): string[] {
  const corner = (i: number, j: number): Point =>
    project(xScale.part(x.at[i]!), yScale.part(y.at[j]!), zScale.part(values[j]![i]!));
  const drawn: string[] = [];
  // From the back to the front.
  for (let j = y.at.length - 2; j >= 0; j--)
    for (let i = 0; i < x.at.length - 1; i++) {
      const mean = (values[j]![i]! + values[j]![i + 1]! + values[j + 1]![i]! + values[j + 1]![i + 1]!) / 4;
      const colour = Math.min(Math.max(Math.floor(COLOURS * zScale.part(mean)), 0), COLOURS - 1);
      const edge = path([corner(i, j), corner(i + 1, j), corner(i + 1, j + 1), corner(i, j + 1)]);
      drawn.push(`<path d="M${edge}Z" class="cell s${index}c${colour}"/>`);
    }
  return drawn;
}

/** The ticks of an axis, whose texts stand at `beside` its edge, and its label further off, at `along` of the edge. */
function ticks(
  { label }: Axis,
  { ticks, texts, part }: Scale,
  edge: (part: number) => Point,
  [dx, dy]: Point,
  [labelX, labelY]: Point,
  anchor: "start" | "end",
  along = 0.5,
): string[] {
  const [x, y] = edge(along);
  const side = along === 1 ? "start" : anchor;
  return [
    `<path d="M${path([edge(0), edge(1)])}" class="axis" fill="none"/>`,
    ...ticks.map((tick, i) => {
      const [x, y] = edge(part(tick));
      return `<text x="${px(x + dx)}" y="${px(y + dy)}" class="muted" text-anchor="${anchor}">${escaped(texts[i]!)}</text>`;
    }),
    `<text x="${px(x + labelX)}" y="${px(y + labelY)}" text-anchor="${side}">${escaped(label)}</text>`,
  ];
}

function styleOf(index: number): { readonly light: string; readonly dark: string } {
  const rules = (lightness: (part: number) => number, edge: string): string =>
    Array.from({ length: COLOURS }, (_, c) => {
      const part = c / (COLOURS - 1);
      return `.s${index}c${c} { fill: hsl(${px(205 + 30 * part)} ${px(55 + 20 * part)}% ${px(lightness(part))}%) }`;
    }).join(" ") + ` .cell { stroke: ${edge}; stroke-width: 0.5; stroke-linejoin: round }`;
  return {
    light: rules((part) => 90 - 50 * part, "#fff"),
    dark: rules((part) => 25 + 50 * part, "#14171a"),
  };
}
