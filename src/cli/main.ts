/** The command line: options in, exit status out. The commands themselves are loaded when they are called. */
import { Command, CommanderError, InvalidArgumentError, Option } from "commander";
import type { MethodName } from "../book/index.ts";
import { packageVersion } from "../formats/index.ts";
import type { ExplainCommandOptions } from "./commands/explain.ts";
import type { PriceOptions } from "./commands/price.ts";
import { type OpenEngine, openEngine } from "./engine.ts";
import { CliError, EXIT, INTERRUPTING, Interruption, type InterruptingSignal, reasonOf } from "./failure.ts";
import type { InputFormat } from "./input.ts";
import { OUTPUT_FORMATS, type OutputFormat, type TableRows } from "./output.ts";
import { reportFailure } from "./report-failure.ts";
import type { Terminal } from "./terminal.ts";

/** What is under way when a signal comes has this long to end by itself. Milliseconds. */
const PATIENCE = 300;

/** Runs the process's own command line, and sets its exit status. */
export async function runFromShell(engine: OpenEngine = openEngine): Promise<void> {
  const controller = new AbortController();
  const { signal } = controller;
  // Temporary files go when the process does (see output.ts), which these three let it do.
  const leave = (error: unknown): never => process.exit(reportFailure(error, process, signal));
  process.on("uncaughtException", leave);
  const end = (reason: Error): void => {
    if (signal.aborted) leave(signal.reason);
    controller.abort(reason);
    setTimeout(() => leave(signal.reason), PATIENCE).unref();
  };
  for (const name of Object.keys(INTERRUPTING) as InterruptingSignal[])
    process.on(name, () => end(new Interruption(name)));
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
  process.exitCode = await main(process.argv.slice(2), process, signal, engine);
  const told = signal.aborted;
  await written(process.stdout);
  if (signal.aborted && !told) process.exitCode = reportFailure(signal.reason, process, signal);
}

/** When everything has been written, or could not be. */
async function written(stream: NodeJS.WriteStream): Promise<void> {
  await new Promise<void>((resolve) => stream.write("", () => setImmediate(resolve)));
}

/** @returns the exit status; never throws */
export async function main(
  args: readonly string[],
  terminal: Terminal,
  signal: AbortSignal,
  engine: OpenEngine = openEngine,
): Promise<number> {
  const running: { status: number } = { status: EXIT.ok };
  const program = describe({ terminal, signal, engine, done: (status) => (running.status = status) });
  try {
    await program.parseAsync(args, { from: "user" });
    return running.status;
  } catch (error) {
    // Commander has said what is wrong already.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.unusable;
    return reportFailure(error, terminal, signal);
  }
}

interface Context {
  readonly terminal: Terminal;
  readonly signal: AbortSignal;
  readonly engine: OpenEngine;
  readonly done: (status: number) => void;
}

function describe(context: Context): Command {
  const program = new Command("feynkac")
    .description("Feynkac prices derivatives and computes their risk.")
    .version(packageVersion())
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void context.terminal.stdout.write(text),
      writeErr: (text) => void context.terminal.stderr.write(text),
    });
  describePrice(program, context);
  describeExplain(program, context);
  program
    .command("doctor")
    .description("list the devices of this machine, what is missing, and how to get it")
    .action(async () => context.done(await (await import("./commands/doctor.ts")).doctor(context.terminal)));
  program
    .command("schema")
    .description("print the book's format as JSON Schema, for editors and for other programs")
    .action(async () => (await import("./commands/schema.ts")).schema(context.terminal));
  describeBench(program, context);
  describeReproduce(program, context);
  return program;
}

const withDevice = (
  command: Command,
  precision = "f32 by default on webgpu, which emulates f64 by f32x2, else f64",
): Command =>
  command
    .addOption(
      new Option("--backend <name>", "where to compute").choices(["auto", "cpu", "webgpu", "cuda"]).default("auto"),
    )
    .option("--device <n>", "which GPU of the backend cuda, as doctor counts them", deviceIndex)
    .addOption(new Option("--precision <name>", `of the arithmetic: ${precision}`).choices(["f64", "f32", "f32x2"]))
    .option("--threads <n>", "CPU threads (every core by default)", wholeNumber);

const withAccuracy = (command: Command): Command =>
  withDevice(command).option(
    "--accuracy <part>",
    "error aimed at, relative to spot: 1e-8 to 1e-3 (by default 1e-5; 1e-4 in several factors; 1e-3 by Monte Carlo, sparse grids and quantization)",
    accuracyGoal,
  );

const withGreeks = (command: Command): Command =>
  command.addOption(
    new Option("--greeks <which>", "all; grid: delta, gamma and theta, at no extra cost; none")
      .choices(["all", "grid", "none"])
      .default("all"),
  );

const withFormats = (command: Command): Command =>
  command
    .addOption(
      new Option("--input-format <name>", "of the book; else its name or first line tells").choices([
        "json",
        "ndjson",
        "csv",
        "parquet",
      ]),
    )
    .addOption(
      new Option("--format <name>", "of the results; else the output's name tells, or table").choices(OUTPUT_FORMATS),
    )
    .option("--keep <columns>", "columns of CSV or Parquet that are no terms of a trade: desk,ticker", names)
    .option("-o, --output <file>", "where results go; the file appears when it is complete")
    .option("--rows <n>", "of the table: all, or how many; a screen of them on a terminal, else all", tableRows);

/** Every method of the book; a table, so that the compiler finds one that is missing without the book being loaded. */
const METHODS: Readonly<Record<MethodName, true>> = {
  auto: true,
  "closed-form": true,
  deterministic: true,
  fdm: true,
  adi: true,
  "sparse-grid": true,
  montecarlo: true,
  quantization: true,
};

const withMethod = (command: Command): Command =>
  command.addOption(
    new Option(
      "--method <name>",
      "the method that prices all trades, instead of the book's own; auto: the cheapest that prices each",
    ).choices(Object.keys(METHODS)),
  );

/** What commander makes of the options. */
interface Flags {
  readonly accuracy?: number;
  readonly backend: PriceOptions["backend"];
  readonly precision?: PriceOptions["precision"];
  readonly device?: number;
  readonly threads?: number;
  readonly greeks: PriceOptions["greeks"];
  readonly market?: string;
  readonly marketAfter?: string;
  readonly inputFormat?: InputFormat;
  readonly format?: OutputFormat;
  readonly output?: string;
  readonly rows?: TableRows;
  readonly keep?: readonly string[];
  readonly groupBy?: readonly string[];
}

const OTHER_STATUS = "2 input or output that cannot be used,\n129, 130, 143 ended by SIGHUP, SIGINT, SIGTERM.";

function describePrice(program: Command, { terminal, signal, engine, done }: Context): void {
  const command = program
    .command("price")
    .description("price a book: value, Greeks and error estimate of every trade")
    .argument("<book>", "BOOK.json, BOOK.ndjson, TRADES.csv or TRADES.parquet; - reads standard input")
    .option("--market <file>", "market of an NDJSON, CSV or Parquet file of trades: asOf, market and scenarios as JSON")
    .option(
      "--group-by <names>",
      "totals by underlying, currency or tags as well: underlying, tag.desk, desk,ticker",
      names,
    )
    .addHelpText("after", `\nExit status: 0 all trades priced, 1 some were not, ${OTHER_STATUS}`);
  const all = withAccuracy(withGreeks(withMethod(withFormats(command))));
  all.action(async (path: string, flags: Flags & { method?: MethodName }) => {
    const { price } = await import("./commands/price.ts");
    done(await price(path, { ...priceOptions(flags), method: flags.method }, terminal, signal, engine));
  });
}

function describeExplain(program: Command, { terminal, signal, engine, done }: Context): void {
  const command = program
    .command("explain")
    .description("explain why the value of a book changed: time, spot, volatility, rates, dividends")
    .argument(
      "<before>",
      "the earlier book: BOOK.json, BOOK.ndjson, TRADES.csv or TRADES.parquet; - reads standard input",
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
    .addHelpText(
      "after",
      `\nExit status: 0 all trades explained, new, gone or changed; 1 some could not be; ${OTHER_STATUS}`,
    );
  withAccuracy(withFormats(command)).action(
    async (before: string, after: string | undefined, flags: Flags & Pick<ExplainCommandOptions, "method">) => {
      const { explain } = await import("./commands/explain.ts");
      const options = { ...priceOptions(flags), method: flags.method, marketAfter: flags.marketAfter };
      done(await explain(before, after, options, terminal, signal, engine));
    },
  );
}

function describeBench(program: Command, { terminal, signal, engine, done }: Context): void {
  const command = program
    .command("bench")
    .description("measure how fast this machine prices American puts")
    .option("--trades <n>", "how many", wholeNumber, 2000);
  withAccuracy(withGreeks(command)).action(async (flags: Flags & { trades: number }) => {
    const { bench } = await import("./commands/bench.ts");
    done(await bench({ ...priceOptions(flags), trades: flags.trades }, terminal, signal, engine));
  });
}

function describeReproduce(program: Command, { terminal, signal, done }: Context): void {
  const command = program
    .command("reproduce")
    .description("compute a published result on the devices of this machine, and time it")
    .argument("[name]", "which one")
    .option("--list", "say which there are")
    .option("--nodes <n>", "nodes of each axis", wholeNumber, 256)
    .option("--steps <n>", "time steps; more are taken where they are too short to measure", wholeNumber, 20)
    .option("--points <n>", "points of an estimate of π", wholeNumber, 10_000_000)
    .option("--repeats <n>", "estimates of π, two at least", atLeastTwo, 20)
    .option("--paths <n>", "paths of a quantization tree", wholeNumber, 100_000);
  type Given = Pick<Flags, "backend" | "device" | "precision" | "threads"> & {
    readonly list?: true;
    readonly nodes: number;
    readonly steps: number;
    readonly points: number;
    readonly repeats: number;
    readonly paths: number;
  };
  withDevice(command, "f32 by default").action(async (name: string | undefined, flags: Given) => {
    const { listReproductions, reproduce } = await import("./commands/reproduce.ts");
    const { list, device, threads, precision = "f32", ...rest } = flags;
    const options = { ...rest, device, threads, precision };
    done(list ? listReproductions(terminal) : await reproduce(name, options, terminal, signal));
  });
}

function priceOptions(flags: Flags): PriceOptions {
  const { market, inputFormat, format, output, device, threads, rows, keep, groupBy, ...rest } = flags;
  const precision = flags.precision ?? (flags.backend === "webgpu" ? "f32" : "f64");
  return { ...rest, precision, market, inputFormat, format, output, device, threads, rows, keep, groupBy };
}

function tableRows(text: string): TableRows {
  return text === "all" ? text : wholeNumber(text);
}

/** Names with commas between them. */
function names(text: string): string[] {
  const all = text.split(",").map((name) => name.trim());
  if (all.includes("")) throw new InvalidArgumentError("expected names with commas between them.");
  return all;
}

function deviceIndex(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 0) throw new InvalidArgumentError("expected a whole number from 0 on.");
  return value;
}

function accuracyGoal(text: string): number {
  const value = Number(text);
  if (!(value >= 1e-8 && value <= 1e-3)) throw new InvalidArgumentError("expected a number from 1e-8 to 1e-3.");
  return value;
}

function wholeNumber(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new InvalidArgumentError("expected a whole number from 1 on.");
  return value;
}

function atLeastTwo(text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 2) throw new InvalidArgumentError("expected a whole number from 2 on.");
  return value;
}
