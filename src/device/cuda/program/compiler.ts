/** From IR to an image: out of the cache on disk, or by NVRTC. */
import { canonicalText, type KernelIR } from "../../../kernel/index.ts";
import { type CudaModule, type CudaOptions, emitCuda } from "../../../kernel/emit/cuda/index.ts";
import { versionText } from "../driver.ts";
import type { Nvrtc } from "../nvrtc.ts";
import { KernelCache } from "../../cache/kernel-cache.ts";
import { compileImage } from "./compile.ts";
import type { Target } from "./target.ts";
import { packageVersion } from "./version.ts";

export type Contraction = NonNullable<CudaOptions["fma"]>;

export interface Image {
  readonly module: CudaModule;
  readonly bytes: Uint8Array;
  /** Makes the image again, where it came out of the cache: should the driver turn it down. */
  readonly remake: (() => Promise<Uint8Array>) | undefined;
}

export class Compiler {
  readonly nvrtc: Nvrtc;
  readonly target: Target;
  readonly #cache = new KernelCache();
  #version: string | undefined;

  constructor(nvrtc: Nvrtc, target: Target) {
    this.nvrtc = nvrtc;
    this.target = target;
  }

  /** @throws KernelError */
  async compile(ir: KernelIR, fma: Contraction): Promise<Image> {
    const module = emitCuda(ir, { fma });
    const key = this.#keyOf(module, canonicalText(ir));
    const known = this.#cache.find(key);
    const make = async (): Promise<Uint8Array> => {
      const bytes = await compileImage(this.nvrtc, module, this.target);
      this.#cache.store(key, bytes);
      return bytes;
    };
    if (known !== undefined) return { module, bytes: known, remake: make };
    return { module, bytes: await make(), remake: undefined };
  }

  /** All that the image depends on. */
  #keyOf({ code, compilerOptions, entryPoint }: CudaModule, canonical: string): string {
    this.#version ??= packageVersion();
    return [
      `feynkac ${this.#version}`,
      `NVRTC ${versionText(this.nvrtc.version)}`,
      `${this.target.kind} ${this.target.architecture}`,
      `options ${compilerOptions.join(" ")}`,
      `entry ${entryPoint}`,
      canonical,
      code,
    ].join("\n");
  }
}
