import type { AnyTrade, BookReport, Scenarios, TradeResult } from "../book/index.ts";

/** A result with its trade, which is absent where parsing failed. */
export interface PricedRow {
  readonly trade: AnyTrade | undefined;
  readonly result: TradeResult;
}

/** The description of a run before its first result; `RunEnd` follows its last. */
export interface RunStart {
  readonly asOf: string;
  readonly device: BookReport["device"];
  readonly scenarios: Scenarios | undefined;
  /**
   * The names of the trades' tags, in the order of their columns; undefined where they are known only from the trades.
   */
  readonly tags?: readonly string[] | undefined;
  /** True where a table has columns for the figures of bonds, caps, swaptions and convertibles. */
  readonly figures?: boolean | undefined;
  /** True where results have error estimates of their sensitivities. */
  readonly sensitivityErrors: boolean;
  /** True where the rows follow those of another writer. */
  readonly continues?: boolean | undefined;
}
/** The counts and totals of a run after its last result. */
export type RunEnd = Pick<BookReport, "priced" | "failed" | "totals" | "groups">;

/** A part of an output. */
export type Part = string | Uint8Array;

/** An output format, whose successive parts are the whole output; none of its functions stores results. */
export interface ResultFormat {
  begin(start: RunStart): Part | Promise<Part>;
  rows(rows: readonly PricedRow[]): Part;
  end(end: RunEnd): Part;
}
