/** Time per row against the length of tridiagonal systems: a figure per device, from `tridiagonal-sizes`. */
import { type Axis, type Chart, type Series, sheetSvg } from "../../src/output/charts/index.ts";
import { type Measurement, median, resultFileName } from "../harness.ts";

const ALGORITHMS = ["thomas", "pivoting", "cr", "pcr", "cr-pcr", "register-hybrid", "partition"];
const LAYOUTS = ["contiguous", "interleaved"];
const PRECISIONS = ["f64", "f32"];
const CASE = /^(\d+) rows × (\d+) systems, (contiguous|interleaved), ([a-z-]+)/;

interface Point {
  readonly rows: number;
  readonly systems: number;
  readonly layout: string;
  readonly algorithm: string;
  readonly of: Measurement;
}

export interface Figure {
  readonly file: string;
  readonly svg: string;
}

/** One figure for every device that was measured. Of a case measured twice the later measurement counts. */
export function tridiagonalFigures(measurements: readonly Measurement[]): Figure[] {
  const points = measurements.flatMap(pointOf);
  const devices = new Set(points.map(({ of }) => of.device));
  return [...devices].map((device) =>
    figureOf(
      device,
      points.filter(({ of }) => of.device === device),
    ),
  );
}

function pointOf(of: Measurement): Point[] {
  const [, rows, systems, layout, algorithm] = CASE.exec(of.case) ?? [];
  if (of.unit !== "ns/row" || algorithm === undefined || !ALGORITHMS.includes(algorithm)) return [];
  return [{ rows: Number(rows), systems: Number(systems), layout, algorithm, of }];
}

function figureOf(device: string, points: readonly Point[]): Figure {
  const total = median(points.map(({ rows, systems }) => rows * systems));
  const { date } = points[points.length - 1].of;
  const one = points.some(({ of }) => of.case.endsWith("a core")) ? " (one of them)" : "";
  const axes = axesOf(points);
  const rows = PRECISIONS.map((precision) => LAYOUTS.flatMap((layout) => chartOf(points, precision, layout, axes)));
  const svg = sheetSvg(
    {
      title: "Batches of tridiagonal systems: time per row",
      subtitle: `${device}${one}; some ${total.toLocaleString("en-US")} rows in total, ${date}`,
      rows: rows.filter((row) => row.length > 0),
    },
    { width: 520, height: 400 },
  );
  return { file: resultFileName("tridiagonal", device).replace(/json$/, "svg"), svg };
}

interface Axes {
  readonly x: Axis;
  readonly y: Axis;
}

/** The same of all charts of a figure, so that they can be compared. */
function axesOf(points: readonly Point[]): Axes {
  const figures = points.flatMap(({ of }) => [of.figure, of.floor ?? of.figure]);
  const decade = (value: number, round: (x: number) => number): number => 10 ** round(Math.log10(value));
  const y = [decade(Math.min(...figures), Math.floor), decade(Math.max(...figures), Math.ceil)] as const;
  const rows = points.map((point) => point.rows);
  return {
    x: { label: "rows per system", scale: "log", domain: [Math.min(...rows), Math.max(...rows)] },
    y: { label: "nanoseconds per row", scale: "log", domain: y },
  };
}

function chartOf(points: readonly Point[], precision: string, layout: string, axes: Axes): Chart[] {
  const here = points.filter((point) => point.of.precision === precision && point.layout === layout);
  if (here.length === 0) return [];
  const floor = here.find(({ of }) => of.floor !== undefined)?.of.floor;
  const across = axes.x.domain ?? [];
  const reference =
    floor === undefined
      ? []
      : [{ label: "floor", style: "reference" as const, points: across.map((x) => [x, floor] as const) }];
  // All algorithms of the figure, so that each has one colour.
  const names = ALGORITHMS.filter((name) => points.some(({ algorithm }) => algorithm === name));
  const series = [...names.map((name) => seriesOf(here, name)), ...reference];
  return [{ kind: "plot", title: `${precision}, ${layout}`, ...axes, series }];
}

function seriesOf(here: readonly Point[], name: string): Series {
  const figures = new Map(here.filter(({ algorithm }) => algorithm === name).map(({ rows, of }) => [rows, of.figure]));
  return { label: name, points: [...figures].toSorted(([a], [b]) => a - b) };
}
