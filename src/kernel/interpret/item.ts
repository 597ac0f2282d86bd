/** The state that one work item carries while it runs, and what its workgroup shares. */
import type { IndexOp } from "../ir.ts";
import type { CheckedArray } from "./memory.ts";

/** A workgroup during interpretation. Its epoch counts barriers: accesses in different epochs are ordered. */
export interface Group {
  readonly id: number;
  epoch: number;
  readonly arrays: readonly CheckedArray[];
}

/** An asynchronous copy to a workgroup array that is not awaited yet. */
export interface Fetch {
  readonly array: CheckedArray;
  readonly index: number;
  readonly values: readonly number[];
}

/** A work item during interpretation. */
export interface Item {
  readonly group: Group;
  /** The values of the launch indexes of the item. */
  readonly place: Readonly<Record<IndexOp, number>>;
  readonly locals: Float64Array;
  /** The flags of assigned locals. */
  readonly assigned: Uint8Array;
  readonly privates: readonly CheckedArray[];
  /** The number that the item passes to others of its subgroup while it waits at a collective operation. */
  offered: number;
  operand: number;
  /** The groups of the item's fetches that may not have arrived; the last one is incomplete. */
  fetches: Fetch[][];
  /** The number of remaining iterations before the item counts as endless. */
  fuel: number;
}
