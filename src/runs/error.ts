import { FeynkacError } from "../errors.ts";

/** A run cannot begin, go on, or be checked. */
export class RunError extends FeynkacError {
  readonly code: string = "RUN";
}

/**
 * A file or an object cannot be read or written: the disk is full, the network is down, a right is missing. Nothing is
 * wrong with the trades, so that trying again later may help.
 */
export class StorageError extends RunError {
  override readonly code = "STORAGE";
}
