import type { BufferElement, Device, DeviceBuffer } from "../../../device/index.ts";
import { hostReal, type Precision } from "../../../kernel/index.ts";

/** A host array that grows as needed and is used again. */
class Staging<T extends Float64Array | Float32Array | Int32Array> {
  #values: T;
  #length = 0;
  readonly #make: (length: number) => T;

  constructor(make: (length: number) => T) {
    this.#make = make;
    this.#values = make(0);
  }

  /** `length` values, with anything in them. */
  take(length: number): T {
    if (this.#values.length < length) this.#values = this.#make(length);
    this.#length = length;
    return this.used();
  }

  used(): T {
    return this.#values.subarray(0, this.#length) as T;
  }
}

/** The host arrays from which one launch is filled. */
export interface Packed {
  readonly table: Staging<Float64Array | Float32Array>;
  readonly coefficients: Staging<Float64Array | Float32Array>;
  readonly starts: Staging<Int32Array>;
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
    this.element = hostReal(precision);
    const reals = (): Staging<Float64Array | Float32Array> =>
      new Staging((length) => (this.element === "f64" ? new Float64Array(length) : new Float32Array(length)));
    const packed = (): Packed => ({
      table: reals(),
      coefficients: reals(),
      starts: new Staging((length) => new Int32Array(length)),
    });
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
