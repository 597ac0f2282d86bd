import {
  type AssetSensitivities,
  type PairSensitivity,
  type PricedTrade,
  type ScenarioErrorEstimates,
  type Scenarios,
  type ScenarioValues,
  SENSITIVITIES,
  type SensitivityErrorEstimates,
  type SensitivityName,
  type SpotMove,
  type TradeFigures,
} from "../../book/index.ts";
import type { Shift } from "../../pde/fdm/index.ts";

/** The names of methods as they appear in results. One pricing method may produce values under several names. */
export const RESULT_METHODS = [
  "black-scholes",
  "deterministic",
  "payoff",
  "knocked-out",
  "integral",
  "fdm",
  "heston",
  "adi",
  "sparse-grid",
  "montecarlo",
  "quantization",
  "convolution",
  "lattice",
  "closed-form",
  "implied-volatility",
] as const;

/** The sensitivities of a trade to each underlying and to pairs of underlyings, or the error estimates of these. */
export interface SeveralSensitivities {
  /** The sensitivities to each underlying. */
  readonly assets: readonly AssetSensitivities[];
  readonly crossGamma: readonly PairSensitivity[];
  readonly correlation: readonly PairSensitivity[];
}

/** The sensitivities to each underlying and to pairs of underlyings, in the result of a trade with several factors. */
export interface SeveralFactorResult extends SeveralSensitivities {
  /** The error estimates of the sensitivities, if settings request them and the method provides them. */
  readonly errors?: SeveralSensitivities | undefined;
  /** The pairs of underlyings whose correlation the book does not give. */
  readonly assumed?: readonly (readonly [string, string])[];
}

/** Sensitivities by name, or the error estimates of these. */
export type NamedSensitivities = Readonly<Partial<Record<SensitivityName, number | undefined>>>;

/** The fields of a result that only trades of some kinds have, such as a bond's yield. */
export interface KindResult {
  readonly figures: TradeFigures;
  /** The error estimates of the figures; undefined where the method estimates no error of a sensitivity. */
  readonly figureErrors?: Partial<SensitivityErrorEstimates> | undefined;
  /** Warnings about the value that no other kind of trade has. */
  readonly notes: readonly string[];
  /** Where the value was computed; undefined for the device and the precision of the batch. */
  readonly computed?: Pick<PricedTrade, "precision" | "backend">;
}

/** A number and its error estimate. */
export interface Measured {
  readonly value: number;
  /** The error estimate; NaN where it is unknown. */
  readonly error: number;
}

/** The name of a method as it appears in results. */
export type ResultMethod = (typeof RESULT_METHODS)[number];

/** The methods that need no device and work in f64. */
const ON_THE_HOST: readonly ResultMethod[] = ["deterministic", "payoff", "knocked-out"];

/** The bits of the warnings that a method can attach to a result. */
export const WARNING = {
  driftDominates: 1,
  roughVolatility: 2,
  beyondF32: 4,
  pathsLimited: 8,
  treeLimited: 16,
  treeForgets: 32,
  inaccurate: 64,
  outOfTime: 128,
  scenarioOutside: 256,
  leverageBias: 512,
  stepsLimited: 1024,
  bentAtSpot: 2048,
  smileMissed: 4096,
} as const;

/** The states of a result: not priced yet, priced, or failed. */
export const STATUS = { none: 0, priced: 1, failed: 2 } as const;

/**
 * The results of a batch's trades as typed arrays with one entry for each trade; NaN for a sensitivity that was not
 * computed. Values under scenarios are [trade][case][spot], and their error estimates [trade][case] (`ScenarioCases`).
 */
export class ResultColumns {
  /** The state of each result (`STATUS`). */
  readonly status: Uint8Array;
  readonly value: Float64Array;
  readonly delta: Float64Array;
  readonly gamma: Float64Array;
  readonly theta: Float64Array;
  readonly vega: Float64Array;
  readonly rho: Float64Array;
  readonly errorEstimate: Float64Array;
  /**
   * The error estimates of the sensitivities, NaN where they are unknown. Methods set them if
   * `Settings.sensitivityErrorEstimates` is true. The estimates of sensitivities by underlying are in
   * `SeveralFactorResult.errors`.
   */
  readonly sensitivityErrors: Readonly<Record<SensitivityName, Float64Array>>;
  /** The bits (`WARNING`) of each result's warnings. */
  readonly warnings: Uint16Array;
  /** The target error of each value in the currency; NaN where rounding is the only error. */
  readonly targetErrors: Float64Array;
  /** The seed of each price that depends on random numbers, by the index of the trade. */
  readonly seeds = new Map<number, number>();
  /**
   * The slopes along the directions of `Batch.directionsOf`, by the index of the trade, where a method knows them;
   * undefined for a slope that it leaves to moved copies (`plan/directions.ts`).
   */
  readonly slopes = new Map<number, readonly (Measured | undefined)[]>();
  /** The parts of results that only some kinds of trades have, by the index of the trade. */
  readonly own = new Map<number, KindResult>();
  /** The values under scenarios, [trade][case][spot]. */
  readonly scenarioValues: Float64Array;
  /** The error estimates under scenarios, [trade][case]. */
  readonly scenarioErrors: Float64Array;
  /** Why a trade has no result. */
  readonly #errors = new Map<number, unknown>();
  readonly #several = new Map<number, SeveralFactorResult>();
  /** Index in `RESULT_METHODS`. */
  readonly #methods: Uint8Array;
  /** The number of spots of the scenarios. */
  readonly #spots: number;

  constructor(trades: number, cases: ScenarioCases) {
    const column = (): Float64Array => new Float64Array(trades).fill(Number.NaN);
    const rows = cases.scenarios === undefined ? 0 : trades * cases.count;
    this.#spots = cases.spots;
    this.status = new Uint8Array(trades);
    this.#methods = new Uint8Array(trades);
    this.warnings = new Uint16Array(trades);
    this.targetErrors = column();
    this.value = column();
    this.delta = column();
    this.gamma = column();
    this.theta = column();
    this.vega = column();
    this.rho = column();
    this.errorEstimate = column();
    this.sensitivityErrors = Object.fromEntries(SENSITIVITIES.map((name) => [name, column()])) as Record<
      SensitivityName,
      Float64Array
    >;
    this.scenarioValues = new Float64Array(rows * cases.spots);
    this.scenarioErrors = new Float64Array(rows);
  }

  /** Marks a trade as priced by a method, after its entries have been set. */
  priced(trade: number, method: ResultMethod): void {
    this.status[trade] = STATUS.priced;
    this.#methods[trade] = RESULT_METHODS.indexOf(method);
  }

  /** Clears the result of a trade before another attempt. */
  reset(trade: number): void {
    this.status[trade] = STATUS.none;
    this.warnings[trade] = 0;
    this.seeds.delete(trade);
    this.own.delete(trade);
    this.slopes.delete(trade);
    this.#several.delete(trade);
    this.value[trade] = this.errorEstimate[trade] = Number.NaN;
    for (const name of SENSITIVITIES) this[name][trade] = this.sensitivityErrors[name][trade] = Number.NaN;
  }

  /** Stores today's value of a trade, and as many of its sensitivities and of their error estimates as are known. */
  setToday(
    trade: number,
    value: number,
    errorEstimate: number,
    measures: NamedSensitivities,
    errors: NamedSensitivities = {},
  ): void {
    this.value[trade] = value;
    this.errorEstimate[trade] = errorEstimate;
    for (const name of SENSITIVITIES) {
      this[name][trade] = measures[name] ?? Number.NaN;
      this.sensitivityErrors[name][trade] = errors[name] ?? Number.NaN;
    }
  }

  /** Stores the values of a row at the scenarios' spots, and the largest of their error estimates. */
  setScenarios(row: number, valueAt: (k: number) => number, errorAt: (k: number, value: number) => number): void {
    let largest = 0;
    for (let k = 0; k < this.#spots; k++) {
      const value = valueAt(k);
      this.scenarioValues[row * this.#spots + k] = value;
      largest = Math.max(largest, errorAt(k, value));
    }
    this.scenarioErrors[row] = largest;
  }

  /** Stores the part of a result that only trades with several factors have. */
  setSeveral(trade: number, several: SeveralFactorResult): void {
    this.#several.set(trade, several);
  }

  /** Returns the part of a result that only trades with several factors have. */
  severalOf(trade: number): SeveralFactorResult | undefined {
    return this.#several.get(trade);
  }

  /** Marks a trade as failed with an error. */
  fail(trade: number, error: unknown): void {
    this.status[trade] = STATUS.failed;
    this.#errors.set(trade, error);
  }

  /** Returns the name of the method that priced a trade. */
  methodOf(trade: number): ResultMethod {
    return RESULT_METHODS[this.#methods[trade]];
  }

  isOnHost(trade: number): boolean {
    return ON_THE_HOST.includes(this.methodOf(trade));
  }

  errorOf(trade: number): unknown {
    return this.#errors.get(trade);
  }
}

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
export const spotMoveOf = (move: SpotMove, underlying: string): number =>
  typeof move === "number" ? move : (move[underlying] ?? 0);

const finiteOrNull = (x: number): number | null => (Number.isFinite(x) ? x : null);

/** Returns nested arrays for scenario values, [time][spot][volatility][rate], to be filled. */
export function emptyScenarioValues({ time, spot, volatility, rate }: Scenarios): (number | null)[][][][] {
  // Of numbers that are not whole, and without a gap: a copy holds numbers in place, and is quick to write as text.
  const row: (number | null)[] = [...rate].fill(0.5);
  return time.map(() => spot.map(() => volatility.map(() => row.slice())));
}
