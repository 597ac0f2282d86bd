/** cuSPARSE's batched tridiagonal solvers on the buffers of a device of ours, as a peer. */
import type { CudaDevice, DeviceBuffer, ForeignCalls, ForeignDescription } from "../../src/device/index.ts";
import { DeviceUnavailableError } from "../../src/base/errors.ts";

/** handle, m, dl, d, du, x, batchCount, batchStride, pBuffer or where to put the bytes that it takes */
const strided = ["u64", "i32", "u64", "u64", "u64", "u64", "i32", "i32", "u64"] as const;
/** handle, algo, m, dl, d, du, x, batchCount, pBuffer or where to put the bytes */
const interleaved = ["u64", "i32", "i32", "u64", "u64", "u64", "u64", "i32", "u64"] as const;

const functions = {
  cusparseCreate: ["u64"],
  cusparseDestroy: ["u64"],
  cusparseSetStream: ["u64", "u64"],
  cusparseDgtsv2StridedBatch_bufferSizeExt: strided,
  cusparseDgtsv2StridedBatch: strided,
  cusparseSgtsv2StridedBatch_bufferSizeExt: strided,
  cusparseSgtsv2StridedBatch: strided,
  cusparseDgtsvInterleavedBatch_bufferSizeExt: interleaved,
  cusparseDgtsvInterleavedBatch: interleaved,
  cusparseSgtsvInterleavedBatch_bufferSizeExt: interleaved,
  cusparseSgtsvInterleavedBatch: interleaved,
} as const;

const description: ForeignDescription<typeof functions> = {
  title: "cuSPARSE",
  names: ["libcusparse.so.13", "libcusparse.so.12", "libcusparse.so.11", "libcusparse.so"],
  windowsName: /^cusparse64_\d+\.dll$/i,
  pip: "cusparse",
  variable: "FEYNKAC_CUSPARSE",
  remedy: "pip install nvidia-cusparse, or the CUDA toolkit",
  functions,
};

export interface PeerSystem {
  readonly lower: DeviceBuffer;
  readonly diagonal: DeviceBuffer;
  readonly upper: DeviceBuffer;
  readonly rhs: DeviceBuffer;
}

/** `gtsvInterleavedBatch` has three algorithms, in this order. */
export const INTERLEAVED = ["cuThomas", "LU", "QR"] as const;

/** A handle on the device's stream, and the workspace of one problem. */
export class CuSparse implements Disposable {
  readonly #device: CudaDevice;
  readonly #library: ForeignCalls<typeof functions>;
  readonly #handle: number;

  private constructor(device: CudaDevice, library: ForeignCalls<typeof functions>) {
    this.#device = device;
    this.#library = library;
    const { calls } = library;
    this.#handle = device.withLibrary("cuSPARSE", [], ({ word, stream }) => {
      const handle = word((to) => calls.cusparseCreate(to), refuse);
      check(calls.cusparseSetStream(handle, stream));
      return handle;
    });
  }

  /** Undefined, with the reason noted, where it is not installed. */
  static open(device: CudaDevice, note: (text: string) => void): CuSparse | undefined {
    try {
      return new CuSparse(device, device.openLibrary(description));
    } catch (error) {
      if (!(error instanceof DeviceUnavailableError)) throw error;
      note(`no cuSPARSE: ${error.message.split("\n")[0]}`);
      return undefined;
    }
  }

  /** gtsv2StridedBatch, contiguous systems: what records a solution, and the workspace to dispose. */
  strided(
    system: PeerSystem,
    rows: number,
    batch: number,
  ): { readonly solve: () => void; readonly work: DeviceBuffer } {
    const { calls } = this.#library;
    const double = system.rhs.element === "f64";
    const size = double
      ? calls.cusparseDgtsv2StridedBatch_bufferSizeExt
      : calls.cusparseSgtsv2StridedBatch_bufferSizeExt;
    const run = double ? calls.cusparseDgtsv2StridedBatch : calls.cusparseSgtsv2StridedBatch;
    return this.#ready(system, (handle, [dl, d, du, x], last) =>
      (last.sizing ? size : run)(handle, rows, dl, d, du, x, batch, rows, last.word),
    );
  }

  /** gtsvInterleavedBatch; overwrites the matrices, too. */
  interleaved(
    system: PeerSystem,
    rows: number,
    batch: number,
    algorithm: number,
  ): { readonly solve: () => void; readonly work: DeviceBuffer } {
    const { calls } = this.#library;
    const double = system.rhs.element === "f64";
    const size = double
      ? calls.cusparseDgtsvInterleavedBatch_bufferSizeExt
      : calls.cusparseSgtsvInterleavedBatch_bufferSizeExt;
    const run = double ? calls.cusparseDgtsvInterleavedBatch : calls.cusparseSgtsvInterleavedBatch;
    return this.#ready(system, (handle, [dl, d, du, x], last) =>
      (last.sizing ? size : run)(handle, algorithm, rows, dl, d, du, x, batch, last.word),
    );
  }

  #ready(
    { lower, diagonal, upper, rhs }: PeerSystem,
    call: (handle: number, at: readonly number[], last: { readonly sizing: boolean; readonly word: number }) => number,
  ): { readonly solve: () => void; readonly work: DeviceBuffer } {
    const buffers = [lower, diagonal, upper, rhs];
    const bytes = this.#device.withLibrary("gtsv", buffers, ({ addresses, word }) =>
      word((to) => call(this.#handle, addresses, { sizing: true, word: to }), refuse),
    );
    const work = this.#device.createBuffer("f64", Math.ceil(bytes / 8) + 16);
    const solve = (): void =>
      this.#device.withLibrary("gtsv", [...buffers, work], ({ addresses }) =>
        check(call(this.#handle, addresses, { sizing: false, word: addresses[4] })),
      );
    return { solve, work };
  }

  [Symbol.dispose](): void {
    this.#device.withLibrary("cuSPARSE", [], () => this.#library.calls.cusparseDestroy(this.#handle));
  }
}

function refuse(status: number): never {
  throw new Error(`cuSPARSE: status ${status}`);
}

function check(status: number): void {
  if (status !== 0) refuse(status);
}
