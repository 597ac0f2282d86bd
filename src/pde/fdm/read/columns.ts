/** The reading of all entries of a batch at the problem's own point, as columns. */
import type { ParameterValues } from "../problem/quantity.ts";
import type { GridValues, PointReader, Rounding } from "./point-reader.ts";
import type { Theta } from "./theta.ts";

/** The outcome of one entry of a batch: "error" where its solution has an `error`. @experimental */
export type EntryStatus = "ok" | "error";

/** The solutions of a batch at one point as arrays with one number for each entry; NaN where the entry has failed. */
export interface Columns {
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
export interface ReadableBatch<S extends ReadableGrid> {
  readonly entries: readonly ParameterValues[];
  /** The index in the batch of each entry that was solved; `solved` has their solutions by level, the finest first. */
  readonly good: readonly number[];
  readonly solved: readonly (readonly S[])[];
  readonly theta: Theta;
  readonly rounding: (fine: S) => Rounding;
  /** Returns the index of the user's own entry of which an entry is a bumped copy; it is read at the same point. */
  readonly ownerOf: (index: number) => number;
}

const NO_ROUNDING: Rounding = { relative: 0, absolute: 0 };

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
