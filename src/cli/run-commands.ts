/** Command-line definitions of the commands for runs that are stored in chunks. */
import type { OpenEngine } from "./engine.ts";
import type { Terminal } from "./terminal.ts";
import { type Command, Option } from "commander";
import {
  collectPaths,
  parseAccuracy,
  parseDeviceIndex,
  parseColumnMap,
  parseNames,
  parsePort,
  parseRunShare,
  parseSeconds,
  parseFraction,
  parseTableRows,
  parseWholeNumber,
} from "./arguments.ts";
import type { MergeOptions } from "./commands/merge.ts";
import type { QueueOptions } from "./commands/queue.ts";
import type { ServeOptions } from "./commands/serve.ts";
import type { SubmitOptions } from "./commands/submit.ts";
import type { VerifyOptions } from "./commands/verify.ts";
import type { WorkerOptions } from "./commands/worker.ts";
import {
  type Flags,
  GROUP_BY_HELP,
  KEEP_HELP,
  MAP_HELP,
  SCENARIOS_HELP,
  priceOptions,
  addAccuracyOptions,
  addChunkOptions,
  addDeviceOptions,
  addGreeksOption,
  addMethodOption,
  addStrictOption,
} from "./options.ts";
import { OUTPUT_FORMATS } from "./output.ts";

/**
 * Adds the commands about books that are priced in chunks (`merge`, `verify`, `submit` and others) to the command line.
 */
export function addRunCommands(program: Command, context: CommandContext): void {
  describeParts(program, context);
  describeSubmit(program, context);
  describeWorker(program, context);
  describeQueue(program, context);
  describeServe(program, context);
}

function describeParts(program: Command, { terminal, signal, engine, done }: CommandContext): void {
  program
    .command("verify")
    .description("check every hash, count and total of a run in parts")
    .argument("<run>", "FOLDER/ or s3://BUCKET/PREFIX, as price --output made it")
    .option("--reprice <share>", "also price a sample again, such as 0.1%, and compare to the bit", parseFraction)
    .option("--threads <n>", "CPU threads (every core by default)", parseWholeNumber)
    .addHelpText("after", "\nExit status: 0 the run is what its manifest says, 1 it is not, 2 there is no run")
    .action(async (run: string, options: VerifyOptions) => {
      const { verify } = await import("./commands/verify.ts");
      done(await verify(run, options, { terminal, signal, openEngine: engine }));
    });
  program
    .command("merge")
    .description("put the parts of a complete run into one file")
    .argument("<run>", "FOLDER/ or s3://BUCKET/PREFIX, as price --output made it")
    .addOption(new Option("--format <name>", "else the output's name tells, or table").choices(OUTPUT_FORMATS))
    .option(
      "-o, --output <file>",
      "where the results go, several times for several formats; a file appears when it is complete",
      collectPaths,
    )
    .option("--rows <n>", "of the table: all, or how many", parseTableRows)
    .option("--group-by <names>", GROUP_BY_HELP, parseNames)
    .action(async (run: string, options: MergeOptions) => {
      const { merge } = await import("./commands/merge.ts");
      done(await merge(run, options, terminal, signal));
    });
}

const withQueue = (command: Command): Command =>
  command.addOption(
    new Option("--queue <url>", "of Redis or Valkey: redis://HOST:PORT, or rediss://USER:PASSWORD@HOST:PORT")
      .env("FEYNKAC_QUEUE")
      .makeOptionMandatory(),
  );

function describeSubmit(program: Command, { terminal, signal, done }: CommandContext): void {
  const command = program
    .command("submit")
    .description("price a book in parts by workers, and wait for them")
    .argument("<book>", "BOOK.json, BOOK.ndjson, TRADES.csv or TRADES.parquet, which all workers see; or s3://…")
    .option("--market <file>", "market of an NDJSON, CSV or Parquet file of trades")
    .option("--keep <columns>", KEEP_HELP, parseNames)
    .option("--map <columns>", MAP_HELP, parseColumnMap)
    .option("--scenarios <file>", SCENARIOS_HELP)
    .addOption(
      new Option("--input-format <name>", "of the book; else its name tells").choices([
        "json",
        "ndjson",
        "csv",
        "parquet",
      ]),
    )
    .requiredOption(
      "-o, --output <folder>",
      "where the run lies: FOLDER/, which all workers see, or s3://BUCKET/PREFIX",
      collectPaths,
    )
    .option("--resume", "continue the run that is there")
    .option("--detach", "do not wait; print the run's name")
    .option("--max-workers <n>", "on this run at once", parseWholeNumber, 1024)
    .addOption(
      new Option("--priority <level>", "runs of a higher level go first")
        .choices(["high", "normal", "low"])
        .default("normal"),
    )
    .option("--share <n>", "of the workers, beside other runs of the same level: 1 to 12", parseRunShare, 1)
    .addHelpText("after", "\nExit status: 0 all trades priced, 1 some were not, 2 input, output or queue unusable");
  const all = withQueue(
    addStrictOption(addChunkOptions(addAccuracyOptions(addGreeksOption(addMethodOption(command))))),
  );
  type Given = Flags & Omit<SubmitOptions, keyof Flags>;
  all.action(async (path: string, flags: Given) => {
    const { submit } = await import("./commands/submit.ts");
    const { queue, maxWorkers, priority, share: part, detach, method } = flags;
    const options = { ...priceOptions(flags), queue, maxWorkers, priority, share: part, method };
    done(await submit(path, { ...options, ...(detach === undefined ? {} : { detach }) }, terminal, signal));
  });
}

/** The time in milliseconds that a worker has after a signal to return its job to the queue and end. */
const WORKER_PATIENCE = 10_000;

function describeWorker(program: Command, { terminal, signal, engine, done, takeTime }: CommandContext): void {
  const command = program
    .command("worker")
    .description("price chunks of submitted runs, until it is asked to end: a process for each device of the machine")
    .option("--port <n>", "of /health, /metrics and /queue; further devices take the next ones", parsePort)
    .option("--host <address>", "of that port", "127.0.0.1")
    .option("--lock-seconds <s>", "a worker that is silent for so long has lost its chunk", parseSeconds, 30)
    .option("--chunk-timeout <s>", "a chunk that takes longer has failed", parseSeconds, 3600)
    .addHelpText("after", "\nOn SIGTERM it takes no more jobs, and ends within 10 s; a chunk under way goes back.");
  type Given = Flags & Omit<WorkerOptions, keyof Flags | "everyDevice">;
  withQueue(addDeviceOptions(command)).action(async (flags: Given) => {
    const { worker } = await import("./commands/worker.ts");
    takeTime(WORKER_PATIENCE);
    const { backend, precision, device, threads } = priceOptions(flags);
    const { queue, host, port, lockSeconds, chunkTimeout } = flags;
    const options = { backend, precision, device, threads, queue, host, lockSeconds, chunkTimeout };
    const everyDevice = backend === "auto";
    done(
      await worker(
        { ...options, everyDevice, ...(port === undefined ? {} : { port }) },
        { terminal, signal, openEngine: engine },
      ),
    );
  });
}

function describeQueue(program: Command, { terminal, done }: CommandContext): void {
  withQueue(program.command("status"))
    .description("list the runs of a queue, or one of them, and the workers")
    .argument("[run]", "as submit names it")
    .addOption(new Option("--format <name>").choices(["table", "json"]).default("table"))
    .action(async (run: string | undefined, options: QueueOptions) => {
      const { status } = await import("./commands/queue.ts");
      done(await status(run, options, terminal));
    });
  withQueue(program.command("cancel"))
    .description("end a run; what is priced stays")
    .argument("<run>", "as submit names it")
    .action(async (run: string, options: QueueOptions) => {
      const { cancel } = await import("./commands/queue.ts");
      done(await cancel(run, options, terminal));
    });
  withQueue(program.command("logs"))
    .description("print what workers said of a run: failures and retries, as JSON lines")
    .argument("<run>", "as submit names it")
    .action(async (run: string, options: QueueOptions) => {
      const { logs } = await import("./commands/queue.ts");
      done(await logs(run, options, terminal));
    });
}

function describeServe(program: Command, { terminal, signal, done, takeTime }: CommandContext): void {
  program
    .command("serve")
    .description("answer requests for prices over HTTP, until it is asked to end")
    .option("--port <n>", "0 takes any free one", parsePort, 8080)
    .option("--host <address>", "the interface; one that others reach needs a token", "127.0.0.1")
    .option("--token-file <file>", "a file with the bearer token that requests must have")
    .addOption(
      new Option("--backend <name>", "where to compute").choices(["auto", "cpu", "webgpu", "cuda"]).default("cpu"),
    )
    .option("--device <n>", "which GPU of the backend cuda, as doctor counts them", parseDeviceIndex)
    .option("--threads <n>", "CPU threads (every core by default)", parseWholeNumber)
    .option("--stdin", "end when standard input ends, as it does with a program that has started this one")
    .option("--max-bytes <n>", "of a request", parseWholeNumber, 16_777_216)
    .option("--max-trades <n>", "of a request", parseWholeNumber, 10_000)
    .option("--max-seconds <s>", "that a request may take", parseSeconds, 60)
    .option("--max-requests <n>", "under way at once", parseWholeNumber, 1000)
    .option("--max-markets <n>", "kept", parseWholeNumber, 100)
    .option("--finest-accuracy <part>", "that may be asked for", parseAccuracy, 1e-6)
    .action(async (options: ServeOptions) => {
      const { serve } = await import("./commands/serve.ts");
      takeTime(WORKER_PATIENCE);
      done(await serve(options, terminal, signal));
    });
}

/** The objects that the commands about books priced in chunks get from the command line. */
export interface CommandContext {
  readonly terminal: Terminal;
  readonly signal: AbortSignal;
  readonly engine: OpenEngine;
  /** Reports how long a command needs to end after a signal. */
  readonly takeTime: (ms: number) => void;
  readonly done: (status: number) => void;
}
