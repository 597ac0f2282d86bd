import { bool, i32, read, real, record, write } from "../../../../kernel/index.ts";
import { Column } from "../../../operator/column.ts";
import { Stage } from "../../../operator/right-hand-side.ts";

/** The parameters of every executor of equations, laid out as `equationKernel` describes. */
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

/** The parameters of every executor of equations as one record. */
export const Launch = record(equationParams);

/** The instance of a work item, and its columns in the launch's buffers. */
export const EquationItemPlace = record({
  isActive: bool,
  firstRun: i32,
  endRun: i32,
  instance: i32,
  table: Column,
  parameters: Column,
});

/** The arrays of an instance in private memory, one value a node; arrays that a variant does not use have length 1. */
export const Memory = record({
  /** The solution, and the stage's y. */
  u: write(real),
  z: write(real),
  /** 1/pivot, a/pivot and c/pivot; of the penalty method 1 + hc, a and c. */
  inverse: write(real),
  lower: write(real),
  upper: write(real),
  /** u before the first of two stages. */
  v: write(real),
  /** h·d, of the matrix. */
  source: write(real),
  obstacle: write(real),
  /** Arrays of the penalty method: the right-hand side, 1 where penalised, a/pivot with the penalty. */
  right: write(real),
  active: write(real),
  factor: write(real),
  /** The multiplier of operator splitting. */
  lambda: write(real),
  /** S, where jumps are. */
  spots: write(real),
});

/** The first fault found, with its node and its row of the time program; 0 is none. */
export const Fault = record({ fault: i32, node: i32, row: i32 });

/**
 * The numbers that change from row to row; `isNew`: u has changed since the last stage; `record`: the position of the
 * next recorded value of the exercise boundary.
 */
export const Cursor = record({ found: Fault, isNew: bool, record: i32 });

/** A row of the time program: a stage, or an event, condition `condition` at `date`. */
export const Row = record({
  run: i32,
  refactor: bool,
  event: bool,
  /** The stage ends a time step; of an event: the exercise boundary is recorded. */
  stepEnd: bool,
  /** u before this stage is what the next one calls v. */
  keep: bool,
  /** The obstacle is another one than at the last stage. */
  obstacleChanges: bool,
  condition: i32,
  date: real,
  /** A bit for each knock-out in force. */
  mask: i32,
  stage: Stage,
});

/** The arguments of the parts of a rollback that run before its first row. */
export const atStart = { launch: Launch, place: EquationItemPlace, memory: Memory };
/** The arguments of the parts of a rollback that run for each row of the time program. */
export const atRow = { ...atStart, cursor: Cursor, step: Row };
