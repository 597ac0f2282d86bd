import type { PriorityLevel, RunState } from "../../service/cluster/index.ts";
import { CliError, EXIT_STATUS } from "../failure.ts";
import { isRunFolder } from "../output.ts";
import { ProgressBar } from "../progress.ts";
import { fitWarningLine } from "../summary.ts";
import type { Terminal } from "../terminal.ts";
import type { PriceOptions } from "../options.ts";
import { bookSource, manifestToPrice } from "./price-run.ts";

/** The options of the command `feynkac submit`. */
export interface SubmitOptions extends PriceOptions {
  readonly queue: string;
  readonly maxWorkers: number;
  readonly priority: PriorityLevel;
  readonly share: number;
  readonly detach?: boolean;
}

/**
 * Runs `feynkac submit`, which divides a book into chunks of trades and puts them into a queue, from which workers
 * price them. @returns the exit status @throws CliError | BookError | RunError | StorageError
 */
export async function submit(
  path: string,
  options: SubmitOptions,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<number> {
  const { outputs = [], queue, maxWorkers, priority: level, share } = options;
  const [output, ...others] = outputs;
  if (output === undefined || others.length > 0 || !isRunFolder(output))
    throw new CliError("submit writes a run in parts: --output FOLDER/ or s3://BUCKET/PREFIX");
  const [runs, cluster] = await Promise.all([
    import("../../service/runs/index.ts"),
    import("../../service/cluster/index.ts"),
  ]);
  cluster.connectionOf(queue);
  await cluster.loadBull();
  const store = await runs.openStore(output);
  const manifest = await manifestToPrice(runs, store, bookSource(path, options), output, options, signal);
  const entry = await cluster.submitRun({ queue, manifest, output: store.url, maxWorkers, level, share });
  terminal.stderr.write(
    `run ${entry.run}: ${manifest.trades.toLocaleString("en-US")} trades, ${entry.chunks} chunks\n`,
  );
  await warnOfWorkers(queue, entry.queue, terminal);
  if (options.detach === true) {
    terminal.stdout.write(`${entry.run}\n`);
    return EXIT_STATUS.ok;
  }
  const bar = new ProgressBar(terminal.stderr);
  const total = Math.max(entry.chunks, 1);
  const onState = ({ done }: RunState): void =>
    bar.update({ done: Math.round((manifest.trades * done) / total), fraction: done / total });
  try {
    await cluster.waitForRun(queue, entry, signal, onState);
  } finally {
    bar.clear();
  }
  const complete = await runs.requireManifest(store);
  const devices = (complete.devices ?? []).map(({ name }) => name);
  terminal.stderr.write(
    `${fitWarningLine(complete)}${store.url}: ${(complete.priced ?? 0).toLocaleString("en-US")} trades priced, ` +
      `${(complete.failed ?? 0).toLocaleString("en-US")} not priced, by ${devices.join("; ") || "nobody"}\n`,
  );
  return (complete.failed ?? 0) > 0 ? EXIT_STATUS.failedTrades : EXIT_STATUS.ok;
}

/** Prints a warning if no worker would take the run at present, with the reason. */
async function warnOfWorkers(url: string, queue: string, { stderr }: Terminal): Promise<void> {
  const { RunRegistry } = await import("../../service/cluster/index.ts");
  await using board = await RunRegistry.open(url);
  const workers = await board.workers();
  if (workers.some((worker) => worker.queue === queue)) return;
  const others = [...new Set(workers.map((worker) => worker.queue))];
  stderr.write(
    others.length === 0
      ? "no worker is there yet; start one: feynkac worker --queue URL\n"
      : `no worker of feynkac ${queue} is there; those of ${others.join(", ")} refuse this run\n`,
  );
}
