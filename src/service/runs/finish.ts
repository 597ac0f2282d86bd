import { RunError } from "./error.ts";
import { type Manifest, type Outcome, writeManifest } from "./manifest.ts";
import { type Known, tidy } from "./receipts.ts";
import type { Store } from "./storage/index.ts";
import { sumCounts, sumTotals } from "./sum-totals.ts";

/**
 * Completes a run, a book priced in chunks, after its last chunk. It writes the final manifest and removes files that
 * are no longer needed. `known` has the receipt of each chunk, undefined where it is not priced. The function may be
 * called again, also by several processes at once, which write the same bytes.
 *
 * @throws RunError a chunk that is not priced; StorageError
 */
export async function finishRun(store: Store, manifest: Manifest, known: Known): Promise<Manifest> {
  const outcomes: Outcome[] = [];
  for (const [i, receipt] of known.entries()) {
    if (receipt === undefined) throw new RunError(`${store.url}: chunk ${i} is not priced`);
    outcomes.push(receipt.outcome);
  }
  const devices = new Map(outcomes.map(({ device }) => [`${device.backend} ${device.name}`, device]));
  const { chunks, timings, ...rest } = manifest;
  const complete: Manifest = {
    ...rest,
    status: "complete",
    ...sumCounts(outcomes),
    totals: sumTotals(outcomes.map(({ totals }) => totals)),
    devices: [...devices.values()],
    chunks: chunks.map((chunk, i) => ({ ...chunk, outcome: outcomes[i] })),
    timings: {
      started: timings.started,
      finished: timings.finished ?? new Date().toISOString(),
      chunks: known.map((receipt) => receipt?.timing ?? null),
    },
  };
  await writeManifest(store, complete);
  await tidy(store, complete);
  return complete;
}
