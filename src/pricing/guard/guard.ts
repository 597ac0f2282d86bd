/** Checks values against no-arbitrage bounds before they are reported. */
import { roundingError } from "../../pde/fdm/index.ts";
import { NumericsError } from "../../base/errors.ts";
import { moveOf } from "../columns/scenario-cases.ts";
import { type ResultColumns, STATUS, WARNING } from "../columns/result-columns.ts";
import type { Batch } from "../plan/method.ts";
import { assetsOf, type Terms, termsOf } from "../terms.ts";
import { boundsOf } from "./bounds.ts";
import type { EuropeanTwins } from "./european-twins.ts";
import { distance, isNear, outsideText, type Range } from "./range.ts";

/** A value that is outside the bounds of its payoff. */
interface Outside {
  /** The index in `ResultColumns.scenarioValues`; undefined for the trade's own value. */
  readonly scenario: number | undefined;
  readonly value: number;
  readonly range: Range;
  /**
   * The distance of the value to its bounds, and the one that its error estimate allows; not finite where the value is
   * not.
   */
  readonly distance: number;
  readonly allowed: number;
}

/** Monte Carlo's estimate is an interval that some values miss: so many count as the estimate of another method. */
const ESTIMATES_OF_PATHS = 2;

const NOTHING: readonly Outside[] = [];

/** Returns 0 for a negative value of a payoff that never is negative, as errors leave it far beyond a barrier. */
const allowedOf = (value: number, { low }: Range): number => (value < 0 && low >= 0 ? 0 : value);

/**
 * A check of the values of a batch's trades, today and in scenarios, against the bounds of their payoffs (`boundsOf`).
 */
export class Guard {
  readonly #batch: Batch;
  readonly #twins: EuropeanTwins | undefined;
  readonly #found = new Map<number, readonly Outside[]>();

  constructor(batch: Batch, twins: EuropeanTwins | undefined) {
    this.#batch = batch;
    this.#twins = twins;
  }

  /**
   * Checks the results of some trades, and records which are outside their bounds. A value that is negative by no more
   * than its error estimate becomes 0 where the payoff is never negative.
   */
  look(trades: readonly number[], results: ResultColumns): void {
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
    const isLetOut = isNear(far, allowed);
    const { spots } = this.#batch.columns.cases;
    if (scenario === undefined) {
      if (isLetOut) {
        results.value[trade] = allowedOf(value, range);
        results.errorEstimate[trade] = Math.max(results.errorEstimate[trade], far);
      } else results.fail(trade, this.#error(trade, value, range, results));
    } else if (isLetOut) {
      const of = Math.floor(scenario / spots);
      results.scenarioValues[scenario] = allowedOf(value, range);
      results.scenarioErrors[of] = Math.max(results.scenarioErrors[of], far);
    } else {
      results.scenarioValues[scenario] = Number.NaN;
      results.warnings[trade] |= WARNING.scenarioOutside;
    }
  }

  #error(trade: number, value: number, range: Range, results: ResultColumns): NumericsError {
    return new NumericsError(
      `trades[${this.#batch.columns.place[trade]}]: ${outsideText(results.methodOf(trade), value, range)}, and so does ` +
        "a finer resolution; name another method, or ask for another accuracy",
    );
  }

  #look(trade: number, results: ResultColumns): readonly Outside[] {
    const { columns } = this.#batch;
    const { cases, dates, scenarios, count, spots } = columns.cases;
    const terms = columns.tradeOf(trade);
    const found: Outside[] = [];
    const today = assetsOf(terms).map(({ underlying }) => underlying.spot);
    const moved = scenarios?.spot.map((move) =>
      assetsOf(terms).map(({ underlying: { spot, name } }) => spot * (1 + moveOf(move, name))),
    );
    const allowance = results.methodOf(trade) === "montecarlo" ? ESTIMATES_OF_PATHS : 1;
    for (let k = 0; k < count; k++) {
      const then = termsOf(terms, dates[cases[k].date], cases[k].shift);
      if (then === undefined) continue;
      const at = boundsOf(then);
      const row = columns.rowOf(trade) + k;
      const { scenarioValues, scenarioErrors } = results;
      // No value within its bounds is further off than their farther one.
      let [most, isInside] = [0, true];
      const checked = (
        value: number,
        estimate: number,
        of: readonly number[],
        spot: number,
        scenario?: number,
      ): number => {
        const range = this.#withTwin(at(of), then, trade, k, spot);
        const far = distance(range, value);
        const rounding = this.#rounding(value, of);
        if (far === 0) {
          most = Math.max(most, range.high - value + rounding, value - range.low + rounding);
          return value;
        }
        isInside = false;
        const allowed = allowance * estimate + rounding;
        if (!(far <= allowed && Number.isFinite(value))) found.push({ scenario, value, range, distance: far, allowed });
        else return allowedOf(value, range);
        return value;
      };
      if (k === 0) {
        results.value[trade] = checked(results.value[trade], results.errorEstimate[trade], today, 0);
        if (isInside) results.errorEstimate[trade] = Math.min(results.errorEstimate[trade], most);
      }
      for (let s = 0; s < spots; s++) {
        const scenario = row * spots + s;
        scenarioValues[scenario] = checked(scenarioValues[scenario], scenarioErrors[row], moved![s], s + 1, scenario);
      }
      if (spots > 0 && isInside) scenarioErrors[row] = Math.min(scenarioErrors[row], most);
    }
    return found;
  }

  /** The bounds with what the same trade without early exercise and barriers is worth, where it is known. */
  #withTwin(range: Range, { exercise, barriers }: Terms, trade: number, k: number, spot: number): Range {
    const twin = this.#twins?.valueOf(trade, k, spot);
    if (twin === undefined) return range;
    const isEarly = exercise.kind !== "european";
    if (isEarly && barriers.length === 0) return { ...range, low: Math.max(range.low, twin.value - twin.error) };
    const isOut = !isEarly && barriers.every(({ rebate }) => rebate === 0);
    return isOut ? { ...range, high: Math.min(range.high, twin.value + twin.error) } : range;
  }

  #rounding(value: number, spots: readonly number[]): number {
    const spot = Math.max(...spots);
    return roundingError(this.#batch.precision, spot, value) + 1e-9 * (spot + Math.abs(value));
  }
}
