/** The place of the user's code, which errors about functions and formulas name. */
import type * as NodeFs from "node:fs";
import { KernelError, type SourcePlace } from "../../../base/errors.ts";

/**
 * Returns an error whose message tells the position in the user's source file. The position is exact where the file
 * that calls `solve` can be read and contains the text of the function once. Otherwise it is the line and column in the
 * function, with the call of `solve` as far as the stack trace shows it; bundled code is located in its bundle.
 */
export function placed(error: unknown, called: Error): unknown {
  if (!(error instanceof KernelError) || error.place?.what === undefined) return error;
  return new KernelError(`${titleOf(error.place, called)}: ${error.place.what}`, error.place, { cause: error });
}

/**
 * Returns the text that tells a position in a user's function: "terminal at /home/me/model.mjs:12:13", or "terminal,
 * line 1, column 9 (solve called at …)".
 */
export function titleOf({ name, source, line, column }: SourcePlace, called: Error): string {
  const call = callSite(called.stack);
  const exact = call === undefined || source === undefined ? undefined : inFile(call.file, source, line, column);
  if (exact !== undefined) return `${name} at ${exact}`;
  const where = call === undefined ? "" : ` (solve called at ${call.file}:${call.line}:${call.column})`;
  return `${name}, line ${line}, column ${column}${where}`;
}

interface CallSite {
  readonly file: string;
  readonly line: string;
  readonly column: string;
}

/** "    at async solve (file:///home/me/model.mjs:12:13)"; "solve@https://me/model.js:12:13" elsewhere. */
const V8_FRAME = /^\s*at (?:async )?(?:.* \()?(.+?):(\d+):(\d+)\)?$/;
const OTHER_FRAME = /^(?:[^@]*@)?([^\s].*):(\d+):(\d+)$/;

/** The frame below the first of a stack that was made in `solve`. */
function callSite(stack = ""): CallSite | undefined {
  const frames = stack.split("\n").flatMap((frame) => {
    const match = V8_FRAME.exec(frame) ?? OTHER_FRAME.exec(frame);
    return match === null ? [] : [{ file: pathOf(match[1]), line: match[2], column: match[3] }];
  });
  return frames[1];
}

/** The path of a module on this machine, as Node writes it in stacks; any other address as it is. */
const pathOf = (address: string): string =>
  address.startsWith("file://") ? decodeURI(address).replace(/^file:\/\/(?:\/(?=[A-Za-z]:))?/, "") : address;

/**
 * Finds a text in a file; undefined where the file cannot be read (a page, a bundle that has gone) or does not have the
 * text, or twice.
 */
function inFile(file: string, text: string, line: number, column: number): string | undefined {
  const content = contentOf(file);
  const at = content.indexOf(text);
  if (at < 0 || content.includes(text, at + 1)) return undefined;
  const before = content.slice(0, at).split("\n");
  const shift = line === 1 ? before[before.length - 1].length : 0;
  return `${file}:${before.length + line - 1}:${column + shift}`;
}

function contentOf(file: string): string {
  // Not an import: bundlers for browsers would look for the module.
  const { process } = globalThis as { process?: { getBuiltinModule?: (name: string) => unknown } };
  const fs = process?.getBuiltinModule?.("node:fs") as typeof NodeFs | undefined;
  try {
    return fs?.readFileSync(file, "utf8") ?? "";
  } catch {
    return "";
  }
}
