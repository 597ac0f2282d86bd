/**
 * cuBLAS, where CUDA has it. It is column-major: what it takes for Cᵀ = Bᵀ·Aᵀ is C = A·B in rows.
 *
 * f32 is computed in f32 (cuBLAS's default mathematics: no TF32); f64 on the tensor cores where there are any, in full
 * precision.
 */
import { DeviceUnavailableError, KernelRuntimeError, OutOfMemoryError } from "../../../base/errors.ts";
import type { CudaDevice, Device, ForeignDescription } from "../../../device/index.ts";
import type { MatmulSpec, Order } from "./matmul-spec.ts";
import type { Operand } from "./operand.ts";

/** handle, transa, transb, m, n, k, alpha, A, lda, strideA, B, ldb, strideB, beta, C, ldc, strideC, batchCount */
const gemm = [
  ...(["u64", "i32", "i32", "i32", "i32", "i32"] as const),
  ...(["data", "u64", "i32", "u64", "u64", "i32", "u64", "data", "u64", "i32", "u64", "i32"] as const),
] as const;

const functions = {
  cublasCreate_v2: ["u64"], // cublasHandle_t *handle
  cublasDestroy_v2: ["u64"],
  cublasSetStream_v2: ["u64", "u64"], // handle, CUstream
  cublasSgemmStridedBatched: gemm,
  cublasDgemmStridedBatched: gemm,
} as const;

const cublas: ForeignDescription<typeof functions> = {
  title: "cuBLAS",
  names: ["libcublas.so.13", "libcublas.so.12", "libcublas.so.11", "libcublas.so"],
  windowsName: /^cublas64_\d+\.dll$/i,
  pip: "cublas",
  variable: "FEYNKAC_CUBLAS",
  remedy: "pip install nvidia-cublas, conda install libcublas, or the CUDA toolkit",
  functions,
};

const STATUS: Readonly<Record<number, string>> = {
  1: "NOT_INITIALIZED",
  3: "ALLOC_FAILED",
  7: "INVALID_VALUE",
  8: "ARCH_MISMATCH",
  11: "MAPPING_ERROR",
  13: "EXECUTION_FAILED",
  14: "INTERNAL_ERROR",
  15: "NOT_SUPPORTED",
};
const ALLOC_FAILED = 3;

function fail(what: string, status: number): never {
  const text = `cuBLAS: ${what}: CUBLAS_STATUS_${STATUS[status] ?? status}`;
  throw status === ALLOC_FAILED ? new OutOfMemoryError(text) : new KernelRuntimeError(text);
}

/**
 * Returns the matrix product by cuBLAS, or undefined if Feynkac's own kernel is to compute it. @throws
 * DeviceUnavailableError (cuBLAS was requested, but cannot be used)
 */
export async function openCublasProduct(device: Device, spec: MatmulSpec): Promise<CublasProduct | undefined> {
  const { implementation, precision } = spec;
  if (implementation === "kernel" || (implementation === "auto" && spec.tile !== undefined)) return undefined;
  const asked = implementation === "library";
  if (device.backend !== "cuda" || precision === "f32x2") {
    if (!asked) return undefined;
    throw new DeviceUnavailableError(
      `matmul: implementation "library": there is none for ${device.name}; cuBLAS needs CUDA; use "kernel"`,
    );
  }
  try {
    return cublasProduct(device as CudaDevice, spec);
  } catch (error) {
    if (asked || !(error instanceof DeviceUnavailableError)) throw error;
    return undefined;
  }
}

/** A matrix product by cuBLAS, with its handle on the device's stream. */
export interface CublasProduct extends Disposable {
  run(a: Operand, b: Operand, c: Operand, alpha: number, beta: number): void;
}

function cublasProduct(device: CudaDevice, spec: MatmulSpec): CublasProduct {
  const { rows, columns, inner, batch, precision } = spec;
  const { calls } = device.openLibrary(cublas);
  const handle = device.withLibrary("cuBLAS", [], ({ word, stream }) => {
    const made = word(
      (to) => calls.cublasCreate_v2(to),
      (status) => fail("create", status),
    );
    const status = calls.cublasSetStream_v2(made, stream);
    if (status !== 0) fail("set stream", status);
    return made;
  });
  const product = precision === "f64" ? calls.cublasDgemmStridedBatched : calls.cublasSgemmStridedBatched;
  const bytes = precision === "f64" ? 8 : 4;
  const scalar = (x: number): ArrayBufferView => (precision === "f64" ? Float64Array.of(x) : Float32Array.of(x));
  return {
    run(a, b, c, alpha, beta) {
      device.withLibrary("matmul", [a.buffer, b.buffer, c.buffer], ({ addresses }) => {
        const at = [a, b, c].map(({ start }, i) => addresses[i] + start * bytes);
        const status = product(
          ...([handle, transposition(spec.b), transposition(spec.a), columns, rows, inner] as const),
          ...([scalar(alpha), at[1], b.stride, b.batch, at[0], a.stride, a.batch] as const),
          ...([scalar(beta), at[2], c.stride, c.batch, batch] as const),
        );
        if (status !== 0) fail("matmul", status);
      });
    },
    [Symbol.dispose]() {
      try {
        device.withLibrary("cuBLAS", [], () => calls.cublasDestroy_v2(handle));
      } catch {
        // The device is gone, and the handle's memory with its context.
      }
    },
  };
}

/** CUBLAS_OP_N for rows, which cuBLAS reads as the columns of the transpose; CUBLAS_OP_T for columns. */
const transposition = (order: Order): 0 | 1 => (order === "row-major" ? 0 : 1);
