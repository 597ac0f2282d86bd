/**
 * The base class of every error that Feynkac throws. Each kind has a class and a stable `code`. The message names the
 * function, the given and the expected value, and the remedy. An original error is kept as `cause`.
 *
 * @example
 * import { FeynkacError, parseBook } from "feynkac";
 *
 * try {
 *   parseBook("{}");
 * } catch (error) {
 *   if (error instanceof FeynkacError) console.log(error.code, error.message);
 *   // BOOK asOf: expected an ISO date or instant ("2026-11-20T16:00:00Z"), got nothing
 * }
 * @stable
 */
export abstract class FeynkacError extends Error {
  /** A stable code for programs: "BOOK", "SPEC", "SHAPE" and so on. */
  abstract readonly code: string;

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/**
 * The position of an error in a source text, and the pieces of its message, for callers that format the message
 * themselves.
 * @stable
 */
export interface SourcePlace {
  /** The line inside `source`, from 1. */
  readonly line: number;
  /** The column, from 1. */
  readonly column: number;
  /** The name of the kernel or function. */
  readonly name?: string;
  /** The source text of the kernel or function. */
  readonly source?: string;
  /** The message without the position: what is wrong, the line with a caret, and the remedy. */
  readonly what?: string;
}

/**
 * The error of a kernel, a function or a formula whose source cannot be compiled. The message has the file, the line, a
 * caret and the remedy.
 *
 * @example
 * import { formula } from "feynkac/kernel";
 * import { KernelError } from "feynkac";
 *
 * try {
 *   formula("max(S - K, 0)", ["S"]);
 * } catch (error) {
 *   if (error instanceof KernelError) console.log(error.line, error.column); // 1 9
 * }
 * @stable
 */
export class KernelError extends FeynkacError {
  readonly code = "KERNEL";
  /** The line inside the kernel's own source text, from 1, if it is known. */
  readonly line: number | undefined;
  /** The column in that line, from 1, if it is known. */
  readonly column: number | undefined;
  /** The position with the source text, if it is known. */
  readonly place: SourcePlace | undefined;

  constructor(message: string, place?: SourcePlace, options?: ErrorOptions) {
    super(message, options);
    this.line = place?.line;
    this.column = place?.column;
    this.place = place;
  }
}

/**
 * The error of a kernel that, at run time, uses an index out of bounds, has a data race, or reads uninitialised memory.
 * Only the reference interpreter detects these and throws this error; devices do not.
 *
 * @example
 * import { KernelRuntimeError } from "feynkac";
 *
 * console.log(new KernelRuntimeError("u[5]: the array has 5 elements").code); // KERNEL_RUNTIME
 * @stable
 */
export class KernelRuntimeError extends FeynkacError {
  readonly code = "KERNEL_RUNTIME";
}

/**
 * The error of launch arguments or sizes of arrays that do not match.
 *
 * @example
 * import { ShapeError } from "feynkac";
 * import { solveTridiagonal } from "feynkac/linalg";
 *
 * try {
 *   await solveTridiagonal({ lower: [0], diagonal: [4, 4], upper: [1, 0], rhs: [5, 5] });
 * } catch (error) {
 *   if (error instanceof ShapeError) console.log(error.message); // solveTridiagonal: lower: got 1 elements, expected 2
 * }
 * @stable
 */
export class ShapeError extends FeynkacError {
  readonly code = "SHAPE";
}

/**
 * The error of a specification or an option that is invalid or cannot be satisfied, such as a negative size or an
 * unknown scheme.
 *
 * @example
 * import { SpecError } from "feynkac";
 * import { matmulSpec } from "feynkac/linalg";
 *
 * try {
 *   matmulSpec({ rows: -1, inner: 2, columns: 2 });
 * } catch (error) {
 *   if (error instanceof SpecError) console.log(error.message);
 *   // matmul: rows: got -1, expected a whole number from 0 to 2,147,483,647
 * }
 * @stable
 */
export class SpecError extends FeynkacError {
  readonly code = "SPEC";
}

/**
 * The error of a matrix that cannot be factorised because it is not positive definite.
 *
 * @example
 * import { NotPositiveDefiniteError } from "feynkac";
 * import { geometricBrownian } from "feynkac/montecarlo";
 *
 * const correlation = [[1, 0.9, 0], [0.9, 1, 0.9], [0, 0.9, 1]];
 * try {
 *   geometricBrownian({ spots: [100, 90, 80], volatilities: [0.2, 0.3, 0.2], correlation });
 * } catch (error) {
 *   if (error instanceof NotPositiveDefiniteError) console.log(error.matrix, error.minor); // 0 3
 * }
 * @stable
 */
export class NotPositiveDefiniteError extends FeynkacError {
  readonly code = "NOT_POSITIVE_DEFINITE";
  /** The number of the matrix in its batch. */
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

/**
 * The error of a precision that the device does not offer. Feynkac never computes in a lower precision instead.
 *
 * @example
 * import { openDevice, PrecisionError } from "feynkac";
 *
 * try {
 *   await openDevice({ backend: "cpu", precision: "f32x2" });
 * } catch (error) {
 *   if (error instanceof PrecisionError) console.log(error.code); // PRECISION
 * }
 * @stable
 */
export class PrecisionError extends FeynkacError {
  readonly code = "PRECISION";
}

/**
 * The error of a resource that was used after its disposal.
 *
 * @example
 * import { DisposedError, openDevice } from "feynkac";
 *
 * using device = await openDevice({ backend: "cpu", threads: 1 });
 * const buffer = device.createBuffer("f64", 3);
 * buffer[Symbol.dispose]();
 * try {
 *   await device.read(buffer);
 * } catch (error) {
 *   if (error instanceof DisposedError) console.log(error.code); // DISPOSED
 * }
 * @stable
 */
export class DisposedError extends FeynkacError {
  readonly code = "DISPOSED";
}

/**
 * The error of a back end that is missing or cannot be started. The message says what is missing and how to get it.
 *
 * @example
 * import { DeviceUnavailableError, openDevice } from "feynkac";
 *
 * try {
 *   using device = await openDevice({ backend: "cuda", device: 99 });
 * } catch (error) {
 *   if (error instanceof DeviceUnavailableError) console.log(error.code); // DEVICE_UNAVAILABLE
 * }
 * @stable
 */
export class DeviceUnavailableError extends FeynkacError {
  readonly code = "DEVICE_UNAVAILABLE";
}

/**
 * The error of a device that was lost during work, because the driver was reset, the GPU was unplugged, or a worker
 * thread died. Recorded work is lost, and only a new device can continue. `priceBook` and `priceTrades` can continue by
 * themselves on another device; see `PricingOptions.openFallback`.
 *
 * @example
 * import { DeviceLostError } from "feynkac";
 *
 * console.log(new DeviceLostError("the driver was reset").code); // DEVICE_LOST
 * @stable
 */
export class DeviceLostError extends FeynkacError {
  readonly code = "DEVICE_LOST";
}

/**
 * The error of a device that has not enough memory for a buffer. The device remains usable.
 *
 * @example
 * import { openDevice, OutOfMemoryError } from "feynkac";
 *
 * using device = await openDevice({ backend: "cpu", threads: 1 });
 * try {
 *   device.createBuffer("f64", 2 ** 40);
 * } catch (error) {
 *   if (error instanceof OutOfMemoryError) console.log(error.code); // OUT_OF_MEMORY
 * }
 * @stable
 */
export class OutOfMemoryError extends FeynkacError {
  readonly code = "OUT_OF_MEMORY";
}

/**
 * The error of a numerical method whose value violates the bounds of the trade's payoff, also at a finer resolution.
 *
 * @example
 * import { NumericsError } from "feynkac";
 *
 * console.log(new NumericsError('trades[3]: method "fdm" gives -4, less than 0').code); // NUMERICS
 * @stable
 */
export class NumericsError extends FeynkacError {
  readonly code = "NUMERICS";
}

/**
 * The error of a book, or of one of its entries, that cannot be used. `path` is the position in the book, such as
 * `trades[3].strike` or `line 17: strike`.
 *
 * @example
 * import { BookError, parseBook } from "feynkac";
 *
 * try {
 *   parseBook({ asOf: "2026-13-01", market: { rates: {}, underlyings: {} }, trades: [] });
 * } catch (error) {
 *   if (error instanceof BookError) console.log(error.path); // asOf
 * }
 * @stable
 */
export class BookError extends FeynkacError {
  readonly code = "BOOK";
  /** The position in the book. */
  readonly path: string;

  constructor(path: string, message: string, options?: ErrorOptions) {
    super(path === "" ? message : `${path}: ${message}`, options);
    this.path = path;
  }
}
