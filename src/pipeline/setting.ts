import type { ChunkPlace, CurrencyTotals, MarketFits } from "../book/index.ts";
import type { PartOptions } from "../device/index.ts";
import type { FileFormat, RunStart } from "../formats/index.ts";
import type { Precision } from "../kernel/index.ts";
import type { NumberedOptions } from "../pricing/index.ts";
import type { BookPlace } from "../runs/index.ts";

/** Formats that are text. */
export type TextFormat = Exclude<FileFormat, "parquet">;

/** The settings by which the chunks of a book are priced and written. */
export interface ChunkSetting {
  readonly format: TextFormat;
  readonly start: RunStart;
  readonly precision: Precision;
  readonly options: Omit<NumberedOptions, "batchSize">;
}

/** The part of a device that a worker opens. */
export type WorkerData = PartOptions;

/** The book and the settings that a worker is told of before it gets chunks. */
export interface PipelineSetup {
  readonly place: BookPlace;
  /** `ChunkedBook.header`. */
  readonly header: unknown;
  /** The volatilities that were fitted when the book was opened: threads do not fit them again. */
  readonly fits: MarketFits;
  readonly setting: ChunkSetting;
}

/** A chunk of a book, priced and written. */
export interface PricedChunk {
  /** The rows of the format, in UTF-8. */
  readonly text: Uint8Array<ArrayBuffer>;
  readonly priced: number;
  readonly failed: number;
  readonly totals: readonly CurrencyTotals[];
  /** Two words a trade, `hashOfId` of its id; 0 of one that could not be read, which has none. */
  readonly ids: Uint32Array<ArrayBuffer>;
}

export type ChunkJob = ChunkPlace;
