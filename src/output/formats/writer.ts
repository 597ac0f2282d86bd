import type { AnyTrade, BookReport, Scenarios, TradeResult } from "../../book/index.ts";

/** A result with its trade, which is undefined if the trade could not be read. */
export interface PricedRow {
  readonly trade: AnyTrade | undefined;
  readonly result: TradeResult;
}

/** The data that a writer of results gets before the first result. */
export interface OutputHeader {
  readonly asOf: string;
  readonly device: BookReport["device"];
  readonly scenarios: Scenarios | undefined;
  /** The names of the named scenarios; undefined where there are none. */
  readonly scenarioNames?: readonly string[] | undefined;
  /** The weights of the named scenarios; undefined where all are the same. */
  readonly scenarioWeights?: readonly number[] | undefined;
  /**
   * The names of the trades' tags, in the order of their columns. Undefined if they are not known before the trades are
   * read.
   */
  readonly tags?: readonly string[] | undefined;
  /** True if a table has columns for the numbers that only bonds, caps, swaptions and convertible bonds have. */
  readonly figures?: boolean | undefined;
  /** The reporting currency, and the currency pairs to which results have sensitivities in it. */
  readonly reporting?: { readonly currency: string; readonly pairs: readonly string[] } | undefined;
  /** True if results have error estimates of their sensitivities. */
  readonly sensitivityErrors: boolean;
  /** True if the output continues that of another writer, so that it needs no header. */
  readonly continues?: boolean | undefined;
}
/** The data that a writer of results gets after the last result: the numbers of trades, and the totals. */
export type OutputTotals = Pick<
  BookReport,
  "priced" | "failed" | "totals" | "groups" | "reporting" | "reportingGroups"
>;

/** Returns what a file says of its results as a whole: their date, their device, and the order of scenario values. */
export function aboutResults(start: OutputHeader): Partial<OutputHeader> {
  const { asOf, device, scenarios, scenarioNames, scenarioWeights } = start;
  return {
    asOf,
    device,
    ...(scenarios === undefined ? {} : { scenarios }),
    ...(scenarioNames === undefined ? {} : { scenarioNames }),
    ...(scenarioWeights === undefined ? {} : { scenarioWeights }),
  };
}

/** The name of a format with one table, or with one object a line. */
export type TableFormat = "csv" | "ndjson" | "parquet" | "arrow" | "xlsx";

/** A piece of an output, as text or bytes. */
export type OutputPiece = string | Uint8Array;

/**
 * A writer of results in one format. The pieces that its functions return, one after another, are the whole output. It
 * does not keep results in memory.
 */
export interface ResultWriter {
  begin(start: OutputHeader): OutputPiece | Promise<OutputPiece>;
  rows(rows: readonly PricedRow[]): OutputPiece;
  end(end: OutputTotals): OutputPiece;
}
