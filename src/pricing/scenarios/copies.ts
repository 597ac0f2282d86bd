/** Copies of trades in the markets of scenarios, which are priced many at a time. */
import type { ParsedTrade, ScenarioFactor, Scenarios, TradeResult } from "../../book/index.ts";
import { pricedBatch } from "../batch.ts";
import { underMovedQuotes } from "../moved-quotes.ts";
import type { BatchSetting } from "../plan/batch-setting.ts";
import type { FactorMoves } from "./cells.ts";
import type { CubeBuilder } from "./cube.ts";

/** A copy of a trade: in the market of its only cell, or in one whose spots are those of several cells. */
export interface Copy {
  /** The place of the trade in its batch. */
  readonly place: number;
  readonly cells: readonly number[];
  readonly parsed: ParsedTrade;
  readonly factors: ReadonlyMap<string, ScenarioFactor>;
}

/** The scenarios at whose spots copies are valued. */
export interface SpotsOfScenarios {
  readonly moves: FactorMoves;
  readonly scenarios: readonly number[];
}

/** The most cells that are priced together. */
const MAX_CELLS = 4096;
/** The most cells whose spots are read from solutions that are solved together. */
const MAX_SHARED = 1 << 16;

/** Copies that wait to be priced together. */
export class CopyQueue {
  readonly #setting: BatchSetting;
  readonly #cube: CubeBuilder;
  readonly #spots: SpotsOfScenarios | undefined;
  #copies: Copy[] = [];
  #cells = 0;

  /** `spots` are those of all copies; undefined for copies whose spots have moved with their markets. */
  constructor(setting: BatchSetting, cube: CubeBuilder, spots: SpotsOfScenarios | undefined) {
    const { methodOf: _, directionsOf: __, ...rest } = setting;
    this.#setting = { ...rest, greeks: "none", buckets: false, sensitivityErrorEstimates: false };
    this.#cube = cube;
    this.#spots = spots;
  }

  /** Adds a copy, and prices all that wait if they are many. @throws as `price` */
  async add(copy: Copy): Promise<void> {
    this.#copies.push(copy);
    this.#cells += copy.cells.length;
    if (this.#cells >= (this.#spots === undefined ? MAX_CELLS : MAX_SHARED)) await this.price();
  }

  /** Prices the copies that wait. @throws the signal's reason; the error of a lost device */
  async price(): Promise<void> {
    const copies = this.#copies;
    if (copies.length === 0) return;
    this.#copies = [];
    this.#cells = 0;
    const scenarios = this.#spots && axesOf(this.#spots, copies);
    const results = await underMovedQuotes(
      copies.map(({ parsed }) => parsed),
      0,
      { scenarios, greeks: "none" },
      async (trades, under) => (await pricedBatch(trades, 0, { ...this.#setting, ...under })).results,
    );
    copies.forEach((copy, i) => this.#read(copy, results[i]));
  }

  #read({ place, cells }: Copy, result: TradeResult): void {
    const cube = this.#cube;
    if (result.status === "error") {
      cube.warn(place, cells, result.error.message);
      return;
    }
    const { value, errorEstimate, scenarios, scenarioErrorEstimates } = result;
    for (const warning of result.warnings) cube.warn(place, cells, warning);
    if (scenarios === undefined) cube.set(place, cells[0], value, errorEstimate);
    else
      cells.forEach((cell, k) =>
        cube.set(place, cell, scenarios[0][k][0][0] ?? Number.NaN, scenarioErrorEstimates?.[0][0][0] ?? Number.NaN),
      );
  }
}

/** The spots of scenarios as an axis: the moves of all underlyings of some copies by name. */
function axesOf({ moves, scenarios }: SpotsOfScenarios, copies: readonly Copy[]): Scenarios {
  const spots = new Map<string, Float64Array>();
  for (const { factors } of copies)
    for (const factor of factors.values())
      if (factor.kind === "spot" && !spots.has(factor.of)) spots.set(factor.of, moves.column(factor));
  return {
    time: [0],
    spot: scenarios.map((s) => Object.fromEntries([...spots].map(([name, column]) => [name, column[s]]))),
    volatility: [0],
    rate: [0],
  };
}
