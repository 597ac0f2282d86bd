/** The compilation of IR to an image that the driver loads. */
import type { KernelIR } from "../../../kernel/index.ts";
import { type CudaSource, type CudaOptions, emitCuda } from "../../../kernel/emit/cuda/index.ts";
import { versionText } from "../driver.ts";
import type { Nvrtc } from "../nvrtc.ts";
import { compileImage } from "./compile.ts";
import type { CompileTarget } from "./target.ts";

/** The way in which the CUDA compiler treats a·b + c: as one fused operation, or as two operations that both round. */
export type Contraction = NonNullable<CudaOptions["fma"]>;

/** A compiled CUDA program before the driver loads it. */
export interface CudaImage {
  readonly source: CudaSource;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** The compiler of a CUDA device's kernels. */
export class Compiler {
  readonly nvrtc: Nvrtc;
  readonly target: CompileTarget;
  /** A text for everything besides kernel and package version that a compiled image depends on. */
  readonly version: string;

  constructor(nvrtc: Nvrtc, target: CompileTarget) {
    this.nvrtc = nvrtc;
    this.target = target;
    this.version = `NVRTC ${versionText(nvrtc.version)} ${target.kind} ${target.architecture}`;
  }

  /** Compiles a kernel to an image. @throws KernelError */
  async compile(ir: KernelIR, fma: Contraction): Promise<CudaImage> {
    const source = emitCuda(ir, { fma });
    return { source, bytes: await compileImage(this.nvrtc, source, this.target) };
  }
}
