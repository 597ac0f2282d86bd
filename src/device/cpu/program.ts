/** A kernel compiled to WebAssembly, shared by all equal kernels of a device. */
import type { WasmKernel } from "../../kernel/emit/wasm/index.ts";
import type { Kernel, KernelIR, Params, Precision } from "../../kernel/index.ts";
import type { CompiledKernel } from "../device.ts";

export type Run = (begin: number, end: number, args: number, scratch: number) => void;

export class Program {
  readonly id: number;
  readonly ir: KernelIR;
  readonly wasm: WasmKernel;
  readonly module: WebAssembly.Module;
  /** Measured nanoseconds an item (or group) of one thread, once known. */
  pace: number | undefined;
  #calls = 0;
  #run: Run | undefined;

  constructor(id: number, ir: KernelIR, wasm: WasmKernel, module: WebAssembly.Module) {
    this.id = id;
    this.ir = ir;
    this.wasm = wasm;
    this.module = module;
  }

  /** The launch function on this thread. */
  run(memory: WebAssembly.Memory): Run {
    this.#run ??= new WebAssembly.Instance(this.module, { env: { memory } }).exports.run as Run;
    return this.#run;
  }

  /** Takes the pace from one call; not from the first, in which V8 compiles. */
  measured(items: number, nanoseconds: number): void {
    if (this.#calls++ === 0) return;
    // A part of a chunk takes as long as the whole.
    this.pace = Math.max(nanoseconds / (Math.ceil(items / this.unit) * this.unit), 1e-3);
  }

  /** Items begin at multiples of this. */
  get unit(): number {
    return this.ir.cooperative ? 1 : this.wasm.chunk;
  }
}

export class CpuKernel<P extends Params = Params> implements CompiledKernel<P> {
  readonly kernel: Kernel<P>;
  readonly precision: Precision;
  readonly compileMs: number;
  readonly program: Program;
  #code: string | undefined;

  constructor(kernel: Kernel<P>, program: Program, compileMs: number) {
    this.kernel = kernel;
    this.precision = program.ir.precision;
    this.program = program;
    this.compileMs = compileMs;
  }

  get code(): string {
    this.#code ??= this.program.wasm.listing();
    return this.#code;
  }
}
