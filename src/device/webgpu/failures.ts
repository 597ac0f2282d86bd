import { type FeynkacError, KernelError, OutOfMemoryError } from "../../errors.ts";

/**
 * The failures of a device. WebGPU reports most of them later than the call that caused them; this keeps the first
 * until someone waits.
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

  /** Throws what has gone wrong since the last call. */
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
