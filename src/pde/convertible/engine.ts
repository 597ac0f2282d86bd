import type { Device } from "../../device/index.ts";
import { type Convertible, type ConvertibleMarket, isDate, covers } from "./contract.ts";
import { prepare, type PreparedInstance, type Profile, rollBack } from "./rollback.ts";
import { fornbergWeights } from "../fdm/index.ts";
import { firstIndex } from "../../base/search.ts";

/** A convertible to be valued at some spots, with the target error of the value in the currency. */
export interface ConvertibleRow {
  readonly contract: Convertible;
  readonly market: ConvertibleMarket;
  /** The spots, > 0, at least one. */
  readonly spots: readonly number[];
  /** The target error of the value, in the currency. */
  readonly accuracy: number;
  /**
   * The market whose volatility and rates determine the mesh; `market` by default. A bumped market uses the mesh of its
   * base market.
   */
  readonly meshOf?: ConvertibleMarket;
  /** The largest number of levels of refinement, so that a bumped market is refined like its base market. */
  readonly levels?: number;
}

/**
 * The value and derivatives at a spot with their error estimates, and the last changes of the value between levels of
 * refinement: that of the value itself, and that of its extrapolation.
 */
export interface ConvertiblePoint extends PointValues {
  /** The error estimate of the value, in the currency. */
  readonly errorEstimate: number;
  /** The error estimates of the cash-only part, delta and gamma. */
  readonly errors: Pick<PointValues, "cash" | "delta" | "gamma">;
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

/** The error of truncating the mesh 4.5 standard deviations from the spot, as a fraction of the notional. */
export const DOMAIN_TRUNCATION_ERROR = 3e-6;

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

/** A limit on the time spent on refinement. Rows are referred to by their indices. */
export interface RefinementLimit {
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
  refinement?: RefinementLimit,
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
  readonly instance: PreparedInstance;
  readonly #kinks: readonly number[];
  readonly #margin: number;
  /** Points of each level: those about each spot. */
  readonly #levels: PointValues[][][] = [];
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
    const at = (spot: number): PointValues =>
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
      const move = (level: number, k: number, of: keyof PointValues): number =>
        levels[level][i][k][of] - levels[level - 1][i][k][of];
      const richardson = (level: number, k: number, of: keyof PointValues): number =>
        levels[level][i][k][of] + move(level, k, of) / 3;
      const moves = (level: number, k: number, of: keyof PointValues): Moves => {
        const before = level > 1 ? richardson(level - 1, k, of) : levels[level][i][k][of];
        return [move(level, k, of), richardson(level, k, of) - before];
      };
      const at = (of: keyof PointValues): number => richardson(last, middle, of);
      const isKnown = last >= 2 && !this.#failed;
      const error = (of: keyof PointValues, scale: number): number =>
        isKnown ? errorOfMoves(moves(last, middle, of)) + DOMAIN_TRUNCATION_ERROR * scale : Number.POSITIVE_INFINITY;
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

/** The value V, its cash-only part B, and the derivatives of V at a spot, in the currency. */
export interface PointValues {
  readonly value: number;
  readonly cash: number;
  readonly delta: number;
  readonly gamma: number;
}

/** Returns the spots at which V has a kink now because a call binds there, in units of the notional. */
function kinksNow({ calls, conversions, notional, coupons }: Convertible): number[] {
  const isNow = (period: { readonly from: number; readonly to: number }): boolean => covers(period, 0, 0);
  const ratio = conversions.find(isNow)?.ratio ?? 0;
  const first = coupons[0];
  const accrued =
    first === undefined ? 0 : (first.amount * Math.max(-first.accruesFrom, 0)) / (first.time - first.accruesFrom);
  return calls
    .filter((call) => isNow(call) && !isDate(call))
    .map(({ price, trigger }) => Math.max(trigger, ratio > 0 ? (price + accrued) / ratio : 0) / notional);
}

/** Nodes that a value is read from. */
const POINTS = 5;

/**
 * Returns the solution at a spot, in units of the notional, by interpolation with polynomials through nodes that lie on
 * the same side of every kink.
 */
export function readPoint({ nodes, value, cash }: Profile, spot: number, kinks: readonly number[], notional: number) {
  const last = nodes.length - 1;
  let [low, high] = [0, last];
  for (const kink of kinks) {
    const edge = upTo(nodes, kink * (1 + 1e-12));
    const isOnNode = nodes[edge] >= kink * (1 - 1e-12);
    if (spot < kink) high = Math.min(high, edge);
    else low = Math.max(low, isOnNode ? edge : edge + 1);
  }
  const count = Math.min(POINTS, high - low + 1);
  if (count < 3) [low, high] = [0, last];
  const middle = upTo(nodes, spot);
  const nearest = middle < last && nodes[middle + 1] - spot < spot - nodes[middle] ? middle + 1 : middle;
  const width = Math.max(count, 3);
  const first = Math.min(Math.max(nearest - (width >> 1), low), high - width + 1);
  const [weights, slopes, curvatures] = fornbergWeights(spot, nodes.subarray(first, first + width), 2);
  const sum = (of: Float64Array, at: (node: number) => number): number =>
    of.reduce((total, weight, j) => total + weight * at(first + j), 0);
  return {
    value: sum(weights, value) * notional,
    cash: sum(weights, cash) * notional,
    delta: sum(slopes, value),
    gamma: sum(curvatures, value) / notional,
  } satisfies PointValues;
}

/** The last node at a spot or below it. */
const upTo = (nodes: Float64Array, spot: number): number => firstIndex(1, nodes.length, (i) => nodes[i] > spot) - 1;
