import {
  type AssetSensitivities,
  type PairSensitivity,
  SENSITIVITIES,
  type SensitivityName,
} from "../../book/index.ts";
import type { ScenarioCases } from "./scenario-cases.ts";

/** The sources of a value, as results name them; one method may produce several. */
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
] as const;

/** Sensitivities by underlying and by pair, or the estimates of their errors. */
export interface SeveralSensitivities {
  /** The sensitivities to each underlying. */
  readonly assets: readonly AssetSensitivities[];
  readonly crossGamma: readonly PairSensitivity[];
  readonly correlation: readonly PairSensitivity[];
}

/** The part of a result that only trades of several factors have. */
export interface Several extends SeveralSensitivities {
  /** The error estimates of the sensitivities, if settings request them and the method provides them. */
  readonly errors?: SeveralSensitivities | undefined;
  /** The pairs of underlyings whose correlation is not in the book. */
  readonly assumed?: readonly (readonly [string, string])[];
}

/** The source of a value, as results name it. */
export type ResultMethod = (typeof RESULT_METHODS)[number];

/** The methods that need no device and work in f64. */
const ON_THE_HOST: readonly ResultMethod[] = ["deterministic", "payoff", "knocked-out"];

/** The warnings that a method attaches to a result, one bit each. */
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
} as const;

/** The states of a result: none yet, a value, or an error. */
export const STATUS = { none: 0, priced: 1, failed: 2 } as const;

/**
 * The results of a batch's trades as typed arrays with one entry each; NaN for a sensitivity that was not computed.
 * Values of scenarios: [trade][case][spot], their error estimates: [trade][case].
 */
export class ResultColumns {
  /** The state of each result, one of `STATUS`. */
  readonly status: Uint8Array;
  readonly value: Float64Array;
  readonly delta: Float64Array;
  readonly gamma: Float64Array;
  readonly theta: Float64Array;
  readonly vega: Float64Array;
  readonly rho: Float64Array;
  readonly errorEstimate: Float64Array;
  /**
   * The error estimates of the sensitivities, set by methods if `Settings.sensitivityErrorEstimates` is true; NaN where
   * they are unknown. Those by underlying are in `Several.errors`.
   */
  readonly sensitivityErrors: Readonly<Record<SensitivityName, Float64Array>>;
  /** The bits of `WARNING` of each result. */
  readonly warnings: Uint16Array;
  /** The target error in the currency; NaN where rounding is the only error. */
  readonly asked: Float64Array;
  /** The seeds of prices by random numbers, by trade. */
  readonly seeds = new Map<number, number>();
  readonly scenarioValues: Float64Array;
  readonly scenarioErrors: Float64Array;
  /** Why a trade has no result. */
  readonly #errors = new Map<number, unknown>();
  readonly #several = new Map<number, Several>();
  /** Index in `RESULT_METHODS`. */
  readonly #methods: Uint8Array;

  constructor(trades: number, cases: ScenarioCases) {
    const column = (): Float64Array => new Float64Array(trades).fill(Number.NaN);
    const rows = cases.scenarios === undefined ? 0 : trades * cases.count;
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

  /** Marks a trade as priced, after its entries have been set. */
  priced(trade: number, method: ResultMethod): void {
    this.status[trade] = STATUS.priced;
    this.#methods[trade] = RESULT_METHODS.indexOf(method);
  }

  /** Clears the result of a trade before another attempt. */
  reset(trade: number): void {
    this.status[trade] = STATUS.none;
    this.warnings[trade] = 0;
    this.seeds.delete(trade);
    this.#several.delete(trade);
    const { value, delta, gamma, theta, vega, rho, errorEstimate, sensitivityErrors } = this;
    const columns = [value, delta, gamma, theta, vega, rho, errorEstimate, ...Object.values(sensitivityErrors)];
    for (const column of columns) column[trade] = Number.NaN;
  }

  setSeveral(trade: number, several: Several): void {
    this.#several.set(trade, several);
  }

  severalOf(trade: number): Several | undefined {
    return this.#several.get(trade);
  }

  fail(trade: number, error: unknown): void {
    this.status[trade] = STATUS.failed;
    this.#errors.set(trade, error);
  }

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
