/** The state that one work item carries while it runs, and what its workgroup shares. */
import type { IndexOp } from "../ir.ts";
import type { CheckedArray } from "./memory.ts";

/** The order in which barriers have put a workgroup's accesses: those of different epochs are ordered. */
export interface Group {
  readonly id: number;
  epoch: number;
  readonly arrays: readonly CheckedArray[];
}

/** Elements on their way to a workgroup array. */
export interface Fetch {
  readonly array: CheckedArray;
  readonly index: number;
  readonly values: readonly number[];
}

export interface Item {
  readonly group: Group;
  /** Values of the index operations. */
  readonly place: Readonly<Record<IndexOp, number>>;
  readonly locals: Float64Array;
  /** 1 for each local that has been assigned. */
  readonly assigned: Uint8Array;
  readonly privates: readonly CheckedArray[];
  /** The number that the item offers to the others of its subgroup while it waits at a collective operation. */
  offered: number;
  operand: number;
  /** Groups of what the item has fetched and what may not be there yet; the last is the one being made. */
  fetches: Fetch[][];
  /** The number of iterations left before the item counts as hung. */
  fuel: number;
}
