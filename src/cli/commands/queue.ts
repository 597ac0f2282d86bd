/** `feynkac status`, `cancel` and `logs`: lists and controls the runs in a queue. */
import type * as Cluster from "../../service/cluster/index.ts";
import { CliError, EXIT_STATUS } from "../failure.ts";
import { alignColumns, escapeControls, type TextColumn, columnWidthsOf } from "../format/columns.ts";
import type { Terminal } from "../terminal.ts";

/** The options of the commands about a job queue. */
export interface QueueOptions {
  readonly queue: string;
  readonly format: "table" | "json";
}

/** A run and its state. */
type Known = Cluster.RunEntry & Cluster.RunState;

const RUN_COLUMNS: readonly TextColumn[] = [
  { title: "run", align: "left" },
  { title: "state", align: "left" },
  { title: "chunks", align: "right" },
  { title: "trades", align: "right" },
  { title: "submitted", align: "left" },
  { title: "version", align: "left" },
  { title: "output", align: "left" },
];

const WORKER_COLUMNS: readonly TextColumn[] = [
  { title: "worker", align: "left" },
  { title: "version", align: "left" },
  { title: "since", align: "left" },
  { title: "device", align: "left" },
];

/**
 * Runs `feynkac status`, which lists the jobs of a queue, or one of them, and the workers. @returns the exit status
 * @throws RunError if no server answers; CliError no such job
 */
export async function status(run: string | undefined, options: QueueOptions, terminal: Terminal): Promise<number> {
  const cluster = await import("../../service/cluster/index.ts");
  await using board = await cluster.RunRegistry.open(options.queue);
  const entries = run === undefined ? await board.runs() : [await needRun(board, run)];
  const [runs, workers] = await Promise.all([statesOf(cluster, board, options.queue, entries), board.workers()]);
  if (options.format === "json") {
    terminal.stdout.write(`${JSON.stringify({ runs, workers }, undefined, 2)}\n`);
    return EXIT_STATUS.ok;
  }
  const runRows = runs.map((one) => [
    one.run,
    one.state,
    `${one.done}/${one.chunks}`,
    one.trades.toLocaleString("en-US"),
    one.submitted,
    one.queue,
    one.output,
  ]);
  const workerRows = workers.map(({ name, queue, started, device }) => [name, queue, started, device]);
  terminal.stdout.write(`${tableOf(RUN_COLUMNS, runRows)}\n${tableOf(WORKER_COLUMNS, workerRows)}`);
  for (const { run: name, reason } of runs)
    if (reason !== undefined) terminal.stdout.write(`${name}: ${escapeControls(reason)}\n`);
  return EXIT_STATUS.ok;
}

function tableOf(columns: readonly TextColumn[], rows: readonly (readonly string[])[]): string {
  const all = [columns.map(({ title }) => title), ...rows.map((row) => row.map(escapeControls))];
  return `${alignColumns(columns, all, columnWidthsOf(columns, all, 80), 80).join("\n")}\n`;
}

async function statesOf(
  { connectionOf, loadBull, KEY_PREFIX, runStateOf }: typeof Cluster,
  board: Cluster.RunRegistry,
  url: string,
  entries: readonly Cluster.RunEntry[],
): Promise<Known[]> {
  const { Queue } = await loadBull();
  const states: Known[] = [];
  for (const entry of entries) {
    const queue = new Queue(entry.queue, { connection: connectionOf(url), prefix: KEY_PREFIX, skipMetasUpdate: true });
    queue.on("error", () => undefined); // it connects again
    states.push({ ...entry, ...(await runStateOf(queue, board, entry)) });
    await queue.close();
  }
  return states;
}

async function needRun(board: Cluster.RunRegistry, run: string): Promise<Cluster.RunEntry> {
  const entry = await board.run(run);
  if (entry === undefined)
    throw new CliError(`there is no run ${JSON.stringify(run)} in this queue; status lists them`);
  return entry;
}

/**
 * Runs `feynkac cancel`, which cancels a job. Its remaining chunks of trades are not priced; results of the others
 * stay. @throws as `status`
 */
export async function cancel(run: string, { queue }: QueueOptions, terminal: Terminal): Promise<number> {
  const { RunRegistry } = await import("../../service/cluster/index.ts");
  await using board = await RunRegistry.open(queue);
  const { output } = await needRun(board, run);
  await board.cancel(run);
  terminal.stderr.write(
    `run ${run} is cancelled; what is priced stays in ${output}, and submit --resume continues it\n`,
  );
  return EXIT_STATUS.ok;
}

/** Runs `feynkac logs`, which prints the workers' messages about a job: failures and retries. @throws as `status` */
export async function logs(run: string, { queue }: QueueOptions, terminal: Terminal): Promise<number> {
  const { RunRegistry } = await import("../../service/cluster/index.ts");
  await using board = await RunRegistry.open(queue);
  await needRun(board, run);
  for (const line of await board.logs(run)) terminal.stdout.write(`${JSON.stringify(line)}\n`);
  return EXIT_STATUS.ok;
}
