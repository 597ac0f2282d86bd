import {
  type AssetSensitivities,
  type PairSensitivity,
  type PricedTrade,
  SENSITIVITIES,
  type SensitivityErrorEstimates,
  type SensitivityName,
  type TradeFigures,
} from "../../book/index.ts";
import type { ScenarioCases } from "./scenario-cases.ts";

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

/** The part of a result that only trades with several factors have. */
export interface Several extends SeveralSensitivities {
  /** The error estimates of the sensitivities, if settings request them and the method provides them. */
  readonly errors?: SeveralSensitivities | undefined;
  /** The pairs of underlyings whose correlation the book does not give. */
  readonly assumed?: readonly (readonly [string, string])[];
}

/** The part of a result that only some kinds of trades have. */
export interface OwnPart {
  readonly figures: TradeFigures;
  /** The error estimates of the figures; undefined where the method estimates no error of a sensitivity. */
  readonly figureErrors?: Partial<SensitivityErrorEstimates> | undefined;
  /** Warnings about the value that no other kind of trade has. */
  readonly notes: readonly string[];
  /** Where the value was computed; undefined for the device and the precision of the batch. */
  readonly computed?: Pick<PricedTrade, "precision" | "backend">;
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
   * `Settings.sensitivityErrorEstimates` is true. Those of sensitivities by underlying are in `Several.errors`.
   */
  readonly sensitivityErrors: Readonly<Record<SensitivityName, Float64Array>>;
  /** The bits (`WARNING`) of each result's warnings. */
  readonly warnings: Uint16Array;
  /** The target error of each value in the currency; NaN where rounding is the only error. */
  readonly asked: Float64Array;
  /** The seed of each price that depends on random numbers, by the index of the trade. */
  readonly seeds = new Map<number, number>();
  /** The parts of results that only some kinds of trades have, by the index of the trade. */
  readonly own = new Map<number, OwnPart>();
  /** The values under scenarios, [trade][case][spot]. */
  readonly scenarioValues: Float64Array;
  /** The error estimates under scenarios, [trade][case]. */
  readonly scenarioErrors: Float64Array;
  /** Why a trade has no result. */
  readonly #errors = new Map<number, unknown>();
  readonly #several = new Map<number, Several>();
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
    this.asked = column();
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
    this.#several.delete(trade);
    const { value, delta, gamma, theta, vega, rho, errorEstimate, sensitivityErrors } = this;
    const columns = [value, delta, gamma, theta, vega, rho, errorEstimate, ...Object.values(sensitivityErrors)];
    for (const column of columns) column[trade] = Number.NaN;
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
  setSeveral(trade: number, several: Several): void {
    this.#several.set(trade, several);
  }

  /** Returns the part of a result that only trades with several factors have. */
  severalOf(trade: number): Several | undefined {
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
