/** The state that one work item carries while it runs, and what its workgroup shares. */
import type { IndexOp } from "../ir.ts";
import type { CheckedArray } from "./memory.ts";

/**
 * A workgroup during interpretation. Its epoch is the number of barriers passed so far. Accesses in different epochs
 * are ordered.
 */
export interface Group {
  readonly id: number;
  epoch: number;
  readonly arrays: readonly CheckedArray[];
}

/** An asynchronous copy to a workgroup array (`gpu.fetch`) that has not been awaited yet. */
export interface PendingFetch {
  readonly array: CheckedArray;
  /** The index of the first element that receives a value. */
  readonly index: number;
  readonly values: readonly number[];
}

/** The state of a work item during interpretation. */
export interface Item {
  readonly group: Group;
  /** The item's indexes in the launch, such as its number and its workgroup's number. */
  readonly place: Readonly<Record<IndexOp, number>>;
  readonly locals: Float64Array;
  /** A flag for each local variable that has been assigned. */
  readonly assigned: Uint8Array;
  readonly privates: readonly CheckedArray[];
  /** The number that the item gives to other items of its subgroup while it waits at a subgroup operation. */
  offered: number;
  operand: number;
  /** The asynchronous copies of the item that may not have arrived, in groups. The last group is still growing. */
  fetches: PendingFetch[][];
  /** The number of remaining loop iterations before the item counts as endless. */
  iterationsLeft: number;
}
