/** Copies of trades in the markets of scenarios, which are priced many at a time. */
import type { ParsedTrade, PricedTrade, Scenarios, TradeResult } from "../../book/index.ts";
import { pricedBatch, pricedColumns } from "../batch.ts";
import { STATUS } from "../columns/result-columns.ts";
import { underMovedQuotes } from "../moved-quotes.ts";
import type { BatchSetting } from "../plan/batch-setting.ts";

/** A copy of a trade, in a market of its own. */
export interface Copy {
  readonly parsed: ParsedTrade;
  /** The moves of spots at which the copy is valued, by underlying; undefined where its market has moved spots. */
  readonly spots: SpotMoves | undefined;
  readonly values: CopyValues;
}

/** Moves of the spots of some underlyings, as many of each. */
export type SpotMoves = ReadonlyMap<string, Float64Array>;

/** Takes the values of a copy: one, or those at several spots in their order. */
export interface CopyValues {
  readonly count: number;
  set(values: ArrayLike<number>, error: number): void;
  warn(text: string): void;
}

/** The most copies that are priced together, and the most values of those that are read at several spots. */
const MAX_COPIES = 4096;
const MAX_VALUES = 1 << 18;

/** Copies of one number of spots that wait to be priced together. */
interface Waiting {
  readonly copies: Copy[];
  readonly spots: Map<string, Float64Array>;
}

/** Copies that wait to be priced, with those that have as many spots. */
export class CopyQueue {
  readonly #setting: BatchSetting;
  readonly #waiting = new Map<number, Waiting>();

  constructor(setting: BatchSetting) {
    const { methodOf: _, directionsOf: __, ...rest } = setting;
    this.#setting = { ...rest, greeks: "none", buckets: false, sensitivityErrorEstimates: false };
  }

  /** Adds a copy, and prices those that wait with it if they are many. @throws as `price` */
  async add(copy: Copy): Promise<void> {
    const key = copy.spots === undefined ? 0 : copy.values.count;
    let waiting = this.#waitingOf(key);
    for (const [name, moves] of copy.spots ?? []) {
      const others = waiting.spots.get(name);
      if (others !== undefined && !isEqual(others, moves)) {
        await this.#price(key);
        waiting = this.#waitingOf(key);
      }
    }
    for (const [name, moves] of copy.spots ?? []) waiting.spots.set(name, moves);
    const count = waiting.copies.push(copy);
    if (count >= MAX_COPIES || count * key >= MAX_VALUES) await this.#price(key);
  }

  /** Prices all copies that wait. @throws the signal's reason; the error of a lost device */
  async price(): Promise<void> {
    for (const key of this.#waiting.keys()) await this.#price(key);
  }

  #waitingOf(key: number): Waiting {
    let waiting = this.#waiting.get(key);
    if (waiting === undefined) this.#waiting.set(key, (waiting = { copies: [], spots: new Map() }));
    return waiting;
  }

  async #price(key: number): Promise<void> {
    const { copies, spots } = this.#waitingOf(key);
    this.#waiting.delete(key);
    if (copies.length === 0) return;
    const trades = copies.map(({ parsed }) => parsed);
    if (key > 0) {
      const { columns, rowOf } = await pricedColumns(trades, 0, { ...this.#setting, scenarios: axesOf(spots, key) });
      copies.forEach(({ values }, i) => {
        // A row is made of those that say something.
        const isPlain = columns.status[i] === STATUS.priced && columns.warnings[i] === 0;
        if (isPlain || tell(rowOf(i), values) !== undefined)
          values.set(columns.scenarioValues.subarray(i * key, (i + 1) * key), columns.scenarioErrors[i]);
      });
      return;
    }
    const results = await underMovedQuotes(
      trades,
      0,
      { scenarios: undefined, greeks: "none" },
      async (some, under) => (await pricedBatch(some, 0, { ...this.#setting, ...under })).results,
    );
    copies.forEach(({ values }, i) => {
      const result = tell(results[i], values);
      if (result !== undefined) values.set([result.value], result.errorEstimate);
    });
  }
}

/** Tells what a result warns of, and returns it; undefined for a trade that could not be priced. */
function tell(result: TradeResult, values: CopyValues): PricedTrade | undefined {
  if (result.status === "error") {
    values.warn(result.error.message);
    return undefined;
  }
  for (const warning of result.warnings) values.warn(warning);
  return result;
}

const isEqual = (a: Float64Array, b: Float64Array): boolean => a === b || a.every((x, i) => x === b[i]);

/** Moves of spots as an axis of scenarios. */
function axesOf(spots: SpotMoves, count: number): Scenarios {
  const spot = Array.from({ length: count }, (_, k) =>
    Object.fromEntries([...spots].map(([name, moves]) => [name, moves[k]])),
  );
  return { time: [0], spot, volatility: [0], rate: [0] };
}
