import { once } from "node:events";
import { accessSync, constants, createWriteStream, realpathSync, rmSync, statSync } from "node:fs";
import { rename } from "node:fs/promises";
import { basename, dirname, extname, join, resolve } from "node:path";
import { CliError, reasonOf } from "./failure.ts";
import { rowsOnScreen, type TableOptions } from "./format/table.ts";
import type { OutputPiece } from "../output/formats/index.ts";
import { type Sink, writeTo } from "./terminal.ts";

/** The destination of results: standard output, or a file that gets its name only when it is complete. */
export interface Output {
  readonly sink: Sink;
  readonly write: (part: OutputPiece) => Promise<void>;
  /** Completes the output and gives the file its name. */
  readonly commit: () => Promise<void>;
  /** Removes what was written. */
  readonly discard: () => Promise<void>;
}

const nothing = async (): Promise<void> => {};

/** The names of the output formats. */
export const OUTPUT_FORMATS = ["table", "json", "ndjson", "csv", "parquet", "arrow", "xlsx"] as const;
/** The name of an output format. */
export type OutputFormat = (typeof OUTPUT_FORMATS)[number];

const BY_EXTENSION: ReadonlyMap<string, OutputFormat> = new Map([
  [".arrow", "arrow"],
  [".csv", "csv"],
  [".json", "json"],
  [".jsonl", "ndjson"],
  [".ndjson", "ndjson"],
  [".parquet", "parquet"],
  [".txt", "table"],
  [".xlsx", "xlsx"],
]);

/** The formats that are no text, as messages name them. */
const BINARY: ReadonlyMap<OutputFormat, string> = new Map([
  ["parquet", "Parquet"],
  ["arrow", "Arrow"],
  ["xlsx", "A workbook"],
]);

/**
 * Returns the output format: the one that was asked for, otherwise the one that the output's name implies, otherwise a
 * table. @throws CliError a name without a known format; Parquet, Arrow or a workbook to a terminal
 */
function chooseOutputFormat(asked: OutputFormat | undefined, path: string | undefined, stdout: Sink): OutputFormat {
  const extension = path === undefined ? "" : extname(path).toLowerCase();
  const format = asked ?? (extension === "" ? "table" : BY_EXTENSION.get(extension));
  if (format === undefined) {
    const known = [...BY_EXTENSION.keys()].join(", ");
    throw new CliError(`no format is known by the name of ${path}; known are ${known}; or say it: --format csv`);
  }
  const binary = BINARY.get(format);
  if (binary !== undefined && (path === undefined || path === "-") && stdout.isTTY === true)
    throw new CliError(`${binary} is not for a terminal to show; give a file: --output results.${format}`);
  return format;
}

/** A path of an output (undefined for standard output), and the format of what goes there. */
export interface Target {
  readonly path: string | undefined;
  readonly format: OutputFormat;
}

/**
 * Returns the outputs that a command's options name, or else standard output. Of several, each has the format that its
 * name implies, and `asked` is that of standard output. @throws CliError as `chooseOutputFormat`; for a file that is
 * named twice, and for a format that is asked for where several files have names
 */
export function targetsOf(
  asked: OutputFormat | undefined,
  paths: readonly string[] | undefined,
  stdout: Sink,
): readonly Target[] {
  if (paths === undefined) return [{ path: undefined, format: chooseOutputFormat(asked, undefined, stdout) }];
  const places = paths.map((path) => (path === "-" ? path : resolve(path)));
  const twice = paths.find((_, i) => places.indexOf(places[i]) < i);
  if (twice !== undefined) throw new CliError(`--output ${twice} is given twice`);
  if (paths.length > 1 && asked !== undefined && !paths.includes("-"))
    throw new CliError(
      `--format ${asked}: the names of several outputs tell their formats; leave it out, or add --output -`,
    );
  return paths.map((path) => ({
    path,
    format: chooseOutputFormat(paths.length === 1 || path === "-" ? asked : undefined, path, stdout),
  }));
}

/** Checks that a command's one output is text or JSON, which is all that it writes. @throws CliError otherwise */
export function checkTextOrJson(
  asked: OutputFormat | undefined,
  paths: readonly string[] | undefined,
  stdout: Sink,
): void {
  const [{ format }, ...more] = targetsOf(asked, paths, stdout);
  if (more.length > 0) throw new CliError("--output: expected one file, or none for standard output");
  if (format !== "table" && format !== "json")
    throw new CliError(`the output is text or JSON, not ${format}; give a name in .txt or .json`);
}

/** The maximum number of rows of a printed table. */
export type TableRows = number | "all";

/** The number of lines that is assumed for a terminal that does not report it. */
const USUAL_LINES = 24;

/**
 * Returns the options of a printed table. On a terminal the table fits the screen; in a pipe or a file it is complete.
 */
export function tableOptions(rows: TableRows | undefined, { isTTY, columns, rows: lines }: Sink): TableOptions {
  const terminal = isTTY === true;
  const max = rows ?? (terminal ? rowsOnScreen(lines || USUAL_LINES) : "all");
  return {
    rows: max === "all" ? Number.POSITIVE_INFINITY : max,
    // Some terminals say that they have 0 columns.
    width: terminal && columns ? columns : undefined,
    lines: terminal && rows === undefined ? lines || USUAL_LINES : undefined,
  };
}

/**
 * Tells whether an output path means that a book is priced in chunks, whose results are files in a folder. Such a path
 * is an existing folder, a name that ends with a slash, or a location in S3.
 */
export function isRunFolder(path: string): boolean {
  return (
    /[/\\]$/.test(path) || /^s3:\/\//i.test(path) || (statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false)
  );
}

/**
 * Opens an output file, or standard output if the path is undefined or `-`. @throws CliError when the file cannot be
 * written
 */
export async function openOutput(path: string | undefined, stdout: Sink): Promise<Output> {
  return path === undefined || path === "-" ? outputTo(stdout) : outputToFile(path);
}

/** An output with the format of what is written to it. */
export type FormattedOutput = Output & Pick<Target, "format">;

/** Opened outputs, which are completed or removed together. */
export interface Outputs extends Pick<Output, "commit" | "discard"> {
  readonly all: readonly FormattedOutput[];
}

/** Opens all outputs of a command. @throws CliError when one of them cannot be written; then none is left */
export async function openOutputs(targets: readonly Target[], stdout: Sink): Promise<Outputs> {
  const all: FormattedOutput[] = [];
  const each = async (of: (output: Output) => Promise<void>): Promise<void> => {
    for (const output of all) await of(output);
  };
  const outputs: Outputs = {
    all,
    commit: () => each((output) => output.commit()),
    discard: () => each((output) => output.discard()),
  };
  try {
    for (const { path, format } of targets) all.push({ ...(await openOutput(path, stdout)), format });
  } catch (error) {
    await outputs.discard();
    throw error;
  }
  return outputs;
}

/** Returns an output that writes to a stream. */
export function outputTo(sink: Sink): Output {
  return { sink, write: (part) => writeTo(sink, part), commit: nothing, discard: nothing };
}

/**
 * Opens a file for results, which gets its name only when it is complete. @throws CliError when the file cannot be
 * written
 */
export async function outputToFile(path: string): Promise<Output> {
  const target = targetOf(path);
  const temporary = target.replaceable
    ? join(dirname(target.path), `.${basename(target.path)}.${process.pid}.tmp`)
    : target.path;
  // However the process ends, but for a signal that nothing can be done about, no temporary file stays.
  const remove = (): void => rmSync(temporary, { force: true });
  if (target.replaceable) process.once("exit", remove);
  const settle = (): void => void process.off("exit", remove);
  const stream = createWriteStream(temporary, { encoding: "utf8" });
  try {
    await once(stream, "open");
  } catch (cause) {
    settle();
    throw cannotWrite(path, cause);
  }
  let failure: Error | undefined;
  stream.on("error", (error: Error) => {
    failure = cannotWrite(path, error);
  });
  return {
    sink: stream,
    write: async (part) => {
      if (failure !== undefined) throw failure;
      try {
        await writeTo(stream, part);
      } catch (cause) {
        throw cannotWrite(path, cause);
      }
    },
    commit: async () => {
      if (!stream.closed) await new Promise<void>((resolve) => stream.once("close", resolve).end());
      if (failure !== undefined) throw failure;
      if (!target.replaceable) return;
      try {
        await rename(temporary, target.path);
      } catch (cause) {
        throw cannotWrite(path, cause);
      }
      settle();
    },
    discard: async () => {
      stream.destroy();
      // What was still to be written fails, which is no news.
      if (!stream.closed) await new Promise<void>((resolve) => stream.once("close", resolve));
      if (target.replaceable) remove();
      settle();
    },
  };
}

function targetOf(path: string): ReturnType<typeof resolveTarget> {
  try {
    return resolveTarget(path);
  } catch (cause) {
    throw cause instanceof CliError ? cause : cannotWrite(path, cause);
  }
}

function cannotWrite(path: string, cause: unknown): CliError {
  const { code } = cause as NodeJS.ErrnoException;
  const noFolder = code === "ENOENT" || code === "ENOTDIR";
  return new CliError(`cannot write ${path}: ${noFolder ? "there is no such folder" : reasonOf(cause)}`, { cause });
}

/**
 * Returns the path that output is written to. A symbolic link is followed, so that its target is replaced and not the
 * link. A device or a pipe (`/dev/null`, `/dev/stdout`) is not replaceable and is written directly.
 */
function resolveTarget(path: string): { path: string; replaceable: boolean } {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return { path, replaceable: true };
  if (stats.isDirectory()) throw new CliError(`cannot write ${path}: it is a directory`);
  // Replacing a file needs no right to write it: one that its owner protects stays.
  accessSync(path, constants.W_OK);
  // What `/dev/stdout` links to may have no path, when it is a pipe.
  return stats.isFile() ? { path: realpathSync(path), replaceable: true } : { path, replaceable: false };
}
