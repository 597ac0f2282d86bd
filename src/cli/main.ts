/**
 * The command line: parses the arguments, runs a command, and returns the exit status. Each command is loaded when it
 * is called.
 */
import { availableParallelism } from "node:os";
import type { CommandContext } from "./run-commands.ts";
import { Command, CommanderError, Option } from "commander";
import type { MethodName } from "../book/index.ts";
import { packageVersion } from "../output/formats/index.ts";
import {
  parseAtLeastTwo,
  parseColumnMap,
  parseConfidence,
  parseNames,
  parsePort,
  parsePositive,
  parseSeconds,
  parseWholeNumber,
} from "./arguments.ts";
import type { ExplainCommandOptions } from "./commands/explain.ts";
import type { ReportOptions } from "./commands/report.ts";
import { type OpenEngine, openEngine } from "./engine.ts";
import { CliError, EXIT_STATUS, SIGNAL_STATUS, Interruption, type InterruptingSignal, reasonOf } from "./failure.ts";
import {
  type Flags,
  GROUP_BY_HELP,
  KEEP_HELP,
  MAP_HELP,
  OTHER_STATUS,
  priceOptions,
  addAccuracyOptions,
  addChunkOptions,
  addDeviceOptions,
  addFormatOptions,
  addGreeksOption,
  addMethodOption,
  addStrictOption,
  SCENARIOS_HELP,
} from "./options.ts";
import { setBlockingRunner } from "../base/event-loop.ts";
import { runInterruptibly } from "./interruptibly.ts";
import { reportFailure } from "./report-failure.ts";
import { addRiskCommands } from "./risk-commands.ts";
import { addRunCommands } from "./run-commands.ts";
import type { Terminal } from "./terminal.ts";

/** Runs a worker thread of `feynkac price`, as `servePipeline` of src/service/pipeline does. */
export async function servePipeline(afterFirst: () => void): Promise<void> {
  const { servePipeline: serve } = await import("../service/pipeline/index.ts");
  await serve(afterFirst);
}

/** The time in milliseconds that a command has to end after a signal, unless the command requests more. */
const PATIENCE = 300;

/** The largest number of threads that compile kernels: each takes some 80 MB while it does. */
const MAX_COMPILERS = 16;

/** Runs the command line with the process's arguments, and sets the exit status. */
export async function runFromShell(engine: OpenEngine = openEngine): Promise<void> {
  // Node's threads for such calls compile the kernels of NVIDIA GPUs; a book needs a dozen or two, and four of them are
  // the default. Set before the first call starts them.
  process.env["UV_THREADPOOL_SIZE"] ??= String(Math.min(Math.max(availableParallelism(), 4), MAX_COMPILERS));
  const controller = new AbortController();
  const { signal } = controller;
  // Temporary files go when the process does (see output.ts), which these three let it do.
  let patience = PATIENCE;
  const leave = (error: unknown): never => process.exit(reportFailure(error, process, signal));
  process.on("uncaughtException", leave);
  const end = (reason: Error): void => {
    if (signal.aborted) leave(signal.reason);
    controller.abort(reason);
    setTimeout(() => leave(signal.reason), patience).unref();
  };
  for (const name of Object.keys(SIGNAL_STATUS) as InterruptingSignal[])
    process.on(name, () => end(new Interruption(name)));
  setBlockingRunner((work) => (signal.aborted ? leave(signal.reason) : runInterruptibly(work, end)));
  // `feynkac … | head` closes the pipe early, which is no failure.
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (!signal.aborted)
      end(
        error.code === "EPIPE"
          ? error
          : new CliError(`cannot write to standard output: ${reasonOf(error)}`, { cause: error }),
      );
  });
  process.stderr.on("error", () => {}); // there is nobody to tell
  const takeTime = (ms: number): void => {
    patience = ms;
    setBlockingRunner((work) => work()); // it ends its other work first
  };
  process.exitCode = await main(process.argv.slice(2), process, signal, engine, takeTime);
  const told = signal.aborted;
  await written(process.stdout);
  if (signal.aborted && !told) process.exitCode = reportFailure(signal.reason, process, signal);
}

/** Resolves when the stream has no more data to write, or has failed. */
async function written(stream: NodeJS.WriteStream): Promise<void> {
  await new Promise<void>((resolve) => stream.write("", () => setImmediate(resolve)));
}

/**
 * Runs the command line with the given arguments.
 * @returns the exit status; it never throws
 */
export async function main(
  args: readonly string[],
  terminal: Terminal,
  signal: AbortSignal,
  engine: OpenEngine = openEngine,
  takeTime: (ms: number) => void = () => {},
): Promise<number> {
  const running: { status: number } = { status: EXIT_STATUS.ok };
  const context = { terminal, signal, engine, takeTime, done: (status: number) => (running.status = status) };
  const program = describe(context, args[0]);
  try {
    await program.parseAsync(args, { from: "user" });
    return running.status;
  } catch (error) {
    // Commander has said what is wrong already.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT_STATUS.ok : EXIT_STATUS.unusable;
    return reportFailure(error, terminal, signal);
  }
}

/** Describes all commands, but `price` alone where it is called: the others would take it milliseconds. */
function describe(context: CommandContext, called: string | undefined): Command {
  const program = new Command("feynkac")
    .description("Feynkac prices derivatives and computes their risk.")
    .version(packageVersion())
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void context.terminal.stdout.write(text),
      writeErr: (text) => void context.terminal.stderr.write(text),
    });
  describePrice(program, context);
  if (called === "price") return program;
  addRiskCommands(program, context);
  describeExplain(program, context);
  addRunCommands(program, context);
  describeCalibrate(program, context);
  program
    .command("doctor")
    .description("list the devices of this machine, what is missing, and how to get it")
    .option("--prepare", "compile the kernels that books need, for the CPU and CUDA, and keep them on disk")
    .action(async ({ prepare }: { readonly prepare?: true }) => {
      const { terminal, signal } = context;
      context.done(
        prepare === true
          ? await (await import("./commands/prepare.ts")).prepare(terminal, signal)
          : await (await import("./commands/doctor.ts")).doctor(terminal),
      );
    });
  program
    .command("schema")
    .description("print the book's format as JSON Schema, for editors and for other programs")
    .action(async () => (await import("./commands/schema.ts")).schema(context.terminal));
  describeImplied(program, context);
  describeScript(program, context);
  describeImport(program, context);
  describeConvert(program, context);
  describeMcp(program, context);
  describeReport(program, context);
  describeWeb(program, context);
  describeBench(program, context);
  describeReproduce(program, context);
  return program;
}

function describePrice(program: Command, { terminal, signal, engine, done }: CommandContext): void {
  const command = program
    .command("price")
    .description("price a book: value, Greeks and error estimate of every trade")
    .argument("<book>", "BOOK.json, .ndjson or .xlsx, TRADES.csv or .parquet; - reads standard input")
    .option("--market <file>", "market of an NDJSON, CSV or Parquet file of trades: asOf, market and scenarios as JSON")
    .option("--group-by <names>", GROUP_BY_HELP, parseNames)
    .option("--time-per-trade <s>", "seconds that a trade may take before it is refined no further", parseSeconds)
    .option("--sensitivity-errors", "error estimates of the sensitivities, too (not shown by the table)")
    .addHelpText("after", `\nExit status: 0 all trades priced, 1 some were not, ${OTHER_STATUS}`);
  const all = addStrictOption(
    addChunkOptions(addAccuracyOptions(addGreeksOption(addMethodOption(addFormatOptions(command))))),
  );
  all.option("--scenarios <file>", SCENARIOS_HELP);
  all.option("--resume", "continue the run in parts that is in --output FOLDER/");
  all.option("--buckets <file>", "write risk by quote, node and pillar as well, a row for each: .csv or .parquet");
  all.option("--report <file>", "write a report on the results as well, one HTML file");
  all.action(async (path: string, flags: Flags & { method?: MethodName; report?: string }) => {
    const { price } = await import("./commands/price.ts");
    const options = { ...priceOptions(flags), method: flags.method, report: flags.report };
    done(await price(path, options, terminal, signal, engine));
  });
}

function describeExplain(program: Command, { terminal, signal, engine, done }: CommandContext): void {
  const command = program
    .command("explain")
    .description("explain why the value of a book changed: time, spot, volatility, rates, dividends")
    .argument(
      "<before>",
      "the earlier book: BOOK.json, .ndjson or .xlsx, TRADES.csv or .parquet; - reads standard input",
    )
    .argument("[after]", "the later book; if left out, the same trades in the market of --market-after")
    .option("--market <file>", "market of the first book, for an NDJSON, CSV or Parquet file of trades")
    .option(
      "--market-after <file>",
      "market of the second book; without a second book, the later market of the same trades",
    )
    .addOption(
      new Option(
        "--method <name>",
        "taylor: sensitivities, to second order; revaluation: one part of the market at a time",
      )
        .choices(["taylor", "revaluation"])
        .default("taylor"),
    )
    .addOption(
      new Option("--sticky <what>", "what the quotes of volatilities keep while the spot moves: strike; delta: K/F")
        .choices(["strike", "delta"])
        .default("strike"),
    )
    .option("--group-by <names>", GROUP_BY_HELP, parseNames)
    .addHelpText(
      "after",
      `\nExit status: 0 all trades explained, new, gone or changed; 1 some could not be; ${OTHER_STATUS}`,
    );
  addStrictOption(addAccuracyOptions(addFormatOptions(command))).action(
    async (
      before: string,
      after: string | undefined,
      flags: Flags & Pick<ExplainCommandOptions, "method" | "sticky">,
    ) => {
      const { explain } = await import("./commands/explain.ts");
      const { method, sticky, marketAfter } = flags;
      const options = { ...priceOptions(flags), method, sticky, marketAfter };
      done(await explain(before, after, options, terminal, signal, engine));
    },
  );
}

function describeCalibrate(program: Command, { terminal, done }: CommandContext): void {
  program
    .command("calibrate")
    .description("fit curves and volatilities to the quotes of a market, and say how well they fit")
    .argument("<market>", "a book in JSON, with or without trades; - reads standard input")
    .option("-o, --output <file>", "the book with curves and volatilities in the place of quotes")
    .option("--picture <file>", "quotes and fits as SVG")
    .addOption(new Option("--format <name>", "of the report").choices(["table", "json"]).default("table"))
    .addHelpText("after", `\nExit status: 0 all fits converged, 1 some did not, ${OTHER_STATUS}`)
    .action(async (path: string, flags: { output?: string; picture?: string; format: "table" | "json" }) => {
      const { calibrate } = await import("./commands/calibrate.ts");
      const { output, picture, format } = flags;
      done(await calibrate(path, { output, picture, format }, terminal));
    });
}

function describeImplied(program: Command, { terminal, signal, engine, done }: CommandContext): void {
  const command = program
    .command("implied")
    .description("find the implied volatilities of a table of option prices, European and American")
    .argument("<prices>", "PRICES.csv, .parquet or .xlsx: trades with a price, or bid and ask; - reads standard input")
    .option("--market <file>", "market of the options; without it each row has spot, rate and dividend")
    .option("--as-of <date>", "date of the prices, where there is no market and expiries are dates")
    .option("--price-error <x>", "of all prices; else half of their last decimal, or a column", parsePositive)
    .addHelpText(
      "after",
      `\nExit status: 0 all prices have a volatility, 1 some have none, for the reason given; ${OTHER_STATUS}`,
    );
  addAccuracyOptions(addFormatOptions(command)).action(
    async (path: string, flags: Flags & { readonly asOf?: string; readonly priceError?: number }) => {
      const { implied } = await import("./commands/implied.ts");
      const { asOf, priceError } = flags;
      done(await implied(path, { ...priceOptions(flags), asOf, priceError }, terminal, signal, engine));
    },
  );
}

function describeImport(program: Command, { terminal, done }: CommandContext): void {
  program
    .command("import")
    .description("write trades of another system as NDJSON trades, and say which are left out and why")
    .argument("<portfolio>", "PORTFOLIO.xml of ORE (Open Source Risk Engine); - reads standard input")
    .option("-o, --output <file>", "TRADES.ndjson, to be priced with --market")
    .option("--left-out <file>", "what is left out, as JSON")
    .addHelpText("after", "\nExit status: 0 all is imported, 1 some trades or terms are not, 2 no portfolio")
    .action(async (path: string, { output, leftOut }: { readonly output?: string; readonly leftOut?: string }) => {
      const { importTrades } = await import("./commands/import.ts");
      done(await importTrades(path, { output, leftOut }, terminal));
    });
}

function describeConvert(program: Command, { terminal, done }: CommandContext): void {
  program
    .command("convert")
    .description("write a book as a workbook (.xlsx) for spreadsheets, or as JSON; without a book, a template")
    .argument("[book]", "BOOK.json or BOOK.xlsx; - reads standard input")
    .requiredOption("-o, --output <file>", "BOOK.xlsx or BOOK.json")
    .action(async (path: string | undefined, { output }: { readonly output: string }) => {
      const { convert } = await import("./commands/convert.ts");
      done(await convert(path, output, terminal));
    });
}

function describeScript(program: Command, { terminal, done }: CommandContext): void {
  const script = program.command("script").description("work on scripts of structured products");
  script
    .command("check")
    .description("check scripts: every mistake with its place and a remedy, and what is in those without one")
    .argument("<file>", "a script, a trade with a script, or a book, in JSON; - reads standard input")
    .addOption(new Option("--format <name>").choices(["table", "json"]).default("table"))
    .addHelpText("after", "\nExit status: 0 no mistakes, 1 mistakes, 2 a file that cannot be used")
    .action(async (path: string, { format }: { readonly format: "table" | "json" }) => {
      const { checkScriptFile } = await import("./commands/script-check.ts");
      done(await checkScriptFile(path, format, terminal));
    });
}

function describeMcp(program: Command, { terminal, signal, engine, done }: CommandContext): void {
  addDeviceOptions(program.command("mcp"), "f64")
    .description("serve an assistant on standard input and output, by the Model Context Protocol")
    .action(async (flags: Flags) => {
      const { serveAssistant } = await import("./mcp/index.ts");
      done(await serveAssistant(priceOptions({ ...flags, greeks: "all" }), terminal, signal, engine));
    });
}

function describeReport(program: Command, { terminal, signal, done }: CommandContext): void {
  program
    .command("report")
    .description(
      "write a report on results: totals, largest risks, charts, and how they were computed, in one HTML file",
    )
    .argument("<results>", "RESULTS.json, RESULTS.csv, RESULTS.parquet or a run in parts, as price has written them")
    .option("--book <file>", "the book that was priced, in any format: for products, expiries and the market")
    .option("--market <file>", "market of an NDJSON, CSV or Parquet file of trades")
    .option("--keep <columns>", KEEP_HELP, parseNames)
    .option("--map <columns>", MAP_HELP, parseColumnMap)
    .option("--before <results>", "earlier results, to show what has changed since")
    .option("--group-by <names>", GROUP_BY_HELP, parseNames)
    .option("--confidence <part>", "of value at risk under named scenarios, such as 99%", parseConfidence, 0.99)
    .requiredOption("-o, --output <file>", "REPORT.html; - for standard output")
    .action(async (path: string, options: ReportOptions) => {
      const { report } = await import("./commands/report.ts");
      done(await report(path, options, terminal, signal));
    });
}

function describeWeb(program: Command, { terminal, signal }: CommandContext): void {
  program
    .command("web")
    .description("open a page in the browser that prices books, draws their risk and solves equations")
    .option("--port <n>", "port of this machine to serve it on; a free one by default", parsePort, 0)
    .option("--no-open", "only print the address")
    .action(async (options: { port: number; open: boolean }) => {
      const { web } = await import("./commands/web.ts");
      await web(options, terminal, signal);
    });
}

function describeBench(program: Command, { terminal, signal, engine, done }: CommandContext): void {
  const command = program
    .command("bench")
    .description("measure how fast this machine prices American puts")
    .option("--trades <n>", "how many", parseWholeNumber, 2000);
  addAccuracyOptions(addGreeksOption(command)).action(async (flags: Flags & { trades: number }) => {
    const { bench } = await import("./commands/bench.ts");
    done(await bench({ ...priceOptions(flags), trades: flags.trades }, terminal, signal, engine));
  });
}

function describeReproduce(program: Command, { terminal, signal, done }: CommandContext): void {
  const command = program
    .command("reproduce")
    .description("compute a published result on the devices of this machine, and time it")
    .argument("[name]", "which one")
    .option("--list", "say which there are")
    .option("--nodes <n>", "nodes of each axis", parseWholeNumber, 256)
    .option("--steps <n>", "time steps; more are taken where they are too short to measure", parseWholeNumber, 20)
    .option("--points <n>", "points of an estimate of π", parseWholeNumber, 10_000_000)
    .option("--repeats <n>", "estimates of π, two at least", parseAtLeastTwo, 20)
    .option("--paths <n>", "paths of a quantization tree", parseWholeNumber, 100_000);
  type Given = Pick<Flags, "backend" | "device" | "precision" | "threads"> & {
    readonly list?: true;
    readonly nodes: number;
    readonly steps: number;
    readonly points: number;
    readonly repeats: number;
    readonly paths: number;
  };
  addDeviceOptions(command, "f32 by default").action(async (name: string | undefined, flags: Given) => {
    const { listReproductions, reproduce } = await import("./commands/reproduce.ts");
    const { list, device, threads, precision = "f32", ...rest } = flags;
    const options = { ...rest, device, threads, precision };
    done(list ? await listReproductions(terminal) : await reproduce(name, options, terminal, signal));
  });
}
