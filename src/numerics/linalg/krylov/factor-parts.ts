/** The interface of a preconditioner, and the compressed rows of a matrix on the device, which they need. */
import type { CompiledKernel, Device, DeviceBuffer } from "../../../device/index.ts";
import { ShapeError } from "../../../base/errors.ts";
import { hostRealType, type Kernel, kernel, type Precision, read, real, write } from "../../../kernel/index.ts";
import type { SparseOperator } from "../sparse/index.ts";

/** A preconditioner M⁻¹ on a device, with M near A. It owns its factors. @stable */
export interface Preconditioner extends Disposable {
  /** The name for display: "ILU(0)". */
  readonly name: string;
  /** Records z ← M⁻¹·r; r and z are different buffers. */
  apply(r: DeviceBuffer, z: DeviceBuffer): void;
  /** Records the factorisation again, after the values of the matrix have changed. */
  refresh(): void;
  /** Waits and returns the row without a pivot in the last factorisation, or undefined. */
  failure(): Promise<number | undefined>;
}

/**
 * The parts from which every preconditioner is made: the compressed rows of the matrix on a device, and the resources
 * that the preconditioner owns.
 */
export interface PreconditionerParts {
  readonly device: Device;
  readonly precision: Precision;
  readonly rows: number;
  readonly rowArrays: Readonly<Record<"starts" | "column" | "values", DeviceBuffer>>;
  /** The resources that are disposed with the preconditioner. */
  readonly owned: Disposable[];
  /** Returns a new buffer of reals, which is added to `owned`. */
  buffer(length: number): DeviceBuffer;
  compile<K extends Kernel>(kernel: K): Promise<CompiledKernel<K["params"]>>;
}

/**
 * Returns the parts of a preconditioner for an operator. If the operator is in compressed rows, these are used, so that
 * changed values take effect. Otherwise a copy in compressed rows is made on the device. @throws ShapeError (not
 * square) | SpecError (a format that must be converted on the host)
 */
export async function preconditionerParts(operator: SparseOperator): Promise<PreconditionerParts> {
  const { device, precision, rows, columns, format } = operator;
  if (rows !== columns) throw new ShapeError(`preconditioner: a matrix of ${rows} × ${columns}, expected a square one`);
  const made = format === "csr" ? undefined : await operator.convert("csr");
  const { starts, column, values } = (made ?? operator).arrays;
  const owned: Disposable[] = made === undefined ? [] : [made];
  return {
    device,
    precision,
    rows,
    rowArrays: { starts, column, values },
    owned,
    buffer(length) {
      const reals = device.createBuffer(hostRealType(precision), length);
      owned.push(reals);
      return reals;
    },
    compile: (kernel) => device.compile(kernel, { precision, fma: "reproducible" }),
  };
}

/** Disposes the resources that a preconditioner owns. */
export const disposeOwned = ({ owned }: PreconditionerParts): void => {
  for (const one of owned) one[Symbol.dispose]();
};

/**
 * Waits for the device and returns the number of the first row without a pivot, read from a buffer of failures, in
 * which other entries are negative. Undefined if there is none.
 */
export async function firstFailure(failed: DeviceBuffer<"i32">): Promise<number | undefined> {
  return (await failed.device.read(failed)).find((row) => row >= 0);
}

/** The kernel that copies r to z, one element per work item. */
export const copyKernel = kernel({
  name: "copyReals",
  params: { r: read(real), z: write(real) },
  body({ r, z }, gpu) {
    z[gpu.globalId()] = r[gpu.globalId()];
  },
});
