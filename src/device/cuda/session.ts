/**
 * One device's context and stream, and the checks of every call made in them. It is a context of our own rather than
 * the device's primary one, which every other user of the GPU in the process shares: after a fault a context is lost
 * for good, and only one that is ours may be destroyed and computed again.
 */
import { KernelRuntimeError, OutOfMemoryError } from "../../base/errors.ts";
import type { SharedContext } from "../device.ts";
import type { Driver, DriverCalls } from "./driver.ts";
import { STREAM_NON_BLOCKING } from "./ffi/driver-streams.ts";
import { CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_OUT_OF_MEMORY, CUDA_SUCCESS, describeResult } from "./ffi/results.ts";
import { LoadedKernels } from "./loaded-kernels.ts";

const LAUNCH_OUT_OF_RESOURCES = 701;

/** The context and the stream of a CUDA device. */
export class Session {
  readonly driver: Driver;
  readonly calls: DriverCalls;
  readonly context: number;
  readonly stream: number;
  /** Handles a failure after which the context is unusable; returns the error to throw. */
  onLoss: (reason: string) => Error = (reason) => new Error(reason);
  /** True where the context belongs to another session, of another thread. */
  readonly isShared: boolean;
  /** The kernels that this and other threads have loaded into the context. */
  readonly kernels: LoadedKernels;
  #closed = false;

  /**
   * A stream in a context, which `close` ends unless it is shared: then `kernels` is what its owner shares.
   * @throws DeviceUnavailableError
   */
  constructor(driver: Driver, { context, kernels }: Pick<SharedContext, "context"> & Partial<SharedContext>) {
    this.isShared = kernels !== undefined;
    this.kernels = new LoadedKernels(kernels);
    this.driver = driver;
    this.calls = driver.calls;
    this.context = context;
    this.enter();
    this.stream = driver.word("cuStreamCreate", (to) => this.calls.cuStreamCreate(to, STREAM_NON_BLOCKING));
  }

  /** Makes the context current on this thread. Several devices take turns, so every public call begins with this. */
  enter(): void {
    if (this.driver.current === this.context) return;
    this.check("cuCtxSetCurrent", this.calls.cuCtxSetCurrent(this.context));
    this.driver.current = this.context;
  }

  /**
   * Throws unless a call succeeded. @throws OutOfMemoryError | KernelRuntimeError (the device remains usable) |
   * DeviceLostError
   */
  check(what: string, status: number): void {
    if (status !== CUDA_SUCCESS) this.#fail(what, status);
  }

  /** Returns the word that a call stores. @throws as `check` */
  word(what: string, call: (to: number) => number): number {
    return this.driver.take(call, (status) => this.#fail(what, status));
  }

  /** Destroys the context and everything made in it; for a shared context only the stream. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    // Statuses tell nothing here: of a lost context they repeat why it is lost.
    if (this.isShared) this.calls.cuStreamDestroy_v2(this.stream);
    else this.calls.cuCtxDestroy_v2(this.context);
    this.calls.cuCtxSetCurrent(0);
    this.driver.current = 0;
  }

  #fail(what: string, status: number): never {
    const text = `${what}: ${describeResult(status)}`;
    if (status === CUDA_ERROR_OUT_OF_MEMORY) throw new OutOfMemoryError(text);
    if (status === LAUNCH_OUT_OF_RESOURCES || status === CUDA_ERROR_INVALID_VALUE) throw new KernelRuntimeError(text);
    // Most others stay with the context (illegal address, launch failed …); after one that is not expected there is no
    // telling what works, so it counts as such.
    throw this.onLoss(text);
  }
}

/**
 * Opens a session on the device with handle `device`. @throws DeviceUnavailableError, also if the driver still reports
 * an earlier fault of the process
 */
export function openSession(driver: Driver, device: number): Session {
  const { calls } = driver;
  const context = driver.word("cannot make a context", (to) =>
    calls.cuCtxCreate_v2.absent ? calls.cuCtxCreate_v4(to, 0, 0, device) : calls.cuCtxCreate_v2(to, 0, device),
  );
  try {
    // Making it has pushed it; from here on it is set and unset, never stacked.
    driver.word("cuCtxPopCurrent", (to) => calls.cuCtxPopCurrent_v2(to));
    driver.current = 0;
    return new Session(driver, { context });
  } catch (error) {
    calls.cuCtxDestroy_v2(context);
    driver.current = 0;
    throw error;
  }
}
