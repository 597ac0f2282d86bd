/** What the functions of a team hand each other: arrays of an item's run of consecutive nodes, and what goes with them. */
import { bool, i32, real, record, write } from "../../../kernel/index.ts";
import { Column } from "../../operator/column.ts";

/** What a launch brings of one instance; see `solverKernel` for the layouts. */
export const Instance = record({
  table: Column,
  coefficients: Column,
  nodes: i32,
  /** The column of the table that has what exercise pays. */
  obstacleColumn: i32,
  /** What σ(S, t) takes for S, over the table's nodes. */
  scale: real,
  firstExercised: bool,
});

/**
 * Workgroup memory of an instance. Nodes are in `x`; `values` has their weights (`rowWeight`) or the solution, where
 * items need more than their own. Or all four have the metrics A, B, C and D of `layMetrics`, and `bounds` and `ends`
 * what goes with them.
 */
export const Mesh = record({
  x: write(real),
  values: write(real),
  third: write(real),
  fourth: write(real),
  bounds: write(real),
  ends: write(real),
});

/** The slice of a surface that a step takes, and the piece in it that the run's first node was in. See `readSurface`. */
export const Slice = record({ row: i32, pieces: i32, move: real, piece: i32 });

/** Rows (−a, 1 + hr + a + c, −c) of I − hL, off the diagonal. */
export const Rows = record({ a: write(real), c: write(real) });

/** What elimination from the last node down makes of them: a multiple of 1/pivot, a/pivot and c/pivot. */
export const Factors = record({ gain: write(real), lower: write(real), upper: write(real) });

/**
 * Products of `upper` and `lower` over the rows of each part of a run (`partsOf`), and, in f32 where factors last, over
 * the rows of a part up to each.
 */
export const Products = record({
  downProduct: write(real),
  upProduct: write(real),
  downTo: write(real),
  upTo: write(real),
});

/**
 * What scans over the items need: the multipliers of the one down and of the one up, workgroup memory that values pass
 * through, and two whole numbers there, see `largest`.
 */
export const Scans = record({
  above: write(real),
  below: write(real),
  scratch: write(real),
  counter: write(i32),
  result: write(i32),
});

/** The solution, and what elimination makes of it. */
export const State = record({ u: write(real), z: write(real) });

/** What exercise pays on the run, and on the nodes before and after it. */
export const Obstacle = record({
  paid: write(real),
  before: real,
  after: real,
  /** The run's first node is exercised, whatever the row of an end says. */
  isFirstExercised: bool,
});

/**
 * The live rows of a run: those up to `low` and from `high` on are knocked out; `lowHeld` and `highHeld` are those whose
 * value is held, −1 where none of the run's is. All may be far outside the run.
 */
export const Live = record({ low: i32, high: i32, lowHeld: i32, highHeld: i32 });

/**
 * Equal steps, one after another: u ← y + `over`·(y − u) if `extrapolated`, else u ← y. Scans go as far as `reach` says.
 * `moves`: the word of the table that has the first step's slope, of a time-dependent obstacle.
 */
export const Steps = record({ count: i32, extrapolated: bool, over: real, reach: i32, moves: i32 });
