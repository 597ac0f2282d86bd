import type { ScenarioErrorEstimates, ScenarioValues, Scenarios, SpotMove } from "../../book/index.ts";
import type { Shift } from "../../pde/fdm/index.ts";

/** One combination of a scenario date, volatility shift and rate shift. One solution serves all spots of a case. */
export interface ScenarioCase {
  /** The index of its date in `ScenarioCases.dates`. */
  readonly date: number;
  readonly shift: Shift;
}

const TODAY: ScenarioCase = { date: 0, shift: { volatility: 0, rate: 0 } };

/**
 * The cases in which every trade of a book is valued. Case 0 is the unchanged market. The others are the combinations
 * of the scenarios' dates, volatility shifts and rate shifts that change something, in the order of the scenarios'
 * axes.
 */
export class ScenarioCases {
  readonly scenarios: Scenarios | undefined;
  readonly cases: readonly ScenarioCase[];
  /** The dates in years from today: 0, then those of the scenarios. */
  readonly dates: readonly number[];
  /** The case of [time][volatility][rate], one after another. */
  readonly #caseOf: Int32Array;

  constructor(scenarios: Scenarios | undefined) {
    const { time, volatility, rate } = scenarios ?? { time: [], volatility: [], rate: [] };
    const cases = [TODAY];
    const dates = [0];
    this.scenarios = scenarios;
    this.#caseOf = new Int32Array(time.length * volatility.length * rate.length);
    let next = 0;
    for (const years of time) {
      const date = years === 0 ? 0 : dates.push(years) - 1;
      for (const v of volatility)
        for (const r of rate) {
          const isToday = date === 0 && v === 0 && r === 0;
          this.#caseOf[next++] = isToday ? 0 : cases.push({ date, shift: { volatility: v, rate: r } }) - 1;
        }
    }
    this.cases = cases;
    this.dates = dates;
  }

  /** The number of cases, including case 0. */
  get count(): number {
    return this.cases.length;
  }

  /** The number of scenario spots of a case, without today's. */
  get spots(): number {
    return this.scenarios?.spot.length ?? 0;
  }

  /**
   * Returns the nested arrays values[time][spot][volatility][rate] of a result from the numbers [case][spot] in
   * `column` from index `start` on.
   */
  ladder({ time, spot, volatility, rate }: Scenarios, column: Float64Array, start: number): ScenarioValues {
    const values = emptyScenarioValues({ time, spot, volatility, rate });
    let next = 0;
    for (let t = 0; t < time.length; t++)
      for (let i = 0; i < volatility.length; i++)
        for (let j = 0; j < rate.length; j++) {
          const first = start + this.#caseOf[next++] * spot.length;
          for (let s = 0; s < spot.length; s++) values[t][s][i][j] = finiteOrNull(column[first + s]);
        }
    return values;
  }

  /**
   * Returns the nested arrays estimates[time][volatility][rate] of a result from the numbers [case] in `column` from
   * index `start` on.
   */
  estimates({ time, volatility, rate }: Scenarios, column: Float64Array, start: number): ScenarioErrorEstimates {
    let next = 0;
    return time.map(() => volatility.map(() => rate.map(() => finiteOrNull(column[start + this.#caseOf[next++]]))));
  }
}

/**
 * Returns the relative move of an underlying's spot: 0.1 is 10 % up. A spot move is one number for all underlyings, or
 * one for each by name.
 */
export const moveOf = (move: SpotMove, underlying: string): number =>
  typeof move === "number" ? move : (move[underlying] ?? 0);

const finiteOrNull = (x: number): number | null => (Number.isFinite(x) ? x : null);

/** Returns nested arrays for scenario values, [time][spot][volatility][rate], to be filled. */
export function emptyScenarioValues({ time, spot, volatility, rate }: Scenarios): (number | null)[][][][] {
  // Of numbers that are not whole, and without a gap: a copy holds numbers in place, and is quick to write as text.
  const row: (number | null)[] = [...rate].fill(0.5);
  return time.map(() => spot.map(() => volatility.map(() => row.slice())));
}
