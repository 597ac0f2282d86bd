/**
 * Buffers, kernels and the arguments of launches, as far as they are alike on every device: what back ends have in
 * common, and checks with the same rules and messages.
 */
import { DisposedError, OutOfMemoryError, ShapeError, SpecError } from "../base/errors.ts";
import {
  hostRealType,
  type Kernel,
  type KernelSignature,
  pairOf,
  type Params,
  type Precision,
  type ScalarType,
} from "../kernel/index.ts";
import type { Device, DeviceBuffer, LaunchArguments, LaunchSize, BufferElement, HostArray } from "./device.ts";

/** Returns a new buffer that contains `values`. */
export function createBufferOf<E extends BufferElement>(
  device: Device,
  element: E,
  values: HostArray,
): DeviceBuffer<E> {
  const buffer = device.createBuffer(element, values.length);
  device.write(buffer, values);
  return buffer;
}

/** The buffers that a computation creates for its launches. They are disposed together, also after an error. */
export class TemporaryBuffers implements Disposable {
  readonly #device: Device;
  readonly #made: DeviceBuffer[] = [];

  constructor(device: Device) {
    this.#device = device;
  }

  /** Returns a new buffer with unspecified contents. */
  empty<E extends BufferElement>(element: E, length: number): DeviceBuffer<E> {
    return this.#keep(this.#device.createBuffer(element, length));
  }

  /** Returns a new buffer with `values`. */
  filled<E extends BufferElement>(element: E, values: HostArray): DeviceBuffer<E> {
    return this.#keep(createBufferOf(this.#device, element, values));
  }

  [Symbol.dispose](): void {
    for (const buffer of this.#made) buffer[Symbol.dispose]();
  }

  #keep<E extends BufferElement>(buffer: DeviceBuffer<E>): DeviceBuffer<E> {
    this.#made.push(buffer);
    return buffer;
  }
}

/** The host's typed array class for each element type of a buffer. */
export const ARRAY_TYPES = { f64: Float64Array, f32: Float32Array, i32: Int32Array, u32: Uint32Array } as const;

/** Returns the size in bytes of a buffer's element. */
export const bytesPerElement = (element: BufferElement): number => ARRAY_TYPES[element].BYTES_PER_ELEMENT;

/**
 * Returns the size in bytes of a buffer with `length` elements, after checks against the device's limits. @throws
 * SpecError (an invalid element or length) | OutOfMemoryError (more than the device's limit)
 */
export function bufferBytes({ name, limits }: Device, element: BufferElement, length: number): number {
  if (!(element in ARRAY_TYPES)) throw new SpecError(`buffer of ${element}: expected f64, f32, i32 or u32`);
  if (!Number.isInteger(length) || length < 0)
    throw new SpecError(`buffer of ${element}: length ${length}, expected a whole number ≥ 0`);
  const bytes = length * bytesPerElement(element);
  if (bytes <= limits.maxBufferBytes) return bytes;
  throw new OutOfMemoryError(
    `buffer of ${length} ${element}: ${bytes} bytes, at most ${limits.maxBufferBytes} on ${name}`,
  );
}

/**
 * Returns `buffer` as a buffer of the class `kind` of a back end. It checks that the device created it, that it is not
 * disposed, and that the elements `offset` … `offset + length` − 1 exist. `who` names the caller in error messages.
 * @throws ShapeError | DisposedError
 */
export function checkedBuffer<B extends BaseBuffer>(
  device: Device,
  kind: abstract new (...args: never[]) => B,
  buffer: DeviceBuffer,
  who: string,
  offset = 0,
  length = 0,
): B {
  if (!(buffer instanceof kind) || buffer.device !== device) throw new ShapeError(`${who}: a buffer of another device`);
  buffer.assertUsable(who);
  const valid = [offset, length].every((n) => Number.isInteger(n) && n >= 0) && offset + length <= buffer.length;
  if (!valid) throw new ShapeError(`${who}: elements ${offset} … ${offset + length} of a buffer of ${buffer.length}`);
  return buffer;
}

/**
 * The largest number of work items of a launch. Items and workgroups are counted in i32, and the numbers of a chunk
 * beyond the last item must not overflow.
 */
const MAX_ITEMS = 2 ** 31 - 65_536;

/**
 * Returns the number of work items of a launch. For a cooperative kernel, whose work items have barriers or share
 * memory, it is the number of workgroups. @throws ShapeError (`items` and `groups` mixed up, or not a whole number)
 */
export function launchCount({ name, groupSize, cooperative }: KernelSignature, size: LaunchSize): number {
  const unit = cooperative ? "groups" : "items";
  const count = (size as Partial<Record<string, number>>)[unit];
  const got = (): string => JSON.stringify(size);
  if (count === undefined) {
    const why = cooperative ? "its items work together in groups" : "it has no barriers or shared arrays";
    throw new ShapeError(`${name}: launched with ${got()}, expected { ${unit} }, because ${why}`);
  }
  const max = cooperative ? Math.floor(MAX_ITEMS / groupSize) : MAX_ITEMS;
  if (!Number.isInteger(count) || count < 0 || count > max) {
    throw new ShapeError(`${name}: launched with ${got()}, expected a whole number of ${unit} from 0 to ${max}`);
  }
  return count;
}

/** The base class of the buffers of all back ends. `memory` is the back end's handle of the elements' memory. */
export class BaseBuffer<E extends BufferElement = BufferElement, M = unknown> implements DeviceBuffer<E> {
  readonly device: Device;
  readonly element: E;
  readonly length: number;
  readonly memory: M;
  readonly #release: () => void;
  #disposed = false;

  /** `release` gives the memory back. */
  constructor(device: Device, element: E, length: number, memory: M, release: () => void) {
    this.device = device;
    this.element = element;
    this.length = length;
    this.memory = memory;
    this.#release = release;
  }

  get disposed(): boolean {
    return this.#disposed;
  }

  /** Checks that the buffer can be used. @throws DisposedError */
  assertUsable(who: string): void {
    if (this.#disposed) throw new DisposedError(`${who}: the buffer has been disposed`);
  }

  [Symbol.dispose](): void {
    if (this.#disposed) return;
    this.#disposed = true;
    this.#release();
  }
}

/** The base class of the compiled kernels of back ends. Equal kernels share a `program`. */
export class BaseKernel<P extends Params, Program extends { readonly signature: KernelSignature }> {
  readonly kernel: Kernel<P>;
  readonly program: Program;
  readonly precision: Precision;
  readonly compileMs: number;

  constructor(kernel: Kernel<P>, program: Program, compileMs: number) {
    this.kernel = kernel;
    this.program = program;
    this.precision = program.signature.precision;
    this.compileMs = compileMs;
  }
}

/**
 * Returns the buffers among a launch's arguments, in the order of the kernel's buffer parameters. @throws ShapeError |
 * DisposedError
 */
export function bufferArguments<B extends BaseBuffer>(
  device: Device,
  kind: abstract new (...args: never[]) => B,
  ir: KernelSignature,
  args: LaunchArguments,
): B[] {
  const buffers = ir.buffers.map((declared) => {
    const buffer: unknown = args[declared.name];
    const who = `${ir.name}: argument ${declared.name}`;
    if (!(buffer instanceof kind))
      throw new ShapeError(`${who}: got ${shown(buffer)}, expected a buffer of this device`);
    if (buffer.device !== device) throw new ShapeError(`${who}: a buffer of another device`);
    const element = declared.element === "real" ? hostRealType(ir.precision) : declared.element;
    if (buffer.element !== element) throw new ShapeError(`${who}: a buffer of ${buffer.element}, expected ${element}`);
    buffer.assertUsable(who);
    return buffer;
  });
  rejectAliases(ir, buffers);
  return buffers;
}

/**
 * Rejects two buffer arguments that are the same if one is written. WebGPU forbids this, so kernels must not rely on it
 * elsewhere.
 */
function rejectAliases(ir: KernelSignature, buffers: readonly DeviceBuffer[]): void {
  for (const [i, buffer] of buffers.entries()) {
    const j = buffers.indexOf(buffer);
    const writes = [ir.buffers[i], ir.buffers[j]].some(({ access }) => access === "write");
    if (i === j || !writes) continue;
    const [a, b] = [ir.buffers[j].name, ir.buffers[i].name];
    throw new ShapeError(
      `${ir.name}: ${a} and ${b} are the same buffer, and one is written; pass one argument for both, or a copy`,
    );
  }
}

/**
 * Checks that a launch has no arguments that the kernel does not declare. It is called after all declared arguments
 * have been found. @throws ShapeError
 */
export function rejectUnknownArguments(ir: KernelSignature, args: LaunchArguments): void {
  const given = Object.keys(args);
  // None is missing, as the other checks have found; so an equal number means the same names.
  if (given.length === ir.scalars.length + ir.buffers.length) return;
  const known = [...ir.scalars, ...ir.buffers].map(({ name }) => name);
  const unknown = given.find((name) => !known.includes(name));
  throw new ShapeError(`${ir.name}: unknown argument ${unknown}, expected ${known.join(", ") || "none"}`);
}

const RANGES = { i32: [-(2 ** 31), 2 ** 31 - 1], u32: [0, 2 ** 32 - 1] } as const;

/**
 * Writes the scalar argument for a kernel's parameter into a memory block at byte `at`, in the kernel's precision and
 * little-endian. A bool becomes 0 or 1; a real in f32x2 becomes two f32. @throws ShapeError
 */
export function writeScalarArgument(
  view: DataView,
  at: number,
  ir: KernelSignature,
  { name, type }: { readonly name: string; readonly type: ScalarType },
  args: LaunchArguments,
): void {
  const value = args[name];
  const wanted = type === "bool" ? "boolean" : "number";
  const bad = (expected: string): ShapeError =>
    new ShapeError(`${ir.name}: argument ${name}: got ${shown(value)}, expected ${expected}`);
  if (typeof value !== wanted) throw bad(`a ${wanted}`);
  const number = Number(value);
  if (type === "bool") return view.setInt32(at, number, true);
  if (type === "real") return setReal(view, at, ir.precision, number);
  const [min, max] = RANGES[type];
  if (!Number.isInteger(number) || number < min || number > max) throw bad(`a whole number from ${min} to ${max}`);
  view.setUint32(at, number, true); // modulo 2³², which for a negative i32 is its bits
}

function setReal(view: DataView, at: number, precision: Precision, value: number): void {
  if (precision === "f64") return view.setFloat64(at, value, true);
  const [high, low] = pairOf(value);
  view.setFloat32(at, high, true);
  if (precision === "f32x2") view.setFloat32(at + 4, low, true);
}

function shown(value: unknown): string {
  if (value === undefined) return "nothing";
  if (typeof value === "string") return JSON.stringify(value);
  return typeof value === "number" || typeof value === "boolean" ? String(value) : `a value of type ${typeof value}`;
}
