/**
 * A CUDA driver and an NVRTC for machines that have neither: two shared libraries with the real ones' binary interface,
 * which compile kernels with g++ and run them on the CPU. What they show and what they cannot show: README.md.
 */
import { isRequired } from "../../test/support/required.ts";
import { buildLibraries, type CudaEmulatorOptions, type CudaEmulatorPaths } from "./build.ts";

export type { CudaEmulatorOptions, CudaEmulatorPaths } from "./build.ts";
export {
  type CudaEmulatorControl,
  controlCudaEmulator,
  type DriverSetting,
  type LeakedResources,
  type LiveResources,
  type NvrtcSetting,
  type WorkDone,
} from "./control.ts";

const builds = new Map<string, Promise<CudaEmulatorPaths | undefined>>();

/**
 * Builds the emulator, or finds it built; a few seconds the first time, milliseconds afterwards. The same for every
 * process, several at a time included.
 *
 *   const emulator = await buildCudaEmulator();
 *   if (emulator === undefined) return context.skip("no g++");
 *   const driver = koffi.load(emulator.driver); // as koffi.load("libcuda.so.1")
 *
 * @returns undefined where there is no g++, or where this is not Linux; report a skip then.
 * @throws Error (the same, where FEYNKAC_REQUIRE names "cuda")
 */
export async function buildCudaEmulator(options: CudaEmulatorOptions = {}): Promise<CudaEmulatorPaths | undefined> {
  const key = (options.without ?? []).join();
  const build = builds.get(key) ?? buildLibraries(options);
  builds.set(key, build);
  const paths = await build;
  if (paths === undefined && isRequired("cuda"))
    throw new Error("FEYNKAC_REQUIRE names cuda, and its emulator cannot be built: it needs Linux and g++");
  return paths;
}
