/** Cases of trades in several factors: the problems that they consist of, and what those come to. */
import type { AxesDerivatives, AxesPoint } from "../../../fdm/index.ts";
import type { Terms } from "../../terms.ts";
import type { Built, Engine, EntryReading } from "./engine.ts";
import { isKnockedOut, type Known, type Part } from "./parts.ts";
import { payoffAt } from "./payoff.ts";

/** A case of a trade, or a bump of it, on its way. */
export interface Row {
  /** The trade's place in the batch. */
  readonly trade: number;
  readonly terms: Terms;
  /** The terms whose mesh it has: its own, or those of what it is a bump of. */
  readonly mesh: Terms;
  /** The spots of all assets at which a row is read: today's, then those of the scenarios. */
  readonly spots: readonly (readonly number[])[];
  /** The values that need no solution, by spots. */
  readonly known: readonly (Known | undefined)[];
  readonly parts: readonly Part[];
  level: number;
  /** The sums over the parts, by spots. */
  points: AxesPoint[];
  /** The most that extrapolation has added to the values. */
  correction: number;
  /** The solution of a lower level, if estimates need one. */
  coarser: { readonly level: number; readonly points: readonly AxesPoint[] } | undefined;
  error: number;
  failure: unknown;
}

/** A row that has not been solved. */
export const newRow = (given: Pick<Row, "trade" | "terms" | "mesh" | "spots" | "known" | "parts" | "level">): Row => ({
  trade: given.trade,
  terms: given.terms,
  mesh: given.mesh,
  spots: given.spots,
  known: given.known,
  parts: given.parts,
  level: given.level,
  points: [],
  correction: 0,
  coarser: undefined,
  error: 0,
  failure: undefined,
});

/** Keeps a row's solution as the coarser one of the next. */
export function remember(row: Row): void {
  row.coarser = { level: row.level, points: row.points };
}

/** The error estimate of a row's values. */
export function errorOf({ mesh, coarser, correction, level, points }: Row, engine: Engine<unknown>): number {
  if (coarser === undefined || coarser.level === level) return correction;
  const distance = points.reduce((most, { value }, k) => Math.max(most, Math.abs(value - coarser.points[k].value)), 0);
  return engine.estimate(mesh, correction, distance, level - coarser.level);
}

/** One problem to be solved. */
export interface Task<P> {
  readonly row: Row;
  readonly part: Part;
  readonly built: Built<P>;
  /** The solution at the row's spots; undefined where the part is not needed, and where it has failed. */
  points: readonly (AxesPoint | undefined)[];
}

export function tasksOf<P>(row: Row, engine: Engine<P>): readonly Task<P>[] {
  const { terms, mesh, spots, parts, level } = row;
  const byAsset = terms.assets.map((_, i) => spots.map((one) => one[i]));
  return parts.map((part) => ({ row, part, built: engine.build(terms, mesh, byAsset, part, level), points: [] }));
}

/** A row's value at some of its spots. */
export function valueAt({ terms, spots, known, points }: Row, k: number): number {
  const value = known[k]?.value ?? points[k].value;
  return known[k] === undefined && isExercisable(terms) ? Math.max(value, payoffAt(terms, spots[k])) : value;
}

export const isExercisable = ({ exercise }: Terms): boolean =>
  exercise.kind === "american" || (exercise.kind === "bermudan" && exercise.times.some((time) => time <= 0));

/** A problem's solution at the spots of its row, where the part that it is of has not been knocked out. */
export const pointsOf = (
  { row: { terms, spots, known }, part, built }: Task<unknown>,
  entry: EntryReading,
): Task<unknown>["points"] =>
  spots.map((one, k) =>
    known[k] !== undefined || isKnockedOut(part, one, terms.expiry) ? undefined : built.read(entry, one),
  );

/** Adds a problem's solution to its row. */
export function addTo({ row, part, points }: Task<unknown>): void {
  let largest = 0;
  row.spots.forEach((_, k) => {
    row.points[k] ??= NOTHING;
    const point = points[k];
    if (point === undefined) return;
    largest = Math.max(largest, point.errorEstimate ?? 0);
    const { corrections } = row.points[k];
    row.points[k] = {
      ...sumOf(row.points[k], point, part.sign),
      corrections: point.corrections.map((one, c) => sumOf(corrections[c] ?? NOTHING, one, part.sign)),
      errorEstimate: undefined,
    };
  });
  row.correction += largest;
}

const NOTHING: AxesPoint = { value: 0, first: {}, second: {}, corrections: [], errorEstimate: undefined };

/** Returns to + factor·from. */
export const sumOf = (to: AxesDerivatives, from: AxesDerivatives, factor: number): AxesDerivatives => ({
  value: to.value + factor * from.value,
  first: added(to.first, from.first, factor),
  second: added(to.second, from.second, factor),
});

const added = (
  to: Readonly<Record<string, number>>,
  from: Readonly<Record<string, number>>,
  factor: number,
): Record<string, number> =>
  Object.fromEntries(Object.entries(from).map(([name, value]) => [name, (to[name] ?? 0) + factor * value]));

/** A point whose estimate and corrections count `factor` times. */
export const widened = (point: AxesPoint, factor: number): AxesPoint => ({
  ...point,
  corrections: point.corrections.map((one) => sumOf(NOTHING, one, factor)),
  errorEstimate: point.errorEstimate === undefined ? undefined : factor * point.errorEstimate,
});
