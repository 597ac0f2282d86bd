/**
 * The compiled programs of one device. Kernels are compared by their content. Each is compiled once, and the most
 * recently used programs are cached. Programs compiled by other processes are read from disk.
 */
import { emitWasm, type WasmOptions, type ArgumentLayout } from "../../kernel/emit/wasm/index.ts";
import {
  canonicalText,
  type Kernel,
  type KernelIR,
  lower,
  type Precision,
  signatureOf,
  specificationText,
  type KernelSignature,
  type Params,
} from "../../kernel/index.ts";
import { memoizeBy, LruCache } from "../../base/memoize.ts";
import type { ProgramStore } from "../cache/stored.ts";
import type { DeviceLimits, CompiledKernel } from "../device.ts";
import { MAX_PROGRAMS } from "../max-programs.ts";
import { checkLimits } from "../capabilities.ts";
import { BaseKernel } from "../arguments.ts";
import type { CpuMemory } from "./memory.ts";

/**
 * The entry point of a compiled WebAssembly kernel. It executes the work items `begin` … `end` − 1. `args` and
 * `scratch` are the addresses of the arguments and of the calling thread's scratch memory.
 */
type Run = (begin: number, end: number, args: number, scratch: number) => void;

/** The functions of a module. `masked` executes one chunk from `begin` on, whatever its items do. */
interface Entries {
  readonly run: Run;
  readonly masked?: Run;
}

/** The number of work items that a program executes by `masked` before it needs `run`, too. */
const FEW = 64;

/** A compiled WebAssembly kernel in binary form, before V8 loads it. */
export interface ProgramImage extends Pick<ProgramParts, "signature" | "layout" | "chunk" | "scratchBytes"> {
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/**
 * The data of a compiled kernel that a launch needs. Neither the IR nor generated code other than V8's is kept, because
 * pricing many kinds of trades needs hundreds of programs.
 */
interface ProgramParts {
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
  #entries: Entries | undefined;
  /** The items that may still be executed by `masked` alone. */
  #few = FEW;

  constructor({ id, signature, layout, chunk, scratchBytes, options, module }: ProgramParts) {
    this.id = id;
    this.signature = signature;
    this.layout = layout;
    this.scratchBytes = scratchBytes;
    this.options = options;
    this.module = module;
    this.unit = signature.cooperative ? 1 : chunk;
  }

  /**
   * Returns the entry point on this thread for some items of a brief launch. V8 compiles each function at its first
   * call, which takes longer than the first items, and items that differ need `masked` in any case.
   */
  run(memory: WebAssembly.Memory, items: number): Run {
    this.#entries ??= new WebAssembly.Instance(this.module, { env: { memory } }).exports as Record<keyof Entries, Run>;
    const { run, masked } = this.#entries;
    this.#few -= items;
    if (masked === undefined || this.#few < 0) return run;
    return (begin, end, args, scratch) => {
      for (let at = begin; at < end; at += this.unit) masked(at, end, args, scratch);
    };
  }

  /** Updates the measured time with one call. The first call is ignored, because V8 is still compiling. */
  measured(items: number, nanoseconds: number): void {
    if (this.#calls++ === 0) return;
    // A part of a chunk takes as long as the whole.
    this.pace = Math.max(nanoseconds / (Math.ceil(items / this.unit) * this.unit), 1e-3);
  }
}

/** A kernel compiled for the CPU device. */
export class CpuKernel<P extends Params = Params> extends BaseKernel<P, Program> implements CompiledKernel<P> {
  readonly #source: () => KernelIR;
  #code: string | undefined;

  /** `source` returns the kernel's IR, which is needed only when the code is requested. */
  constructor(kernel: Kernel<P>, program: Program, source: () => KernelIR, compileMs: number) {
    super(kernel, program, compileMs);
    this.#source = source;
  }

  get code(): string {
    this.#code ??= emitWasm(this.#source(), this.program.options).listing();
    return this.#code;
  }
}

const IMPORT_PAGES = 65_536;

interface Known {
  /** The text of the kernel's specification and options; undefined if there is no cache on disk. */
  readonly specification: string | undefined;
  /** A short description that distinguishes most programs; undefined for a program that was read from disk. */
  readonly outline: string | undefined;
  /** The canonical text of the kernel, which is made when it is first compared. */
  text: string | undefined;
  /** Makes the IR again. The IR is many times as large as the program and rarely needed, so it is not kept. */
  readonly source: () => KernelIR;
  readonly program: Promise<Program>;
}

/** The options with which a program is compiled. */
interface Setting {
  readonly source: () => KernelIR;
  readonly vectors: number | undefined;
  readonly specification?: string;
}

/** The result of a lookup in a `ProgramCache`: a program that was cached, or is newly compiled. */
export interface ProgramLookup {
  readonly program: Promise<Program>;
  /** Returns the kernel's IR, from which the program was compiled. */
  readonly source: () => KernelIR;
  /** True if the program was compiled for this lookup. */
  readonly made: boolean;
}

/** The cache of the programs that a CPU device has compiled. Equal kernels share one program. */
export class ProgramCache {
  readonly #memory: CpuMemory;
  readonly #limits: DeviceLimits;
  readonly #stored: ProgramStore<ProgramImage> | undefined;
  readonly #known = new LruCache<Known, Known>(MAX_PROGRAMS);
  /** The programs of each kernel, by precision and number of vectors. */
  readonly #byKernel = memoizeBy((_kernel: Kernel) => new Map<string, Known>());
  #count = 0;

  constructor(memory: CpuMemory, limits: DeviceLimits, stored: ProgramStore<ProgramImage> | undefined) {
    this.#memory = memory;
    this.#limits = limits;
    this.#stored = stored;
  }

  ofKernel(kernel: Kernel, precision: Precision, vectors: number | undefined): ProgramLookup {
    const source = (): KernelIR => lower(kernel, precision);
    const version = `${precision} ${vectors}`;
    const versions = this.#byKernel(kernel);
    const known = versions.get(version);
    if (known !== undefined) {
      this.#known.set(known, known); // the last used, though nobody looked it up
      return { program: known.program, source, made: false };
    }
    const { made, found } = this.#ofSpecification(kernel, version, { source, vectors });
    versions.set(version, found);
    return { program: found.program, source, made };
  }

  ofIr(ir: KernelIR, vectors: number | undefined): ProgramLookup {
    const source = (): KernelIR => ir;
    const { made, found } = this.#ofIr(ir, { source, vectors });
    return { program: found.program, source, made };
  }

  /**
   * Finds or compiles a program by the text of the kernel and of all functions that it calls, if there is a cache on
   * disk. This needs no parsing.
   */
  #ofSpecification(kernel: Kernel, version: string, setting: Setting): { made: boolean; found: Known } {
    if (this.#stored === undefined) return this.#ofIr(setting.source(), setting);
    const specification = `${version} ${this.#memory.shared}\n${specificationText(kernel)}`;
    for (const known of this.#known.values())
      if (known.specification === specification) return { made: false, found: this.#remember(known) };
    const image = this.#stored.find(specification);
    if (image === undefined) return this.#ofIr(setting.source(), { ...setting, specification });
    // A module that V8 does not take is made again.
    const program = this.#build(image, setting).catch(() => this.#make(setting.source(), setting));
    const found = { specification, outline: undefined, text: undefined, source: setting.source, program };
    return { made: true, found: this.#remember(found) };
  }

  /**
   * Finds or compiles a program by its IR. Canonical texts cost a tenth of a compilation, so they are made only for
   * kernels that may be equal.
   */
  #ofIr(ir: KernelIR, setting: Setting): { made: boolean; found: Known } {
    const { source, vectors, specification } = setting;
    const outline = `${ir.name} ${ir.precision} ${ir.locals.length} ${vectors}`;
    const similar = [...this.#known.values()].filter((known) => known.outline === outline);
    const text = similar.length > 0 ? canonicalText(ir) : undefined;
    const known = similar.find((one) => (one.text ??= canonicalText(one.source())) === text);
    const found = known ?? { specification, outline, text, source, program: this.#make(ir, setting) };
    return { made: known === undefined, found: this.#remember(found) };
  }

  #remember(found: Known): Known {
    if (this.#known.get(found) === undefined) found.program.catch(() => this.#known.delete(found));
    this.#known.set(found, found);
    return found;
  }

  async #make(ir: KernelIR, setting: Setting): Promise<Program> {
    checkLimits(ir, this.#limits, "the CPU device");
    const { bytes, arguments: layout, chunk, scratchBytes } = emitWasm(ir, this.#options(setting));
    const image = { signature: signatureOf(ir), layout, chunk, scratchBytes, bytes };
    const program = await this.#build(image, setting);
    if (setting.specification !== undefined) this.#stored?.store(setting.specification, image);
    return program;
  }

  async #build({ bytes, ...parts }: ProgramImage, setting: Setting): Promise<Program> {
    const module = await compileModule(bytes);
    return new Program({ id: this.#count++, ...parts, options: this.#options(setting), module });
  }

  #options({ vectors }: Setting): WasmOptions {
    const memory = { shared: this.#memory.shared, maximumPages: IMPORT_PAGES };
    return vectors === undefined ? { memory } : { memory, vectors };
  }
}

/** The bytes of a module that browsers compile synchronously on the page's main thread. Elsewhere there is no limit. */
const LONGEST_ON_PAGE = 4096;

/**
 * Compiles a WebAssembly module. It does so asynchronously if the module is too large for a browser page to compile
 * synchronously.
 */
async function compileModule(bytes: Uint8Array<ArrayBuffer>): Promise<WebAssembly.Module> {
  const page = typeof document !== "undefined";
  return page && bytes.length > LONGEST_ON_PAGE ? WebAssembly.compile(bytes) : new WebAssembly.Module(bytes);
}
