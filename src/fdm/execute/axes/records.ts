/** The records that the functions of an instance on several axes hand each other. */
import { bool, fn, i32, read, real, record, write } from "../../../kernel/index.ts";
import { Column } from "../../operator/column.ts";

/** The parameters of every kernel of several axes, laid out as `axesKernel` describes. */
export const axesParams = {
  instances: i32,
  /** The number of workgroups that share an instance. */
  parts: i32,
  /** The number of nodes of each axis, one of an axis that there is not. */
  n0: i32,
  n1: i32,
  n2: i32,
  /** The nodes of the first axis, those of the first two, the lines along the first, and all nodes, with padding. */
  stride: i32,
  plane: i32,
  lines: i32,
  size: i32,
  rows: i32,
  dates: i32,
  first: i32,
  end: i32,
  /** The row of a launch for one phase. */
  run: i32,
  table: read(real),
  parameters: read(real),
  words: read(i32),
  reals: read(real),
  work: write(real),
  out: write(real),
  status: write(i32),
} as const;

/** The parameters of every kernel of several axes as one record. */
export const Launch = record(axesParams);

/** The instance of a work item: its columns in the launch's buffers, and the start of its arrays. */
export const AxesPlace = record({
  isActive: bool,
  firstRun: i32,
  endRun: i32,
  instance: i32,
  item: i32,
  /** The rounds of loops over nodes and lines: the first of this workgroup, and the rounds to its next. */
  firstRound: i32,
  everyRound: i32,
  /** The place in the table at which the instance's meshes start, and that of its arrays in the work memory. */
  mesh: i32,
  base: i32,
  parameters: Column,
  /**
   * The numbers that the items of a workgroup tell each other (`runs.ts`); of one word where they solve whole lines.
   */
  tile: write(real),
});

/** The first fault that an item has found, with its node and row of the time program; 0 is none. */
export const Fault = record({ fault: i32, node: i32, row: i32, growth: i32 });

/** Notes a fault if it is the first one that an item has found. */
export const noted = fn({
  name: "noted",
  params: { found: Fault, isBad: bool, fault: i32, node: i32, row: i32 },
  body({ found, isBad, fault: now, node: at, row: run }) {
    let { fault, node, row } = found;
    if (isBad && fault === 0) {
      fault = now;
      node = at;
      row = run;
    }
    return { fault, node, row, growth: found.growth };
  },
});

/** A row of the time program: a step, or an event, condition `condition` at `date`. */
export const Row = record({
  run: i32,
  refactor: bool,
  event: bool,
  corrected: bool,
  obstacleChanges: bool,
  condition: i32,
  date: real,
  /** A bit for each knock-out in force. */
  mask: i32,
  /** The time of the operator, and of the new values. */
  t: real,
  tEnd: real,
  /** θΔt, and 1/θ. */
  h: real,
  e: real,
});

/** The arrays of an instance in the launch's work memory. */
export const Memory = record({ base: i32 });

/** The arguments of the phases before the first row of the time program. */
export const atStart = { launch: Launch, place: AxesPlace, memory: Memory };
/** The arguments of the phases that run for a row of the time program. */
export const atRow = { ...atStart, cursor: Fault, step: Row };

/** The parameters of all phases of the time loop (`phases.ts`). */
export const inPhase = { launch: Launch, place: AxesPlace, step: Row, found: Fault };

/** The words of an item's status: `FAULT`, node, row of the program, growth, and a loop that did not end. */
export const AXES_STATUS = { fault: 0, node: 1, row: 2, growth: 3, endless: 4 } as const;
/** The number of words of an item's status. */
export const AXES_STATUS_WORDS = 5;

/**
 * The multiple to which the nodes of the first axis and the lines along it are padded: the number that a CPU processes
 * side by side.
 */
export const PAD = 8;

/** The number of neighbouring lines that a run's items process side by side, one each. */
export const LANES = 16;

/** The granularity of the length of runs, in nodes. */
export const RUN_STEP = 8;
