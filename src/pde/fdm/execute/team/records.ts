/**
 * The records that the functions of a team hand each other: arrays of an item's segment of consecutive nodes, and what
 * goes with them.
 */
import { bool, i32, read, real, record, write } from "../../../../kernel/index.ts";
import { LiveNodes } from "../../operator/matrix.ts";
import { Coefficients, SurfaceLocation } from "../../operator/coefficients.ts";
import { ItemContext } from "../rollback.ts";
import { Launch } from "../option/plan.ts";

/**
 * The workgroup memory for the mesh of an instance. Nodes are in `x`. `values` has their weights (`rowWeight`), or the
 * solution where items need more than their own nodes. Alternatively all four arrays have the metrics A, B, C and D of
 * `computeRowMetrics`, with `bounds` and `ends`.
 */
export const Mesh = record({
  x: write(real),
  values: write(real),
  third: write(real),
  fourth: write(real),
  bounds: write(real),
  ends: write(real),
});

/** The off-diagonal entries a and c of an item's matrix rows (−a, 1 + hr + a + c, −c) of I − hL. */
export const RowEntries = record({ a: write(real), c: write(real) });

/**
 * The diagonal of matrix rows without a + c: `decay` = 1 + hr, or `decays`, one for each row. Policy iteration replaces
 * rows that are `active` (1) by y = bound. The record is not read where rows are divided by their decay.
 */
export const Diagonal = record({ active: write(real), decays: read(real), decay: real });

/**
 * The factors of matrix rows by elimination from the last node down: a multiple of 1/pivot (`gain`), a/pivot and
 * c/pivot.
 */
export const Factors = record({ gain: write(real), lower: write(real), upper: write(real) });

/**
 * The products of `upper` and of `lower` over each of the intervals into which an item's nodes are divided (`partsOf`).
 * In f32, where one factorisation serves several steps, there are also the partial products up to each row.
 */
export const Products = record({
  downProduct: write(real),
  upProduct: write(real),
  downTo: write(real),
  upTo: write(real),
});

/**
 * The memory of scans over the items: the multipliers of the downward and the upward scan, the workgroup memory in
 * which values are exchanged, and two integers there (`largest`).
 */
export const Scans = record({
  above: write(real),
  below: write(real),
  scratch: write(real),
  counter: write(i32),
  result: write(i32),
});

/**
 * The solution u and the intermediate result z of elimination at an item's nodes. Where steps are `scaled`
 * (`TeamPlan`), u has u·2/pivot after the first factorisation.
 */
export const TeamState = record({ u: write(real), z: write(real) });

/**
 * The exercise payoffs at the nodes of a work item, and at the nodes before and after them. Where the elimination
 * itself respects exercise (`held` in `TeamPlan`), `paid` has the lower bound of its intermediate result instead, from
 * the first factorisation on. Where the unknown is the premium V − payoff, it has twice the source of its equation.
 */
export const Obstacle = record({
  paid: write(real),
  before: real,
  after: real,
  /** The segment's first node is exercised, whatever the row of an end says. */
  isFirstExercised: bool,
});

/**
 * The settings of a series of `count` equal steps. Each step sets u ← y + `over`·(y − u) if `extrapolated`, otherwise u
 * ← y. `reach` is the distance over which scans carry values (`ScanReach`). `moves` is the index in the table at which
 * the slope of a time-dependent payoff at the first step is stored.
 */
export const StepSettings = record({ count: i32, extrapolated: bool, over: real, reach: i32, moves: i32 });

/**
 * The factor by which the state is multiplied, and the matrix rows of the first factorisation. They are kept in
 * workgroup memory from one factorisation of running sums to the next.
 */
export const KeptFactorisation = record({ multiple: write(real), rows: RowEntries });

/** The arrays of an instance in the time loop; those that a variant does not use have one element. */
export const Memory = record({
  mesh: Mesh,
  /** The first coefficients (`prefetchCoefficients`), in workgroup memory. */
  ahead: write(real),
  state: TeamState,
  rows: RowEntries,
  factors: Factors,
  products: Products,
  scans: Scans,
  paid: write(real),
  /** The active rows of policy iteration: 1 where a row is exercised. */
  active: write(real),
  kept: KeptFactorisation,
});

/**
 * The data of the time program that are read in advance: the integers of the next two series of equal steps and, where
 * every step has its own factorisation, the coefficients of the next one.
 */
export const PrefetchedData = record({ flag: i32, flagAfter: i32, coefficients: Coefficients });

/** The numbers that belong to the current factorisation. */
export const FactorisationState = record({
  hRate: real,
  /** h of the rows that `rescaleSegment` starts from. */
  hLast: real,
  /** The sign of c in the segment's first row, of running sums. */
  signOfFirst: real,
  /** The reach that the previous factorisation returned, and the reach of scans that follows from it. */
  needed: i32,
  reach: i32,
});

/** The numbers that change from one series of equal steps to the next, and those computed before the first. */
export const LoopState = record({
  /** The next row of coefficients. */
  row: i32,
  next: PrefetchedData,
  factored: FactorisationState,
  slice: SurfaceLocation,
  live: LiveNodes,
  obstacle: Obstacle,
  /** The index in the table of the next step's slope and kink, of a time-dependent obstacle. */
  moves: i32,
});

/** A row of the time program: a series of equal steps. */
export const StepSeries = record({
  index: i32,
  flag: i32,
  refactor: bool,
  event: bool,
  /** The row of the next coefficients, after those of these steps and before those of events. */
  row: i32,
  next: PrefetchedData,
  /** The coefficients of these steps. */
  coefficients: Coefficients,
});

/** The parameters of functions that run before the first step. */
export const atStart = { launch: Launch, context: ItemContext, memory: Memory };
/** The parameters of functions that are called for each row of the time program, which is a series of equal steps. */
export const atSeries = { ...atStart, loopState: LoopState, programRow: StepSeries };
