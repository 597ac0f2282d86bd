/** The records that the parts of an equation's time loop hand each other, for items and for teams. */
import { bool, i32, read, real, record, write } from "../../../../kernel/index.ts";
import { Column } from "../../operator/column.ts";
import { Place } from "../place.ts";
import { Row } from "../row.ts";
import { Factors, Products, Rows, Scans } from "../team/records.ts";

/** The launch parameters of an equation's kernel (`equationKernel` describes their layout). */
export const equationParams = {
  instances: i32,
  pitch: i32,
  nodes: i32,
  rows: i32,
  dates: i32,
  first: i32,
  end: i32,
  recorded: i32,
  table: read(real),
  parameters: read(real),
  words: read(i32),
  reals: read(real),
  out: write(real),
  status: write(i32),
  state: write(real),
} as const;

/** The launch parameters of an equation's kernel as one record. */
export const Launch = record(equationParams);

/**
 * The arrays of all nodes of an instance, in a team's workgroup memory. Users' functions are evaluated on all nodes in
 * a strided loop that compilers do not unroll, so that the kernel contains their code once; `gather` and `spread`
 * exchange values with the items' own arrays. Code that uses an array must leave a barrier after it. Without a team `u`
 * and `obstacle` are the item's own arrays, and `third`, `fourth` and `faults` are not used.
 */
export const AllNodes = record({
  /** S of the nodes, then, in a team, the steps of the coordinate. Without a team it is filled where jumps are. */
  mesh: write(real),
  /** One array in a team. */
  u: write(real),
  obstacle: write(real),
  beside: write(real),
  third: write(real),
  fourth: write(real),
  /** `FAULT_WORDS` an item; during the time loop whether its first node is exercised. */
  faults: write(i32),
});

/** The arrays of an item's own nodes; 0 beyond the last node. */
export const State = record({
  u: write(real),
  /** The stage's y. */
  z: write(real),
  /** The right-hand side: z itself, unless the penalty method needs it longer. */
  right: write(real),
  /** u before the first of two stages. */
  v: write(real),
  /** h·d, of the matrix. */
  source: write(real),
  obstacle: write(real),
  /** The multiplier of operator splitting. */
  lambda: write(real),
});

/**
 * The arrays of the penalty method: 1 + hc of each matrix row, 1 where the row is penalised, and, without a team,
 * a/pivot with the penalty.
 */
export const Penalty = record({ decays: write(real), active: write(real), factor: write(real) });

/** The arrays of the time loop; those that a variant or an item does not use have one element. */
export const Memory = record({
  /** The column of S of the nodes, then of the steps of the coordinate. */
  table: Column,
  all: AllNodes,
  state: State,
  /**
   * Rows (−a, 1 + hc + a + c, −c), in a team divided by 1 + hc, unless they are those of the penalty method. Without a
   * team they are in the arrays of their factors.
   */
  rows: Rows,
  factors: Factors,
  products: Products,
  scans: Scans,
  penalty: Penalty,
});

/** The first fault found (0 for none), with its node and its row of the time program. */
export const Fault = record({ fault: i32, node: i32, row: i32 });

/**
 * The numbers that change from row to row of the time program. `isNew`: whether u has changed since the last stage.
 * `record`: the index of the next recorded value of the exercise boundary. A team also has the reach of its scans, and
 * the largest number of limited rows (`cut`) in a matrix so far.
 */
export const Cursor = record({ found: Fault, isNew: bool, record: i32, reach: i32, cuts: i32 });

/** The parameters of functions that run before the first row of the time program. */
export const atStart = { launch: Launch, place: Place, memory: Memory };
/** The parameters of functions that run for each row of the time program. */
export const atRow = { ...atStart, cursor: Cursor, step: Row };
