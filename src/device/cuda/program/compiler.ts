/** The compilation of IR to an image that the driver loads. */
import type { KernelIR } from "../../../kernel/index.ts";
import { type CudaModule, type CudaOptions, emitCuda } from "../../../kernel/emit/cuda/index.ts";
import { versionText } from "../driver.ts";
import type { Nvrtc } from "../nvrtc.ts";
import { compileImage } from "./compile.ts";
import type { Target } from "./target.ts";

export type Contraction = NonNullable<CudaOptions["fma"]>;

/** A program before the driver has it. */
export interface CudaImage {
  readonly module: CudaModule;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

export class Compiler {
  readonly nvrtc: Nvrtc;
  readonly target: Target;
  /** All that an image depends on besides its kernel and this package. */
  readonly version: string;

  constructor(nvrtc: Nvrtc, target: Target) {
    this.nvrtc = nvrtc;
    this.target = target;
    this.version = `NVRTC ${versionText(nvrtc.version)} ${target.kind} ${target.architecture}`;
  }

  /** @throws KernelError */
  async compile(ir: KernelIR, fma: Contraction): Promise<CudaImage> {
    const module = emitCuda(ir, { fma });
    return { module, bytes: await compileImage(this.nvrtc, module, this.target) };
  }
}
