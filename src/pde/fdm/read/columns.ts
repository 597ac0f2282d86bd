import type { CompiledFunction, CompiledCoefficients } from "../problem/functions.ts";
import { batchOf, type ParameterValues } from "../problem/settings.ts";
import {
  derivativesOf,
  type GridValues,
  type PointReader,
  type RoundingError,
  type BumpedPair,
} from "./point-reader.ts";
import { SpecError } from "../../../base/errors.ts";
import type { Precision } from "../../../kernel/index.ts";
import { checkList, typeInWords } from "../../../base/argument-checks.ts";
import type { AnyProblem } from "../problem/equation.ts";

/** The part of a problem that determines the derivative with respect to time. */
interface Timed {
  readonly names: readonly string[];
  readonly equation: Pick<CompiledCoefficients<string>, "at">;
  readonly exercise: { readonly payoff: CompiledFunction; readonly dates?: unknown } | undefined;
}

/**
 * A function for ∂V/∂t of an entry today at a point, from the value and derivatives that a `PointReader` has found
 * there.
 */
type Theta = (entry: ParameterValues, point: readonly number[], found: Float64Array) => number;

/** A step of the payoff, in years. */
const PAYOFF_STEP = 1e-6;

/**
 * Returns the function that computes the derivative with respect to time from the equation itself,
 *
 *   ∂V/∂t = −(Σ aᵢⱼ ∂²V/∂xᵢ∂xⱼ + Σ bᵢ ∂V/∂xᵢ + c·V + d),
 *
 * or from the payoff where immediate exercise is optimal. `unit` is the unit roundoff of the precision.
 */
export function thetaOf({ names, equation, exercise }: Timed, unit: number): Theta {
  const payoff = exercise?.dates === undefined ? exercise?.payoff : undefined;
  const derivatives = derivativesOf(names);
  // By the names of the coefficients, the places of their factors among the numbers found.
  const places: Record<string, number> = { V: 0, source: derivatives.length };
  derivatives.forEach(({ labels }, k) => {
    for (const label of labels) places[label] = k;
  });
  return (entry, point, found) => {
    const paid = payoff?.at(0, ...point, ...entry);
    if (paid !== undefined && found[0] <= paid + Math.max(1e-7, 100 * unit) * Math.abs(paid))
      return (payoff!.at(PAYOFF_STEP, ...point, ...entry) - paid) / PAYOFF_STEP;
    const coefficients = equation.at(0, ...point, ...entry);
    let sum = 0;
    for (const name in coefficients) sum += coefficients[name] * found[places[name]];
    return -sum;
  };
}

/** The outcome of one entry of a batch: "error" where its solution has an `error`. @experimental */
export type EntryStatus = "ok" | "error";

/** The solutions of a batch at one point as arrays with one number for each entry; NaN where the entry has failed. */
interface Columns {
  readonly status: readonly EntryStatus[];
  /** The value and its derivatives, in the order of `derivativesOf`. */
  readonly derivatives: readonly Float64Array[];
  readonly theta: Float64Array;
  readonly errorEstimate: Float64Array | undefined;
}

/** The solution of an entry at the nodes about a point. */
export interface ReadableGrid extends GridValues {
  readonly point: readonly number[] | undefined;
  readonly failed: boolean;
}

/** The solutions of a batch on the fine grid and on coarser ones. */
interface ReadableBatch<S extends ReadableGrid> {
  readonly entries: readonly ParameterValues[];
  /** The index in the batch of each entry that was solved; `solved` has their solutions by level, the finest first. */
  readonly good: readonly number[];
  readonly solved: readonly (readonly S[])[];
  readonly theta: Theta;
  readonly rounding: (fine: S) => RoundingError;
  /** Returns the index of the user's own entry of which an entry is a bumped copy; it is read at the same point. */
  readonly ownerOf: (index: number) => number;
}

const NO_ROUNDING: RoundingError = { relative: 0, absolute: 0 };

/**
 * Reads all entries of a batch into arrays, with the same bits as `readPoint` gives for each, but without an object for
 * each.
 */
export function readColumns<S extends ReadableGrid>(batch: ReadableBatch<S>, reader: PointReader): Columns {
  const { entries, good, solved, theta: thetaOf, rounding, ownerOf } = batch;
  const [fine, ...coarser] = solved;
  const column = (): Float64Array => new Float64Array(entries.length).fill(Number.NaN);
  const status = new Array<EntryStatus>(entries.length).fill("error");
  const derivatives = Array.from({ length: reader.found.length - 1 }, column);
  const theta = column();
  const errorEstimate = coarser.length === 0 ? undefined : column();
  const placeOf = new Int32Array(entries.length).fill(-1);
  good.forEach((index, i) => (placeOf[index] = i));
  const grids: S[] = [];
  for (let i = 0; i < good.length; i++) {
    const index = good[i];
    const owner = placeOf[ownerOf(index)];
    const point = owner < 0 ? undefined : fine[owner].point;
    const one = fine[i];
    let failed = one.failed;
    for (let c = 0; c < coarser.length; c++) {
      grids[c] = coarser[c][i];
      failed ||= grids[c].failed;
    }
    if (failed || point === undefined || !reaches(one, point)) continue;
    status[index] = "ok";
    const estimate = reader.read(point, one, grids, errorEstimate === undefined ? NO_ROUNDING : rounding(one));
    for (let k = 0; k < derivatives.length; k++) derivatives[k][index] = reader.found[k];
    theta[index] = thetaOf(entries[index], point, reader.found);
    if (errorEstimate !== undefined) errorEstimate[index] = estimate;
  }
  return { status, derivatives, theta, errorEstimate };
}

/** Tells whether a grid's nodes reach a point. */
const reaches = ({ nodes }: GridValues, x: readonly number[]): boolean =>
  nodes.every((axis, k) => x[k] >= axis[0] && x[k] <= axis[axis.length - 1]);

/** The error of an entry, the only thing read here. */
interface Failing {
  readonly error: SpecError | undefined;
}

/**
 * The move of a parameter, relative to it: the difference is wrong by its square, and by what rounding leaves of the
 * value over it.
 */
const STEP: Readonly<Record<Precision, number>> = { f64: 1e-3, f32x2: 1e-3, f32: 1e-2 };

/** A problem whose batch also has bumped copies of the user's entries, after those entries. */
export interface BumpedProblem {
  readonly problem: AnyProblem;
  /** Returns the user's own entries, each with its bumped copies. */
  readonly apart: <E extends Failing & { beside(moved: readonly BumpedPair<E>[]): E }>(
    entries: readonly E[],
  ) => readonly E[];
  /** Returns the index of the user's own entry of which an entry is a copy. */
  readonly ownerOf: (index: number) => number;
  /** Returns the arrays of the user's own entries, with their derivatives with respect to parameters. */
  readonly ownColumns: (columns: Columns) => OwnColumns;
}

/** The solutions of the user's own entries as arrays, with derivatives with respect to parameters. */
export interface OwnColumns extends Columns {
  readonly sensitivities: Readonly<Record<string, Float64Array>>;
}

/**
 * Returns a problem with bumped copies of its entries, from which sensitivities are computed. @throws SpecError a
 * sensitivity to something that is not a parameter
 */
export function withBumpedEntries(problem: AnyProblem): BumpedProblem {
  const { sensitivities: wanted = [], parameters = {} } = problem;
  checkList("sensitivities", wanted, "names of parameters");
  if (wanted.length === 0)
    return {
      problem,
      apart: (entries) => entries,
      ownerOf: (index) => index,
      ownColumns: (columns) => ({ ...columns, sensitivities: {} }),
    };
  const { names, entries } = batchOf(parameters);
  wanted.forEach((name: unknown, k) => {
    if (typeof name !== "string" || !names.includes(name))
      throw new SpecError(
        `sensitivities[${k}]: got ${typeof name === "string" ? `"${name}"` : typeInWords(name)}, ` +
          `expected one of ${names.join(", ")}`,
      );
  });
  const part = STEP[problem.precision ?? "f64"];
  const stepOf = (value: number): number => part * (Math.abs(value) || 1);
  const moves = entries.flatMap((entry) =>
    wanted.flatMap((name) => {
      const k = names.indexOf(name);
      const step = stepOf(entry[k]);
      return [step, -step].map((by): ParameterValues => entry.with(k, entry[k] + by));
    }),
  );
  const all = [...entries, ...moves];
  const own = entries.length;
  // After the user's own entries, for each of them and each name: up, then down.
  const upOf = (l: number, j: number): number => own + 2 * (l * wanted.length + j);
  const stepsOf = (l: number): readonly number[] => wanted.map((name) => stepOf(entries[l][names.indexOf(name)]));
  return {
    problem: { ...problem, parameters: Object.fromEntries(names.map((name, k) => [name, all.map((one) => one[k])])) },
    apart: (solved) =>
      solved.slice(0, own).map((entry, l) => {
        const steps = stepsOf(l);
        return entry.beside(
          wanted.map((name, j) => {
            const at = upOf(l, j);
            return { name, step: steps[j], up: solved[at], down: solved[at + 1] };
          }),
        );
      }),
    ownerOf: (index) => (index < own ? index : Math.floor((index - own) / (2 * wanted.length))),
    ownColumns: ({ status, derivatives, theta, errorEstimate }) => {
      const [value] = derivatives;
      const sensitivities = wanted.map(() => new Float64Array(own).fill(Number.NaN));
      for (let l = 0; l < own; l++) {
        if (status[l] !== "ok") continue;
        const valueOf = (index: number): number | undefined => (status[index] === "ok" ? value[index] : undefined);
        stepsOf(l).forEach((step, j) => {
          const at = upOf(l, j);
          sensitivities[j][l] = differenceOf(value[l], step, valueOf(at), valueOf(at + 1));
        });
      }
      return {
        status: status.slice(0, own),
        derivatives: derivatives.map((column) => column.slice(0, own)),
        theta: theta.slice(0, own),
        errorEstimate: errorEstimate?.slice(0, own),
        sensitivities: Object.fromEntries(wanted.map((name, j) => [name, sensitivities[j]])),
      };
    },
  };
}

/** Returns the warnings about bumped copies that could not be solved. */
export const bumpWarnings = (moved: readonly BumpedPair<Failing>[]): readonly string[] =>
  moved.flatMap(({ name, up, down }) =>
    [up, down].flatMap(({ error }) =>
      error === undefined ? [] : [`sensitivities.${name}: not from both sides, since ${error.message}`],
    ),
  );

/** A central difference; one-sided where one bump has no value, and NaN where neither has. */
function differenceOf(here: number, step: number, above: number | undefined, below: number | undefined): number {
  const width = (above === undefined ? 0 : step) + (below === undefined ? 0 : step);
  return width === 0 ? Number.NaN : ((above ?? here) - (below ?? here)) / width;
}

/**
 * Returns derivatives with respect to parameters, as differences of the numbers that `read` returns for the bumped
 * copies. `here` is the number of the entry itself.
 */
export function parameterDerivatives<Entry extends Failing>(
  moved: readonly BumpedPair<Entry>[],
  here: number,
  read: (entry: Entry) => number,
): Readonly<Record<string, number>> {
  const valueOf = (entry: Entry): number | undefined => {
    try {
      return read(entry);
    } catch (error) {
      if (error instanceof SpecError) return undefined;
      throw error;
    }
  };
  return Object.fromEntries(
    moved.map(({ name, step, up, down }) => [name, differenceOf(here, step, valueOf(up), valueOf(down))]),
  );
}
