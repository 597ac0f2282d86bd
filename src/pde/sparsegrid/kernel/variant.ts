import { i32, read, real, record, write } from "../../../kernel/index.ts";
import type { EquationCode, StateNumber } from "../../fdm/index.ts";

/** The properties of a problem that the code of its sparse-grid kernel depends on. */
export interface GridVariant extends EquationCode {
  /** True where terminal values are averaged over the cells of the nodes. */
  readonly averaging: boolean;
  /** The payoff of exercise at all times; undefined without it. */
  readonly obstacle: StateNumber | undefined;
  readonly method: "bicgstab" | "cgs";
  /** The number of work items that solve one grid. */
  readonly groupSize: number;
  /** True where sums use hardware subgroups of 32. */
  readonly shuffles: boolean;
  /**
   * The number of matrix rows that each work item keeps in registers for the whole time loop; 0 where rows are in
   * memory, in any number.
   */
  readonly residentRows: number;
}

/**
 * Returns the number of neighbours of a node in the stencil: two along each axis, four for each pair of axes with a
 * mixed derivative.
 */
export const neighboursOf = ({ axes, pairs }: Pick<GridVariant, "axes" | "pairs">): number =>
  2 * axes.length + 4 * pairs.length;

/**
 * The indices of a grid's arrays, each with one real for an unknown. Arrays from V on are kept between launches of the
 * time loop.
 */
export const slot = {
  /** The system's unknowns. */
  Y: 0,
  R: 1,
  SHADOW: 2,
  P: 3,
  Q: 4,
  T: 5,
  /** A further vector of cgs. */
  EXTRA: 6,
  /** The solution before a step's first stage. */
  V: 7,
  /** The rate at which the solution has changed in the last stage, for the next first guess. */
  RATE: 8,
  /** The solution. */
  U: 9,
  /** 1/(1 − h·diagonal). */
  INVERSE: 10,
  /** h·source/(1 − h·diagonal), or the value of a pinned node. */
  SOURCE: 11,
  /** −h·(entry of L)/(1 − h·diagonal) for each neighbour. */
  MATRIX: 12,
} as const;
/** Returns the number of arrays of a grid. */
export const slotsOf = (variant: Pick<GridVariant, "axes" | "pairs">): number => slot.MATRIX + neighboursOf(variant);

/** The index of each field at the start of a grid's integers in the table. */
export const header = {
  /** The index in `work` of node 0 of the grid's array 0. */
  BASE: 0,
  UNKNOWNS: 1,
  /** The distance from one array to the next. */
  PITCH: 2,
  INSTANCE: 3,
  ROUNDS: 4,
  AXES: 5,
} as const;
/**
 * The index of each field in the integers of an axis: the number of nodes, the first unknown, the number of unknowns,
 * their stride, and the position of its values, which its coordinates follow. `WORDS` is the number of fields.
 */
export const AXIS_FIELD = { NODES: 0, FIRST: 1, COUNT: 2, STRIDE: 3, VALUES: 4, WORDS: 5 } as const;
/** Returns the number of integers of a grid in the table. */
export const tableIntegers = (variant: Pick<GridVariant, "axes" | "pairs">): number =>
  header.AXES + AXIS_FIELD.WORDS * variant.axes.length + neighboursOf(variant) + 2 * variant.pairs.length;

/**
 * The index of each field in the reals of a program row: the time of the stage, the time of its end, h, the weights of
 * u and v, the extrapolation, and the length of time from u to the stage. `WORDS` is the number of fields.
 */
export const ROW_FIELD = { AT: 0, END: 1, H: 2, FROM_U: 3, FROM_V: 4, EXTRAPOLATION: 5, ADVANCE: 6, WORDS: 7 } as const;

/** The index of each field in the status that a work item reports (`GridReport`). */
export const REPORT = {
  fault: 0,
  node: 1,
  row: 2,
  endless: 3,
  /** The number of systems that were not solved, and the row of the first. */
  unsolved: 4,
  unsolvedRow: 5,
  iterations: 6,
  systems: 7,
} as const;
/** The number of integers in the status of a work item. */
export const REPORT_INTEGERS = 8;

/** The parameters of a launch, which performs rows `first` to `end` − 1 of the time program for all of its grids. */
export const launchParams = {
  /** The counts of the variant, as numbers that are not known to the compiler: loops over them are not unrolled. */
  axes: i32,
  pairs: i32,
  instances: i32,
  dates: i32,
  first: i32,
  end: i32,
  maxIterations: i32,
  relative: real,
  table: read(i32),
  meshes: read(real),
  parameters: read(real),
  words: read(i32),
  reals: read(real),
  work: write(real),
  report: write(i32),
} as const;
/** The parameters of a launch as one record. */
export const Launch = record(launchParams);

/** A grid and the work item of its group: array s of the grid has node i at base + s·pitch + i. */
export const Grid = record({
  base: i32,
  unknowns: i32,
  pitch: i32,
  rounds: i32,
  instance: i32,
  /** The index in the table at which the grid's integers start. */
  words: i32,
  item: i32,
});

/** The first fault that a work item found (`FAULT`), with its node and its row of the time program. */
export const FirstFault = record({ fault: i32, node: i32, row: i32 });
