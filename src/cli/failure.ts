import { getSystemErrorMap } from "node:util";

/** The error of a command that cannot go on: its message is for the person at the shell, and no stack is shown. */
export class CliError extends Error {
  override readonly name = "CliError";
}

/** The reason of the operating system, in words and without the names of calls: `no space left on device`. */
export function reasonOf(cause: unknown): string {
  const { errno, message } = cause as NodeJS.ErrnoException;
  return (errno === undefined ? undefined : getSystemErrorMap().get(errno)?.[1]) ?? message;
}

export const EXIT = {
  /** Everything was priced. */
  ok: 0,
  /** Some trades could not be. */
  failedTrades: 1,
  /** The input, the output, or the command line, cannot be used. */
  unusable: 2,
  /** A mistake of the program itself, or the machine gave way. */
  internal: 70,
} as const;

/** Signals that end the command, and its status then: 128 + their number, as a shell has it. */
export const INTERRUPTING = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;
export type InterruptingSignal = keyof typeof INTERRUPTING;

/** The reason of an abort that a signal from outside asked for. */
export class Interruption extends Error {
  override readonly name = "Interruption";
  readonly status: number;

  constructor(signal: InterruptingSignal) {
    super(`interrupted by ${signal}`);
    this.status = INTERRUPTING[signal];
  }
}
