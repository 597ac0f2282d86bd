import { FeynkacError } from "../base/errors.ts";
import { CliError, EXIT_STATUS, SIGNAL_STATUS, Interruption } from "./failure.ts";
import type { Sink, Terminal } from "./terminal.ts";

/**
 * The codes of errors that the user can avoid by other input or options. Others, such as a lost device or too little
 * memory, are not the user's fault.
 */
const ASKED_WRONGLY: ReadonlySet<string> = new Set([
  "BOOK",
  "SPEC",
  "PRECISION",
  "DEVICE_UNAVAILABLE",
  "RUN",
  "STORAGE",
]);

/** Writes the error that ended a command to standard error, and returns the exit status for this kind of error. */
export function reportFailure(error: unknown, { stderr }: Terminal, signal: AbortSignal): number {
  if (isBrokenPipe(error) || isBrokenPipe(signal.reason)) return EXIT_STATUS.ok;
  if (signal.aborted && !(signal.reason instanceof CliError)) {
    stderr.write("feynkac: interrupted\n");
    return signal.reason instanceof Interruption ? signal.reason.status : SIGNAL_STATUS.SIGINT;
  }
  return explain(signal.aborted ? signal.reason : error, stderr);
}

function explain(error: unknown, stderr: Sink): number {
  if (error instanceof CliError || error instanceof FeynkacError) {
    stderr.write(`feynkac: ${error.message}\n`);
    return error instanceof CliError || ASKED_WRONGLY.has(error.code) ? EXIT_STATUS.unusable : EXIT_STATUS.internal;
  }
  const trace = error instanceof Error ? (error.stack ?? error.message) : String(error);
  stderr.write(`feynkac: this is a mistake of the program, please report it: ${trace}\n`);
  return EXIT_STATUS.internal;
}

function isBrokenPipe(error: unknown): boolean {
  return error instanceof Error && (error as NodeJS.ErrnoException).code === "EPIPE";
}
