import { Totals } from "../../book/index.ts";
import { EXIT_STATUS } from "../failure.ts";
import { type OutputFormat, type TableRows, targetsOf } from "../output.ts";
import { ResultFiles } from "../result-files.ts";
import type { Terminal } from "../terminal.ts";

/** The options of the command `feynkac merge`. */
export interface MergeOptions {
  readonly format?: OutputFormat;
  readonly output?: readonly string[];
  readonly rows?: TableRows;
  readonly groupBy?: readonly string[];
}

/**
 * Runs `feynkac merge`, which writes the results of a book that was priced in chunks into files, as `feynkac price`
 * would have. @returns the exit status @throws RunError if not all chunks are priced; CliError an output that cannot be
 * written; StorageError
 */
export async function merge(
  url: string,
  { format: asked, output, rows, groupBy }: MergeOptions,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<number> {
  const runs = await import("../../service/runs/index.ts");
  const targets = targetsOf(asked, output, terminal.stdout);
  const store = await runs.openStore(url);
  const manifest = await runs.requireManifest(store);
  if (manifest.status !== "complete")
    throw new runs.RunError(`${store.url}: the run is not complete; price with --resume to complete it`);
  const files = await ResultFiles.open(targets, { rows, groupBy }, terminal.stdout);
  try {
    const {
      asOf,
      scenarios,
      scenarioNames,
      scenarioWeights,
      devices: [device = { backend: "cpu", name: "none" }] = [],
    } = manifest;
    const sensitivityErrors = manifest.options.sensitivityErrorEstimates;
    const { figures, reporting } = manifest.market;
    const { tags } = manifest.book;
    const named = { scenarioNames, scenarioWeights };
    await files.begin({ asOf, device, scenarios, ...named, sensitivityErrors, tags, figures, reporting });
    const totals = new Totals({ groupBy });
    for await (const part of runs.readChunkResults(store, manifest)) {
      signal.throwIfAborted();
      runs.addRowsToTotals(totals, part);
      await files.add(part.map(({ result }) => ({ trade: undefined, result })));
    }
    await files.end(totals.report);
  } catch (error) {
    await files.discard();
    throw error;
  }
  return EXIT_STATUS.ok;
}
