import { DeviceLostError, DisposedError, OutOfMemoryError, PrecisionError, ShapeError } from "../../base/errors.ts";
import type { Kernel, KernelIR } from "../../kernel/index.ts";
import {
  bufferArguments,
  launchCount,
  rejectUnknownArguments,
  ARRAY_TYPES,
  bufferBytes,
  bytesPerElement,
  checkedBuffer,
} from "../arguments.ts";
import type {
  BufferElement,
  CompiledKernel,
  CompileOptions,
  Device,
  DeviceBuffer,
  DeviceLimits,
  DeviceParts,
  HostArray,
  HostArrays,
  LaunchArguments,
  LaunchSize,
} from "../device.ts";
import { accessTo, type ForeignAccess, type ForeignCalls, type ForeignDescription, openForeign } from "./foreign.ts";
import type { Table } from "./ffi/signatures.ts";
import { limitsOf } from "./limits.ts";
import type { CudaDeviceInfo } from "./list.ts";
import { BlockAllocator, CudaBuffer } from "./memory/blocks.ts";
import { Downloads } from "./memory/downloads.ts";
import { Uploads } from "./memory/uploads.ts";
import type { ProgramStore } from "../cache/stored.ts";
import type { Compiler, CudaImage } from "./program/compiler.ts";
import { CudaKernel } from "./program/program.ts";
import { ProgramCache } from "./program/programs.ts";
import { devicePartsOf, PartsUsers } from "./parts.ts";
import { captureGraph, CudaSequence, type LaunchSequence, type RecordedResources } from "./sequence.ts";
import type { Session } from "./session.ts";
import { SuspectKernels } from "./suspects.ts";
import { Timeline } from "./timeline.ts";
import { timeStream } from "./timing.ts";

/** Freed memory kept for reuse: at most this part of the GPU's. */
const IDLE_PART = 1 / 4;

/** Elements converted at a time where an array is not of its buffer's type. */
const CONVERSION = 2 ** 20;

/** The settings of a CUDA device. */
export interface CudaDeviceSettings {
  readonly info: CudaDeviceInfo;
  readonly exactMemory: boolean;
  /** The number of devices that share the GPU's memory: this one, and those of other threads in its context. */
  readonly sharers: number;
  readonly stored: ProgramStore<CudaImage> | undefined;
  /** The devices of other GPUs, for threads that share this device; disposed with it. */
  readonly peers: readonly CudaDevice[];
}

/**
 * An NVIDIA GPU through CUDA: a `Device` that can also measure device time, record launches as a graph, and lend itself
 * to other libraries of the toolkit. `openDevice({ backend: "cuda" })` opens one.
 *
 * @example
 * import { DeviceUnavailableError, openDevice } from "feynkac";
 *
 * try {
 *   using device = await openDevice({ backend: "cuda" });
 *   const buffer = device.createBuffer("f64", 1024);
 *   const milliseconds = await device.timed(() => device.write(buffer, new Float64Array(1024)));
 * } catch (error) {
 *   if (!(error instanceof DeviceUnavailableError)) throw error;
 * }
 * @stable
 */
export class CudaDevice implements Device {
  readonly backend = "cuda";
  readonly name: string;
  readonly precisions = ["f64", "f32"] as const;
  readonly limits: DeviceLimits;
  readonly parallelism: number;
  readonly threads = 1;
  readonly lost: Promise<string>;
  readonly parts?: DeviceParts | undefined;
  readonly info: CudaDeviceInfo;
  readonly #session: Session;
  readonly #users = new PartsUsers();
  readonly #peers: readonly CudaDevice[];
  readonly #blocks: BlockAllocator;
  readonly #timeline: Timeline;
  readonly #uploads: Uploads;
  readonly #downloads: Downloads;
  readonly #programs: ProgramCache;
  readonly #suspects = new SuspectKernels();
  readonly #buffers = new Set<CudaBuffer<any>>();
  /** The use of the sequence being recorded. */
  #recording: RecordedResources | undefined;
  #lostBecause: string | undefined;
  #announceLoss: (reason: string) => void = () => {};
  #disposed = false;

  /** @internal */
  constructor(session: Session, compiler: Compiler, { info, exactMemory, sharers, stored, peers }: CudaDeviceSettings) {
    this.info = info;
    this.name = `${peers.length > 0 ? `${peers.length + 1} × ` : ""}${info.name} (CUDA)`;
    this.#peers = peers;
    this.limits = limitsOf(info);
    this.parallelism = info.multiprocessors * info.threadsPerMultiprocessor;
    this.lost = new Promise((resolve) => (this.#announceLoss = resolve));
    this.#session = session;
    this.parts = devicePartsOf(
      [this, ...peers].map((one) => ({ info: one.info, session: one.#session })),
      this.#users,
    );
    session.onLoss = (reason) => this.#lose(reason);
    this.#blocks = new BlockAllocator(session, {
      maxIdle: (info.memoryBytes * IDLE_PART) / sharers,
      exact: exactMemory,
    });
    this.#timeline = new Timeline(
      session,
      (sequence) => this.#suspects.complete(sequence),
      () => this.#downloads.prepare(),
    );
    this.#uploads = new Uploads(session);
    this.#downloads = new Downloads(session, this.#timeline);
    this.#programs = new ProgramCache(session, compiler, stored, {
      name: this.name,
      limits: this.limits,
      assertUsable: () => this.#assertUsable(),
      cleanUp: (give) => this.#cleanUp(give),
    });
  }

  get liveBuffers(): number {
    return this.#buffers.size;
  }

  createBuffer<E extends BufferElement>(element: E, length: number): CudaBuffer<E> {
    this.#begin("createBuffer");
    const bytes = bufferBytes(this, element, length);
    const block = this.#allocate(element, length, bytes);
    const { calls, stream } = this.#session;
    if (bytes > 0) this.#session.check("createBuffer", calls.cuMemsetD8Async(block.address, 0, bytes, stream));
    const buffer: CudaBuffer<E> = new CudaBuffer(this, element, length, block, () => this.#release(buffer));
    this.#buffers.add(buffer);
    return buffer;
  }

  async compile<K extends Kernel>(
    kernel: K,
    { precision, fma = "contract", followers }: CompileOptions,
  ): Promise<CompiledKernel<K["params"]>> {
    this.#assertUsable();
    const start = performance.now();
    if (precision !== "f64" && precision !== "f32")
      throw new PrecisionError(`${kernel.name}: compiled for ${precision}, but ${this.name} offers f64 and f32`);
    const contraction = fma === "contract" ? fma : "exact";
    const { program, made } = this.#programs.ofKernel(kernel, precision, contraction, followers);
    const loaded = await program;
    return new CudaKernel(kernel, loaded, made ? performance.now() - start : 0);
  }

  /**
   * Compiles IR for which there is no kernel in the kernel language.
   *
   * @internal
   */
  async compileIr(kernel: Kernel, ir: KernelIR, fma: "contract" | "exact" = "contract"): Promise<CompiledKernel> {
    this.#assertUsable();
    const start = performance.now();
    const { program, made } = this.#programs.ofIr(ir, fma);
    const loaded = await program;
    return new CudaKernel(kernel, loaded, made ? performance.now() - start : 0);
  }

  launch(kernel: CompiledKernel, args: LaunchArguments, size: LaunchSize): void {
    this.#ready();
    if (!(kernel instanceof CudaKernel) || kernel.program.session !== this.#session)
      throw new ShapeError(`${kernel.kernel.name}: compiled for another device than ${this.name}`);
    const { program } = kernel;
    const { signature, parameters, source } = program;
    const count = launchCount(signature, size);
    const buffers = bufferArguments(this, CudaBuffer, signature, args);
    parameters.fill(signature, args, buffers, count);
    rejectUnknownArguments(signature, args);
    if (count === 0) return;
    if (this.#recording === undefined) this.#suspects.launched(program);
    else this.#note(this.#recording, kernel, buffers);
    const { calls, stream } = this.#session;
    const blocks = signature.cooperative ? count : Math.ceil(count / source.groupSize);
    const { groupSize, dynamicSharedBytes } = source;
    const { function: entry } = program;
    const { address } = parameters;
    const status = calls.cuLaunchKernel(entry, blocks, 1, 1, groupSize, 1, 1, dynamicSharedBytes, stream, address, 0);
    if (status !== 0) this.#session.check(`${signature.name}: launch`, status);
  }

  write(buffer: DeviceBuffer, values: HostArray, offset = 0): void {
    this.#begin("write");
    const target = checkedBuffer<CudaBuffer>(this, CudaBuffer, buffer, "write", offset, values.length);
    const Type = ARRAY_TYPES[target.element];
    const at = target.memory.address + offset * Type.BYTES_PER_ELEMENT;
    if (values instanceof Type) return this.#uploads.copy(at, bytesOf(values));
    for (let i = 0; i < values.length; i += CONVERSION) {
      const converted = new Type(values.subarray(i, i + CONVERSION));
      this.#uploads.copy(at + i * Type.BYTES_PER_ELEMENT, bytesOf(converted));
    }
  }

  async read<E extends BufferElement>(
    buffer: DeviceBuffer<E>,
    offset = 0,
    length = buffer.length - offset,
  ): Promise<HostArrays[E]> {
    this.#begin("read");
    const source = checkedBuffer<CudaBuffer>(this, CudaBuffer, buffer, "read", offset, length);
    const result = newArray(buffer.element, length);
    if (length === 0) await this.finish();
    else {
      const at = source.memory.address + offset * bytesPerElement(buffer.element);
      const arrived = this.#downloads.start(at, bytesOf(result), this.#suspects.sequence);
      this.#timeline.watch();
      await arrived;
    }
    return result;
  }

  async finish(): Promise<void> {
    this.#begin("finish");
    await this.#reached();
  }

  /**
   * Measures the device time of the operations recorded by `work`, in milliseconds, from the end of everything recorded
   * before to the end of the last. @throws DeviceLostError, and whatever `work` throws
   */
  async timed(work: () => void): Promise<number> {
    this.#begin("timed");
    return timeStream(this.#session, work, () => this.#reached());
  }

  /**
   * Records launches, without running them, as a sequence that can run repeatedly: a CUDA graph, which starts its
   * launches closer together than single ones. Only `launch` may be called inside. Buffers are borrowed: they must
   * exist whenever the sequence runs. The caller disposes the sequence. @throws ShapeError (anything but a launch
   * inside) | DisposedError | DeviceLostError, and whatever `work` throws
   */
  record(work: () => void): LaunchSequence {
    this.#begin("record");
    const recorded: RecordedResources = { buffers: new Set(), programs: new Set() };
    this.#recording = recorded;
    try {
      const graph = captureGraph(this.#session, work);
      return new CudaSequence(this.#sequenceOwner, graph, recorded);
    } finally {
      this.#recording = undefined;
    }
  }

  /**
   * Loads another library of the CUDA toolkit (such as cuBLAS) from where NVRTC was found. @throws
   * DeviceUnavailableError saying how to get it | DisposedError | DeviceLostError
   */
  openLibrary<T extends Table>(description: ForeignDescription<T>): ForeignCalls<T> {
    this.#begin("openLibrary");
    return openForeign(this.#session.driver, description);
  }

  /**
   * Calls functions of such a library with the device's context current. Their work on the given stream runs after
   * everything recorded before, like a launch. `buffers` are checked and borrowed; the library must access no other
   * memory of the device. @throws ShapeError (a buffer of another device; inside a recorded sequence) | DisposedError |
   * DeviceLostError, and what `work` throws
   */
  withLibrary<R>(what: string, buffers: readonly DeviceBuffer[], work: (access: ForeignAccess) => R): R {
    this.#begin(what);
    const addresses = buffers.map(
      (buffer) => checkedBuffer<CudaBuffer>(this, CudaBuffer, buffer, what, 0, buffer.length).memory.address,
    );
    const { driver, stream } = this.#session;
    return work(accessTo(driver, stream, addresses));
  }

  [Symbol.dispose](): void {
    if (this.#disposed) return;
    this.#disposed = true;
    this.#timeline.fail(new DisposedError(`${this.name}: disposed while work was under way`));
    this.#users.end(() => {
      this.#session.close();
      for (const peer of this.#peers) peer[Symbol.dispose]();
    });
  }

  readonly #sequenceOwner = {
    begin: (): Session => {
      this.#begin("sequence");
      return this.#session;
    },
    launched: (programs: RecordedResources["programs"]): void => {
      for (const program of programs) this.#suspects.launched(program);
    },
    discard: (graph: number): void =>
      this.#cleanUp(() => {
        this.#session.enter();
        this.#session.check("sequence", this.#session.calls.cuGraphExecDestroy(graph));
      }),
  };

  #note(recording: RecordedResources, { program }: CudaKernel, buffers: readonly CudaBuffer[]): void {
    recording.programs.add(program);
    for (const buffer of buffers) recording.buffers.add(buffer);
  }

  /** Everything recorded so far is complete. */
  #reached(): Promise<void> {
    const reached = new Promise<void>((resolve, reject) => {
      this.#timeline.mark(this.#suspects.sequence, resolve, reject);
    });
    this.#timeline.watch();
    return reached;
  }

  /** Before anything that a sequence cannot hold. */
  #begin(what: string): void {
    this.#ready();
    if (this.#recording !== undefined)
      throw new ShapeError(`${what}: inside a recorded sequence, which holds launches only; do it before or after`);
  }

  /** Before anything is recorded. */
  #ready(): void {
    this.#assertUsable();
    this.#session.enter();
    this.#downloads.settle();
  }

  #allocate(element: BufferElement, length: number, bytes: number): ReturnType<BlockAllocator["allocate"]> {
    try {
      return this.#blocks.allocate(bytes);
    } catch (cause) {
      if (!(cause instanceof OutOfMemoryError)) throw cause;
      const message = `${this.name}: no memory for a buffer of ${bytes} bytes (${length} ${element}); dispose others first`;
      throw new OutOfMemoryError(message, { cause });
    }
  }

  #release(buffer: CudaBuffer<any>): void {
    this.#buffers.delete(buffer);
    this.#cleanUp(() => {
      this.#ready();
      this.#blocks.release(buffer.memory);
    });
  }

  /** Gives something back. Disposing never throws: what a lost device held goes with its context. */
  #cleanUp(give: () => void): void {
    try {
      if (this.#usable) give();
    } catch (error) {
      if (!(error instanceof DeviceLostError)) throw error;
    }
  }

  get #usable(): boolean {
    return !this.#disposed && this.#lostBecause === undefined;
  }

  #assertUsable(): void {
    if (this.#disposed) throw new DisposedError(`${this.name}: the device has been disposed`);
    if (this.#lostBecause !== undefined) throw this.#lostError(this.#lostBecause);
  }

  #lostError(reason: string): DeviceLostError {
    return new DeviceLostError(`${this.name}: lost: ${reason}; open the device again`);
  }

  #lose(reason: string): Error {
    if (this.#lostBecause === undefined) {
      this.#lostBecause = `${this.#suspects.describe()}: ${reason}`;
      this.#timeline.fail(this.#lostError(this.#lostBecause));
      this.#announceLoss(this.#lostBecause);
    }
    return this.#lostError(this.#lostBecause);
  }
}

function bytesOf({ buffer, byteOffset, byteLength }: HostArray): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

function newArray<E extends BufferElement>(element: E, length: number): HostArrays[E] {
  try {
    return new ARRAY_TYPES[element](length) as HostArrays[E];
  } catch (cause) {
    const message = `read: JavaScript has no room for an array of ${length} ${element}; read it in ranges`;
    throw new OutOfMemoryError(message, { cause });
  }
}
