import { i32, read, real, record, write } from "../../kernel/index.ts";
import type { EquationCode, StateNumber } from "../../fdm/index.ts";

/** Everything that the kernel of a sparse grid is compiled for. */
export interface GridVariant extends EquationCode {
  readonly averaging: boolean;
  /** The amount that exercise at all times pays. */
  readonly obstacle: StateNumber | undefined;
  readonly method: "bicgstab" | "cgs";
  /** Work items a grid. */
  readonly groupSize: number;
  /** True where sums go through subgroups of 32, which the device has in hardware. */
  readonly shuffles: boolean;
  /**
   * The number of rows of each item that stay in registers for the whole time loop; 0 for rows in memory, of any
   * number.
   */
  readonly residentRows: number;
}

/** The number of neighbours in a row: two along each axis, four for each pair of axes. */
export const neighboursOf = ({ axes, pairs }: Pick<GridVariant, "axes" | "pairs">): number =>
  2 * axes.length + 4 * pairs.length;

/** Arrays of an unknown's size that a grid has; the time loop goes on with those from V on. */
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
export const slotsOf = (variant: Pick<GridVariant, "axes" | "pairs">): number => slot.MATRIX + neighboursOf(variant);

/** The words of a grid in the table. */
export const header = {
  /** The place in `work` of node 0 of its array 0. */
  BASE: 0,
  UNKNOWNS: 1,
  /** The distance from one array to the next. */
  PITCH: 2,
  INSTANCE: 3,
  ROUNDS: 4,
  AXES: 5,
} as const;
/** The words of an axis: nodes, the first unknown, unknowns, their stride, where its values are (then coordinates). */
export const axisWords = { NODES: 0, FIRST: 1, COUNT: 2, STRIDE: 3, VALUES: 4, WORDS: 5 } as const;
export const tableWords = (variant: Pick<GridVariant, "axes" | "pairs">): number =>
  header.AXES + axisWords.WORDS * variant.axes.length + neighboursOf(variant) + 2 * variant.pairs.length;

/** The reals of a row of the time program: t, its end, h, weights of u and v, extrapolation, from u's time to t. */
export const ROW = { AT: 0, END: 1, H: 2, FROM_U: 3, FROM_V: 4, EXTRAPOLATION: 5, ADVANCE: 6, WORDS: 7 } as const;

/** The words of an item's report. */
export const REPORT = {
  fault: 0,
  node: 1,
  row: 2,
  endless: 3,
  /** Systems that were not solved, and the row of the first. */
  unsolved: 4,
  unsolvedRow: 5,
  iterations: 6,
  systems: 7,
} as const;
export const REPORT_WORDS = 8;

/** A launch: rows `first` … `end` − 1 of the time program for all its grids. */
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
export const Launch = record(launchParams);

/** A grid and the item that works on it: array s has node i at base + s·pitch + i. */
export const Grid = record({
  base: i32,
  unknowns: i32,
  pitch: i32,
  rounds: i32,
  instance: i32,
  /** The grid's words in the table. */
  words: i32,
  item: i32,
});

/** The first fault, its node and its row. */
export const Fault = record({ fault: i32, node: i32, row: i32 });
