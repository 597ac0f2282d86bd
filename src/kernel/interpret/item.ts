/** What one work item carries while it runs, and what its workgroup shares. */
import type { IndexOp } from "../ir.ts";
import type { CheckedArray } from "./memory.ts";

/** The order in which barriers have put a workgroup's accesses: those of different epochs are ordered. */
export interface Group {
  readonly id: number;
  epoch: number;
  readonly arrays: readonly CheckedArray[];
}

export interface Item {
  readonly group: Group;
  /** Values of the index operations. */
  readonly place: Readonly<Record<IndexOp, number>>;
  readonly locals: Float64Array;
  /** 1 for each local that has been assigned. */
  readonly assigned: Uint8Array;
  readonly privates: readonly CheckedArray[];
  /** What the item offers to the others of its subgroup while it waits at a collective operation. */
  offered: number;
  operand: number;
  /** Iterations left before the item counts as hung. */
  fuel: number;
}
