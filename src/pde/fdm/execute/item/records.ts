import { bool, i32, real, record, type ValueOf, write } from "../../../../kernel/index.ts";
import { Held } from "../../conditions/barrier.ts";
import { Live } from "../../operator/live.ts";
import { Slice } from "../../operator/read-surface.ts";
import { Place } from "../place.ts";
import { Launch } from "../variant.ts";

/**
 * The arrays of an instance in private memory, with one value for each node; those that a variant does not use have
 * length 1.
 */
export const Memory = record({
  /** The solution. */
  u: write(real),
  /** The right-hand side after elimination. */
  z: write(real),
  /** 1 / pivot; not used where the matrix is factored on the way (policy iteration, knock-ins). */
  inverse: write(real),
  /** a / pivot; a where the matrix is factored on the way. */
  lower: write(real),
  /** c / pivot; c where the matrix is factored on the way. */
  upper: write(real),
  /** The nodes. */
  x: write(real),
  /** The amount that exercise pays; φ·x where the obstacle is time-dependent. */
  obstacle: write(real),
  /** 1 where exercised, of policy iteration. */
  active: write(real),
  /** a / pivot of the current policy, or value. */
  factor: write(real),
  /** The value before a knock-in. */
  dormant: write(real),
  /** a and c of the first factorisation's rows, of time-homogeneous problems. */
  rowLower: write(real),
  rowUpper: write(real),
});

/** The numbers that change from one series of equal steps to the next. */
export const Cursor = record({
  /** The next row of coefficients. */
  row: i32,
  /** h·r of the matrix; h and h·r of `rowLower` and `rowUpper`. */
  rates: record({ hRate: real, hFirst: real, firstRate: real }),
  /**
   * True where the first node is certain to be exercised; a time-dependent obstacle, slope·obstacle − kink, and the
   * place of the next step's in the table.
   */
  exercise: record({ isExercised: bool, next: i32, slope: real, kink: real }),
  /** A volatility surface, with the slice of the next factorisation. */
  surface: Slice,
  /** The nodes between which the trade is alive, and what is held at their ends. */
  live: Live,
  held: Held,
  /** The last event's words of what is dormant. */
  dormantRow: i32,
});

/** A series of equal steps, decoded from the time program. */
export const Step = record({
  run: i32,
  flag: i32,
  refactor: bool,
  event: bool,
  /** The place at which the factors of the run's steps start, of the two factorisations that are kept. */
  start: i32,
  count: i32,
  crankNicolson: bool,
  /** Alexander's second stage: u ← y + √2·(y − u). */
  alexander: bool,
});

/** The parameters of functions that run before the first step. */
export const atStart = { launch: Launch, place: Place, memory: Memory };
/** The parameters of functions that run for each series of equal steps. */
export const atRun = { ...atStart, cursor: Cursor, step: Step };

/** The value type of the record `Cursor`. */
export type Cursor = ValueOf<typeof Cursor>;
