/** The programs of one device: kernels are compared by their content, each is compiled and loaded once. */
import { KernelError } from "../../../errors.ts";
import type { CudaModule } from "../../../kernel/emit/cuda/index.ts";
import { canonicalText, type Kernel, type KernelIR, lower, type Precision } from "../../../kernel/index.ts";
import { LastUsed } from "../../../last-used.ts";
import { MAX_PROGRAMS } from "../../most-programs.ts";
import type { DeviceLimits } from "../../device.ts";
import { checkLimits } from "../limits.ts";
import type { Session } from "../session.ts";
import type { Compiler, Contraction } from "./compiler.ts";
import { loadProgram, type Program } from "./program.ts";

export interface Found {
  readonly program: Promise<Program>;
  /** Whether it is made for this very call. */
  readonly made: boolean;
}

/** What programs ask of their device. */
export interface ProgramsDevice {
  readonly name: string;
  readonly limits: DeviceLimits;
  /** @throws DisposedError | DeviceLostError */
  assertUsable(): void;
  /** Calls `give`, which gives something back, unless the device is gone. */
  cleanUp(give: () => void): void;
}

export class Programs {
  readonly #session: Session;
  readonly #compiler: Compiler;
  readonly #device: ProgramsDevice;
  readonly #byText = new LastUsed<string, Promise<Program>>(MAX_PROGRAMS);
  /** Nobody can launch a program that has been collected: launches under way and recorded sequences hold theirs. */
  readonly #collected = new FinalizationRegistry<number>((module) => this.#unload(module));
  readonly #byKernel = new WeakMap<Kernel, Map<string, Promise<Program>>>();

  constructor(session: Session, compiler: Compiler, device: ProgramsDevice) {
    this.#session = session;
    this.#compiler = compiler;
    this.#device = device;
  }

  ofKernel(kernel: Kernel, precision: Precision, fma: Contraction): Found {
    const version = `${precision} ${fma}`;
    const versions = this.#byKernel.get(kernel) ?? new Map<string, Promise<Program>>();
    const known = versions.get(version);
    if (known !== undefined) return { program: known, made: false };
    const found = this.ofIr(lower(kernel, precision), fma);
    this.#byKernel.set(kernel, versions.set(version, found.program));
    found.program.catch(() => versions.delete(version));
    return found;
  }

  ofIr(ir: KernelIR, fma: Contraction): Found {
    const text = `${fma} ${ir.name}\n${canonicalText(ir)}`; // the name, so that faults and messages name the right one
    const known = this.#byText.get(text);
    if (known !== undefined) return { program: known, made: false };
    const program = this.#make(ir, fma);
    this.#byText.set(text, program);
    program.catch(() => this.#byText.delete(text)); // a failure may be the moment's, not the kernel's
    return { program, made: true };
  }

  async #make(ir: KernelIR, fma: Contraction): Promise<Program> {
    checkLimits(ir, this.#device.limits, this.#device.name);
    const { module, bytes, remake } = await this.#compiler.compile(ir, fma);
    try {
      return this.#load(module, bytes);
    } catch (error) {
      if (remake === undefined || !(error instanceof KernelError)) throw error;
      return this.#load(module, await remake());
    }
  }

  #load(module: CudaModule, image: Uint8Array): Program {
    this.#device.assertUsable(); // it may have been lost or disposed meanwhile
    const program = loadProgram(this.#session, module, image);
    this.#collected.register(program, program.loaded);
    return program;
  }

  #unload(module: number): void {
    this.#device.cleanUp(() => {
      this.#session.enter();
      // A failure is some earlier call's: the next one that matters reports it.
      this.#session.calls.cuModuleUnload(module);
    });
  }
}
