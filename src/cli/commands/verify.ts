import type * as Runs from "../../service/runs/index.ts";
import type { OpenEngine } from "../engine.ts";
import { EXIT_STATUS } from "../failure.ts";
import { escapeControls } from "../format/columns.ts";
import type { Terminal } from "../terminal.ts";

/** The options of the command `feynkac verify`. */
export interface VerifyOptions {
  /** The fraction of the trades to price again, 0 … 1. */
  readonly reprice?: number;
  readonly threads?: number;
}

interface CommandEnvironment {
  readonly terminal: Terminal;
  readonly signal: AbortSignal;
  readonly openEngine: OpenEngine;
}

/** The maximum number of problems and differences that are printed. Further ones are only counted. */
const MAX_SHOWN = 20;

/**
 * Runs `feynkac verify`, which checks the results of a book that was priced in chunks against their manifest. @returns
 * the exit status @throws RunError if the folder has no results; StorageError; as `price` if a sample is priced again
 */
export async function verify(url: string, options: VerifyOptions, environment: CommandEnvironment): Promise<number> {
  const { terminal, signal } = environment;
  const runs = await import("../../service/runs/index.ts");
  const store = await runs.openStore(url);
  const manifest = await runs.requireManifest(store);
  const {
    problems,
    intact: whole,
    rows,
    repriced,
  } = options.reprice === undefined
    ? { ...(await runs.verifyRun(store, manifest, signal)), repriced: undefined }
    : await withSample(runs, store, manifest, options, environment);
  const differences = (repriced?.differences ?? []).map(
    ({ index, id, before, now }) => `trade ${index} (${escapeControls(id ?? "no id")}): was ${before}, is now ${now}`,
  );
  const found = [...problems, ...differences];
  for (const one of found.slice(0, MAX_SHOWN)) terminal.stdout.write(`${one}\n`);
  if (found.length > MAX_SHOWN) terminal.stdout.write(`and ${found.length - MAX_SHOWN} more\n`);
  const sample =
    repriced === undefined ? "" : `; ${repriced.compared} priced again, ${repriced.differences.length} of them differ`;
  terminal.stdout.write(
    `${store.url}: ${whole} of ${manifest.chunks.length} parts with ${rows} results are as the manifest says${sample}\n`,
  );
  return found.length === 0 ? EXIT_STATUS.ok : EXIT_STATUS.failedTrades;
}

async function withSample(
  runs: typeof Runs,
  store: Runs.Store,
  manifest: Runs.Manifest,
  { reprice = 0, threads }: VerifyOptions,
  { signal, openEngine }: CommandEnvironment,
): Promise<Runs.Verification & { readonly repriced: Runs.Repricer }> {
  runs.checkVersion(manifest, runs.packageIdentity());
  await using book = await runs.openRunBook(store, manifest);
  await runs.checkBook(manifest, book);
  const { precision } = manifest.options;
  const backend = manifest.devices?.[0]?.backend ?? "auto";
  await using engine = await openEngine({ backend, precision, threads, device: undefined });
  const repriced = new runs.Repricer({ manifest, book, pricer: engine }, reprice, signal);
  const verification = await runs.verifyRun(store, manifest, signal, (chunk, rows) => repriced.compare(chunk, rows));
  return { ...verification, repriced };
}
