/**
 * A device that runs everything in the reference interpreter, with its checks: any suite of kernels may run on it to
 * find races, accesses out of bounds and uninitialised reads. It calls itself "cpu", and offers both precisions.
 */
import type {
  BufferElement,
  CompiledKernel,
  Device,
  DeviceBuffer,
  DeviceLimits,
  HostArray,
  HostArrays,
  LaunchArguments,
  LaunchSize,
} from "../../src/device/device.ts";
import { DisposedError, SpecError } from "../../src/base/errors.ts";
import { type Kernel, type KernelIR, lower, type Precision } from "../../src/kernel/index.ts";
import { interpret, type InterpreterOptions } from "../../src/kernel/interpret/index.ts";

const ARRAYS = { f64: Float64Array, f32: Float32Array, i32: Int32Array, u32: Uint32Array } as const;

class InterpreterBuffer<E extends BufferElement> implements DeviceBuffer<E> {
  readonly device: InterpreterDevice;
  readonly element: E;
  readonly length: number;
  values: HostArray | undefined;

  constructor(device: InterpreterDevice, element: E, length: number) {
    this.device = device;
    this.element = element;
    this.length = length;
    this.values = new ARRAYS[element](length);
  }

  get disposed(): boolean {
    return this.values === undefined;
  }

  contents(): HostArray {
    if (this.values === undefined) throw new DisposedError("the buffer was used after it was disposed");
    return this.values;
  }

  [Symbol.dispose](): void {
    if (this.values !== undefined) this.device.liveBuffers--;
    this.values = undefined;
  }
}

interface InterpretedKernel extends CompiledKernel {
  readonly ir: KernelIR;
}

export class InterpreterDevice implements Device {
  readonly backend = "cpu";
  readonly name = "reference interpreter";
  readonly precisions: readonly Precision[] = ["f64", "f32"];
  readonly parallelism = 1;
  readonly threads = 1;
  readonly lost = new Promise<string>(() => {});
  readonly limits: DeviceLimits;
  liveBuffers = 0;
  readonly #options: InterpreterOptions;

  constructor(options: InterpreterOptions = {}) {
    this.#options = options;
    this.limits = {
      maxBufferBytes: 2 ** 30,
      maxBuffers: 64,
      maxGroupSize: 1024,
      maxWorkgroupBytes: 2 ** 20,
      maxPrivateBytes: 2 ** 20,
      ...(options.subgroupSize === undefined ? {} : { subgroupSize: options.subgroupSize }),
    };
  }

  createBuffer<E extends BufferElement>(element: E, length: number): DeviceBuffer<E> {
    if (!Number.isInteger(length) || length < 0) throw new SpecError(`length: got ${length}, expected a whole number`);
    this.liveBuffers++;
    return new InterpreterBuffer(this, element, length);
  }

  async compile<K extends Kernel>(
    kernel: K,
    { precision }: { readonly precision: Precision },
  ): Promise<CompiledKernel<K["params"]>> {
    const compiled: InterpretedKernel = {
      kernel,
      precision,
      compileMs: 0,
      code: kernel.source,
      ir: lower(kernel, precision),
    };
    return compiled;
  }

  launch(kernel: CompiledKernel, args: LaunchArguments, size: LaunchSize): void {
    const bound = Object.entries(args).map(([name, value]) => [
      name,
      typeof value === "object" ? contentsOf(value) : value,
    ]);
    interpret((kernel as InterpretedKernel).ir, Object.fromEntries(bound), size, this.#options);
  }

  write(buffer: DeviceBuffer, values: HostArray, offset = 0): void {
    contentsOf(buffer).set(values, offset);
  }

  async read<E extends BufferElement>(
    buffer: DeviceBuffer<E>,
    offset = 0,
    length = buffer.length - offset,
  ): Promise<HostArrays[E]> {
    return contentsOf(buffer).slice(offset, offset + length) as HostArrays[E];
  }

  async finish(): Promise<void> {}

  [Symbol.dispose](): void {}
}

function contentsOf(buffer: DeviceBuffer): HostArray {
  return (buffer as InterpreterBuffer<BufferElement>).contents();
}
