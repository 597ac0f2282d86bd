import { type FeynkacError, KernelError, OutOfMemoryError } from "../../base/errors.ts";

/**
 * The failures of a WebGPU device. WebGPU reports most failures after the call that caused them. The first failure is
 * kept until a caller waits for the device.
 */
export class Failures {
  #first: FeynkacError | undefined;

  constructor(device: GPUDevice) {
    device.addEventListener("uncapturederror", (event) => {
      event.preventDefault(); // otherwise printed to the console, besides being thrown
      this.report(errorOf(event.error));
    });
  }

  report(error: FeynkacError): void {
    this.#first ??= error;
  }

  /** Throws the first failure since the last call, if there is one. */
  rethrow(): void {
    const error = this.#first;
    this.#first = undefined;
    if (error !== undefined) throw error;
  }
}

function errorOf(error: GPUError): FeynkacError {
  const cause = { cause: error };
  if (error.constructor.name === "GPUOutOfMemoryError")
    return new OutOfMemoryError(`WebGPU: out of memory: ${error.message}`, cause);
  return new KernelError(`WebGPU rejected recorded work: ${error.message}`, undefined, cause);
}

/**
 * The promises for which callers of a device wait. All of them are rejected at once when the device is lost or
 * disposed.
 */
export class Waiters {
  readonly #reject = new Set<(reason: Error) => void>();
  #reason: Error | undefined;

  /** Returns the result of `work`. If the device fails first, throws that failure. */
  async race<T>(work: Promise<T>): Promise<T> {
    if (this.#reason !== undefined) {
      work.catch(() => {});
      throw this.#reason;
    }
    let stop!: (reason: Error) => void;
    const failure = new Promise<never>((_, reject) => (stop = reject));
    this.#reject.add(stop);
    try {
      return await Promise.race([work, failure]);
    } catch (error) {
      throw this.#reason ?? error;
    } finally {
      this.#reject.delete(stop);
    }
  }

  fail(reason: Error): void {
    this.#reason ??= reason;
    for (const reject of this.#reject) reject(this.#reason);
    this.#reject.clear();
  }
}
