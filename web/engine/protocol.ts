/** What the page and its worker say to each other: calls by name with one answer each, and events on the way. */
import {
  type BookReport,
  type ColumnMap,
  type CurrencyTotals,
  type MethodName,
  RESULT_NUMBERS,
  type Scenarios,
  type TradeError,
  type TradeResult,
  type UnderlyingCalibration,
  type UnknownColumnsError,
} from "../../src/book/index.ts";
import type { BackendName } from "../../src/device/index.ts";
import type { Chart } from "../../src/output/charts/index.ts";
import type { BookRisk, ExplainMethod, RiskPart } from "../../src/pricing/index.ts";
import type { PictureRequest } from "./pictures.ts";
import type { PlayRequest, PlayResult } from "./play.ts";
import type { Precision } from "../../src/kernel/index.ts";

export interface DeviceChoice {
  readonly backend: Exclude<BackendName, "cuda">;
  readonly precision: "f64" | "f32";
  /** The number of CPU threads; every core by default. */
  readonly threads?: number;
}

export interface OpenedDevice {
  readonly backend: BackendName;
  readonly name: string;
  /** What it computes in: f32x2 (emulated double) where f64 was asked of a GPU. */
  readonly precision: Precision;
  readonly parallel: boolean;
}

/** A file as the visitor gave it. */
export interface GivenFile {
  readonly name: string;
  readonly file: Blob;
}

/** Files, and what the columns of a table among them mean. */
export interface Given {
  readonly files: readonly GivenFile[];
  readonly map?: ColumnMap | undefined;
}

/** A column of a table that is no term of a trade, with the term that it seems to mean. */
export type UnknownColumn = UnknownColumnsError["columns"][number];

export interface LoadedBook {
  readonly name: string;
  readonly asOf: string;
  readonly trades: number;
  /** Everything of the book but its trades, as written. */
  readonly header: Readonly<Record<string, unknown>>;
  readonly scenarios: Scenarios | undefined;
  /** The number of its named scenarios. */
  readonly named: number;
}

export interface RunChoice {
  readonly greeks: "all" | "grid" | "none";
  readonly accuracy?: number;
  readonly method?: MethodName;
}

/** The numbers of a row, in this order; what is not known is NaN. */
export const NUMBERS = ["quantity", "expiry", ...RESULT_NUMBERS] as const;
export type NumberName = (typeof NUMBERS)[number];

/** The texts of a row. */
export const TEXTS = ["id", "product", "underlying", "currency", "method", "tags", "note"] as const;
export type TextName = (typeof TEXTS)[number];

/** Rows of results, by columns: `numbers[NUMBERS.length·i + k]`. */
export interface RowBlock {
  /** Places in the book; rows in a row from there if there is only one. */
  readonly places: Int32Array;
  readonly numbers: Float64Array<ArrayBuffer>;
  readonly texts: Readonly<Record<TextName, readonly string[]>>;
  /** 0 priced, 1 priced with a warning, 2 not priced. */
  readonly status: Uint8Array<ArrayBuffer>;
}

export interface RunEnd {
  readonly priced: number;
  readonly failed: number;
  readonly seconds: number;
  readonly device: BookReport["device"];
  readonly precision: Precision;
  readonly totals: readonly CurrencyTotals[];
  /** Each warning once, with how many trades it is for and the first of them. */
  readonly warnings: readonly { readonly text: string; readonly count: number; readonly first: string }[];
}

/** All that is known of one trade. */
export interface TradeDetail {
  readonly place: number;
  readonly input: unknown;
  readonly result: TradeResult | undefined;
  /** Whether there is no result, or that of before an edit. */
  readonly isStale: boolean;
  readonly currency: string | undefined;
  readonly product: string;
}

export interface ExportedFile {
  readonly name: string;
  readonly type: string;
  readonly bytes: Blob;
}

export type ExportFormat = "csv" | "parquet" | "json" | "ndjson" | "book";

/** An edit of the book: of one trade (`place`), of a new one at the end, or of what stands outside the trades. */
export type Edit =
  | { readonly kind: "trade"; readonly place: number; readonly value: unknown }
  | { readonly kind: "insert"; readonly place: number; readonly value: unknown }
  | { readonly kind: "remove"; readonly place: number }
  | { readonly kind: "header"; readonly path: readonly (string | number)[]; readonly value: unknown };

/** Requests and their answers. */
export interface Calls {
  open(choice: DeviceChoice): OpenedDevice;
  load(given: Given): LoadedBook;
  terms(nothing: undefined): readonly string[];
  /** Prices the trades that have no result of the book as it stands. */
  price(choice: RunChoice): RunEnd;
  edit(edit: Edit): Edited;
  changes(nothing: undefined): readonly Change[];
  fit(underlying: string): Fit | undefined;
  detail(place: number): TradeDetail;
  schema(nothing: undefined): unknown;
  export(format: ExportFormat): ExportedFile;
  picture(request: PictureRequest): readonly Chart[];
  explain(request: ExplainRequest): ExplainAnswer;
  scenarios(file: GivenFile): LoadedBook;
  risk(request: RiskRequest): RiskAnswer;
  play(request: PlayRequest): PlayResult;
}

/** A confidence from 0 to 1, and what the parts of the risk are of: trades, or groups by a name. */
export interface RiskRequest {
  readonly confidence: number;
  readonly by: string;
}

export interface RiskAnswer extends Omit<BookRisk, "components"> {
  /** What parts may be of. */
  readonly by: readonly string[];
  /** The largest parts, and how many are left out. */
  readonly parts: readonly RiskPart[];
  readonly hidden: number;
  /** The trades that have no value in some scenario, which are left out. */
  readonly without: readonly string[];
  readonly chart: Chart;
}

/** Why the book's value changes: to another book, or to this one in a market that has moved. */
export interface ExplainRequest {
  readonly method: ExplainMethod;
  readonly after?: readonly GivenFile[];
  /** A market that has moved: days later, all spots by a part, all volatilities and rates by an amount. */
  readonly move?: { readonly days: number; readonly spot: number; readonly volatility: number; readonly rate: number };
}

export interface ExplainAnswer {
  readonly charts: readonly Chart[];
  readonly explained: number;
  readonly failed: number;
  readonly reasons: readonly string[];
}

export type CallName = keyof Calls;
/** The calls that change what the worker holds. */
export const CHANGING: ReadonlySet<CallName> = new Set(["open", "load", "scenarios", "edit"]);
export type Argument<N extends CallName> = Parameters<Calls[N]>[0];
export type Answer<N extends CallName> = ReturnType<Calls[N]>;

/** An edit that has been carried out. */
export interface Edited {
  readonly book: LoadedBook;
  /** The edit that takes it back. */
  readonly inverse: Edit;
  /** The trades whose results are those of before. */
  readonly stale: Int32Array;
}

/** A difference between the book and what was loaded. */
export interface Change {
  /** The trade's name, or the part of the book, such as "market". */
  readonly of: string;
  /** The field in words of the format, such as `barriers[0].level`; empty for a whole trade. */
  readonly path: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/** How well a model fits the quotes of one underlying, with the picture of both. */
export interface Fit extends Pick<UnderlyingCalibration, "model" | "status" | "rmse" | "worst" | "warnings"> {
  readonly chart: Chart;
}

/** What comes while a call is under way. */
export type Event =
  | { readonly kind: "rows"; readonly block: RowBlock }
  | { readonly kind: "progress"; readonly done: number; readonly total: number };

export interface Failure extends TradeError {
  readonly name: string;
  /** The columns of a table that have to be mapped first. */
  readonly columns?: readonly UnknownColumn[];
}

export type ToWorker =
  | { readonly kind: "call"; readonly id: number; readonly name: CallName; readonly argument: unknown }
  | { readonly kind: "cancel"; readonly id: number };

export type FromWorker =
  | { readonly kind: "answer"; readonly id: number; readonly value: unknown }
  | { readonly kind: "failure"; readonly id: number; readonly failure: Failure }
  | { readonly kind: "event"; readonly id: number; readonly event: Event }
  | { readonly kind: "lost"; readonly reason: string };
