/** A kernel compiled to WebAssembly, which all equal kernels of a device share. */
import { type ArgumentLayout, emitWasm, type WasmOptions } from "../../kernel/emit/wasm/index.ts";
import type { Kernel, KernelIR, KernelSignature, Params, Precision } from "../../kernel/index.ts";
import type { CompiledKernel } from "../device.ts";

/**
 * The entry point of a compiled WebAssembly kernel. It executes the work items `begin` … `end` − 1. `args` and
 * `scratch` are the addresses of the arguments and of the calling thread's scratch memory.
 */
export type Run = (begin: number, end: number, args: number, scratch: number) => void;

/** A compiled WebAssembly kernel in binary form, before V8 loads it. */
export interface ProgramImage extends Pick<ProgramParts, "signature" | "layout" | "chunk" | "scratchBytes"> {
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/**
 * The data of a compiled kernel that a launch needs. Neither the IR nor generated code other than V8's is kept, because
 * pricing many kinds of trades needs hundreds of programs.
 */
export interface ProgramParts {
  readonly id: number;
  readonly signature: KernelSignature;
  readonly layout: ArgumentLayout;
  /** The number of work items that the program computes side by side in SIMD lanes. */
  readonly chunk: number;
  /** The number of bytes of scratch memory for each thread. */
  readonly scratchBytes: number;
  /** The options with which the program was compiled. */
  readonly options: WasmOptions;
  readonly module: WebAssembly.Module;
}

/** A compiled WebAssembly kernel that V8 has loaded, with its measured speed. */
export class Program {
  readonly id: number;
  readonly signature: KernelSignature;
  readonly layout: ArgumentLayout;
  readonly scratchBytes: number;
  readonly options: WasmOptions;
  readonly module: WebAssembly.Module;
  /** The number of work items of which the beginning of every range is a multiple. */
  readonly unit: number;
  /** The measured time in nanoseconds of a work item (or workgroup) on one thread; undefined until it is measured. */
  pace: number | undefined;
  #calls = 0;
  #run: Run | undefined;

  constructor({ id, signature, layout, chunk, scratchBytes, options, module }: ProgramParts) {
    this.id = id;
    this.signature = signature;
    this.layout = layout;
    this.scratchBytes = scratchBytes;
    this.options = options;
    this.module = module;
    this.unit = signature.cooperative ? 1 : chunk;
  }

  /** Returns the program's entry point on this thread. */
  run(memory: WebAssembly.Memory): Run {
    this.#run ??= new WebAssembly.Instance(this.module, { env: { memory } }).exports.run as Run;
    return this.#run;
  }

  /** Updates the measured time with one call. The first call is ignored, because V8 is still compiling. */
  measured(items: number, nanoseconds: number): void {
    if (this.#calls++ === 0) return;
    // A part of a chunk takes as long as the whole.
    this.pace = Math.max(nanoseconds / (Math.ceil(items / this.unit) * this.unit), 1e-3);
  }
}

/** A kernel compiled for the CPU device. */
export class CpuKernel<P extends Params = Params> implements CompiledKernel<P> {
  readonly kernel: Kernel<P>;
  readonly precision: Precision;
  readonly compileMs: number;
  readonly program: Program;
  readonly #source: () => KernelIR;
  #code: string | undefined;

  /** `source` returns the kernel's IR, which is needed only when the code is requested. */
  constructor(kernel: Kernel<P>, program: Program, source: () => KernelIR, compileMs: number) {
    this.kernel = kernel;
    this.#source = source;
    this.precision = program.signature.precision;
    this.program = program;
    this.compileMs = compileMs;
  }

  get code(): string {
    this.#code ??= emitWasm(this.#source(), this.program.options).listing();
    return this.#code;
  }
}
