/** The parts that CUDA needs: which is here, which is missing, and how to get it. Opens no device. */
import { type Driver, openDriver, type Version, versionText } from "./driver.ts";
import { type Koffi, loadKoffi } from "./ffi/koffi.ts";
import { mayHaveGpu } from "./library/driver-paths.ts";
import { type Host, thisHost } from "../host.ts";
import { type CudaDeviceInfo, listDevices } from "./list.ts";
import { type Nvrtc, nvrtcRemedy, openNvrtc } from "./nvrtc.ts";
import { targetOf } from "./program/target.ts";

/** A component that CUDA needs, and whether it was found. @stable */
export interface CudaPart {
  readonly part: "koffi" | "driver" | "nvrtc" | "gpu";
  readonly found: boolean;
  readonly detail: string;
  /** The way to get a missing component. */
  readonly remedy?: string;
}

const messageOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).replace(/^CUDA: /, "");

/** Reports a part that is missing: its message says what to do, too. */
const missing = (part: CudaPart["part"], error: unknown): CudaPart => ({
  part,
  found: false,
  detail: "missing, or not usable",
  remedy: messageOf(error),
});

/** The version that stands for any, where there is no driver to go with. */
const ANY_VERSION: Version = { major: Infinity, minor: 0 };

/** Checks each component that CUDA needs, and returns the findings: koffi, the driver, NVRTC, and each GPU. */
export async function diagnoseCuda(host: Host = thisHost()): Promise<CudaPart[]> {
  let koffi: Koffi;
  try {
    koffi = await loadKoffi();
  } catch (error) {
    const gpu = mayHaveGpu(host) ? "; there seems to be an NVIDIA GPU to use" : "";
    return [{ ...missing("koffi", error), detail: `the package koffi is not usable${gpu}` }];
  }
  const parts: CudaPart[] = [{ part: "koffi", found: true, detail: koffi.version }];
  let driver: Driver;
  try {
    driver = openDriver(koffi, undefined, host);
  } catch (error) {
    return [...parts, missing("driver", error), partOf(nvrtcOf(koffi, ANY_VERSION, host), ANY_VERSION)];
  }
  parts.push({ part: "driver", found: true, detail: `CUDA ${versionText(driver.version)}, ${driver.path}` });
  const nvrtc = nvrtcOf(koffi, driver.version, host);
  parts.push(partOf(nvrtc, driver.version), ...gpusOf(driver, nvrtc));
  return parts;
}

function nvrtcOf(koffi: Koffi, driver: Version, host: Host): Nvrtc | Error {
  try {
    return openNvrtc(koffi, driver, undefined, host);
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

function partOf(nvrtc: Nvrtc | Error, driver: Version): CudaPart {
  const part = "nvrtc";
  if (nvrtc instanceof Error) return missing(part, nvrtc);
  const detail = `CUDA ${versionText(nvrtc.version)}, ${nvrtc.path}`;
  if (nvrtc.version.major <= driver.major) return { part, found: true, detail };
  const remedy = `It is newer than the driver; should kernels not load: ${nvrtcRemedy(driver)}`;
  return { part, found: true, detail, remedy };
}

function gpusOf(driver: Driver, nvrtc: Nvrtc | Error): CudaPart[] {
  try {
    const gpus = listDevices(driver).map((info) => gpuPart(info, nvrtc));
    return gpus.length > 0 ? gpus : [{ part: "gpu", found: false, detail: "the driver shows none" }];
  } catch (error) {
    return [missing("gpu", error)];
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
