/** cuSPARSE's products of sparse matrices on the buffers of a device of ours, as a peer. */
import type { CudaDevice, DeviceBuffer, ForeignCalls, ForeignDescription } from "../../src/device/index.ts";

/** handle, op, alpha, matrix, x, beta, y, type to compute in, algorithm, buffer or where to put the bytes it takes */
const product = ["u64", "i32", "data", "u64", "u64", "data", "u64", "i32", "i32", "u64"] as const;

const functions = {
  cusparseCreate: ["u64"],
  cusparseDestroy: ["u64"],
  cusparseSetStream: ["u64", "u64"],
  // descriptor, rows, columns, entries, starts, columns of entries, values, three types and the base
  cusparseCreateCsr: ["u64", "u64", "u64", "u64", "u64", "u64", "u64", "i32", "i32", "i32", "i32"],
  // descriptor, rows, columns, entries, places, rows of a slice, starts of slices, columns, values, types and the base
  cusparseCreateSlicedEll: [
    ...(["u64", "u64", "u64", "u64", "u64", "u64", "u64", "u64", "u64"] as const),
    ...(["i32", "i32", "i32", "i32"] as const),
  ],
  cusparseDestroySpMat: ["u64"],
  cusparseCreateDnVec: ["u64", "u64", "u64", "i32"],
  cusparseDestroyDnVec: ["u64"],
  cusparseSpMV_bufferSize: product,
  cusparseSpMV_preprocess: product,
  cusparseSpMV: product,
} as const;

const description: ForeignDescription<typeof functions> = {
  title: "cuSPARSE's products",
  names: ["libcusparse.so.13", "libcusparse.so.12", "libcusparse.so"],
  windowsName: /^cusparse64_\d+\.dll$/i,
  pip: "cusparse",
  variable: "FEYNKAC_CUSPARSE",
  remedy: "pip install nvidia-cusparse of CUDA 12.4 or later",
  functions,
};

const INDEX_32 = 2;
const BASE_ZERO = 0;
const REAL = { f32: 0, f64: 1 } as const;
const NOT_TRANSPOSED = 0;
/** CUSPARSE_SPMV_ALG_DEFAULT and CUSPARSE_SPMV_SELL_ALG1. */
const ALGORITHM = { csr: 0, sell: 5 } as const;

interface Shape {
  readonly precision: "f64" | "f32";
  readonly rows: number;
  readonly columns: number;
  readonly entries: number;
}
interface Vectors {
  readonly x: DeviceBuffer;
  readonly y: DeviceBuffer;
}

/** y = A·x, recorded. */
export interface PeerProduct extends Disposable {
  readonly record: () => void;
}

/** A handle on the device's stream. */
export class CuSparseProducts implements Disposable {
  readonly #device: CudaDevice;
  readonly #calls: ForeignCalls<typeof functions>["calls"];
  readonly #handle: number;

  /** @throws DeviceUnavailableError where there is no cuSPARSE */
  constructor(device: CudaDevice) {
    this.#device = device;
    this.#calls = device.openLibrary(description).calls;
    this.#handle = device.withLibrary("cuSPARSE", [], ({ word, stream }) => {
      const handle = word((to) => this.#calls.cusparseCreate(to), refuse);
      check(this.#calls.cusparseSetStream(handle, stream));
      return handle;
    });
  }

  /** Compressed rows. */
  csr(
    { precision, rows, columns, entries }: Shape,
    arrays: Readonly<Record<"starts" | "column" | "values", DeviceBuffer>>,
    vectors: Vectors,
  ): PeerProduct {
    const buffers = [arrays.starts, arrays.column, arrays.values];
    const matrix = this.#device.withLibrary("csr", buffers, ({ addresses: [starts, column, values], word }) =>
      word(
        (to) =>
          this.#calls.cusparseCreateCsr(
            ...([to, rows, columns, entries, starts, column, values] as const),
            ...([INDEX_32, INDEX_32, BASE_ZERO, REAL[precision]] as const),
          ),
        refuse,
      ),
    );
    return this.#productOf(matrix, buffers, ALGORITHM.csr, precision, vectors);
  }

  /** Sliced ELL: slices of `slice` rows, entries by columns in each; places without an entry have column −1. */
  sell(
    { precision, rows, columns, entries }: Shape,
    slice: number,
    arrays: Readonly<Record<"starts" | "column" | "values", DeviceBuffer>>,
    vectors: Vectors,
  ): PeerProduct {
    const buffers = [arrays.starts, arrays.column, arrays.values];
    const places = arrays.values.length;
    const matrix = this.#device.withLibrary("sell", buffers, ({ addresses: [starts, column, values], word }) =>
      word(
        (to) =>
          this.#calls.cusparseCreateSlicedEll(
            ...([to, rows, columns, entries, places, slice, starts, column, values] as const),
            ...([INDEX_32, INDEX_32, BASE_ZERO, REAL[precision]] as const),
          ),
        refuse,
      ),
    );
    return this.#productOf(matrix, buffers, ALGORITHM.sell, precision, vectors);
  }

  #productOf(
    matrix: number,
    held: readonly DeviceBuffer[],
    algorithm: number,
    precision: "f64" | "f32",
    { x, y }: Vectors,
  ): PeerProduct {
    const calls = this.#calls;
    const type = REAL[precision];
    const [one, zero] =
      precision === "f64" ? [1, 0].map((k) => Float64Array.of(k)) : [1, 0].map((k) => Float32Array.of(k));
    const vector = (of: DeviceBuffer): number =>
      this.#device.withLibrary("vector", [of], ({ addresses: [at], word }) =>
        word((to) => calls.cusparseCreateDnVec(to, of.length, at, type), refuse),
      );
    const [from, into] = [vector(x), vector(y)];
    const call = (run: (typeof calls)["cusparseSpMV"], last: number): number =>
      run(this.#handle, NOT_TRANSPOSED, one, matrix, from, zero, into, type, algorithm, last);
    const bytes = this.#device.withLibrary("size", [], ({ word }) =>
      word((to) => call(calls.cusparseSpMV_bufferSize, to), refuse),
    );
    const work = this.#device.createBuffer("f64", Math.ceil(bytes / 8) + 16);
    const buffers = [...held, x, y, work];
    const workAt = buffers.length - 1;
    this.#device.withLibrary("analysis", buffers, ({ addresses }) =>
      check(call(calls.cusparseSpMV_preprocess, addresses[workAt])),
    );
    return {
      record: () =>
        this.#device.withLibrary("product", buffers, ({ addresses }) =>
          check(call(calls.cusparseSpMV, addresses[workAt])),
        ),
      [Symbol.dispose]: () => {
        this.#device.withLibrary("product", [], () => {
          calls.cusparseDestroyDnVec(from);
          calls.cusparseDestroyDnVec(into);
          calls.cusparseDestroySpMat(matrix);
        });
        work[Symbol.dispose]();
      },
    };
  }

  [Symbol.dispose](): void {
    this.#device.withLibrary("cuSPARSE", [], () => this.#calls.cusparseDestroy(this.#handle));
  }
}

function refuse(status: number): never {
  throw new Error(`cuSPARSE: status ${status}`);
}

function check(status: number): void {
  if (status !== 0) refuse(status);
}
