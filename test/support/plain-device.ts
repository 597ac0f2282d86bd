/** A device that runs kernels' bodies as plain JavaScript, one item after another: an oracle that needs no compiler. */
import type {
  BufferElement,
  CompiledKernel,
  Device,
  DeviceBuffer,
  HostArray,
  HostArrays,
  LaunchArguments,
  LaunchSize,
} from "../../src/device/device.ts";
import { hostGpu } from "../../src/kernel/host-gpu.ts";
import type { Kernel, Precision } from "../../src/kernel/index.ts";

const ARRAYS = { f64: Float64Array, f32: Float32Array, i32: Int32Array, u32: Uint32Array } as const;

class PlainBuffer<E extends BufferElement> implements DeviceBuffer<E> {
  readonly values: HostArray;
  disposed = false;
  readonly device: PlainDevice;
  readonly element: E;
  readonly length: number;
  constructor(device: PlainDevice, element: E, length: number) {
    this.device = device;
    this.element = element;
    this.length = length;
    this.values = new ARRAYS[element](length);
  }
  [Symbol.dispose](): void {
    if (!this.disposed) this.device.liveBuffers--;
    this.disposed = true;
  }
}

export class PlainDevice implements Device {
  readonly backend = "cpu";
  readonly name: string = "plain JavaScript";
  readonly precisions: readonly Precision[] = ["f64"];
  readonly limits = {
    maxBufferBytes: 2 ** 30,
    maxBuffers: 64,
    maxGroupSize: 1024,
    maxWorkgroupBytes: 2 ** 20,
    maxPrivateBytes: 2 ** 20,
  };
  readonly parallelism = 1;
  readonly threads = 1;
  readonly lost = new Promise<string>(() => undefined);
  liveBuffers = 0;
  launches = 0;

  createBuffer<E extends BufferElement>(element: E, length: number): PlainBuffer<E> {
    this.liveBuffers++;
    return new PlainBuffer(this, element, length);
  }
  compile<K extends Kernel>(
    kernel: K,
    { precision }: { readonly precision: Precision },
  ): Promise<CompiledKernel<K["params"]>> {
    return Promise.resolve({ kernel, precision, compileMs: 0, code: "" });
  }
  launch({ kernel }: CompiledKernel, args: LaunchArguments, size: LaunchSize): void {
    this.launches++;
    const values = Object.fromEntries(
      Object.entries(args).map(([name, value]) => [name, value instanceof PlainBuffer ? value.values : value]),
    );
    const items = "items" in size ? size.items : 0;
    let item = 0;
    const gpu = { ...hostGpu, globalId: () => item, privateReal: (length: number) => new Float64Array(length) };
    for (; item < items; item++) {
      const body = kernel.body(values as never, gpu, kernel.env as never);
      // A generator runs when it is asked to; items that run one after another cannot wait for each other.
      if (body !== undefined && body.next().done !== true) throw new Error(`${kernel.name} waits at a barrier`);
    }
  }
  write(buffer: DeviceBuffer, values: HostArray, offset = 0): void {
    (buffer as PlainBuffer<BufferElement>).values.set(values, offset);
  }
  read<E extends BufferElement>(
    buffer: DeviceBuffer<E>,
    offset = 0,
    length = buffer.length - offset,
  ): Promise<HostArrays[E]> {
    return Promise.resolve(
      (buffer as unknown as PlainBuffer<E>).values.slice(offset, offset + length) as HostArrays[E],
    );
  }
  finish(): Promise<void> {
    return Promise.resolve();
  }
  [Symbol.dispose](): void {}
}
