import type { Device } from "../../device/index.ts";
import { type Convertible, type ConvertibleMarket, isDate } from "./contract.ts";
import { kinksNow, type Point, readPoint } from "./read.ts";
import { prepare, type Prepared, type Profile, rollBack } from "./rollback.ts";

/** A convertible to be valued at some spots, with the target error of the value in the currency. */
export interface ConvertibleRow {
  readonly contract: Convertible;
  readonly market: ConvertibleMarket;
  /** The spots, > 0, at least one. */
  readonly spots: readonly number[];
  /** The target error of the value, in the currency. */
  readonly accuracy: number;
  /**
   * The market for whose volatility and rates the mesh is made, by default `market`. A bumped market uses the mesh of
   * its base market.
   */
  readonly meshOf?: ConvertibleMarket;
  /** The largest number of levels of refinement, so that a bumped market is refined like its base market. */
  readonly levels?: number;
}

/**
 * The value and derivatives at a spot with their error estimates, and the change of the value from the last level to
 * the one before: of the value itself, and of its extrapolation.
 */
export interface ConvertiblePoint extends Point {
  /** The error estimate of the value, in the currency. */
  readonly errorEstimate: number;
  /** The error estimates of the cash-only part, delta and gamma. */
  readonly errors: Pick<Point, "cash" | "delta" | "gamma">;
  readonly moves: Moves;
}

/** The changes of a figure from a level to the next: as it is, and extrapolated. */
type Moves = readonly [level: number, extrapolated: number];

/**
 * Returns the error estimate of an extrapolated derivative, or difference of values, from its last changes between
 * levels of refinement.
 */
export const errorOfMoves = ([level, extrapolated]: Moves): number =>
  1.25 * Math.abs(level) + 2.5 * Math.abs(extrapolated);

/** The mesh intervals and the time steps of a life on the coarsest level; each level halves both. */
const INTERVALS = 20;
const STEPS = 4;

/** Levels that are always solved, and the most. */
const FIRST_LEVELS = 3;
const MAX_LEVELS = 7;

/** The error from ending the mesh 4.5 standard deviations away, relative to the notional. */
export const TRUNCATED = 3e-6;

/** Rounding, relative to the value. */
const ROUNDING = 1e-11;

/**
 * The places at which the error is looked at, in standard deviations of ln S about the spot: at one spot it may vanish
 * by chance.
 */
const ABOUT = [-0.5, -0.25, 0, 0.25, 0.5];

/**
 * The estimate of a value's error is these shares of its largest change about the spot by the last level, of the change
 * of what is extrapolated, and of the one before that, times a margin. The margins hold the error of 99 % of random
 * bonds at each level: a boundary of exercise lies between nodes, and where does not become smoother by refinement.
 */
const SHARES = { level: 1 / 32, extrapolated: 1 / 2, before: 1 / 8 } as const;
const MARGINS = { dates: 1.2, conversion: 2.2, window: 2.5 } as const;

function marginOf({ calls, puts, conversions }: Convertible): number {
  if (!calls.every(isDate) || !puts.every(isDate)) return MARGINS.window;
  return conversions.every(isDate) ? MARGINS.dates : MARGINS.conversion;
}

/** A limit of the time of refinement. Rows are their indices. */
export interface Refinement {
  /** Runs the work of a level for some rows. */
  spend<T>(rows: readonly number[], work: () => Promise<T>): Promise<T>;
  /** Tells whether a row may be refined by another level, whose work is `times` that of all levels before. */
  allows(row: number, times: number): boolean;
}

/** The work of a level, in units of that of the levels before: each takes twice the nodes and twice the steps. */
const NEXT_LEVEL = 3;

/**
 * Returns the values of convertibles at their spots. Values are Richardson extrapolations from two levels of refinement
 * of mesh and time step, whose errors are of second order. The levels of each convertible are refined until its error
 * estimate is small enough, or the time is over. @throws the signal's reason
 */
export async function solveConvertibles(
  device: Device,
  rows: readonly ConvertibleRow[],
  signal?: AbortSignal,
  refinement?: Refinement,
): Promise<(readonly ConvertiblePoint[])[]> {
  const states = rows.map((row) => new State(row));
  const mayGoOn = (i: number, level: number): boolean =>
    level < FIRST_LEVELS || refinement === undefined || refinement.allows(i, NEXT_LEVEL);
  for (let level = 0; level < MAX_LEVELS; level++) {
    const numbers = [...states.keys()].filter((i) => !states[i].isDone(level) && mayGoOn(i, level));
    const open = numbers.map((i) => states[i]);
    if (open.length === 0) break;
    signal?.throwIfAborted();
    const instances = open.map(({ instance }) => instance);
    const work = () => rollBack(device, instances, { intervals: INTERVALS, level });
    const profiles = await (refinement?.spend(numbers, work) ?? work());
    open.forEach((state, i) => state.take(profiles[i]));
  }
  return states.map((state) => state.points());
}

class State {
  readonly row: ConvertibleRow;
  readonly instance: Prepared;
  readonly #kinks: readonly number[];
  readonly #margin: number;
  /** Points of each level: those about each spot. */
  readonly #levels: Point[][][] = [];
  #failed = false;

  constructor(row: ConvertibleRow) {
    this.row = row;
    this.instance = prepare(row, STEPS);
    this.#kinks = kinksNow(row.contract);
    this.#margin = marginOf(row.contract);
  }

  take(profile: Profile): void {
    const { notional, maturity } = this.row.contract;
    const { nodes } = profile;
    const { volatility } = this.row.market;
    const sigma = typeof volatility === "function" ? volatility(this.row.spots[0], 0) : volatility.values[0];
    const deviation = sigma * Math.sqrt(Math.min(maturity, 1));
    const at = (spot: number): Point =>
      readPoint(profile, Math.min(Math.max(spot, nodes[0]), nodes[nodes.length - 1]), this.#kinks, notional);
    this.#levels.push(
      this.row.spots.map((spot) => ABOUT.map((by) => at((spot / notional) * Math.exp(by * deviation)))),
    );
    this.#failed = profile.failures > 0;
  }

  isDone(level: number): boolean {
    const { levels = MAX_LEVELS, accuracy } = this.row;
    if (level >= levels) return true;
    if (level < FIRST_LEVELS) return false;
    return this.points().every(({ errorEstimate }) => errorEstimate <= accuracy);
  }

  points(): ConvertiblePoint[] {
    const levels = this.#levels;
    const last = levels.length - 1;
    const middle = ABOUT.indexOf(0);
    const { notional } = this.row.contract;
    return this.row.spots.map((spot, i) => {
      const move = (level: number, k: number, of: keyof Point): number =>
        levels[level][i][k][of] - levels[level - 1][i][k][of];
      const richardson = (level: number, k: number, of: keyof Point): number =>
        levels[level][i][k][of] + move(level, k, of) / 3;
      const moves = (level: number, k: number, of: keyof Point): Moves => {
        const before = level > 1 ? richardson(level - 1, k, of) : levels[level][i][k][of];
        return [move(level, k, of), richardson(level, k, of) - before];
      };
      const at = (of: keyof Point): number => richardson(last, middle, of);
      const isKnown = last >= 2 && !this.#failed;
      const error = (of: keyof Point, scale: number): number =>
        isKnown ? errorOfMoves(moves(last, middle, of)) + TRUNCATED * scale : Number.POSITIVE_INFINITY;
      const largest = (level: number, which: 0 | 1): number =>
        Math.max(...ABOUT.map((_at, k) => Math.abs(moves(level, k, "value")[which])));
      const value = at("value");
      return {
        value,
        cash: at("cash"),
        delta: at("delta"),
        gamma: at("gamma"),
        errorEstimate: isKnown
          ? this.#margin *
              (SHARES.level * largest(last, 0) +
                SHARES.extrapolated * largest(last, 1) +
                SHARES.before * largest(last - 1, 1)) +
            ROUNDING * Math.abs(value)
          : Number.POSITIVE_INFINITY,
        errors: {
          cash: error("cash", notional),
          delta: error("delta", notional / spot),
          gamma: error("gamma", notional / spot ** 2),
        },
        moves: isKnown ? moves(last, middle, "value") : [Number.POSITIVE_INFINITY, 0],
      };
    });
  }
}
