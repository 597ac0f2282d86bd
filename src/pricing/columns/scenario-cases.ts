import type { ScenarioErrorEstimates, ScenarioValues, Scenarios, SpotMove } from "../../book/index.ts";
import type { Shift } from "../../fdm/index.ts";

/** One date, volatility move and rate move; one solution serves all its spots. */
export interface ScenarioCase {
  /** The index of its date in `ScenarioCases.dates`. */
  readonly date: number;
  readonly shift: Shift;
}

const TODAY: ScenarioCase = { date: 0, shift: { volatility: 0, rate: 0 } };

/**
 * The cases for which every trade of a book is valued. Case 0 is the unchanged market; the others are the dates,
 * volatilities and rates of the scenarios that change something, in the order of the axes.
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

  /** The number of cases, and so of rows of a trade. */
  get count(): number {
    return this.cases.length;
  }

  /** The number of spots of a case besides today's. */
  get spots(): number {
    return this.scenarios?.spot.length ?? 0;
  }

  /** Returns values[time][spot][volatility][rate] from a column of [case][spot] from `start` on. */
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

  /** Returns estimates[time][volatility][rate] from a column with one for each case from `start` on. */
  estimates({ time, volatility, rate }: Scenarios, column: Float64Array, start: number): ScenarioErrorEstimates {
    let next = 0;
    return time.map(() => volatility.map(() => rate.map(() => finiteOrNull(column[start + this.#caseOf[next++]]))));
  }
}

/** The relative move of one underlying. */
export const moveOf = (move: SpotMove, underlying: string): number =>
  typeof move === "number" ? move : (move[underlying] ?? 0);

const finiteOrNull = (x: number): number | null => (Number.isFinite(x) ? x : null);

/** Returns a nested array for scenario values, to be filled. */
export function emptyScenarioValues({ time, spot, volatility, rate }: Scenarios): (number | null)[][][][] {
  // Of numbers that are not whole, and without a gap: a copy holds numbers in place, and is quick to write as text.
  const row: (number | null)[] = [...rate].fill(0.5);
  return time.map(() => spot.map(() => volatility.map(() => row.slice())));
}
