/** Checks values against their bounds before they are reported. */
import { NumericsError } from "../../base/errors.ts";
import { type ResultColumns, STATUS, WARNING } from "../columns/result-columns.ts";
import {
  type Bounds,
  distanceFromRange,
  isWithinEstimate,
  type TradeBounds,
  boundsMessage,
  type Range,
} from "../plan/kind.ts";
import type { Batch } from "../plan/method.ts";

/** Bounds, which may state their reasons. */
type Stated = Range & Partial<Bounds>;

/** A value that is outside the bounds of its payoff. */
interface Outside {
  /** The index in `ResultColumns.scenarioValues`; undefined for the trade's own value. */
  readonly scenario: number | undefined;
  readonly value: number;
  readonly range: Stated;
  /**
   * The distance of the value to its bounds, and the one that its error estimate allows; not finite where the value is
   * not.
   */
  readonly distance: number;
  readonly allowed: number;
}

/** Monte Carlo's estimate is an interval that some values miss: so many count as the estimate of another method. */
const ESTIMATES_OF_PATHS = 2;

/** The part of a rounding that bounds have: a value that is no further out is as good, but nothing is below 0 by it. */
const OF_BOUNDS = 1e-5;

const NOTHING: readonly Outside[] = [];

const movedTo = ({ low, high }: Range, value: number): number => Math.min(Math.max(value, low), high);

/** A check of the values of a batch's trades, today and in scenarios, against their bounds (`TradeBounds`). */
export class Guard {
  readonly #batch: Batch;
  readonly #limitsOf: (trade: number) => TradeBounds;
  readonly #found = new Map<number, readonly Outside[]>();

  constructor(batch: Batch, limitsOf: (trade: number) => TradeBounds) {
    this.#batch = batch;
    this.#limitsOf = limitsOf;
  }

  /**
   * Checks the results of some trades, and records which are outside their bounds. A value that is outside by no more
   * than its error estimate is moved to its bounds, to which its estimate then reaches.
   */
  check(trades: readonly number[], results: ResultColumns): void {
    for (const trade of trades) {
      const found = results.status[trade] === STATUS.priced ? this.#look(trade, results) : NOTHING;
      if (found.length > 0) this.#found.set(trade, found);
      else this.#found.delete(trade);
    }
  }

  /** The indices of the trades whose values were outside their bounds at the last check. */
  get outside(): readonly number[] {
    return [...this.#found.keys()];
  }

  /**
   * Replaces values that are still outside their bounds after other attempts: today's value by an error of the trade, a
   * scenario's by a missing value.
   */
  settle(results: ResultColumns): void {
    for (const [trade, found] of this.#found) for (const one of found) this.#settleOne(trade, one, results);
  }

  #settleOne(trade: number, { scenario, value, range, distance: far, allowed }: Outside, results: ResultColumns): void {
    if (!Number.isFinite(value)) return; // said of the trade, and null of a scenario
    const isLetOut = isWithinEstimate(far, allowed);
    const { spots } = this.#batch.columns.cases;
    if (scenario === undefined) {
      if (isLetOut) {
        results.value[trade] = movedTo(range, value);
        results.errorEstimate[trade] = far; // beyond what the estimate allowed
      } else results.fail(trade, this.#error(trade, value, range, results));
    } else if (isLetOut) {
      const of = Math.floor(scenario / spots);
      results.scenarioValues[scenario] = movedTo(range, value);
      results.scenarioErrors[of] = Math.max(results.scenarioErrors[of], far);
    } else {
      results.scenarioValues[scenario] = Number.NaN;
      results.warnings[trade] |= WARNING.scenarioOutside;
    }
  }

  #error(trade: number, value: number, range: Stated, results: ResultColumns): NumericsError {
    return new NumericsError(
      `trades[${this.#batch.columns.indexInRun[trade]}]: ${boundsMessage(results.methodOf(trade), value, range)}, and so does ` +
        "each finer resolution or other method that was tried; name another method, or ask for another accuracy",
    );
  }

  #look(trade: number, results: ResultColumns): readonly Outside[] {
    const { columns } = this.#batch;
    const { count, spots } = columns.cases;
    const limits = this.#limitsOf(trade);
    const found: Outside[] = [];
    const allowance = results.methodOf(trade) === "montecarlo" ? ESTIMATES_OF_PATHS : 1;
    const { scenarioValues, scenarioErrors } = results;
    for (let k = 0; k < count; k++) {
      const at = limits.at(trade, k);
      if (at === undefined) continue;
      const row = columns.rowOf(trade) + k;
      // No value within its bounds is further off than their farther one, and none that was moved is nearer.
      let [most, reach, isInside] = [0, 0, true];
      const after = (estimate: number): number => (isInside ? Math.min(estimate, most) : Math.max(estimate, reach));
      const checked = (value: number, estimate: number, spot: number, scenario?: number): number => {
        const range = at(spot);
        const far = distanceFromRange(range, value);
        const rounding = limits.rounding(trade, spot, value);
        if (far === 0) {
          most = Math.max(most, range.high - value + rounding, value - range.low + rounding);
          return value;
        }
        isInside = false;
        const allowed = allowance * estimate + rounding;
        if (!(far <= allowed && Number.isFinite(value))) {
          found.push({ scenario, value, range, distance: far, allowed });
          return value;
        }
        if (far <= OF_BOUNDS * rounding) return Math.max(value, Math.min(range.low, 0));
        reach = Math.max(reach, far);
        return movedTo(range, value);
      };
      if (k === 0) {
        results.value[trade] = checked(results.value[trade], results.errorEstimate[trade], 0);
        results.errorEstimate[trade] = after(results.errorEstimate[trade]);
        reach = 0;
      }
      for (let s = 0; s < spots; s++) {
        const scenario = row * spots + s;
        scenarioValues[scenario] = checked(scenarioValues[scenario], scenarioErrors[row], s + 1, scenario);
      }
      if (spots > 0) scenarioErrors[row] = after(scenarioErrors[row]);
    }
    return found;
  }
}
