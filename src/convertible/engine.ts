import type { Device } from "../device/index.ts";
import type { Convertible, ConvertibleMarket } from "./contract.ts";
import { kinksNow, type Point, readPoint } from "./read.ts";
import { prepare, type Prepared, type Profile, rollBack } from "./rollback.ts";

/** A convertible at some spots, and the error to aim at, in the currency. */
export interface ConvertibleRow {
  readonly contract: Convertible;
  readonly market: ConvertibleMarket;
  /** > 0, at least one. */
  readonly spots: readonly number[];
  readonly accuracy: number;
  /** Another market on whose mesh the row is solved, and a level to stop at: of shifts for sensitivities. */
  readonly meshOf?: ConvertibleMarket;
  readonly levels?: number;
}

/** The solution at a spot with an estimate of the error of its value. */
export interface ConvertiblePoint extends Point {
  readonly errorEstimate: number;
}

/** The mesh intervals and the time steps of a life on the coarsest level; each level halves both. */
const INTERVALS = 20;
const STEPS = 4;

/** Levels that are always solved, and the most. */
const FIRST_LEVELS = 3;
const MAX_LEVELS = 7;

/** Rounding, relative to the value. */
const ROUNDING = 1e-11;

/**
 * The places at which the error is looked at, in standard deviations of ln S about the spot: at one spot it may vanish
 * by chance.
 */
const ABOUT = [-0.5, -0.25, 0, 0.25, 0.5];

/** The shares of the changes of extrapolated values and of values that count as the error. */
const OF_EXTRAPOLATED = 2;
const OF_VALUE = 0.2;

/**
 * The values of convertibles, extrapolated from two levels (Richardson): errors are of second order in mesh and time
 * step. Levels are refined until the estimate is small enough: the change of the extrapolated value from the pair of
 * levels before, at the spot and about it, and a part of the change of the value itself.
 * @throws the signal's reason
 */
export async function solveConvertibles(
  device: Device,
  rows: readonly ConvertibleRow[],
  signal?: AbortSignal,
): Promise<(readonly ConvertiblePoint[])[]> {
  const states = rows.map((row) => new State(row));
  for (let level = 0; level < MAX_LEVELS; level++) {
    const open = states.filter((state) => !state.isDone(level));
    if (open.length === 0) break;
    signal?.throwIfAborted();
    const instances = open.map(({ instance }) => instance);
    const profiles = await rollBack(device, instances, { intervals: INTERVALS, level });
    open.forEach((state, i) => state.take(profiles[i]));
  }
  return states.map((state) => state.points());
}

class State {
  readonly row: ConvertibleRow;
  readonly instance: Prepared;
  readonly #kinks: readonly number[];
  /** Points of each level: those about each spot. */
  readonly #levels: Point[][][] = [];
  #failed = false;

  constructor(row: ConvertibleRow) {
    this.row = row;
    this.instance = prepare(row, STEPS);
    this.#kinks = kinksNow(row.contract);
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
    return this.row.spots.map((_, i) => {
      const here = (level: number, k: number): Point => levels[level][i][k];
      const richardson = (level: number, k: number, of: keyof Point): number =>
        here(level, k)[of] + (here(level, k)[of] - here(level - 1, k)[of]) / 3;
      const value = richardson(last, middle, "value");
      let estimate = Number.POSITIVE_INFINITY;
      if (last >= 2 && !this.#failed) {
        const change = Math.max(
          ...ABOUT.map((_at, k) => Math.abs(richardson(last, k, "value") - richardson(last - 1, k, "value"))),
        );
        const ofValue = Math.abs(here(last, middle).value - here(last - 1, middle).value);
        estimate = OF_EXTRAPOLATED * change + OF_VALUE * ofValue + ROUNDING * Math.abs(value);
      }
      return {
        value,
        cash: richardson(last, middle, "cash"),
        delta: richardson(last, middle, "delta"),
        gamma: richardson(last, middle, "gamma"),
        errorEstimate: estimate,
      };
    });
  }
}
