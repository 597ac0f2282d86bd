/** The records that the functions of an instance on several axes hand each other. */
import { bool, fn, i32, read, real, record, write } from "../../../../kernel/index.ts";
import { Row } from "../row.ts";
import { Column } from "../../operator/column.ts";

/** The launch parameters of every kernel on several axes (`axesKernel` describes their layout). */
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
  /** The numbers of nodes on each axis of the window that is read. */
  m0: i32,
  m1: i32,
  m2: i32,
  /** `PLACES` of each instance: the start of its meshes in the table, and the first node of its window on each axis. */
  places: read(i32),
  out: write(real),
  status: write(i32),
  summary: write(i32),
} as const;

/** The number of integers of an instance in the launch parameter `places`. */
export const PLACES = 4;

/** The launch parameters of every kernel on several axes as one record. */
export const Launch = record(axesParams);

/** The instance of a work item, its columns in the launch's buffers, and the start of its arrays. */
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

/**
 * The findings of a work item: its first fault (0 for none) with the node and the row of the time program, whether the
 * solution grew too fast, and `SUMMARY.exponent` for the nodes that it has read.
 */
export const Fault = record({ fault: i32, node: i32, row: i32, growth: i32, exponent: i32 });

/** Records a fault in the findings of an item unless they have one already. */
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
    return { fault, node, row, growth: found.growth, exponent: found.exponent };
  },
});

/** The start of an instance's node arrays in device memory. */
export const Memory = record({ base: i32 });

/** The parameters of functions that run before the first row of the time program. */
export const atStart = { launch: Launch, place: AxesPlace, memory: Memory };
/** The parameters of functions that run for each row of the time program. */
export const atRow = { ...atStart, cursor: Fault, step: Row };

/** The parameters of all phases of the time loop (`phases.ts`). */
export const inPhase = { launch: Launch, place: AxesPlace, step: Row, found: Fault };

/**
 * The index of each field in the status of a work item: `FAULT`, its node, its row of the program, too fast growth, and
 * the number of a loop that did not end.
 */
export const AXES_STATUS = { fault: 0, node: 1, row: 2, growth: 3, endless: 4 } as const;
/** The number of 32-bit integers in the status of a work item. */
export const AXES_STATUS_WORDS = 5;

/**
 * The index of each field in the summary of an instance: `found` is not 0 where an item's status has a finding, and the
 * solution is bounded by 2^(`exponent` − `EXPONENT_OFFSET`).
 */
export const SUMMARY = { found: 0, exponent: 1 } as const;
/** The number of 32-bit integers in the summary of an instance. */
export const SUMMARY_WORDS = 2;
/** The number added to binary exponents so that those of all finite numbers are positive. */
export const EXPONENT_OFFSET = 2048;

/**
 * The multiple to which the nodes of the first axis and the lines along it are padded: the number of lanes that a CPU
 * processes together.
 */
export const PAD = 8;

/** The number of neighbouring lines in a tile, each of which is solved by one work item for each of its intervals. */
export const LANES = 16;

/** The number of nodes of which the lengths of a line's intervals are multiples (`Runs`). */
export const RUN_STEP = 8;
