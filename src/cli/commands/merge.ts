import { Totals } from "../../book/index.ts";
import { EXIT_STATUS } from "../failure.ts";
import { openOutput, type OutputFormat, chooseOutputFormat, type TableRows } from "../output.ts";
import type { Terminal } from "../terminal.ts";
import { resultWriterOf } from "./price.ts";

/** The options of the command `feynkac merge`. */
export interface MergeOptions {
  readonly format?: OutputFormat;
  readonly output?: string;
  readonly rows?: TableRows;
  readonly groupBy?: readonly string[];
}

/**
 * Runs `feynkac merge`, which writes the results of a book that was priced in chunks into one file, as `feynkac price`
 * would have. @returns the exit status @throws RunError if not all chunks are priced; CliError an output that cannot be
 * written; StorageError
 */
export async function merge(
  url: string,
  { format: asked, output: path, rows, groupBy }: MergeOptions,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<number> {
  const runs = await import("../../service/runs/index.ts");
  const format = chooseOutputFormat(asked, path, terminal.stdout);
  const store = await runs.openStore(url);
  const manifest = await runs.requireManifest(store);
  if (manifest.status !== "complete")
    throw new runs.RunError(`${store.url}: the run is not complete; price with --resume to complete it`);
  const output = await openOutput(path, terminal.stdout);
  try {
    const { asOf, scenarios, devices: [device = { backend: "cpu", name: "none" }] = [] } = manifest;
    const sensitivityErrors = manifest.options.sensitivityErrorEstimates;
    const writer = resultWriterOf(format, { rows, groupBy }, output);
    const { figures, reporting } = manifest.market;
    const { tags } = manifest.book;
    await output.write(await writer.begin({ asOf, device, scenarios, sensitivityErrors, tags, figures, reporting }));
    const totals = new Totals({ groupBy });
    for await (const part of runs.readChunkResults(store, manifest)) {
      signal.throwIfAborted();
      runs.addRowsToTotals(totals, part);
      await output.write(writer.rows(part.map(({ result }) => ({ trade: undefined, result }))));
    }
    await output.write(writer.end(totals.report));
  } catch (error) {
    await output.discard();
    throw error;
  }
  await output.commit();
  return EXIT_STATUS.ok;
}
