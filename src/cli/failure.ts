import { getSystemErrorMap } from "node:util";

/** The error of a command that cannot continue. The user sees its message without a stack. */
export class CliError extends Error {
  override readonly name = "CliError";
}

/** Returns the reason of an operating system error in words, such as `no space left on device`. */
export function reasonOf(cause: unknown): string {
  const { errno, message } = cause as NodeJS.ErrnoException;
  return (errno === undefined ? undefined : getSystemErrorMap().get(errno)?.[1]) ?? message;
}

/** The exit statuses of the command line. */
export const EXIT_STATUS = {
  /** All trades were priced. */
  ok: 0,
  /** Some trades could not be priced. */
  failedTrades: 1,
  /** The input, the output or the command line is invalid. */
  unusable: 2,
  /** A bug in the program, or a failure of the machine. */
  internal: 70,
} as const;

/** The signals that end a command, with the exit status of each: 128 plus the signal's number, as in a shell. */
export const SIGNAL_STATUS = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;
/** The name of a signal that ends a command. */
export type InterruptingSignal = keyof typeof SIGNAL_STATUS;

/** The error by which a command is aborted when the process receives a signal, such as SIGINT. */
export class Interruption extends Error {
  override readonly name = "Interruption";
  readonly status: number;

  constructor(signal: InterruptingSignal) {
    super(`interrupted by ${signal}`);
    this.status = SIGNAL_STATUS[signal];
  }
}
