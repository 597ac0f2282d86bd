import type { BufferElement, Device, DeviceBuffer } from "../../../device/index.ts";
import { hostRealType, type Precision } from "../../../kernel/index.ts";

type Reals = Float64Array | Float32Array;

/** Returns a function for host arrays of a length, with anything in them: one array that grows and is used again. */
function growing<T extends Reals | Int32Array>(make: (length: number) => T): (length: number) => T {
  let values = make(0);
  return (length) => {
    if (values.length < length) values = make(length);
    return values.subarray(0, length) as T;
  };
}

/** The host arrays from which one launch is filled. */
export interface Packed {
  readonly table: (length: number) => Reals;
  readonly coefficients: (length: number) => Reals;
  readonly starts: (length: number) => Int32Array;
}

/**
 * A pool of buffers and host arrays that successive launches reuse, because allocating and clearing them costs as much
 * as the arithmetic.
 */
export class LaunchMemory implements Disposable {
  readonly device: Device;
  /** The element type of buffers of reals. */
  readonly element: "f64" | "f32";
  readonly #free: DeviceBuffer[] = [];
  readonly #all = new Set<DeviceBuffer>();
  /** Two: one launch is packed while the one before it waits to be recorded. */
  readonly #packed: readonly [Packed, Packed];
  #turn = 0;

  constructor(device: Device, precision: Precision) {
    this.device = device;
    this.element = hostRealType(precision);
    const reals = (): Packed["table"] =>
      growing((length) => (this.element === "f64" ? new Float64Array(length) : new Float32Array(length)));
    const starts = (): Packed["starts"] => growing((length) => new Int32Array(length));
    const packed = (): Packed => ({ table: reals(), coefficients: reals(), starts: starts() });
    this.#packed = [packed(), packed()];
  }

  /** Returns a buffer of at least `length` elements, whose contents are undefined. */
  take<E extends BufferElement>(element: E, length: number): DeviceBuffer<E> {
    const index = this.#free.findIndex(
      (buffer) => buffer.element === element && buffer.length >= length && buffer.length <= 2 * length + 1024,
    );
    if (index >= 0) return this.#free.splice(index, 1)[0] as DeviceBuffer<E>;
    if (this.#free.length > MAX_FREE) this.#discard(this.#free.splice(0, MAX_FREE / 2));
    const buffer = this.device.createBuffer(element, length);
    this.#all.add(buffer);
    return buffer;
  }

  give(buffers: readonly DeviceBuffer[]): void {
    this.#free.push(...buffers);
  }

  /** Returns host arrays for a launch, which stay valid until the call after next. */
  pack(): Packed {
    this.#turn = 1 - this.#turn;
    return this.#packed[this.#turn];
  }

  [Symbol.dispose](): void {
    this.#discard([...this.#all]);
    this.#free.length = 0;
  }

  #discard(buffers: readonly DeviceBuffer[]): void {
    for (const buffer of buffers) {
      this.#all.delete(buffer);
      buffer[Symbol.dispose]();
    }
  }
}

const MAX_FREE = 32;
