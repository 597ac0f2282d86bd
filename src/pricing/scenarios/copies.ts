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

/** Items of one number of spots that wait to be priced together. */
interface SpotGroup<T> {
  readonly count: number;
  readonly items: T[];
  readonly spots: Map<string, Float64Array>;
}

/** Items that wait for others that are read at the same moves of spots. */
export class SpotGroups<T> {
  readonly #waiting = new Map<number, SpotGroup<T>>();

  /**
   * Adds an item, which is read at `count` moves of spots. @returns the groups that are to be priced now: one that has
   * `most` items, and one that has waited with other moves of the same spots
   */
  add(item: T, spots: SpotMoves | undefined, count: number, most: number): readonly SpotGroup<T>[] {
    const full: SpotGroup<T>[] = [];
    const own = [...(spots ?? [])];
    let group = this.#waiting.get(count);
    if (group !== undefined && own.some(([name, moves]) => !isEqual(group!.spots.get(name) ?? moves, moves))) {
      full.push(group);
      group = undefined;
    }
    if (group === undefined) this.#waiting.set(count, (group = { count, items: [], spots: new Map() }));
    for (const [name, moves] of own) group.spots.set(name, moves);
    if (group.items.push(item) < most) return full;
    this.#waiting.delete(count);
    return [...full, group];
  }

  /** Returns those of one number of spots that wait, and forgets them, if there is no room for `further` ones. */
  takeIfFull(count: number, further: number, most: number): readonly SpotGroup<T>[] {
    const group = this.#waiting.get(count);
    if (group === undefined || group.items.length + further <= most) return [];
    this.#waiting.delete(count);
    return [group];
  }

  /** Returns all that wait, and forgets them. */
  take(): readonly SpotGroup<T>[] {
    const all = [...this.#waiting.values()];
    this.#waiting.clear();
    return all;
  }
}

/** Copies that wait to be priced, with those that have as many spots. */
export class CopyQueue {
  readonly #setting: BatchSetting;
  readonly #groups = new SpotGroups<Copy>();

  constructor(setting: BatchSetting) {
    const { methodOf: _, directionsOf: __, ...rest } = setting;
    this.#setting = { ...rest, greeks: "none", buckets: false, sensitivityErrorEstimates: false };
  }

  /** Adds a copy, and prices those that wait with it if they are many. @throws as `price` */
  async add(copy: Copy): Promise<void> {
    const key = copy.spots === undefined ? 0 : copy.values.count;
    const most = Math.min(MAX_COPIES, Math.ceil(MAX_VALUES / Math.max(key, 1)));
    for (const group of this.#groups.add(copy, copy.spots, key, most)) await this.#price(group);
  }

  /**
   * Makes room for copies of a trade that are in markets of their own: they are priced together whatever other trades
   * wait, because some of them tell how fine the others must be. @throws as `price`
   */
  async makeRoom(copies: number): Promise<void> {
    for (const group of this.#groups.takeIfFull(0, copies, MAX_COPIES)) await this.#price(group);
  }

  /** Prices all copies that wait. @throws the signal's reason; the error of a lost device */
  async price(): Promise<void> {
    for (const group of this.#groups.take()) await this.#price(group);
  }

  async #price({ items: copies, spots, count: key }: SpotGroup<Copy>): Promise<void> {
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

/** Returns moves of spots as an axis of scenarios. */
export function axesOf(spots: SpotMoves, count: number): Scenarios {
  const spot = Array.from({ length: count }, (_, k) =>
    Object.fromEntries([...spots].map(([name, moves]) => [name, moves[k]])),
  );
  return { time: [0], spot, volatility: [0], rate: [0] };
}
