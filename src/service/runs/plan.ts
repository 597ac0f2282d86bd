/** The start of a run: reads the book once, computes its hash, and divides it into chunks. */
import {
  type ChunkedBook,
  type ChunkedFormat,
  type CostOf,
  cutBook,
  type MarketFits,
  namesAndWeights,
  openChunkedBook,
  type ScenarioTable,
  spotsOf,
  type TableOptions,
} from "../../book/index.ts";
import { marketHeader } from "../../output/formats/index.ts";
import { RunError } from "./error.ts";
import { type Manifest, manifestSchema, packageIdentity, type RunOptions } from "./manifest.ts";
import { readScenarios, scenarioHash } from "./scenario-file.ts";
import { absoluteName, hashOf, hashOfFile, openFile, type Store, type StoredFile } from "./storage/index.ts";

/** The location of a book's file, and of its separate market if any, as paths or URLs. */
export interface BookSource {
  readonly place: string;
  readonly format: ChunkedFormat;
  readonly market: string | undefined;
  /** The columns of a table that become tags of its trades. */
  readonly keep?: TableOptions["keep"];
  /** The columns of a table that have names of their own for terms of its trades. */
  readonly map?: TableOptions["map"];
}

/** A book that has been opened for reading in chunks, with its file. Disposal closes the files. */
export interface OpenBook extends AsyncDisposable {
  readonly book: ChunkedBook;
  readonly file: StoredFile;
  /** The SHA-256 hash of the market as the book contains it. */
  readonly marketHash: string;
}

/**
 * Opens a book's files for reading in chunks. `header` and `fits` are those of `openChunkedBook`. @throws BookError if
 * the book or its market cannot be used; RunError | StorageError
 */
export async function openBook(
  { place, format, market, keep, map }: BookSource,
  header?: unknown,
  fits?: MarketFits,
): Promise<OpenBook> {
  const files: StoredFile[] = [];
  const close = async (): Promise<void> => void (await Promise.all(files.map((file) => file.close())));
  try {
    const file = await openFile(place);
    files.push(file);
    const beside = market === undefined ? undefined : await openFile(market);
    if (beside !== undefined) files.push(beside);
    const book = await openChunkedBook(file, format, beside, {
      keep,
      map,
      fits,
      ...(format === "json" ? { header } : {}),
    });
    return { book, file, marketHash: hashOf(JSON.stringify(book.header)), [Symbol.asyncDispose]: close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Returns a book with named scenarios in the place of its own; the book itself if there are none. */
export function underTable(open: OpenBook, scenarioTable: ScenarioTable | undefined): OpenBook {
  return scenarioTable === undefined ? open : { ...open, book: { ...open.book, scenarioTable } };
}

/**
 * Opens the book of a run, with the scenarios of the run, and checks its length and its market against the manifest.
 * `moved` has the files of the book if they have moved. @throws RunError if the book, the market or the scenarios are
 * other ones
 */
export async function openRunBook(store: Store, manifest: Manifest, moved?: BookSource): Promise<OpenBook> {
  const { book, market } = manifest;
  const table = await readScenarios(store, manifest);
  const open = await openBook(moved ?? { ...book, market: market.place });
  const isOther = open.file.byteLength !== book.bytes;
  if (!isOther && open.marketHash === market.sha256) return underTable(open, table);
  await open[Symbol.asyncDispose]();
  throw changedBookError(isOther ? book.place : "its market");
}

/**
 * Checks by hashes that a book is the one with which a run began. @throws RunError if the book or the market is another
 * one
 */
export async function checkBook({ book, market }: Manifest, open: OpenBook): Promise<void> {
  if (open.marketHash !== market.sha256) throw changedBookError("its market");
  if (open.file.byteLength !== book.bytes || (await hashOfFile(open.file)) !== book.sha256)
    throw changedBookError(book.place);
}

/** Returns the error for a book or market that has changed since the run began. */
export function changedBookError(what: string): RunError {
  return new RunError(`${what} is not what it was when this run began; price it anew, into another folder`);
}

/** The settings that determine how a book is divided into chunks. */
export interface PlanRequest {
  readonly book: BookSource;
  /** A table of named scenarios that replaces those of the book, with its path. */
  readonly scenarios?: { readonly place: string; readonly table: ScenarioTable } | undefined;
  readonly options: RunOptions;
  /** The maximum number of trades in a chunk, and the maximum expected time of pricing them on one core, in seconds. */
  readonly limits: { readonly rows: number; readonly seconds: number };
  readonly costOf: (book: ChunkedBook) => Promise<CostOf>;
  readonly signal: AbortSignal;
}

/** The maximum number of numbers in a result file. It limits the trades in a chunk if there are many scenarios. */
const MAX_NUMBERS = 1 << 22;

/** The random seed if the book does not specify one. */
const DEFAULT_SEED = 1;

/**
 * Reads a whole book, divides it into chunks of trades, and returns the manifest of the new run. @throws as `openBook`;
 * the signal's reason
 */
export async function planRun(
  { book: source, scenarios: own, options, limits, costOf, signal }: PlanRequest,
  open: OpenBook,
): Promise<Manifest> {
  const { book, file, marketHash } = underTable(open, own?.table);
  const sha256 = await hashOfFile(file, signal);
  const { time, spot, volatility, rate } = book.scenarios ?? { time: [0], spot: [0], volatility: [0], rate: [0] };
  const names = book.scenarioTable?.names;
  const cases = time.length * spot.length * volatility.length * rate.length + 2 * (names?.length ?? 0);
  const rows = Math.max(1, Math.min(limits.rows, Math.floor(MAX_NUMBERS / cases)));
  const chunks = await cutBook(book, { ...limits, rows }, await costOf(book));
  const tags = await book.tags();
  const { place: name, market, keep = [], map } = source;
  const { figures, reporting } = marketHeader(book.market);
  // Through the schema, so that it is written as it will be once it has been read.
  return manifestSchema.parse({
    feynkac: packageIdentity(),
    status: "running",
    book: {
      place: absoluteName(name),
      bytes: file.byteLength,
      sha256,
      format: source.format,
      ...(keep.length === 0 ? {} : { keep }),
      ...(map === undefined ? {} : { map }),
      ...(tags === undefined ? {} : { tags }),
    },
    market: {
      ...(market === undefined ? {} : { place: absoluteName(market) }),
      sha256: marketHash,
      spots: spotsOf(book.market),
      ...(figures === true ? { figures } : {}),
      ...(reporting === undefined ? {} : { reporting }),
    },
    asOf: book.asOf,
    ...(book.scenarios === undefined ? {} : { scenarios: book.scenarios }),
    ...namesAndWeights(book.scenarioTable),
    ...(own === undefined ? {} : { scenarioFile: { place: absoluteName(own.place), sha256: scenarioHash(own.table) } }),
    seed: book.seed ?? DEFAULT_SEED,
    options,
    trades: chunks.reduce((sum, chunk) => sum + chunk.rows, 0),
    chunks,
    timings: { started: new Date().toISOString(), chunks: chunks.map(() => null) },
  });
}
