/** Options that several commands share. */
import type { EngineOptions } from "./choose-backend.ts";
import type { RunOptions } from "./engine.ts";
import { type Command, Option } from "commander";
import type { MethodName, TableOptions } from "../book/index.ts";
import {
  collectPaths,
  parseAccuracy,
  parseColumnMap,
  parseDeviceIndex,
  parseDeviceList,
  parseNames,
  parseSeconds,
  parseTableRows,
  parseWholeNumber,
} from "./arguments.ts";
import { CliError } from "./failure.ts";
import type { InputFormat } from "./input.ts";
import { OUTPUT_FORMATS, type OutputFormat, type TableRows } from "./output.ts";

/** The help text of the option --keep. */
export const KEEP_HELP = "columns of CSV or Parquet that are no terms of a trade: desk,ticker";
/** The help text of the option --scenarios. */
export const SCENARIOS_HELP =
  "a table of named scenarios, CSV, Parquet or a workbook: a row for each, columns name, spot.SAP, rate.EUR, …";
/** The help text of the option --map. */
export const MAP_HELP = "terms of a trade by columns of CSV or Parquet: CallPut=payoff,Strike=strike; or a JSON file";
/** The help text of the exit statuses that commands share. */
export const OTHER_STATUS = "2 input or output that cannot be used,\n129, 130, 143 ended by SIGHUP, SIGINT, SIGTERM.";
/** The help text of the option --group-by. */
export const GROUP_BY_HELP = "totals by underlying, currency or tags as well: underlying, tag.desk, desk,ticker";

/** Adds the options that select a device to a command. `precision` is the help text about the default precision. */
export const addDeviceOptions = (
  command: Command,
  precision = "f32 by default on webgpu, which emulates f64 by f32x2, else f64",
): Command =>
  command
    .addOption(
      new Option("--backend <name>", "where to compute").choices(["auto", "cpu", "webgpu", "cuda"]).default("auto"),
    )
    .option("--device <n>", "which GPU of the backend cuda, as doctor counts them", parseDeviceIndex)
    .option("--devices <list>", "several GPUs for long books, the first for all else: cuda:0,cuda:1", parseDeviceList)
    .addOption(new Option("--precision <name>", `of the arithmetic: ${precision}`).choices(["f64", "f32", "f32x2"]))
    .option("--threads <n>", "CPU threads (every core by default)", parseWholeNumber);

/** Adds the options for accuracy to a command. */
export const addAccuracyOptions = (command: Command): Command =>
  addDeviceOptions(command).option(
    "--accuracy <part>",
    "error aimed at, relative to spot: 1e-8 to 1e-3 (by default 1e-5; 1e-4 in several factors; 1e-3 by Monte Carlo, sparse grids, quantization and convolution)",
    parseAccuracy,
  );

/** Adds the option --greeks to a command. */
export const addGreeksOption = (command: Command): Command =>
  command.addOption(
    new Option(
      "--greeks <which>",
      "all; buckets: all, and risk by quote, node and pillar; grid: delta, gamma and theta, at no extra cost; none",
    )
      .choices(["all", "buckets", "grid", "none"])
      .default("all"),
  );

/** Adds the option --strict to a command. */
export const addStrictOption = (command: Command): Command =>
  command.option("--strict", "a trade that depends on a doubtful fit to quotes is an error instead of a warning");

/** Adds the options for input and output formats to a command. */
export const addFormatOptions = (command: Command): Command =>
  command
    .addOption(
      new Option("--input-format <name>", "of the book; else its name or first line tells").choices([
        "json",
        "ndjson",
        "csv",
        "parquet",
        "xlsx",
      ]),
    )
    .addOption(
      new Option("--format <name>", "of the results; else the output's name tells, or table").choices(OUTPUT_FORMATS),
    )
    .option("--keep <columns>", KEEP_HELP, parseNames)
    .option("--map <columns>", MAP_HELP, parseColumnMap)
    .option(
      "-o, --output <file>",
      "where results go, several times for several formats; a file appears when it is complete; FOLDER/ or s3://BUCKET/PREFIX: a run in parts",
      collectPaths,
    )
    .option("--rows <n>", "of the table: all, or how many; a screen of them on a terminal, else all", parseTableRows);

/**
 * The names of all pricing methods. As a record, it is checked for completeness by the compiler, without loading the
 * code of books.
 */
const METHODS: Readonly<Record<MethodName, true>> = {
  auto: true,
  "closed-form": true,
  deterministic: true,
  integral: true,
  fdm: true,
  adi: true,
  "sparse-grid": true,
  montecarlo: true,
  quantization: true,
  convolution: true,
};

/** Adds the option --method to a command. */
export const addMethodOption = (command: Command): Command =>
  command.addOption(
    new Option(
      "--method <name>",
      "the method that prices all trades, instead of the book's own; auto: the cheapest that prices each",
    ).choices(Object.keys(METHODS)),
  );

/** Adds the options for the size of chunks of trades to a command. */
export const addChunkOptions = (command: Command): Command =>
  command
    .option("--chunk-trades <n>", "of a run in parts: trades in a part, at most", parseWholeNumber, 16_384)
    .option("--chunk-seconds <s>", "of a run in parts: expected cost of a part on one core, at most", parseSeconds, 1);

/** The command-line options as the parser (commander) returns them. */
export interface Flags {
  readonly accuracy?: number;
  readonly backend: PriceOptions["backend"];
  readonly precision?: PriceOptions["precision"];
  readonly device?: number;
  readonly devices?: readonly number[];
  readonly threads?: number;
  readonly greeks: PriceOptions["greeks"];
  readonly sensitivityErrors?: true;
  readonly timePerTrade?: number;
  readonly strict?: true;
  readonly market?: string;
  readonly marketAfter?: string;
  readonly inputFormat?: InputFormat;
  readonly format?: OutputFormat;
  readonly output?: readonly string[];
  readonly rows?: TableRows;
  readonly keep?: TableOptions["keep"];
  readonly map?: TableOptions["map"];
  readonly groupBy?: readonly string[];
  readonly buckets?: string;
  readonly scenarios?: string;
  readonly resume?: true;
  readonly chunkTrades?: number;
  readonly chunkSeconds?: number;
}

/** Returns those options of `feynkac price` that `priceTrades` takes. */
export const pricingOptionsOf = ({
  greeks,
  sensitivityErrors,
  accuracy,
  timePerTrade,
  strict,
  method,
}: PriceOptions) => ({
  greeks,
  sensitivityErrorEstimates: sensitivityErrors,
  ...(timePerTrade === undefined ? {} : { timePerTrade }),
  ...(strict === undefined ? {} : { strict }),
  ...(accuracy === undefined ? {} : { accuracy }),
  ...(method === undefined ? {} : { method }),
});

/**
 * Converts the options that the command-line parser returns to the options of `feynkac price`. @throws CliError options
 * that contradict each other
 */
export function priceOptions(flags: Flags): PriceOptions {
  const { market, inputFormat, format, output: outputs, threads, rows, keep, map, groupBy, ...others } = flags;
  const { sensitivityErrors = false, device: one, devices, ...rest } = others;
  if (flags.buckets !== undefined && flags.greeks !== "all" && flags.greeks !== "buckets")
    throw new CliError(`--buckets needs --greeks buckets, got ${flags.greeks}`);
  const greeks = flags.buckets === undefined ? flags.greeks : "buckets";
  if (devices !== undefined && (one !== undefined || (flags.backend !== "auto" && flags.backend !== "cuda")))
    throw new CliError("--devices names GPUs of the backend cuda: give neither --device nor another --backend");
  const several = devices === undefined ? { device: one } : { backend: "cuda" as const, device: devices };
  const precision = flags.precision ?? (flags.backend === "webgpu" ? "f32" : "f64");
  const files = { market, inputFormat, format, outputs, rows, keep, map, groupBy };
  return { ...rest, greeks, ...files, ...several, precision, sensitivityErrors, threads };
}

/** The options of the command `feynkac price`. */
export interface PriceOptions
  extends EngineOptions, Pick<RunOptions, "greeks" | "accuracy" | "timePerTrade" | "strict"> {
  readonly sensitivityErrors: boolean;
  readonly method?: MethodName | undefined;
  readonly market: string | undefined;
  readonly inputFormat: InputFormat | undefined;
  readonly format: OutputFormat | undefined;
  /** The paths of the results; undefined for standard output. */
  readonly outputs: readonly string[] | undefined;
  readonly rows: TableRows | undefined;
  /** The columns of a table that become tags of its trades. */
  readonly keep: TableOptions["keep"];
  /** The columns of a table that have names of their own for terms of its trades. */
  readonly map?: TableOptions["map"];
  /** The tags by which totals are grouped. */
  readonly groupBy: readonly string[] | undefined;
  /** True to continue pricing a book in chunks. */
  readonly resume?: boolean | undefined;
  /** The maximum number of trades in a chunk. */
  readonly chunkTrades?: number | undefined;
  /** The maximum expected time of a chunk on one core, in seconds. */
  readonly chunkSeconds?: number | undefined;
  /** The path of a file for risk by bucket, CSV or Parquet by its name. */
  readonly buckets?: string | undefined;
  /** The path of a table of named scenarios, in the place of those of the book. */
  readonly scenarios?: string | undefined;
  /** The path of a report on the results. */
  readonly report?: string | undefined;
}
