/** Reads whole files for commands, and names the file in errors about what it contains. */
import { readFileSync } from "node:fs";
import { BookError } from "../base/errors.ts";
import { decodeText, readWholeText } from "../book/index.ts";
import { CliError, reasonOf } from "./failure.ts";
import type { Terminal } from "./terminal.ts";

/** Reads a whole file. @throws CliError */
export function readWholeFile(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (cause) {
    const missing = (cause as NodeJS.ErrnoException).code === "ENOENT";
    throw new CliError(`cannot read ${path}: ${missing ? "there is no such file" : reasonOf(cause)}`, { cause });
  }
}

/** Reads the bytes of a whole file, or of standard input if the path is `-`. @throws CliError */
export async function readBytes(path: string, { stdin }: Terminal): Promise<Uint8Array> {
  if (path !== "-") return readWholeFile(path);
  const parts: Uint8Array[] = [];
  for await (const part of stdin as AsyncIterable<Uint8Array>) parts.push(part);
  return Buffer.concat(parts);
}

/** Reads a whole file of text, or standard input if the path is `-`. @throws CliError | BookError */
export async function readText(path: string, { stdin }: Terminal): Promise<string> {
  if (path === "-") return readWholeText(decodeText(stdin as AsyncIterable<Uint8Array>));
  return readWholeFile(path).toString("utf8");
}

/**
 * Runs a function that reads the contents of a file, with the file's name before the message of its error. `-` is
 * standard input. @throws CliError in the place of a BookError
 */
export async function inFile<T>(path: string, read: () => T | Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof BookError)) throw error; // what names its file already is a CliError
    throw new CliError(`${path === "-" ? "standard input" : path}: ${error.message}`, { cause: error });
  }
}
