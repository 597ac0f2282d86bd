// So that declarations of the package compile with any `target` and `lib`: whatever a program imports comes by here.
/// <reference lib="esnext.disposable" preserve="true" />
/**
 * The one page that defines a back end. A `Device` owns buffers and compiled kernels; recording work (`launch`,
 * `write`) is synchronous and in order, only `read` and `finish` wait.
 */
import type { Declaration, Kernel, Params, Precision, ScalarDeclaration } from "../kernel/index.ts";

/** The name of a back end, on which kernels run: "cpu" is WebAssembly SIMD on threads. */
export type BackendName = "cpu" | "webgpu" | "cuda";

/** The machine type of a buffer's elements. */
export type BufferElement = "f64" | "f32" | "i32" | "u32";

/** Arrays of the host that `write` takes. */
export type HostArray = Float64Array | Float32Array | Int32Array | Uint32Array;

/** The array type that `read` returns and that `write` takes, for each element type. */
export interface HostArrays {
  readonly f64: Float64Array;
  readonly f32: Float32Array;
  readonly i32: Int32Array;
  readonly u32: Uint32Array;
}

/**
 * Memory on a device. It starts as zeros. Whoever created it disposes it, for instance with `using`; arguments are
 * borrowed.
 */
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

/** Arguments by the names that the kernel declared: all of them, and no others. */
export type LaunchArguments<P extends Params = Params> = { readonly [K in keyof P]: LaunchArgument<P[K]> };

/**
 * The size of a launch: `items` work items for ordinary kernels; whole workgroups, `groups`, for cooperative ones
 * (barriers, workgroup arrays, subgroup operations).
 *
 * `microsecondsEach`: what an item or a workgroup takes one core, at most about. The CPU device runs a short launch on
 * the calling thread, even where all others go to workers, and so starts none for it.
 */
export type LaunchSize = ({ readonly items: number } | { readonly groups: number }) & {
  readonly microsecondsEach?: number;
};

/** A kernel compiled for one device in one precision. */
export interface CompiledKernel<P extends Params = Params> {
  readonly kernel: Kernel<P>;
  readonly precision: Precision;
  /** The milliseconds spent from the kernel's source to something that can be launched; 0 on a cache hit. */
  readonly compileMs: number;
  /** The generated code, for reading: WGSL, CUDA, or a listing of the WebAssembly. */
  readonly code: string;
}

/** Options of `Device.compile`. */
export interface CompileOptions {
  /** The precision of `real`. */
  readonly precision: Precision;
  /**
   * Says whether a·b + c may become one fused multiply-add, which is faster and rounds once instead of twice:
   * "contract" allows it, with "exact" every operation rounds, and results are the same bits on every device that
   * offers it. CUDA contracts by default; WebAssembly never does, so there both are the same; WGSL leaves the choice to
   * the driver, so that WebGPU refuses "exact". "reproducible" is "exact" on every device that offers it, and the
   * driver's choice on WebGPU: the bits are the same wherever they can be.
   */
  readonly fma?: "contract" | "exact" | "reproducible";
  /**
   * The number of SIMD vectors of work items that run side by side on the CPU: 1, 2, 4 or 8. The default, 4, hides the
   * latency of a division. Use fewer where items read memory far apart: each is a stream of its own, and caches follow
   * about sixteen. Other devices ignore it; results are the same.
   */
  readonly vectors?: 1 | 2 | 4 | 8;
}

/** The limits of a device on a kernel, a launch or a buffer. */
export interface DeviceLimits {
  /** The number of lanes of a subgroup, where all subgroups of all kernels have as many, in hardware. */
  readonly subgroupSize?: number;
  /** The number of multiprocessors, where that is known: workgroups that have one each run at the same time. */
  readonly multiprocessors?: number;
  /** The size of the largest buffer, in bytes. */
  readonly maxBufferBytes: number;
  /** The largest number of buffers one kernel may take. */
  readonly maxBuffers: number;
  /** The size of the largest workgroup, in items, and the memory its arrays may take, in bytes. */
  readonly maxGroupSize: number;
  readonly maxWorkgroupBytes: number;
  /**
   * The largest number of bytes of private arrays one work item may declare; of an emulated double (f32x2) its first
   * half counts.
   */
  readonly maxPrivateBytes: number;
}

/** A CUDA context that several threads of a process share: its handle, and how many share it. */
export interface SharedContext {
  readonly context: number;
  readonly count: number;
}

/** The options with which a thread opens its part of a device. */
export interface PartOptions {
  readonly backend: BackendName;
  readonly threads?: number;
  readonly device?: number;
  readonly shared?: SharedContext;
}

/** A device that several threads of the host may use side by side, each through a part of its own. */
export interface DeviceParts {
  /** The options of `openDevice` on each of as many threads as fill the device. */
  readonly options: readonly PartOptions[];
  /** `resource` is disposed with the device. */
  readonly keep: (resource: PartsUser) => void;
}

/** Threads that use parts of a device. */
export interface PartsUser extends Disposable {
  /** Resolves when they have ended, once this has been disposed. */
  readonly ended: Promise<unknown>;
}

/**
 * A device: it owns buffers and compiled kernels. Recording work (`launch`, `write`) is synchronous and in order; only
 * `compile`, `read` and `finish` wait. Get one from `openDevice`, and dispose it.
 */
export interface Device extends Disposable {
  readonly backend: BackendName;
  /** The name for people: "CPU, 8 threads, WebAssembly SIMD", "NVIDIA H200 (Vulkan)". */
  readonly name: string;
  /**
   * The precisions that kernels may be compiled for. An emulated precision joins when it has been asked for (by
   * `openDevice`, `compile` or `offeredPrecision`) and has passed its test on this very device.
   */
  readonly precisions: readonly Precision[];
  readonly limits: DeviceLimits;
  /** The number of work items that fill the device: batches smaller than this leave it partly idle. */
  readonly parallelism: number;
  /** The number of the host's threads that kernels run on; 1 where they run on a GPU. */
  readonly threads: number;
  /** The number of buffers that were created and not yet disposed. */
  readonly liveBuffers: number;
  /** Resolves with the reason when the device is lost; otherwise it stays pending. */
  readonly lost: Promise<string>;
  /**
   * The parts of the device for other threads. Absent where one thread of the host is all that there is to share the
   * work, or all that can use the device.
   */
  readonly parts?: DeviceParts | undefined;

  /**
   * Makes emulated double available where f64 can only be emulated (f32x2): measures each operation against f64, once,
   * and has `precisions` offer it.
   * @throws PrecisionError naming an operation that is not exact enough, and its error
   */
  readonly enableEmulatedDouble?: () => Promise<void>;

  /**
   * Creates zero-filled memory for `length` elements. On a device that only emulates f64, elements of f64 are pairs of
   * f32: of what is written at least 48 bits remain, beyond ±3.4e38 ±Infinity.
   * @throws OutOfMemoryError (beyond the limits too) | SpecError (length not a whole number ≥ 0) | PrecisionError (f64
   * where there is none)
   */
  createBuffer<E extends BufferElement>(element: E, length: number): DeviceBuffer<E>;

  /**
   * Compiles a kernel, or finds among the programs last used. Kernels are compared by their content, so compiling the
   * same kernel twice is cheap.
   * @throws KernelError | PrecisionError | SpecError (the kernel needs more than the device's limits, or `fma: "exact"`
   * where
   *   that cannot be had)
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
