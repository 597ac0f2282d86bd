import { once } from "node:events";
import { createWriteStream, realpathSync, statSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { CliError } from "./failure.ts";
import { type Sink, writeTo } from "./terminal.ts";

/** Where results go: standard output, or a file that appears under its name only when it is complete. */
export interface Output {
  readonly sink: Sink;
  readonly write: (text: string) => Promise<void>;
  readonly commit: () => Promise<void>;
  /** Leaves no trace of what was written. */
  readonly discard: () => Promise<void>;
}

const nothing = async (): Promise<void> => {};

export type OutputFormat = "table" | "json" | "ndjson" | "csv";

/** The format that the name of an output says. */
export function formatOfName(path: string | undefined): OutputFormat | undefined {
  const extension = path?.match(/\.(json|ndjson|csv)$/i)?.[1].toLowerCase();
  return extension as OutputFormat | undefined;
}

/** A table for people is cut, one for a pipe is not. */
export function tableOptions(all: boolean, sink: Sink): { all: boolean; columns: number | undefined } {
  // Some terminals say that they have 0 columns.
  return { all: all || sink.isTTY !== true, columns: sink.isTTY === true && sink.columns ? sink.columns : undefined };
}

/** The file of that name; standard output for none, or `-`. @throws CliError when the file cannot be written */
export async function openOutput(path: string | undefined, stdout: Sink): Promise<Output> {
  return path === undefined || path === "-" ? outputTo(stdout) : outputToFile(path);
}

export function outputTo(sink: Sink): Output {
  return { sink, write: (text) => writeTo(sink, text), commit: nothing, discard: nothing };
}

/** @throws CliError when the file cannot be written */
export async function outputToFile(path: string): Promise<Output> {
  const target = resolveTarget(path);
  const temporary = target.replaceable
    ? join(dirname(target.path), `.${basename(target.path)}.${process.pid}.tmp`)
    : target.path;
  const stream = createWriteStream(temporary, { encoding: "utf8" });
  try {
    await once(stream, "open");
  } catch (cause) {
    throw new CliError(`cannot write ${path}: ${reasonOf(cause)}`, { cause });
  }
  let failure: Error | undefined;
  stream.on("error", (error: Error) => {
    failure = new CliError(`cannot write ${path}: ${reasonOf(error)}`, { cause: error });
  });
  return {
    sink: stream,
    write: async (text) => {
      if (failure !== undefined) throw failure;
      await writeTo(stream, text);
    },
    commit: async () => {
      if (!stream.closed) await new Promise<void>((resolve) => stream.once("close", resolve).end());
      if (failure !== undefined) throw failure;
      if (target.replaceable) await rename(temporary, target.path);
    },
    discard: async () => {
      stream.destroy();
      // What was still to be written fails, which is no news.
      if (!stream.closed) await new Promise<void>((resolve) => stream.once("close", resolve));
      if (target.replaceable) await rm(temporary, { force: true });
    },
  };
}

/** Node's message, without the name of the temporary file, which nobody asked for. */
function reasonOf(cause: unknown): string {
  const { code, message } = cause as NodeJS.ErrnoException;
  if (code === "ENOENT" || code === "ENOTDIR") return "there is no such folder";
  return message.replace(/,? (?:open|write)\b.*$/, "").replace(/^E[A-Z]+: /, "");
}

/** A link is followed, so that it stays one; a device or a pipe (`/dev/null`) is written to, never replaced. */
function resolveTarget(path: string): { path: string; replaceable: boolean } {
  try {
    const real = realpathSync(path);
    const stats = statSync(real);
    if (stats.isDirectory()) throw new CliError(`cannot write ${path}: it is a directory`);
    return { path: real, replaceable: stats.isFile() };
  } catch (error) {
    if (error instanceof CliError) throw error;
    return { path, replaceable: true };
  }
}
