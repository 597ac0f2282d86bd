import type { ChunkPosition, CurrencyTotals, ReportingTotals, MarketFits, TradeCounts } from "../../book/index.ts";
import type { PartOptions } from "../../device/index.ts";
import type { FileFormat, OutputHeader } from "../../output/formats/index.ts";
import type { Precision } from "../../kernel/index.ts";
import type { NumberedOptions } from "../../pricing/index.ts";
import type { BookSource } from "../runs/index.ts";

/** The names of the file formats that are text. */
export type TextFormat = Exclude<FileFormat, "parquet" | "arrow">;

/** The settings by which the chunks of a book are priced and written. */
export interface ChunkSetting {
  readonly format: TextFormat;
  readonly start: OutputHeader;
  readonly precision: Precision;
  readonly options: Omit<NumberedOptions, "batchSize">;
}

/** The share of a device that a worker opens. */
export type WorkerData = PartOptions;

/** The book and the settings that a worker receives before its first chunk. */
export interface PipelineSetup {
  readonly source: BookSource;
  /** The header of the book, `ChunkedBook.header`. */
  readonly header: unknown;
  /** The volatilities fitted when the book was opened, so that threads need not fit them again. */
  readonly fits: MarketFits;
  readonly setting: ChunkSetting;
}

/** The results of a chunk of a book, in the output format. */
export interface WrittenChunk {
  /** The rows in the output format, in UTF-8. */
  readonly text: Uint8Array<ArrayBuffer>;
  readonly counts: TradeCounts;
  readonly totals: readonly CurrencyTotals[];
  readonly reporting: ReportingTotals | undefined;
  /** The `hashOfId` of each trade's id in two words; 0 for a trade that could not be read. */
  readonly ids: Uint32Array<ArrayBuffer>;
}

/** The task of a worker: the position of the chunk that it prices. */
export type ChunkTask = ChunkPosition;
