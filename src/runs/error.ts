import { FeynkacError } from "../errors.ts";

/** The error of a run that cannot begin, continue, or be checked. */
export class RunError extends FeynkacError {
  readonly code: string = "RUN";
}

/**
 * The error of a file or an object that cannot be read or written: a full disk, a network failure, a missing
 * permission. The trades are not at fault, so that trying again later may help.
 */
export class StorageError extends RunError {
  override readonly code = "STORAGE";
}
