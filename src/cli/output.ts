import { once } from "node:events";
import { createWriteStream, realpathSync, rmSync, statSync } from "node:fs";
import { rename } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { CliError, reasonOf } from "./failure.ts";
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
    write: async (text) => {
      if (failure !== undefined) throw failure;
      try {
        await writeTo(stream, text);
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

/** A link is followed, so that it stays one; a device or a pipe (`/dev/null`, `/dev/stdout`) is written to, never replaced. */
function resolveTarget(path: string): { path: string; replaceable: boolean } {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return { path, replaceable: true };
  if (stats.isDirectory()) throw new CliError(`cannot write ${path}: it is a directory`);
  // What `/dev/stdout` links to may have no path, when it is a pipe.
  return stats.isFile() ? { path: realpathSync(path), replaceable: true } : { path, replaceable: false };
}
