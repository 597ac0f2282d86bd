/**
 * Result files of a run and their receipts, which exist until the run is complete. A receipt records that a chunk has
 * been priced.
 */
import { basename } from "node:path";
import * as z from "zod";
import { Totals } from "../../book/index.ts";
import type { PricedRow } from "../../output/formats/index.ts";
import { RunError } from "./error.ts";
import { type Manifest, MANIFEST_FILE, type ChunkOutcome, chunkOutcomeSchema, type ChunkTiming } from "./manifest.ts";
import { beginResultFile } from "./result-file.ts";
import { hashOf, type Store } from "./storage/index.ts";

/** The name of the folder with the result files of chunks. */
export const RESULTS_FOLDER = "parts";

/** The schema of a receipt, which records that a chunk has been priced and describes its result file. */
const receiptSchema = z.object({
  outcome: chunkOutcomeSchema,
  timing: z.object({ seconds: z.number(), finished: z.string(), by: z.string() }),
});

/** The record that a chunk of trades has been priced: its result file, its totals and the time that it took. */
export type Receipt = z.infer<typeof receiptSchema>;

function nameOf(chunk: number): string {
  return String(chunk).padStart(5, "0");
}

function receiptName(chunk: number): string {
  return `${RESULTS_FOLDER}/${nameOf(chunk)}.json`;
}

/** The results of a chunk of trades, and the device that priced it. `chunk` is the chunk's number. */
export interface PricedChunk {
  readonly chunk: number;
  readonly rows: readonly PricedRow[];
  readonly device: ChunkOutcome["device"];
  readonly timing: ChunkTiming;
}

/**
 * Writes the result file of a chunk, and then its receipt. The file's name includes a hash of its bytes. If two workers
 * price the same chunk, they write one file if the bytes agree; otherwise there are two files, of which the receipt
 * names one. @throws StorageError
 */
export async function writeChunkResults(store: Store, manifest: Manifest, priced: PricedChunk): Promise<Receipt> {
  const { chunk, rows, device, timing } = priced;
  const totals = new Totals();
  for (const { trade, result } of rows) totals.add(trade, result);
  const part = await beginResultFile({
    asOf: manifest.asOf,
    scenarios: manifest.scenarios,
    scenarioNames: manifest.scenarioNames,
    sensitivityErrors: manifest.options.sensitivityErrorEstimates,
  });
  part.add(rows);
  const bytes = part.end();
  const sha256 = hashOf(bytes);
  const name = `${RESULTS_FOLDER}/${nameOf(chunk)}-${sha256.slice(0, 16)}.parquet`;
  const receipt: Receipt = {
    outcome: {
      part: name,
      sha256,
      bytes: bytes.length,
      ...totals.counts,
      totals: JSON.parse(JSON.stringify(totals.totals)) as ChunkOutcome["totals"],
      device,
    },
    timing,
  };
  const text = new TextEncoder().encode(`${JSON.stringify(receipt)}\n`);
  await store.write([
    { name, bytes },
    { name: receiptName(chunk), bytes: text },
  ]);
  return receipt;
}

/**
 * Reads the receipt of a chunk; undefined if it does not exist or does not match the result file. @throws StorageError
 */
async function receiptFromFile(
  store: Store,
  chunk: number,
  { trust = false }: ReceiptOptions = {},
): Promise<Receipt | undefined> {
  const bytes = await store.read(receiptName(chunk));
  if (bytes === undefined) return undefined;
  const receipt = parseReceipt(bytes);
  return receipt !== undefined && (trust || (await isIntact(store, receipt.outcome))) ? receipt : undefined;
}

function parseReceipt(bytes: Uint8Array): Receipt | undefined {
  try {
    return receiptSchema.safeParse(JSON.parse(new TextDecoder().decode(bytes))).data;
  } catch {
    return undefined;
  }
}

/** Tells whether the result file of a chunk exists and has the recorded hash. @throws StorageError */
export async function isIntact(store: Store, { part, sha256 }: ChunkOutcome): Promise<boolean> {
  const bytes = await store.read(part);
  return bytes !== undefined && hashOf(bytes) === sha256;
}

/** The receipts of a run's chunks, by the chunk's number; undefined for a chunk that is not priced yet. */
export type Receipts = readonly (Receipt | undefined)[];

/** The options of `readReceipts`. */
export interface ReceiptOptions {
  /** True to trust the receipts without reading the result files. */
  readonly trust?: boolean;
  readonly signal?: AbortSignal;
}

/** The number of receipts that are read concurrently. S3 takes about 20 ms for each, and a large run has thousands. */
const AT_ONCE = 32;

/**
 * Reads the receipts of a run's chunks. A chunk whose result file is missing or differs counts as not priced. @throws
 * StorageError; the signal's reason
 */
export async function readReceipts(store: Store, manifest: Manifest, options: ReceiptOptions = {}): Promise<Receipts> {
  const names = new Set(await store.list(RESULTS_FOLDER));
  const look = async (i: number): Promise<Receipt | undefined> =>
    names.has(basename(receiptName(i))) ? receiptFromFile(store, i, options) : receiptFromManifest(store, manifest, i);
  // A part is some megabytes, of which few are to be in memory.
  const atOnce = options.trust === true ? AT_ONCE : 2;
  const all = [...manifest.chunks.keys()];
  const known: (Receipt | undefined)[] = [];
  for (let i = 0; i < all.length; i += atOnce) {
    options.signal?.throwIfAborted();
    known.push(...(await Promise.all(all.slice(i, i + atOnce).map(look))));
  }
  return known;
}

/** Reads the receipt of one chunk; undefined if the chunk is not priced yet. @throws StorageError */
export async function readReceiptOf(store: Store, manifest: Manifest, chunk: number): Promise<Receipt | undefined> {
  return (await receiptFromFile(store, chunk)) ?? receiptFromManifest(store, manifest, chunk);
}

async function receiptFromManifest(
  store: Store,
  { timings, chunks }: Manifest,
  i: number,
): Promise<Receipt | undefined> {
  const known = chunks[i].outcome;
  const timing = timings.chunks[i];
  if (known === undefined || timing === null || timing === undefined) return undefined;
  return (await isIntact(store, known)) ? { outcome: known, timing } : undefined;
}

/**
 * Removes the files that a complete run does not need: receipts, result files that others have replaced, and files that
 * were not completed.
 */
export async function removeObsoleteFiles(store: Store, { chunks }: Manifest): Promise<void> {
  const kept = new Set(chunks.map((chunk) => chunk.outcome?.part));
  for (const name of await store.list(RESULTS_FOLDER)) {
    const path = `${RESULTS_FOLDER}/${name}`;
    if (!kept.has(path)) await store.remove(path);
  }
  for (const name of await store.list(".")) if (name.startsWith(`.${MANIFEST_FILE}.`)) await store.remove(name);
}

/**
 * Checks that a run was begun by this version of the package. @throws RunError another version, whose results may
 * differ in their last bits
 */
export function checkVersion(manifest: Manifest, here: Manifest["feynkac"]): void {
  const { feynkac } = manifest;
  if (isSameVersion(feynkac, here)) return;
  const name = ({ version, commit }: Manifest["feynkac"]): string =>
    commit === undefined ? version : `${version} (${commit.slice(0, 12)})`;
  throw new RunError(
    `this run is of feynkac ${name(feynkac)}, and this is ${name(here)}: their numbers may differ in the last digits; ` +
      "continue with that version, or price the book anew, into another folder",
  );
}

/**
 * Tells whether two packages give results with the same bits: they have the same version and, if both are known, the
 * same commit.
 */
export function isSameVersion(a: Manifest["feynkac"], b: Manifest["feynkac"]): boolean {
  return a.version === b.version && (a.commit === undefined || b.commit === undefined || a.commit === b.commit);
}
