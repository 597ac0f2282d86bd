/**
 * The programs of one device: kernels are compared by their content, each is compiled once, those last used are
 * remembered.
 */
import { LastUsed } from "../../last-used.ts";
import { emitWasm, type WasmOptions } from "../../kernel/emit/wasm/index.ts";
import { canonicalText, type Kernel, type KernelIR, lower, type Precision, signatureOf } from "../../kernel/index.ts";
import type { DeviceLimits } from "../device.ts";
import { MAX_PROGRAMS } from "../most-programs.ts";
import { compileModule } from "./compile.ts";
import { checkLimits } from "./limits.ts";
import type { CpuMemory } from "./memory.ts";
import { Program } from "./program.ts";

const IMPORT_PAGES = 65_536;

interface Known {
  readonly outline: string;
  /** Canonical, made when first compared. */
  text: string | undefined;
  /** Makes the IR once more: it is many times as large as the program, and hardly ever asked for. */
  readonly source: () => KernelIR;
  readonly program: Promise<Program>;
}

export interface Found {
  readonly program: Promise<Program>;
  readonly source: () => KernelIR;
  /** Whether it is made for this very call. */
  readonly made: boolean;
}

export class Programs {
  readonly #memory: CpuMemory;
  readonly #limits: DeviceLimits;
  readonly #known = new LastUsed<Known, Known>(MAX_PROGRAMS);
  /** By precision and vectors. */
  readonly #byKernel = new WeakMap<Kernel, Map<string, Known>>();
  #count = 0;

  constructor(memory: CpuMemory, limits: DeviceLimits) {
    this.#memory = memory;
    this.#limits = limits;
  }

  ofKernel(kernel: Kernel, precision: Precision, vectors: number | undefined): Found {
    const source = (): KernelIR => lower(kernel, precision);
    const version = `${precision} ${vectors}`;
    const versions = this.#byKernel.get(kernel) ?? new Map<string, Known>();
    const known = versions.get(version);
    if (known !== undefined) {
      this.#known.set(known, known); // the last used, though nobody looked it up
      return { program: known.program, source, made: false };
    }
    const { made, found } = this.#find(source(), source, vectors);
    this.#byKernel.set(kernel, versions.set(version, found));
    return { program: found.program, source, made };
  }

  ofIr(ir: KernelIR, vectors: number | undefined): Found {
    const source = (): KernelIR => ir;
    const { made, found } = this.#find(ir, source, vectors);
    return { program: found.program, source, made };
  }

  /** Canonical texts cost a tenth of a compilation, so they are made only for kernels that may be the same. */
  #find(ir: KernelIR, source: () => KernelIR, vectors: number | undefined): { made: boolean; found: Known } {
    const outline = `${ir.name} ${ir.precision} ${ir.locals.length} ${vectors}`;
    const similar = [...this.#known.values()].filter((known) => known.outline === outline);
    const text = similar.length > 0 ? canonicalText(ir) : undefined;
    const known = similar.find((one) => (one.text ??= canonicalText(one.source())) === text);
    const found = known ?? { outline, text, source, program: this.#build(ir, vectors) };
    this.#known.set(found, found);
    if (known === undefined) found.program.catch(() => this.#known.delete(found));
    return { made: known === undefined, found };
  }

  async #build(ir: KernelIR, vectors: number | undefined): Promise<Program> {
    checkLimits(ir, this.#limits);
    const memory = { shared: this.#memory.shared, maximumPages: IMPORT_PAGES };
    const options: WasmOptions = vectors === undefined ? { memory } : { memory, vectors };
    const { bytes, arguments: layout, chunk, scratchBytes } = emitWasm(ir, options);
    const module = await compileModule(bytes);
    return new Program({ id: this.#count++, signature: signatureOf(ir), layout, chunk, scratchBytes, options, module });
  }
}
