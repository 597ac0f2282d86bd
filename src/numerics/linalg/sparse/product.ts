/** The interface of every format's product. */
import { type CompiledKernel, type Device, type DeviceBuffer, createBufferOf } from "../../../device/index.ts";
import { fn, hostRealType, type Kernel, type Precision, read, real, i32, write } from "../../../kernel/index.ts";

/** The arguments of y ← α·A·x + β·y; y is not read if β is 0. */
interface ProductArguments {
  readonly x: DeviceBuffer;
  readonly y: DeviceBuffer;
  readonly alpha: number;
  readonly beta: number;
}

/**
 * The product of a sparse matrix with a vector: the matrix on a device in one format, and the kernels. It owns its
 * arrays.
 */
export interface SparseProduct {
  readonly arrays: Readonly<Record<string, DeviceBuffer>>;
  /** True where csr rows contain padding. */
  readonly padded?: boolean;
  record(args: ProductArguments): void;
}

/** A device and the precision of the kernels that run on it. */
export interface ComputeTarget {
  readonly device: Device;
  readonly precision: Precision;
}

/** Compiles a kernel for a device and a precision, without contraction. */
export const compileFor = <K extends Kernel>(
  { device, precision }: ComputeTarget,
  kernel: K,
  vectors?: 1 | 2 | 4,
): Promise<CompiledKernel<K["params"]>> =>
  // Without contraction sums have the same bits as on the CPU; WebGPU leaves that to its driver.
  device.compile(kernel, {
    precision,
    fma: "reproducible",
    ...(vectors === undefined ? {} : { vectors }),
  });

/** Uploads reals in a precision. */
export const uploadReals = ({ device, precision }: ComputeTarget, values: Float64Array): DeviceBuffer<"f64" | "f32"> =>
  createBufferOf(device, hostRealType(precision), values);

/** The parameters of kernels of y ← α·A·x + β·y, besides those of the matrix A. */
export const productParams = { alpha: real, beta: real, x: read(real), y: write(real) } as const;
/** The parameters of kernels that read a matrix in compressed rows. */
export const rowParams = { starts: read(i32), column: read(i32), values: read(real) } as const;

/** Stores y[i] ← product + β·y[i]; y is not read if β is 0. */
export const storeProduct = fn({
  name: "store",
  params: { y: write(real), i: i32, product: real, beta: real },
  body({ y, i, product, beta }) {
    if (beta === 0) y[i] = product;
    else y[i] = product + beta * y[i];
  },
});
