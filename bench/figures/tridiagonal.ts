/** Time per row against the length of tridiagonal systems: a figure per device, from `tridiagonal-sizes`. */
import { type Measurement, median, resultFileName } from "../harness.ts";
import { chart, type Panel, type Series, superscript } from "./chart.ts";

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
  const svg = chart({
    title: "Batches of tridiagonal systems: time per row",
    subtitle: `${device}${one}; 2${superscript(Math.round(Math.log2(total)))} rows in total, ${date}`,
    xLabel: "rows per system",
    yLabel: "nanoseconds per row",
    panels: PRECISIONS.map((precision) => LAYOUTS.flatMap((layout) => panelOf(points, precision, layout) ?? [])).filter(
      (row) => row.length > 0,
    ),
  });
  return { file: resultFileName("tridiagonal", device).replace(/json$/, "svg"), svg };
}

function panelOf(points: readonly Point[], precision: string, layout: string): Panel | undefined {
  const here = points.filter((point) => point.of.precision === precision && point.layout === layout);
  if (here.length === 0) return undefined;
  const floor = here.find(({ of }) => of.floor !== undefined)?.of.floor;
  const series = ALGORITHMS.map((name, style) => seriesOf(here, name, style)).filter(({ points: p }) => p.length > 0);
  return { title: `${precision}, ${layout}`, series, ...(floor === undefined ? {} : { floor }) };
}

function seriesOf(here: readonly Point[], name: string, style: number): Series {
  const figures = new Map(here.filter(({ algorithm }) => algorithm === name).map(({ rows, of }) => [rows, of.figure]));
  return { name, style, points: [...figures].toSorted(([a], [b]) => a - b) };
}
