import type { Kernel, KernelSignature, Params, Precision } from "../../kernel/index.ts";
import type { CompiledKernel } from "../device.ts";
import type { WebGpuBuffer } from "./buffer.ts";
import { GroupPace } from "./pace.ts";
import type { ArgumentWord } from "./lowering.ts";
import type { CompiledModule } from "./pipeline.ts";

/** The number of bind groups that are kept for each kernel. Solvers alternate between a few sets of buffers. */
const maxBindGroups = 64;

const maxPaces = 256;

const counts = (word: ArgumentWord): boolean =>
  word.kind === "length" || (word.kind === "scalar" && word.type !== "real");

/** Mixes a number into a hash by its magnitude, in classes of a factor of four. */
const mix = (hash: number, word: number): number => (Math.imul(hash, 31) + ((33 - Math.clz32(word)) >> 1)) | 0;

/**
 * The state that equal kernels share on one device: the pipeline, the measured speeds of its launches, and the bind
 * groups for recently used sets of buffers.
 */
export class Program {
  readonly #paces = new Map<number, GroupPace>();
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
  pace(words: Uint32Array): GroupPace {
    const like = this.compiled.module.words.reduce((hash, word, i) => (counts(word) ? mix(hash, words[i]) : hash), 0);
    let pace = this.#paces.get(like);
    if (pace === undefined) {
      if (this.#paces.size >= maxPaces) this.#paces.clear();
      this.#paces.set(like, (pace = new GroupPace()));
    }
    return pace;
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
    const entries = buffers.map(({ gpuBuffer }, binding) => ({ binding, resource: { buffer: gpuBuffer } }));
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
