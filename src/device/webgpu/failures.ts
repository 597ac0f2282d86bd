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
