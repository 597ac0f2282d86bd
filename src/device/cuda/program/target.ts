/** The target that NVRTC is asked to compile for. */
import { DeviceUnavailableError } from "../../../base/errors.ts";
import { versionText } from "../driver.ts";
import type { CudaDeviceInfo } from "../list.ts";
import type { Nvrtc } from "../nvrtc.ts";

/** The GPU architecture for which kernels are compiled. */
export interface CompileTarget {
  /** The architecture: "sm_90" for machine code of this GPU; "compute_90" for PTX, which the driver compiles. */
  readonly architecture: string;
  readonly kind: "cubin" | "ptx";
}

/**
 * Returns the architecture for which NVRTC compiles kernels: the GPU's own, or, if NVRTC does not know it, the newest
 * that NVRTC supports, as PTX. @throws DeviceUnavailableError (the GPU is older than all that NVRTC supports)
 */
export function targetOf(
  { name, computeCapability }: Pick<CudaDeviceInfo, "name" | "computeCapability">,
  { architectures, version, path }: Pick<Nvrtc, "architectures" | "version" | "path">,
): CompileTarget {
  const wanted = computeCapability.major * 10 + computeCapability.minor;
  if (architectures.includes(wanted)) return { architecture: `sm_${wanted}`, kind: "cubin" };
  const newest = architectures.findLast((known) => known < wanted);
  if (newest !== undefined) return { architecture: `compute_${newest}`, kind: "ptx" };
  const has = `compute capability ${versionText(computeCapability)}`;
  throw new DeviceUnavailableError(
    `CUDA: ${name} has ${has}, and NVRTC ${versionText(version)} (${path}) no longer compiles for it; ` +
      "install an older NVRTC, such as pip install nvidia-cuda-nvrtc-cu12, and name it in FEYNKAC_NVRTC",
  );
}
