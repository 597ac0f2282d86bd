/** The programs of one device: kernels are compared by their content, each is compiled and loaded once. */
import { KernelError } from "../../../base/errors.ts";
import {
  canonicalText,
  type Kernel,
  type KernelIR,
  lower,
  type Precision,
  specificationText,
} from "../../../kernel/index.ts";
import { EventLoopYielder } from "../../../base/event-loop.ts";
import { memoizeBy, LruCache } from "../../../base/memoize.ts";
import { MAX_PROGRAMS } from "../../max-programs.ts";
import type { DeviceLimits } from "../../device.ts";
import { checkCudaLimits } from "../limits.ts";
import type { Session } from "../session.ts";
import type { ProgramStore } from "../../cache/stored.ts";
import type { Compiler, Contraction, CudaImage } from "./compiler.ts";
import { loadImage, Program } from "./program.ts";

/** The result of a lookup in a `ProgramCache`: a program that was cached, or is newly compiled. */
export interface ProgramLookup {
  readonly program: Promise<Program>;
  /** True where the program was made for this call. */
  readonly made: boolean;
}

/** The members of a CUDA device that its `ProgramCache` uses. */
export interface ProgramsDevice {
  readonly name: string;
  readonly limits: DeviceLimits;
  /** Checks that the device is usable. @throws DisposedError | DeviceLostError */
  assertUsable(): void;
  /** Calls `give`, which frees a resource, unless the device is gone. */
  cleanUp(give: () => void): void;
}

/** A kernel and how it is to be compiled. */
interface Wanted {
  readonly kernel: Kernel;
  readonly precision: Precision;
  readonly fma: Contraction;
}

/** The cache of the programs that a CUDA device has compiled. Equal kernels share one program. */
export class ProgramCache {
  readonly #session: Session;
  readonly #compiler: Compiler;
  readonly #stored: ProgramStore<CudaImage> | undefined;
  readonly #device: ProgramsDevice;
  readonly #byText = new LruCache<string, Promise<Program>>(MAX_PROGRAMS);
  /**
   * Unloads what is no other thread's. Nobody can launch a program that has been collected: launches under way and
   * recorded sequences hold theirs.
   */
  readonly #collected = new FinalizationRegistry<number>((module) => this.#unload(module));
  readonly #byKernel = memoizeBy((_kernel: Kernel) => new Map<string, Promise<Program>>());

  constructor(
    session: Session,
    compiler: Compiler,
    stored: ProgramStore<CudaImage> | undefined,
    device: ProgramsDevice,
  ) {
    this.#session = session;
    this.#compiler = compiler;
    this.#stored = stored;
    this.#device = device;
  }

  /** Looks a kernel up. `followers` are compiled, too, where it is neither loaded nor on disk (`CompileOptions`). */
  ofKernel(
    kernel: Kernel,
    precision: Precision,
    fma: Contraction,
    followers: () => readonly Kernel[] = () => [],
  ): ProgramLookup {
    const version = `${precision} ${fma}`;
    const versions = this.#byKernel(kernel);
    const known = versions.get(version);
    if (known !== undefined) return { program: known, made: false };
    const found =
      this.#stored === undefined
        ? this.ofIr(lower(kernel, precision), fma)
        : this.#ofSpecification(this.#stored, { kernel, precision, fma }, followers);
    versions.set(version, found.program);
    found.program.catch(() => versions.delete(version));
    return found;
  }

  ofIr(ir: KernelIR, fma: Contraction): ProgramLookup {
    const text = `${fma} ${ir.name}\n${canonicalText(ir)}`; // the name, so that faults and messages name the right one
    return this.#ofText(text, async () => this.#load(text, await this.#compile(ir, fma)));
  }

  /** Programs by the text of the kernel and of all that it calls, where they are on disk: that costs no parsing. */
  #ofSpecification(stored: ProgramStore<CudaImage>, wanted: Wanted, followers: () => readonly Kernel[]): ProgramLookup {
    const text = this.#textOf(wanted);
    return this.#ofText(text, async () => {
      const make = (): Promise<CudaImage> => this.#compile(lower(wanted.kernel, wanted.precision), wanted.fma);
      const makeWithFollowers = (): Promise<CudaImage> => {
        const image = make();
        void this.#storeAhead(stored, followers(), wanted);
        return image;
      };
      const { image, isStored } = await stored.findOrMake(text, makeWithFollowers);
      try {
        return this.#load(text, image);
      } catch (error) {
        if (!isStored || !(error instanceof KernelError)) throw error;
        const again = await make(); // the driver turns down what is on disk
        stored.store(text, again);
        return this.#load(text, again);
      }
    });
  }

  /** Compiles kernels that no disk has and nobody makes, side by side, and stores them. */
  async #storeAhead(
    stored: ProgramStore<CudaImage>,
    kernels: readonly Kernel[],
    { precision, fma }: Wanted,
  ): Promise<void> {
    const yielder = new EventLoopYielder(undefined);
    for (const kernel of kernels) {
      await yielder.yieldNow(); // lowering takes this thread some tenths of a second
      try {
        this.#device.assertUsable();
      } catch {
        return; // disposed or lost: nobody needs them any more
      }
      const text = this.#textOf({ kernel, precision, fma });
      if (this.#byText.get(text) !== undefined) continue;
      // Who needs a kernel that cannot be compiled is told then.
      stored.makeAhead(text, async () => this.#compile(lower(kernel, precision), fma)).catch(() => undefined);
    }
  }

  #textOf({ kernel, precision, fma }: Wanted): string {
    return `${this.#compiler.version} ${precision} ${fma}\n${specificationText(kernel)}`;
  }

  #ofText(text: string, make: () => Promise<Program>): ProgramLookup {
    const known = this.#byText.get(text);
    if (known !== undefined) return { program: known, made: false };
    const program = make();
    this.#byText.set(text, program);
    program.catch(() => this.#byText.delete(text)); // a failure may be the moment's, not the kernel's
    return { program, made: true };
  }

  #compile(ir: KernelIR, fma: Contraction): Promise<CudaImage> {
    checkCudaLimits(ir, this.#device.limits, this.#device.name);
    return this.#compiler.compile(ir, fma);
  }

  #load(text: string, image: CudaImage): Program {
    this.#device.assertUsable(); // it may have been lost or disposed meanwhile
    const session = this.#session;
    const shared = session.kernels.functionOf(text, () => loadImage(session, image).entry);
    if (shared !== undefined) return new Program(session, image.source, shared);
    const { module, entry } = loadImage(session, image);
    const program = new Program(session, image.source, entry);
    this.#collected.register(program, module);
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
