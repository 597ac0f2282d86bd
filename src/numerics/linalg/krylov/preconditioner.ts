/** The interface of a preconditioner for the iterations. */
import type { DeviceBuffer } from "../../../device/index.ts";

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
