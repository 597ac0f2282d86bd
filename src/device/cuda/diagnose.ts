/** What CUDA needs, part by part: which is here, which is missing, and how to get it. Opens no device. */
import { openDriver, type Driver, versionText } from "./driver.ts";
import { KOFFI_REMEDY, type Koffi, loadKoffi } from "./ffi/koffi.ts";
import { mayHaveGpu } from "./library/driver-places.ts";
import { type Host, thisHost } from "./library/host.ts";
import { type CudaDeviceInfo, listDevices } from "./list.ts";
import { type Nvrtc, nvrtcRemedy, openNvrtc } from "./nvrtc.ts";
import { targetOf } from "./program/target.ts";

export interface CudaPart {
  readonly part: "koffi" | "driver" | "nvrtc" | "gpu";
  readonly found: boolean;
  readonly detail: string;
  /** How to get what is missing. */
  readonly remedy?: string;
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

export async function diagnoseCuda(host: Host = thisHost()): Promise<CudaPart[]> {
  let koffi: Koffi;
  try {
    koffi = await loadKoffi();
  } catch (error) {
    const gpu = mayHaveGpu(host) ? "; there seems to be an NVIDIA GPU" : "";
    return [{ part: "koffi", found: false, detail: messageOf(error) + gpu, remedy: KOFFI_REMEDY }];
  }
  const parts: CudaPart[] = [{ part: "koffi", found: true, detail: koffi.version }];
  let driver: Driver;
  try {
    driver = openDriver(koffi, undefined, host);
  } catch (error) {
    return [...parts, { part: "driver", found: false, detail: messageOf(error) }];
  }
  parts.push({ part: "driver", found: true, detail: `CUDA ${versionText(driver.version)}, ${driver.path}` });
  const nvrtc = nvrtcOf(koffi, driver, host);
  parts.push(partOf(nvrtc, driver), ...gpusOf(driver, nvrtc));
  return parts;
}

function nvrtcOf(koffi: Koffi, { version }: Driver, host: Host): Nvrtc | Error {
  try {
    return openNvrtc(koffi, version, undefined, host);
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

function partOf(nvrtc: Nvrtc | Error, { version }: Driver): CudaPart {
  const part = "nvrtc";
  if (nvrtc instanceof Error) return { part, found: false, detail: nvrtc.message };
  const detail = `CUDA ${versionText(nvrtc.version)}, ${nvrtc.path}`;
  if (nvrtc.version.major <= version.major) return { part, found: true, detail };
  const remedy = `It is newer than the driver; should kernels not load: ${nvrtcRemedy(version)}`;
  return { part, found: true, detail, remedy };
}

function gpusOf(driver: Driver, nvrtc: Nvrtc | Error): CudaPart[] {
  try {
    const gpus = listDevices(driver).map((info) => gpuPart(info, nvrtc));
    return gpus.length > 0 ? gpus : [{ part: "gpu", found: false, detail: "the driver shows no GPU" }];
  } catch (error) {
    return [{ part: "gpu", found: false, detail: messageOf(error) }];
  }
}

function gpuPart(info: CudaDeviceInfo, nvrtc: Nvrtc | Error): CudaPart {
  const memory = `${(info.memoryBytes / 2 ** 30).toFixed(1)} GiB`;
  const detail = `${info.index}: ${info.name}, ${memory}, compute capability ${versionText(info.computeCapability)}`;
  try {
    if (!(nvrtc instanceof Error)) targetOf(info, nvrtc);
    return { part: "gpu", found: true, detail };
  } catch (error) {
    return { part: "gpu", found: false, detail, remedy: messageOf(error) };
  }
}
