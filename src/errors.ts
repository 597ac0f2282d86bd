/**
 * Every error Feynkac throws: a class per kind, a stable `code`, and a message that says who, what was got, what was
 * expected and what to do about it. The original error is kept as `cause`.
 */
export abstract class FeynkacError extends Error {
  abstract readonly code: string;

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** Where in a source text an error is, and what it says there: for those who name the place in their own way. */
export interface SourcePlace {
  /** 1-based, inside `source`. */
  readonly line: number;
  readonly column: number;
  /** The kernel's or the function's name and text. */
  readonly name?: string;
  readonly source?: string;
  /** The message without its place: what is wrong, the line with a caret, the remedy. */
  readonly what?: string;
}

/** A kernel's source cannot be compiled. The message holds file, line, a caret and the remedy. */
export class KernelError extends FeynkacError {
  readonly code = "KERNEL";
  /** 1-based line and column inside the kernel's own source text, where known. */
  readonly line: number | undefined;
  readonly column: number | undefined;
  readonly place: SourcePlace | undefined;

  constructor(message: string, place?: SourcePlace, options?: ErrorOptions) {
    super(message, options);
    this.line = place?.line;
    this.column = place?.column;
    this.place = place;
  }
}

/**
 * A kernel did something at run time that the reference interpreter forbids: out of bounds, a race, an uninitialised
 * read.
 */
export class KernelRuntimeError extends FeynkacError {
  readonly code = "KERNEL_RUNTIME";
}

/** Arguments of a launch, or sizes of arrays, do not fit together. */
export class ShapeError extends FeynkacError {
  readonly code = "SHAPE";
}

/** A specification is not one that can be carried out (a negative size, an unknown scheme). */
export class SpecError extends FeynkacError {
  readonly code = "SPEC";
}

/** A matrix that was to be factored is not positive definite. */
export class NotPositiveDefiniteError extends FeynkacError {
  readonly code = "NOT_POSITIVE_DEFINITE";
  /** Its place in the batch. */
  readonly matrix: number;
  /** The order of the first leading minor that is not positive. */
  readonly minor: number;

  constructor(matrix: number, minor: number) {
    super(
      `cholesky: matrix ${matrix}: the leading minor of order ${minor} is not positive, expected a positive definite matrix; ` +
        "of a correlation matrix, nearestCorrelation gives the nearest one",
    );
    this.matrix = matrix;
    this.minor = minor;
  }
}

/** The device does not offer the precision that was asked for. Never silently less. */
export class PrecisionError extends FeynkacError {
  readonly code = "PRECISION";
}

/** A resource was used after it was disposed. */
export class DisposedError extends FeynkacError {
  readonly code = "DISPOSED";
}

/** A back end is not there, or could not be started; the message says what is missing and how to get it. */
export class DeviceUnavailableError extends FeynkacError {
  readonly code = "DEVICE_UNAVAILABLE";
}

/** The device went away (driver reset, GPU unplugged, worker died) while work was under way. */
export class DeviceLostError extends FeynkacError {
  readonly code = "DEVICE_LOST";
}

/** The device has not enough memory; the device remains usable. */
export class OutOfMemoryError extends FeynkacError {
  readonly code = "OUT_OF_MEMORY";
}

/** A book, or a part of it, cannot be used. `path` names the place: `trades[3].strike`. */
export class BookError extends FeynkacError {
  readonly code = "BOOK";
  readonly path: string;

  constructor(path: string, message: string, options?: ErrorOptions) {
    super(path === "" ? message : `${path}: ${message}`, options);
    this.path = path;
  }
}
