import { FeynkacError } from "../../base/errors.ts";

/** The error of a book that is priced in chunks if it cannot be started, continued or verified. */
export class RunError extends FeynkacError {
  readonly code: string = "RUN";
}

/**
 * The error of a file or an S3 object that cannot be read or written, because of a full disk, a network failure or a
 * missing permission. The trades are not the cause, so that trying again later may help.
 */
export class StorageError extends RunError {
  override readonly code = "STORAGE";
}
