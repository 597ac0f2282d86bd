import type { Kernel, KernelSignature, Params, Precision } from "../../kernel/index.ts";
import type { CompiledKernel, LaunchArguments, LaunchSize } from "../device.ts";
import type { WebGpuBuffer } from "./buffer.ts";
import { WorkgroupTime } from "./workgroup-time.ts";
import type { ArgumentWord } from "./lowering.ts";
import type { CompiledModule } from "./pipeline.ts";
import { launchCount, writeScalarArgument } from "../arguments.ts";

/** The size of a launch: its number of work items and its number of workgroups. */
interface LaunchExtent {
  readonly items: number;
  readonly groups: number;
}

/**
 * Returns the number of work items and of workgroups of a launch.
 * @throws ShapeError (`items` for a cooperative kernel, `groups` for another kernel, or not a whole number)
 */
export function extentOf(signature: KernelSignature, size: LaunchSize): LaunchExtent {
  const count = launchCount(signature, size);
  return signature.cooperative
    ? { groups: count, items: count * signature.groupSize }
    : { items: count, groups: Math.ceil(count / signature.groupSize) };
}

/**
 * Returns the contents of a launch's uniform block as 32-bit integers. Its member `firstGroup` is 0. @throws ShapeError
 */
export function argumentWordsOf(
  { program, signature }: WebGpuKernel,
  args: LaunchArguments,
  buffers: readonly WebGpuBuffer[],
  extent: LaunchExtent,
): Uint32Array {
  const { words } = program.compiled.module;
  const view = new DataView(new ArrayBuffer(words.length * 4));
  words.forEach((word, i) => {
    if (word.kind === "items" || word.kind === "groups") view.setUint32(4 * i, extent[word.kind], true);
    if (word.kind === "length") view.setInt32(4 * i, buffers[word.buffer].length, true);
    if (word.kind === "scalar") writeScalarArgument(view, 4 * i, signature, signature.scalars[word.scalar], args);
  });
  return new Uint32Array(view.buffer);
}

/** The number of bind groups that are kept for each kernel. Solvers alternate between a few sets of buffers. */
const maxBindGroups = 64;

const maxWorkgroupTimes = 256;

const counts = (word: ArgumentWord): boolean =>
  word.kind === "length" || (word.kind === "scalar" && word.type !== "real");

/** Mixes a number into a hash by its magnitude, in classes of a factor of four. */
const mix = (hash: number, word: number): number => (Math.imul(hash, 31) + ((33 - Math.clz32(word)) >> 1)) | 0;

/**
 * The state that equal kernels share on one device: the pipeline, the measured speeds of its launches, and the bind
 * groups for recently used sets of buffers.
 */
export class Program {
  readonly #workgroupTimes = new Map<number, WorkgroupTime>();
  readonly compiled: CompiledModule;
  readonly device: GPUDevice;
  readonly #bindGroups = new Map<string, GPUBindGroup>();

  constructor(device: GPUDevice, compiled: CompiledModule) {
    this.device = device;
    this.compiled = compiled;
  }

  /**
   * Returns the measured speed of similar launches. Integer arguments and buffer lengths are mostly loop counts, so
   * launches count as similar if all of these agree within a factor of four. A time loop that passes its step number
   * then has only a few speeds, and a launch with a hundred times as many steps begins with a small dispatch again.
   */
  workgroupTime(words: Uint32Array): WorkgroupTime {
    const like = this.compiled.module.words.reduce((hash, word, i) => (counts(word) ? mix(hash, words[i]) : hash), 0);
    let workgroupTime = this.#workgroupTimes.get(like);
    if (workgroupTime === undefined) {
      if (this.#workgroupTimes.size >= maxWorkgroupTimes) this.#workgroupTimes.clear();
      this.#workgroupTimes.set(like, (workgroupTime = new WorkgroupTime()));
    }
    return workgroupTime;
  }

  bindGroup(buffers: readonly WebGpuBuffer[]): GPUBindGroup {
    const key = buffers.map(({ id }) => id).join();
    let group = this.#bindGroups.get(key);
    if (group === undefined) {
      group = this.#createBindGroup(buffers);
      this.#evict();
    } else {
      this.#bindGroups.delete(key); // and set again: the map's order is that of last use
    }
    this.#bindGroups.set(key, group);
    return group;
  }

  #createBindGroup(buffers: readonly WebGpuBuffer[]): GPUBindGroup {
    const entries = buffers.map(({ memory: buffer }, binding) => ({ binding, resource: { buffer } }));
    return this.device.createBindGroup({ layout: this.compiled.bufferLayout, entries });
  }

  #evict(): void {
    if (this.#bindGroups.size < maxBindGroups) return;
    for (const oldest of this.#bindGroups.keys()) return void this.#bindGroups.delete(oldest);
  }
}

/** A kernel compiled for a WebGPU device. */
export class WebGpuKernel<P extends Params = Params> implements CompiledKernel<P> {
  readonly kernel: Kernel<P>;
  readonly precision: Precision;
  readonly compileMs: number;
  readonly signature: KernelSignature;
  readonly program: Program;

  constructor(kernel: Kernel<P>, signature: KernelSignature, program: Program, compileMs: number) {
    this.kernel = kernel;
    this.signature = signature;
    this.precision = signature.precision;
    this.program = program;
    this.compileMs = compileMs;
  }

  get code(): string {
    return this.program.compiled.module.code;
  }

  get pipeline(): GPUComputePipeline {
    return this.program.compiled.pipeline;
  }
}
