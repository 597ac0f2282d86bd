import { bool, i32, record, real, write } from "../../../../kernel/index.ts";
import { Column } from "../../../operator/column.ts";
import { Fault, Launch, Row } from "../../item/equation/records.ts";
import { Factors, Products, Rows, Scans } from "../records.ts";

/** The instance of a work item, its columns in the launch's buffers, and the item's run of nodes. */
export const EquationTeamPlace = record({
  isActive: bool,
  firstRun: i32,
  endRun: i32,
  instance: i32,
  table: Column,
  parameters: Column,
  item: i32,
  /** The run's first node. */
  first: i32,
});

/**
 * The workgroup memory of an instance. Users' functions are evaluated on all nodes in a strided loop that compilers do
 * not unroll, so that the kernel holds their code once. Their results pass to the runs, and u to the functions, through
 * these arrays. A user of an array must leave a barrier after it.
 */
export const Shared = record({
  /** S of the nodes, then the steps of the coordinate: a column of the table, see `onMesh`. */
  mesh: write(real),
  values: write(real),
  beside: write(real),
  third: write(real),
  fourth: write(real),
  /** `FAULT_WORDS` an item; during the time loop whether its first node is exercised. */
  faults: write(i32),
});

/**
 * The arrays of a run's nodes, as in the item executor's memory; 0 beyond the last node. Arrays that a variant does not
 * use have one element.
 */
export const EquationTeamState = record({
  u: write(real),
  z: write(real),
  v: write(real),
  source: write(real),
  obstacle: write(real),
  lambda: write(real),
});

/** The arrays of the penalty method: the rows' 1 + hc, the right-hand side, and 1 where penalised. */
export const Penalty = record({ decays: write(real), right: write(real), active: write(real) });

/** The arrays that the time loop works on. */
export const Memory = record({
  shared: Shared,
  state: EquationTeamState,
  /** Rows (−a, 1 + hc + a + c, −c), divided by 1 + hc; of the penalty method as they are. */
  rows: Rows,
  factors: Factors,
  products: Products,
  scans: Scans,
  penalty: Penalty,
});

/**
 * The numbers that change from row to row: those of the item executor for this item's nodes, the reach of scans, and
 * the largest number of cut rows of a matrix so far.
 */
export const Cursor = record({ found: Fault, isNew: bool, record: i32, reach: i32, cuts: i32 });

/** The arguments of the parts of a rollback that run before its first row. */
export const atStart = { launch: Launch, place: EquationTeamPlace, memory: Memory };
/** The arguments of the parts of a rollback that run for each row of the time program. */
export const atRow = { ...atStart, cursor: Cursor, step: Row };
