/** Why the command cannot go on: its message is for the person at the shell, and no stack is shown. */
export class CliError extends Error {
  override readonly name = "CliError";
}

export const EXIT = {
  /** Everything was priced. */
  ok: 0,
  /** Some trades could not be. */
  failedTrades: 1,
  /** The input, or the command line, cannot be used. */
  unusable: 2,
  /** A mistake of the program itself, or the machine gave way. */
  internal: 70,
  /** 128 + SIGINT, 128 + SIGTERM. */
  interrupted: 130,
  terminated: 143,
} as const;

/** The reason of an abort that a signal from outside asked for. */
export class Interruption extends Error {
  override readonly name = "Interruption";
  readonly signal: "SIGINT" | "SIGTERM";

  constructor(signal: "SIGINT" | "SIGTERM") {
    super(`interrupted by ${signal}`);
    this.signal = signal;
  }
}
