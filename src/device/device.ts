// So that declarations of the package compile with any `target` and `lib`: whatever a program imports comes by here.
/// <reference lib="esnext.disposable" preserve="true" />
/**
 * The one page that defines a back end. A `Device` owns buffers and compiled kernels; recording work (`launch`,
 * `write`) is synchronous and in order, only `read` and `finish` wait.
 */
import type { Declaration, Kernel, Params, Precision, ScalarDeclaration } from "../kernel/index.ts";

/** The name of a back end; "cpu" is WebAssembly SIMD on threads. */
export type BackendName = "cpu" | "webgpu" | "cuda";

/** The machine type of a buffer's elements. */
export type BufferElement = "f64" | "f32" | "i32" | "u32";

/** The typed arrays of the host that `write` takes. */
export type HostArray = Float64Array | Float32Array | Int32Array | Uint32Array;

/** The array type that `read` returns and `write` takes, for each element type. */
export interface HostArrays {
  readonly f64: Float64Array;
  readonly f32: Float32Array;
  readonly i32: Int32Array;
  readonly u32: Uint32Array;
}

/** Memory on a device, initially zero. Its creator disposes it, for instance with `using`; functions borrow it. */
export interface DeviceBuffer<E extends BufferElement = BufferElement> extends Disposable {
  readonly device: Device;
  readonly element: E;
  /** The number of elements. */
  readonly length: number;
  readonly disposed: boolean;
}

/** The argument of a parameter: for a scalar its value, for a buffer the memory itself. */
export type LaunchArgument<D extends Declaration> =
  D extends ScalarDeclaration<infer T> ? (T extends "bool" ? boolean : number) : DeviceBuffer;

/** The arguments of a launch by the names that the kernel declared: all of them, and no others. */
export type LaunchArguments<P extends Params = Params> = { readonly [K in keyof P]: LaunchArgument<P[K]> };

/**
 * The size of a launch: `items` work items for ordinary kernels; `groups` whole workgroups for cooperative ones
 * (barriers, workgroup arrays, subgroup operations).
 *
 * `microsecondsEach` is an upper estimate of the time that an item or a workgroup takes one core. The CPU device runs a
 * short launch on the calling thread, without starting workers.
 */
export type LaunchSize = ({ readonly items: number } | { readonly groups: number }) & {
  readonly microsecondsEach?: number;
};

/** A kernel compiled for one device in one precision. */
export interface CompiledKernel<P extends Params = Params> {
  readonly kernel: Kernel<P>;
  readonly precision: Precision;
  /** The milliseconds from the kernel's source to a launchable program; 0 on a cache hit. */
  readonly compileMs: number;
  /** The generated code for reading: WGSL, CUDA, or a listing of the WebAssembly. */
  readonly code: string;
}

/** The options of `Device.compile`. */
export interface CompileOptions {
  /** The precision of `real`. */
  readonly precision: Precision;
  /**
   * The treatment of a·b + c. "contract" allows one fused multiply-add, which is faster and rounds once instead of
   * twice; with "exact" every operation rounds, and results are the same bits on every device that offers it. CUDA
   * contracts by default; WebAssembly never does, so that both are the same there; WGSL leaves the choice to the
   * driver, so that WebGPU refuses "exact". "reproducible" is "exact" where the device offers it, and the driver's
   * choice on WebGPU.
   */
  readonly fma?: "contract" | "exact" | "reproducible";
  /**
   * The number of SIMD vectors of work items that run side by side on the CPU: 1, 2, 4 or 8. The default, 4, hides the
   * latency of a division. Use fewer where items read memory far apart: each is a separate stream, and caches follow
   * about sixteen. Other devices ignore it; results are the same.
   */
  readonly vectors?: 1 | 2 | 4 | 8;
}

/** The limits of a device for kernels, launches and buffers. */
export interface DeviceLimits {
  /** The number of lanes of a subgroup, where it is the same for all kernels in hardware. */
  readonly subgroupSize?: number;
  /** The number of multiprocessors, where it is known; each runs workgroups independently. */
  readonly multiprocessors?: number;
  /** The maximum size of a buffer in bytes. */
  readonly maxBufferBytes: number;
  /** The maximum number of buffers of a kernel. */
  readonly maxBuffers: number;
  /** The maximum number of items of a workgroup. */
  readonly maxGroupSize: number;
  readonly maxWorkgroupBytes: number;
  /**
   * The maximum number of bytes of private arrays of a work item; for an emulated double (f32x2) its first half counts.
   */
  readonly maxPrivateBytes: number;
}

/** A CUDA context that several threads of a process share: its handle, its loaded kernels, the number of threads. */
export interface SharedContext {
  readonly context: number;
  readonly kernels: SharedArrayBuffer;
  readonly count: number;
}

/** The options with which a thread opens its part of a device. */
export interface PartOptions {
  readonly backend: BackendName;
  readonly threads?: number;
  readonly device?: number;
  readonly shared?: SharedContext;
}

/** A device that several threads of the host may use side by side, each through its own part. */
export interface DeviceParts {
  /** The options of `openDevice` for each of the threads that together fill the device. */
  readonly options: readonly PartOptions[];
  /** Registers a resource that is disposed with the device. */
  readonly keep: (resource: PartsUser) => void;
}

/** A group of threads that use parts of a device. */
export interface PartsUser extends Disposable {
  /** Resolves when the threads have ended after disposal. */
  readonly ended: Promise<unknown>;
}

/**
 * A device, which owns buffers and compiled kernels. Recording work (`launch`, `write`) is synchronous and in order;
 * only `compile`, `read` and `finish` wait. Get one from `openDevice`, and dispose it.
 */
export interface Device extends Disposable {
  readonly backend: BackendName;
  /** The name for display: "CPU, 8 threads, WebAssembly SIMD", "NVIDIA H200 (Vulkan)". */
  readonly name: string;
  /**
   * The precisions that kernels may be compiled for. An emulated precision is added once it has been requested (by
   * `openDevice`, `compile` or `offeredPrecision`) and has passed its test on this very device.
   */
  readonly precisions: readonly Precision[];
  readonly limits: DeviceLimits;
  /** The number of work items that fill the device; smaller batches leave it partly idle. */
  readonly parallelism: number;
  /** The number of host threads that run kernels; 1 where they run on a GPU. */
  readonly threads: number;
  /** The number of buffers that are not yet disposed. */
  readonly liveBuffers: number;
  /** Resolves with the reason when the device is lost; otherwise it stays pending. */
  readonly lost: Promise<string>;
  /**
   * The parts of the device for other threads; absent where only one thread of the host can share the work or use the
   * device.
   */
  readonly parts?: DeviceParts | undefined;

  /**
   * Makes emulated double (f32x2) available where f64 can only be emulated: measures each operation against f64, once,
   * and adds it to `precisions`. @throws PrecisionError naming an operation that is not exact enough, and its error
   */
  readonly enableEmulatedDouble?: () => Promise<void>;

  /**
   * Creates zero-filled memory for `length` elements. On a device that only emulates f64, elements of f64 are pairs of
   * f32: written values keep at least 48 bits, and become ±Infinity beyond ±3.4e38. @throws OutOfMemoryError (also
   * beyond the limits) | SpecError (length not a whole number ≥ 0) | PrecisionError (no f64)
   */
  createBuffer<E extends BufferElement>(element: E, length: number): DeviceBuffer<E>;

  /**
   * Compiles a kernel, or returns a recently used program. Kernels are compared by their content, so compiling the same
   * kernel twice is cheap. @throws KernelError | PrecisionError | SpecError (the kernel exceeds the device's limits, or
   * `fma: "exact"` is not offered)
   */
  compile<K extends Kernel>(kernel: K, options: CompileOptions): Promise<CompiledKernel<K["params"]>>;

  /**
   * Records one launch; it runs after everything recorded before it.
   * @throws ShapeError (an argument missing, unknown, of the wrong type, of another device; a size not a whole number)
   * | DisposedError
   */
  launch<P extends Params>(kernel: CompiledKernel<P>, args: LaunchArguments<NoInfer<P>>, size: LaunchSize): void;

  /**
   * Records a copy from the host; `values` may be reused at once. Numbers are converted to the buffer's element type.
   */
  write(buffer: DeviceBuffer, values: HostArray, offset?: number): void;

  /** Waits for everything recorded so far and returns a copy of the buffer's contents. */
  read<E extends BufferElement>(buffer: DeviceBuffer<E>, offset?: number, length?: number): Promise<HostArrays[E]>;

  /** Waits for everything recorded so far. @throws DeviceLostError */
  finish(): Promise<void>;
}
