/** A device that counts what another one, which does the work, compiles and launches. */
import type { CompiledKernel, Device } from "../../src/device/index.ts";
import type { Kernel } from "../../src/kernel/index.ts";

export interface Counts {
  /** Kernels by identity, which is how devices know them without lowering them again. */
  readonly kernels: ReadonlySet<Kernel>;
  /** Compilations that were not a hit of the device's memory. */
  compilations: number;
  launches: number;
}

export function countingDevice(device: Device): { readonly device: Device; readonly counts: Counts } {
  const kernels = new Set<Kernel>();
  const counts: Counts = { kernels, compilations: 0, launches: 0 };
  const compile = async (kernel: Kernel, options: never): Promise<CompiledKernel> => {
    const compiled = await device.compile(kernel, options);
    kernels.add(kernel);
    if (compiled.compileMs > 0) counts.compilations++;
    return compiled;
  };
  const counting = new Proxy(device, {
    get(target, name) {
      if (name === "compile") return compile;
      if (name === "launch") counts.launches++;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
  return { device: counting, counts };
}
