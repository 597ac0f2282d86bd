// So that declarations of the package compile with any `target` and `lib`: whatever a program imports comes by here.
/// <reference lib="esnext.disposable" preserve="true" />
/**
 * The one page that defines a back end. A `Device` owns buffers and compiled kernels; recording work (`launch`,
 * `write`) is synchronous and in order, only `read` and `finish` wait.
 */
import type { Declaration, Kernel, Params, Precision, ScalarDeclaration } from "../kernel/index.ts";

/** The name of a back end; "cpu" is WebAssembly SIMD on threads. @stable */
export type BackendName = "cpu" | "webgpu" | "cuda";

/** The machine type of a buffer's elements. @stable */
export type BufferElement = "f64" | "f32" | "i32" | "u32";

/** A typed array of the host, from which `Device.write` copies. @stable */
export type HostArray = Float64Array | Float32Array | Int32Array | Uint32Array;

/** The type of the array that `Device.read` returns, for each element type of a buffer. @stable */
export interface HostArrays {
  readonly f64: Float64Array;
  readonly f32: Float32Array;
  readonly i32: Int32Array;
  readonly u32: Uint32Array;
}

/**
 * A buffer in a device's memory, initially zero. Whoever creates it disposes it, for instance with `using`. Functions
 * that take a buffer do not dispose it.
 * @stable
 */
export interface DeviceBuffer<E extends BufferElement = BufferElement> extends Disposable {
  /** The device in whose memory the buffer is. */
  readonly device: Device;
  /** The type of the elements. */
  readonly element: E;
  /** The number of elements. */
  readonly length: number;
  /** True after the buffer has been disposed. */
  readonly disposed: boolean;
}

/**
 * The type of a launch's argument for a kernel parameter: a number or a boolean for a scalar, and a buffer for a
 * buffer.
 * @stable
 */
export type LaunchArgument<D extends Declaration> =
  D extends ScalarDeclaration<infer T> ? (T extends "bool" ? boolean : number) : DeviceBuffer;

/**
 * The arguments of a launch by the names of the kernel's parameters. Every parameter needs an argument, and there are
 * no others.
 * @stable
 */
export type LaunchArguments<P extends Params = Params> = { readonly [K in keyof P]: LaunchArgument<P[K]> };

/**
 * The size of a launch. Ordinary kernels have `items` work items. Cooperative kernels, which use barriers, workgroup
 * arrays or subgroup operations, have `groups` whole workgroups.
 *
 * `microsecondsEach` is an upper estimate of the time in microseconds that a work item (or workgroup) takes on one
 * core. With it the CPU device runs a short launch on the calling thread and starts no workers.
 * @stable
 */
export type LaunchSize = ({ readonly items: number } | { readonly groups: number }) & {
  readonly microsecondsEach?: number;
};

/** A kernel compiled for one device in one precision. @stable */
export interface CompiledKernel<P extends Params = Params> {
  /** The kernel that was compiled. */
  readonly kernel: Kernel<P>;
  /** The precision of `real` for which it was compiled. */
  readonly precision: Precision;
  /**
   * The time in milliseconds from the kernel's source to a program that can be launched; 0 if the program was cached.
   */
  readonly compileMs: number;
  /** The generated code for reading: WGSL, CUDA C++, or a listing of the WebAssembly. */
  readonly code: string;
}

/** The options of `Device.compile`. @stable */
export interface CompileOptions {
  /** The precision of `real`. */
  readonly precision: Precision;
  /**
   * The treatment of a·b + c.
   *
   * * "contract" allows a fused multiply-add, which is faster and rounds once instead of twice.
   * * With "exact" every operation rounds, so that results have the same bits on every device that offers it.
   * * "reproducible" is "exact" where the device offers it, and the driver's choice on WebGPU.
   *
   * CUDA contracts by default. WebAssembly never contracts. WGSL leaves the choice to the driver, so that WebGPU
   * refuses "exact".
   */
  readonly fma?: "contract" | "exact" | "reproducible";
  /**
   * The number of SIMD vectors of work items that the CPU computes side by side: 1, 2, 4 or 8. The default, 4, hides
   * the latency of a division. Use fewer where work items read distant memory: each item is then a separate stream of
   * accesses, and hardware prefetchers follow about sixteen. Other devices ignore this option. It does not change
   * results.
   */
  readonly vectors?: 1 | 2 | 4 | 8;
  /**
   * Returns kernels that are likely to be needed after this one, the longest first. Where CUDA finds this one neither
   * loaded nor on disk, it begins to compile those, too, and keeps them on disk. Other devices ignore this option.
   *
   * @internal
   */
  readonly followers?: () => readonly Kernel[];
}

/** The limits of a device for kernels, launches and buffers. @stable */
export interface DeviceLimits {
  /** The number of lanes of a hardware subgroup; undefined if it depends on the kernel. */
  readonly subgroupSize?: number;
  /** The number of multiprocessors, each of which runs workgroups independently; undefined if it is not known. */
  readonly multiprocessors?: number;
  /** The maximum size of a buffer in bytes. */
  readonly maxBufferBytes: number;
  /** The maximum number of buffers of a kernel. */
  readonly maxBuffers: number;
  /** The maximum number of work items of a workgroup. */
  readonly maxGroupSize: number;
  /** The maximum number of bytes of all arrays that a workgroup shares. */
  readonly maxWorkgroupBytes: number;
  /**
   * The maximum number of bytes of all private arrays of a work item. An emulated double (f32x2) counts as four bytes.
   */
  readonly maxPrivateBytes: number;
}

/** A CUDA context that several threads of a process share. @stable */
export interface SharedContext {
  /** The driver's handle of the context. */
  readonly context: number;
  /** The handles of the kernels loaded in the context, for all threads. */
  readonly kernels: SharedArrayBuffer;
  /** The number of threads. */
  readonly count: number;
}

/** The options with which one of several threads opens its share of a device. @stable */
export interface PartOptions {
  readonly backend: BackendName;
  /** The number of threads of the CPU back end. */
  readonly threads?: number;
  /** The index of the GPU among `devices("cuda")`. */
  readonly device?: number;
  /** The CUDA context in which the threads work together. */
  readonly shared?: SharedContext;
}

/**
 * The means by which several threads of the host use a device side by side. Each thread opens a device of its own that
 * stands for a share of this one.
 * @stable
 */
export interface DeviceParts {
  /** The options of `openDevice`, one entry for each thread. Together the threads use the whole device. */
  readonly options: readonly PartOptions[];
  /** Registers a resource that is disposed with the device. */
  readonly keep: (resource: PartsUser) => void;
}

/** A group of threads that use shares of a device. @stable */
export interface PartsUser extends Disposable {
  /** Resolves when the threads have ended after disposal. */
  readonly ended: Promise<unknown>;
}

/**
 * A device, which owns buffers and compiled kernels. `launch` and `write` record work synchronously and in order; only
 * `compile`, `read` and `finish` wait. Get a device from `openDevice`, and dispose it.
 * @stable
 */
export interface Device extends Disposable {
  /** The back end. */
  readonly backend: BackendName;
  /** The display name, such as "CPU, 8 threads, WebAssembly SIMD" or "NVIDIA H200 (Vulkan)". */
  readonly name: string;
  /**
   * The precisions for which kernels can be compiled. Emulated double (f32x2) is added when it has been requested (by
   * `openDevice`, `compile` or `offeredPrecision`) and has passed its test on this device.
   */
  readonly precisions: readonly Precision[];
  /** The limits for kernels, launches and buffers. */
  readonly limits: DeviceLimits;
  /** The number of work items that keep the device fully busy. With fewer it is partly idle. */
  readonly parallelism: number;
  /** The number of host threads that run kernels; 1 on a GPU. */
  readonly threads: number;
  /** The number of buffers that are not yet disposed. */
  readonly liveBuffers: number;
  /** A promise that resolves with the reason when the device is lost. Otherwise it stays pending. */
  readonly lost: Promise<string>;
  /** The means by which other threads share the device. Absent if only one thread can use it. */
  readonly parts?: DeviceParts | undefined;

  /**
   * Makes emulated double (f32x2) available on a device that has no f64. It measures the errors of each operation
   * against f64, once, and adds f32x2 to `precisions`. @throws PrecisionError naming an operation that is not exact
   * enough, and its error
   */
  readonly enableEmulatedDouble?: () => Promise<void>;

  /**
   * Creates zero-filled memory for `length` elements. On a device that only emulates f64, elements of f64 are pairs of
   * f32: written values keep at least 48 bits, and become ±Infinity beyond ±3.4e38. @throws OutOfMemoryError (also
   * beyond the limits) | SpecError (length not a whole number ≥ 0) | PrecisionError (no f64)
   */
  createBuffer<E extends BufferElement>(element: E, length: number): DeviceBuffer<E>;

  /**
   * Compiles a kernel, or returns the cached program of a kernel with the same content, so that compiling the same
   * kernel again is cheap. @throws KernelError | PrecisionError | SpecError (the kernel exceeds the device's limits, or
   * `fma: "exact"` is not offered)
   */
  compile<K extends Kernel>(kernel: K, options: CompileOptions): Promise<CompiledKernel<K["params"]>>;

  /**
   * Records one launch. It runs after everything that was recorded before it.
   * @throws ShapeError (an argument that is missing, unknown, of the wrong type or of another device; a size that is
   * not a whole number) | DisposedError
   */
  launch<P extends Params>(kernel: CompiledKernel<P>, args: LaunchArguments<NoInfer<P>>, size: LaunchSize): void;

  /**
   * Records a copy of `values` to a buffer, starting at element `offset` (0 by default). The caller may change `values`
   * at once. Numbers are converted to the buffer's element type.
   */
  write(buffer: DeviceBuffer, values: HostArray, offset?: number): void;

  /**
   * Waits for everything recorded so far and returns a copy of `length` elements of a buffer from element `offset` on;
   * by default all of them.
   */
  read<E extends BufferElement>(buffer: DeviceBuffer<E>, offset?: number, length?: number): Promise<HostArrays[E]>;

  /** Waits for everything recorded so far. @throws DeviceLostError */
  finish(): Promise<void>;
}
