/** The messages of a pricing pool and its workers, as structured clones. */
import type { AnyTrade, Scenarios, TradeResult } from "../../book/index.ts";
import type { PartOptions } from "../../device/index.ts";
import type { Precision } from "../../kernel/index.ts";
import type { Settings } from "../options.ts";
import { emptyScenarioValues } from "../columns/scenario-cases.ts";

/** The trades to price together, with their indices in a run. */
export interface Job extends Settings {
  /** The trades; undefined where parsing failed. */
  readonly trades: readonly (AnyTrade | undefined)[];
  /** The indices of the trades in the book, where known. */
  readonly indices: readonly (number | undefined)[];
  /** The index of the first trade in the run. */
  readonly firstIndex: number;
  readonly scenarios: Scenarios | undefined;
  readonly precision: Precision;
}

/** The data that a worker is started with. */
export type WorkerData = PartOptions;

/**
 * Results with all scenarios in one column. A ladder is hundreds of numbers in nested lists, whose structured clone
 * takes three times as long as JSON (300 µs and 100 µs for 441 numbers).
 */
export interface PackedResults {
  readonly results: readonly TradeResult[];
  /** The scenarios of the results, one after another, in the axes' order; NaN for null. */
  readonly scenarios: Float64Array<ArrayBuffer>;
}

/** Packs results for a message. */
export function packResults(results: readonly TradeResult[], scenarios: Scenarios | undefined): PackedResults {
  if (scenarios === undefined) return { results, scenarios: new Float64Array() };
  const column = new Float64Array(results.length * sizeOf(scenarios));
  let next = 0;
  const plain = results.map((result) => {
    if (result.status !== "ok" || result.scenarios === undefined) return result;
    const { scenarios: values, ...rest } = result;
    for (const cube of values)
      for (const plane of cube) for (const row of plane) for (const value of row) column[next++] = value ?? Number.NaN;
    return { ...rest, scenarios: [] };
  });
  return { results: plain, scenarios: column };
}

/** Unpacks results from a message. */
export function unpackResults(
  { results, scenarios: column }: PackedResults,
  scenarios: Scenarios | undefined,
): TradeResult[] {
  if (scenarios === undefined) return [...results];
  let next = 0;
  return results.map((result) => {
    if (result.status !== "ok" || result.scenarios === undefined) return result;
    const values = emptyScenarioValues(scenarios);
    for (const cube of values)
      for (const plane of cube)
        for (const row of plane)
          for (let k = 0; k < row.length; k++, next++) row[k] = Number.isNaN(column[next]) ? null : column[next];
    return { ...result, scenarios: values };
  });
}

function sizeOf({ time, spot, volatility, rate }: Scenarios): number {
  return time.length * spot.length * volatility.length * rate.length;
}
