import type { WgslModule } from "../../kernel/emit/wgsl/index.ts";
import { memoizeBy, LruCache } from "../../base/memoize.ts";
import { MAX_PROGRAMS } from "../max-programs.ts";
import {
  DeviceLostError,
  DisposedError,
  OutOfMemoryError,
  PrecisionError,
  ShapeError,
  SpecError,
} from "../../base/errors.ts";
import { type Kernel, type KernelIR, lower, type Precision, fromPairs, toPairs } from "../../kernel/index.ts";
import type { BufferElement, Device, DeviceBuffer, DeviceLimits, HostArray, HostArrays } from "../device.ts";
import type { CompiledKernel, CompileOptions, LaunchArguments, LaunchSize } from "../device.ts";
import { adapterName, type OpenedAdapter } from "./adapter.ts";
import {
  bufferArguments,
  rejectUnknownArguments,
  bufferBytes,
  bytesPerElement,
  checkedBuffer,
  ARRAY_TYPES,
} from "../arguments.ts";
import { WebGpuBuffer } from "./buffer.ts";
import { maxTransferBytes, bufferUsage } from "./constants.ts";
import { checkEmulatedDouble } from "./emulated-double.ts";
import { Program, WebGpuKernel, extentOf, argumentWordsOf } from "./kernel.ts";
import { limitsOf } from "./limits.ts";
import { emitWithinLimits, subgroupSizeOf } from "./lowering.ts";
import { compileModule, createArgumentLayout } from "./pipeline.ts";
import { readBytes } from "./staging.ts";
import { Stream } from "./stream.ts";
import { Waiters, Failures } from "./waiters.ts";

/**
 * The number of work items that keep a device busy. WebGPU does not tell it: the numbers suffice for a large GPU, and
 * suit the few cores of a software adapter.
 */
const parallelism = { gpu: 131_072, software: 1024 };

/** The WebGPU device, in browsers and in Node through Dawn. */
export class WebGpuDevice implements Device {
  readonly backend = "webgpu";
  readonly name: string;
  /** The precisions: f32, and f32x2 once it has been requested and has passed its test. */
  precisions: readonly Precision[] = ["f32"];
  readonly limits: DeviceLimits;
  readonly parallelism: number;
  readonly threads = 1;
  /** True if the GPU is emulated on the CPU. */
  readonly software: boolean;
  /** The number of work items of a subgroup; undefined if the adapter has subgroups of several sizes. */
  readonly subgroupSize: number | undefined;
  readonly lost: Promise<string>;
  /** The adapter and the device. They are kept so that Dawn's Node binding keeps its instance. */
  readonly opened: OpenedAdapter;
  readonly #device: GPUDevice;
  readonly #argumentLayout: GPUBindGroupLayout;
  readonly #stream: Stream;
  readonly #failures: Failures;
  readonly #waiters = new Waiters();
  /** The compiled programs by their code. */
  readonly #programs = new LruCache<string, Promise<Program>>(MAX_PROGRAMS);
  /** The generated code of each kernel, by precision, for as long as the kernel lives. */
  readonly #modules = memoizeBy((_kernel: Kernel) => new Map<Precision, WgslModule>());
  readonly #buffers = new Set<WebGpuBuffer<any>>();
  #lostBecause: string | undefined;
  #disposed = false;
  #emulation: Promise<void> | undefined;

  constructor(opened: OpenedAdapter) {
    const { adapter, device } = opened;
    this.opened = opened;
    this.#device = device;
    this.name = `${adapterName(adapter)} (WebGPU)`;
    this.software = adapter.info.isFallbackAdapter;
    this.subgroupSize = subgroupSizeOf(opened);
    const inHardware = device.features.has("subgroups") && this.subgroupSize !== undefined;
    this.limits = { ...limitsOf(device), ...(inHardware ? { subgroupSize: this.subgroupSize } : {}) };
    this.parallelism = this.software ? parallelism.software : parallelism.gpu;
    this.#failures = new Failures(device);
    this.#argumentLayout = createArgumentLayout(device);
    this.#stream = new Stream(device, this.#argumentLayout);
    this.lost = this.#watchLoss();
  }

  get liveBuffers(): number {
    return this.#buffers.size;
  }

  createBuffer<E extends BufferElement>(element: E, length: number): WebGpuBuffer<E> {
    this.#assertUsable();
    const size = Math.max(bufferBytes(this, element, length), bytesPerElement(element));
    this.#device.pushErrorScope("out-of-memory");
    const gpuBuffer = this.#device.createBuffer({
      size,
      usage: bufferUsage.storage | bufferUsage.copySrc | bufferUsage.copyDst,
    });
    const scope = this.#device.popErrorScope();
    const buffer: WebGpuBuffer<E> = new WebGpuBuffer(this, element, length, gpuBuffer, () => this.#release(buffer));
    this.#buffers.add(buffer);
    // WebGPU learns of a failed allocation later: then whoever uses the buffer, or waits, is told.
    scope.then((error) => error && this.#allocationFailed(buffer, size, error)).catch(() => {});
    return buffer;
  }

  async compile<K extends Kernel>(kernel: K, { precision, fma }: CompileOptions): Promise<CompiledKernel<K["params"]>> {
    this.#assertUsable();
    if (fma === "exact")
      throw new SpecError(
        `${kernel.name}: fma "exact": WGSL's compilers may contract whatever they like; leave it out, or use CUDA or the CPU`,
      );
    if (precision === "f64") {
      const offered = "f32 and, emulated, f32x2";
      throw new PrecisionError(`${kernel.name}: compiled for f64, but ${this.name} has ${offered}; the CPU offers f64`);
    }
    if (precision === "f32x2") await this.enableEmulatedDouble();
    const start = performance.now();
    const modules = this.#modules(kernel);
    const known = modules.get(precision);
    if (known !== undefined) return this.#compileModule(kernel, known, start);
    const module = this.#prepared(lower(kernel, precision));
    modules.set(precision, module);
    return this.#compileModule(kernel, module, start);
  }

  enableEmulatedDouble(): Promise<void> {
    return (this.#emulation ??= checkEmulatedDouble(this).then(() => void (this.precisions = ["f32", "f32x2"])));
  }

  /** Compiles IR. It is the second half of `compile`, after the front end. */
  compileIr(kernel: Kernel, ir: KernelIR, start = performance.now()): Promise<WebGpuKernel> {
    return this.#compileModule(kernel, this.#prepared(ir), start);
  }

  #prepared(ir: KernelIR): WgslModule {
    return emitWithinLimits(ir, this.limits, this.#device.features.has("subgroups"));
  }

  async #compileModule(kernel: Kernel, module: WgslModule, start: number): Promise<WebGpuKernel> {
    const { code } = module;
    const known = this.#programs.get(code);
    if (known !== undefined) return new WebGpuKernel(kernel, module.signature, await this.#waiters.race(known), 0);
    const compiled = compileModule(this.#device, this.#argumentLayout, module.signature.name, module);
    const program = compiled.then((made) => new Program(this.#device, made));
    this.#programs.set(code, program);
    program.catch(() => this.#programs.delete(code)); // a failure may be the device's, not the kernel's
    return new WebGpuKernel(kernel, module.signature, await this.#waiters.race(program), performance.now() - start);
  }

  launch(kernel: CompiledKernel, args: LaunchArguments, size: LaunchSize): void {
    this.#assertUsable();
    if (!(kernel instanceof WebGpuKernel) || kernel.program.device !== this.#device) {
      throw new ShapeError(`${kernel.kernel.name}: compiled for another device than ${this.name}`);
    }
    const { signature, program } = kernel;
    const extent = extentOf(signature, size);
    const bound = bufferArguments(this, WebGpuBuffer, signature, args);
    const words = argumentWordsOf(kernel, args, bound, extent);
    rejectUnknownArguments(signature, args);
    if (extent.groups === 0) return;
    const buffers = program.bindGroup(bound);
    const { pipeline } = program.compiled;
    this.#stream.push({
      kind: "dispatch",
      pipeline,
      workgroupTime: program.workgroupTime(words),
      buffers,
      words,
      groups: extent.groups,
      next: 0,
    });
  }

  write(buffer: DeviceBuffer, values: HostArray, offset = 0): void {
    this.#assertUsable();
    const target = checkedBuffer<WebGpuBuffer>(this, WebGpuBuffer, buffer, "write", offset, values.length);
    if (values.length === 0) return;
    const bytes = bytesFor(target.element, values);
    const first = offset * bytesPerElement(target.element);
    for (let at = 0; at < bytes.byteLength; at += maxTransferBytes) {
      const piece = bytes.subarray(at, at + maxTransferBytes);
      this.#stream.push({
        kind: "write",
        target: target.memory,
        byteOffset: first + at,
        bytes: piece,
      });
    }
  }

  async read<E extends BufferElement>(
    buffer: DeviceBuffer<E>,
    offset = 0,
    length = buffer.length - offset,
  ): Promise<HostArrays[E]> {
    this.#assertUsable();
    const source = checkedBuffer<WebGpuBuffer>(this, WebGpuBuffer, buffer, "read", offset, length);
    const [from, size] = [offset, length].map((count) => count * bytesPerElement(buffer.element));
    const bytes = await this.#waiters.race(readBytes(this.#device, this.#stream, source.memory, from, size));
    this.#failures.rethrow();
    source.assertUsable("read");
    return valuesOf(buffer.element, bytes) as HostArrays[E];
  }

  async finish(): Promise<void> {
    this.#assertUsable();
    const submitted = new Promise<void>((resolve) => this.#stream.push({ kind: "mark", submitted: resolve }));
    await this.#waiters.race(submitted.then(() => this.#device.queue.onSubmittedWorkDone()));
    this.#failures.rethrow();
  }

  [Symbol.dispose](): void {
    if (this.#disposed) return;
    this.#disposed = true;
    this.#stream.close();
    this.#waiters.fail(new DisposedError(`${this.name}: disposed while work was under way`));
    this.#device.destroy();
  }

  #assertUsable(): void {
    if (this.#disposed) throw new DisposedError(`${this.name}: the device has been disposed`);
    if (this.#lostBecause !== undefined) throw this.#lostError(this.#lostBecause);
  }

  #lostError(reason: string): DeviceLostError {
    return new DeviceLostError(`${this.name}: lost: ${reason}; open the device again`);
  }

  /** Records that the allocation of a buffer failed, which WebGPU reports later. */
  #allocationFailed(buffer: WebGpuBuffer<any>, size: number, cause: GPUError): void {
    const message = `${this.name}: no memory for a buffer of ${size} bytes (${buffer.length} ${buffer.element}); dispose others first`;
    buffer.failure = new OutOfMemoryError(message, { cause });
    this.#failures.report(buffer.failure);
  }

  #release(buffer: WebGpuBuffer<any>): void {
    this.#buffers.delete(buffer);
    this.#stream.push({ kind: "destroy", buffer: buffer.memory });
  }

  /** Resolves with the reason when the device is lost. It never resolves if the device is disposed. */
  async #watchLoss(): Promise<string> {
    const { reason, message } = await this.#device.lost;
    if (this.#disposed) return new Promise(() => {}); // destroyed on purpose: that never settles
    this.#lostBecause = message || reason;
    this.#stream.close();
    this.#waiters.fail(this.#lostError(this.#lostBecause));
    return this.#lostBecause;
  }
}

/**
 * Returns the bytes of `values` as elements of a buffer. If no conversion is needed, they are the array's own memory.
 * WebGPU has no f64, so an f64 becomes a pair of f32 with this sum: it keeps at least 48 significant bits, becomes
 * ±Infinity beyond ±3.4e38 and zero below 1e-45.
 */
function bytesFor(element: BufferElement, values: HostArray): Uint8Array {
  const converted = element === "f64" ? toPairs(values) : inType(element, values);
  return new Uint8Array(converted.buffer, converted.byteOffset, converted.byteLength);
}

function inType(element: Exclude<BufferElement, "f64">, values: HostArray): HostArray {
  const wanted = ARRAY_TYPES[element];
  return values instanceof wanted ? values : new wanted(values);
}

/** Returns the numbers in a buffer's bytes. It is the inverse of `bytesFor`. */
const valuesOf = (element: BufferElement, bytes: ArrayBuffer): HostArray =>
  element === "f64" ? fromPairs(new Float32Array(bytes)) : new ARRAY_TYPES[element](bytes);
