/** What a batch of trades is priced with, and what comes of it. */
import type { AnyTrade, Scenarios, TradeResult } from "../../book/index.ts";
import type { Engine } from "../backend.ts";
import type { ResultColumns } from "../columns/result-columns.ts";
import type { Settings } from "../options.ts";
import type { Direction } from "./directions.ts";
import type { PricingMethod } from "./method.ts";

/** The settings and the device with which a batch of trades is priced. */
export interface BatchSetting extends Settings {
  readonly engine: Engine;
  readonly scenarios: Scenarios | undefined;
  readonly signal: AbortSignal | undefined;
  /** Returns the method of a trade; undefined where the cheapest one is to be taken. */
  readonly methodOf?: (trade: number) => PricingMethod | undefined;
  /** Returns the moves of the market along which slopes of a trade's value are wanted, given its method. */
  readonly directionsOf?: (trade: AnyTrade, method: PricingMethod) => readonly Direction[];
}

/** The results of a batch, with what its methods have told about the slopes of values. */
export interface PricedBatch {
  readonly results: TradeResult[];
  readonly methods: ReadonlyMap<number, PricingMethod>;
  readonly slopes: ResultColumns["slopes"];
}

/** The results of a batch in columns. */
export interface PricedColumns {
  readonly columns: ResultColumns;
  readonly methods: ReadonlyMap<number, PricingMethod>;
  /** Returns the result of a trade as a row. */
  rowOf(trade: number): TradeResult;
}
