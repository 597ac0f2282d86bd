/** Prices one chunk of a run in a worker. */
import { failedResult, labelsOf, type ParsedTrade, unreadResult } from "../../book/index.ts";
import type { PricedRow } from "../../output/formats/index.ts";
import { readReceiptOf, priceChunks, type Pricer, processName, RunError, writeChunkResults } from "../runs/index.ts";
import type { RunContext } from "./contexts.ts";

/**
 * The result of a chunk's job: "priced" if this process priced the chunk, "known" if another process had priced it
 * before.
 */
export type ChunkJobResult = "priced" | "known";

/**
 * Prices a chunk of trades, unless its result file exists. @throws RunError | StorageError; as `priceTrades`; the
 * signal's reason
 */
export async function priceChunk(
  { store, manifest, book }: RunContext,
  chunk: number,
  pricer: Pricer,
  signal: AbortSignal,
): Promise<ChunkJobResult> {
  if ((await readReceiptOf(store, manifest, chunk)) !== undefined) return "known";
  const request = { store, manifest, known: [], book: await book(), pricer, signal, onProgress: () => undefined };
  for await (const _ of priceChunks(request, [chunk])) void _;
  signal.throwIfAborted();
  return "priced";
}

/** Writes the result file of a chunk that could not be priced. Every trade has an error with the given reason. */
export async function giveUpChunk({ store, manifest, book }: RunContext, chunk: number, reason: string): Promise<void> {
  const { book: open } = await book();
  const rows: PricedRow[] = [];
  const error = new RunError(`chunk ${chunk} of the run could not be priced, each time it was tried: ${reason}`);
  for await (const some of open.read(manifest.chunks[chunk]))
    for (const parsed of some) rows.push(givenUp(parsed, error));
  const timing = { seconds: 0, finished: new Date().toISOString(), by: processName() };
  await writeChunkResults(store, manifest, { chunk, rows, device: { backend: "cpu", name: "none" }, timing });
}

function givenUp(parsed: ParsedTrade, error: Error): PricedRow {
  return parsed.ok
    ? { trade: parsed.trade, result: failedResult({ id: parsed.trade.id, ...labelsOf(parsed.trade) }, error) }
    : { trade: undefined, result: unreadResult(parsed) };
}
