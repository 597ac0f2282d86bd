import {
  DeviceLostError,
  DisposedError,
  KernelRuntimeError,
  PrecisionError,
  ShapeError,
  SpecError,
} from "../../base/errors.ts";
import type { Kernel, KernelIR, KernelSignature } from "../../kernel/index.ts";
import type {
  BufferElement,
  CompiledKernel,
  CompileOptions,
  Device,
  DeviceBuffer,
  DeviceLimits,
  DeviceParts,
  PartsUser,
  HostArray,
  HostArrays,
  LaunchArguments,
  LaunchSize,
} from "../device.ts";
import {
  launchCount,
  ARRAY_TYPES,
  bufferBytes,
  checkedBuffer,
  bufferArguments,
  rejectUnknownArguments,
  writeScalarArgument,
} from "../arguments.ts";
import { CpuMemory, CpuBuffer } from "./memory.ts";
import { type ProgramLookup, ProgramCache, CpuKernel, type ProgramImage } from "./programs.ts";
import type { ProgramStore } from "../cache/stored.ts";
import { Stream, type StreamSettings } from "./stream.ts";
import type { ArgumentLayout } from "../../kernel/emit/wasm/index.ts";

/** Returns the limits of a CPU device whose memory has `capacity` bytes. */
function limitsOf(capacity: number): DeviceLimits {
  return {
    maxBufferBytes: capacity - 2 ** 20, // room for the argument and scratch areas
    maxBuffers: 128,
    maxGroupSize: 1024,
    maxWorkgroupBytes: 2 ** 18,
    maxPrivateBytes: 2 ** 20,
  };
}

/** Checks the number of SIMD vectors in the options of `compile`. @throws SpecError */
export function checkVectors(vectors: number | undefined): void {
  if (vectors !== undefined && ![1, 2, 4, 8].includes(vectors))
    throw new SpecError(`vectors: got ${vectors}, expected 1, 2, 4 or 8`);
}

/**
 * Returns the block of memory with a launch's arguments, in the layout that a compiled WebAssembly kernel expects, and
 * the buffers among the arguments. `count` is the number of work items or workgroups. @throws ShapeError |
 * DisposedError
 */
function argumentBlock(
  device: Device,
  ir: KernelSignature,
  layout: ArgumentLayout,
  args: LaunchArguments,
  count: number,
): { readonly block: ArrayBuffer; readonly buffers: readonly CpuBuffer[] } {
  const block = new ArrayBuffer(layout.bytes);
  const view = new DataView(block);
  view.setInt32(layout.groupCount, ir.cooperative ? count : 0, true);
  const buffers = bufferArguments(device, CpuBuffer, ir, args);
  buffers.forEach((buffer, i) => {
    view.setUint32(layout.buffers[i], buffer.memory, true);
    view.setInt32(layout.buffers[i] + 4, buffer.length, true);
  });
  ir.scalars.forEach((declared, i) => writeScalarArgument(view, layout.scalars[i], ir, declared, args));
  rejectUnknownArguments(ir, args);
  return { block, buffers };
}

/** The settings with which a CPU device is constructed. */
export interface CpuDeviceSettings extends StreamSettings {
  /** True if the WebAssembly memory is shared between threads. */
  readonly shared: boolean;
  /** The number of SIMD vectors that generated code computes side by side. */
  readonly vectors: number | undefined;
  /** The cache of compiled programs on disk. */
  readonly stored?: ProgramStore<ProgramImage> | undefined;
}

/** The CPU device, which compiles kernels to WebAssembly SIMD and runs them on threads. */
export class CpuDevice implements Device {
  readonly backend = "cpu";
  readonly name: string;
  readonly precisions = ["f64", "f32"] as const;
  readonly limits: DeviceLimits;
  readonly parallelism: number;
  readonly lost: Promise<string>;
  readonly threads: number;
  readonly parts?: DeviceParts;
  /** The resources that are disposed with the device. */
  readonly #kept: Disposable[] = [];
  readonly #memory: CpuMemory;
  readonly #stream: Stream;
  readonly #vectors: number | undefined;
  readonly #programs: ProgramCache;
  readonly #buffers = new Set<CpuBuffer>();
  /** The addresses of disposed buffers that pending work may still access. */
  #retired: number[] = [];
  readonly #rejections = new Set<(error: Error) => void>();
  /** The failure of recorded work since a caller last waited for the device. */
  #failure: Error | undefined;
  #lostBecause: string | undefined;
  #announceLoss: (reason: string) => void = () => {};
  #disposed = false;

  constructor(settings: CpuDeviceSettings) {
    const { threads, shared, vectors } = settings;
    this.threads = threads;
    this.#vectors = vectors;
    this.#memory = new CpuMemory(shared);
    this.limits = limitsOf(this.#memory.capacity);
    this.#programs = new ProgramCache(this.#memory, this.limits, settings.stored);
    this.name = `CPU, ${threads} ${threads === 1 ? "thread" : "threads"}, WebAssembly SIMD`;
    this.parallelism = threads * 16;
    if (threads > 1) {
      const keep = (resource: PartsUser): void => this.#keep(resource);
      this.parts = { options: Array.from({ length: threads }, () => ({ backend: "cpu", threads: 1 }) as const), keep };
    }
    this.lost = new Promise((resolve) => (this.#announceLoss = resolve));
    this.#stream = new Stream(this.#memory, settings, {
      trap: (kernel, text) =>
        this.#fail(new KernelRuntimeError(`${kernel}: ${text}; run it in the interpreter to find out where`)),
      failed: (error) => this.#fail(error instanceof Error ? error : new Error(String(error))),
      died: (reason) => this.#lose(reason),
    });
  }

  get liveBuffers(): number {
    return this.#buffers.size;
  }

  createBuffer<E extends BufferElement>(element: E, length: number): CpuBuffer<E> {
    this.#assertUsable();
    const bytes = bufferBytes(this, element, length);
    this.#reclaim();
    const address = this.#memory.allocate(bytes);
    const buffer: CpuBuffer<E> = new CpuBuffer(this, element, length, address, () => this.#release(buffer));
    this.#buffers.add(buffer);
    return buffer;
  }

  async compile<K extends Kernel>(
    kernel: K,
    { precision, vectors }: CompileOptions,
  ): Promise<CompiledKernel<K["params"]>> {
    this.#assertUsable();
    if (precision === "f32x2")
      throw new PrecisionError(`${kernel.name}: compiled for f32x2, but ${this.name} offers f64 itself, and f32`);
    checkVectors(vectors);
    const start = performance.now();
    return this.#compiled(kernel, this.#programs.ofKernel(kernel, precision, this.#vectors ?? vectors), start);
  }

  /** Compiles IR that does not come from a kernel in the kernel language. */
  async compileIr(kernel: Kernel, ir: KernelIR): Promise<CompiledKernel> {
    this.#assertUsable();
    const start = performance.now();
    return this.#compiled(kernel, this.#programs.ofIr(ir, this.#vectors), start);
  }

  launch(kernel: CompiledKernel, args: LaunchArguments, size: LaunchSize): void {
    this.#assertUsable();
    if (!(kernel instanceof CpuKernel)) throw new ShapeError(`${kernel.kernel.name}: compiled for another device`);
    const { program } = kernel;
    const count = launchCount(program.signature, size);
    const { block, buffers } = argumentBlock(this, program.signature, program.layout, args, count);
    this.#stream.launch({ program, args: block, count, microsecondsEach: size.microsecondsEach }, buffers);
  }

  write(buffer: DeviceBuffer, values: HostArray, offset = 0): void {
    this.#assertUsable();
    const target = checkedBuffer<CpuBuffer>(this, CpuBuffer, buffer, "write", offset, values.length);
    let source = values;
    const done = this.#stream.host([target], () => target.view(this.#memory.memory).set(source, offset));
    if (!done) source = values.slice(); // the caller may change its array as soon as this returns
  }

  read<E extends BufferElement>(
    buffer: DeviceBuffer<E>,
    offset = 0,
    length = buffer.length - offset,
  ): Promise<HostArrays[E]> {
    return this.#after(() => {
      const source = checkedBuffer<CpuBuffer>(this, CpuBuffer, buffer, "read", offset, length);
      const Type = ARRAY_TYPES[buffer.element];
      const copy = (): HostArrays[E] =>
        new Type(source.view(this.#memory.memory).subarray(offset, offset + length)) as HostArrays[E];
      return { buffers: [source], action: copy };
    });
  }

  finish(): Promise<void> {
    return this.#after(() => ({ buffers: "all", action: () => {} }));
  }

  [Symbol.dispose](): void {
    if (this.#disposed) return;
    this.#disposed = true;
    this.#stream.terminate();
    for (const resource of this.#kept) resource[Symbol.dispose]();
    this.#rejectAll(new DisposedError(`${this.name}: disposed while work was under way`));
  }

  /**
   * Registers a resource that is disposed with the device, or disposes it at once if the device is already disposed.
   */
  #keep(resource: Disposable): void {
    if (this.#disposed) resource[Symbol.dispose]();
    else this.#kept.push(resource);
  }

  /**
   * Checks the arguments now, and calls the returned function when everything recorded so far on its buffers is
   * complete.
   */
  async #after<T>(check: () => { buffers: readonly CpuBuffer[] | "all"; action: () => T }): Promise<T> {
    this.#assertUsable();
    const { buffers, action } = check();
    const { promise, resolve, reject } = deferred<T>();
    this.#rejections.add(reject);
    this.#stream.host(buffers, () => {
      const failure = this.#failure;
      this.#failure = undefined;
      try {
        if (failure === undefined) resolve(action());
        else reject(failure);
      } catch (error) {
        reject(error as Error); // no room for the copy
      }
    });
    try {
      return await promise;
    } finally {
      this.#rejections.delete(reject);
    }
  }

  async #compiled(kernel: Kernel, { program, source, made }: ProgramLookup, start: number): Promise<CpuKernel> {
    const compiled = await program;
    return new CpuKernel(kernel, compiled, source, made ? performance.now() - start : 0);
  }

  #release(buffer: CpuBuffer): void {
    this.#buffers.delete(buffer);
    this.#retired.push(buffer.memory);
    this.#reclaim();
  }

  /** Frees the memory of disposed buffers when no pending work can access it. */
  #reclaim(): void {
    if (this.#retired.length === 0 || !this.#stream.idle) return;
    for (const address of this.#retired) this.#memory.free(address);
    this.#retired = [];
  }

  #assertUsable(): void {
    if (this.#disposed) throw new DisposedError(`${this.name}: the device has been disposed`);
    if (this.#lostBecause !== undefined)
      throw new DeviceLostError(`${this.name}: lost: ${this.#lostBecause}; open another`);
  }

  #lose(reason: string): void {
    if (this.#disposed || this.#lostBecause !== undefined) return;
    this.#lostBecause = reason;
    this.#stream.terminate();
    this.#rejectAll(new DeviceLostError(`${this.name}: lost: ${reason}; open another`));
    this.#announceLoss(reason);
  }

  /** Records a failure. The first one is kept. */
  #fail(error: Error): void {
    this.#failure ??= error;
  }

  #rejectAll(error: Error): void {
    for (const reject of this.#rejections) reject(error);
  }
}

function deferred<T>(): { promise: Promise<T>; resolve: (value: T) => void; reject: (error: Error) => void } {
  let resolve!: (value: T) => void;
  let reject!: (error: Error) => void;
  const promise = new Promise<T>((yes, no) => ([resolve, reject] = [yes, no]));
  return { promise, resolve, reject };
}
