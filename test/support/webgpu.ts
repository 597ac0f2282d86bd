/** A WebGPU device for tests: the machine's own, or the software one that Debian's Chromium ships. */
import { existsSync } from "node:fs";
import { createWebGpuDevice, type WebGpuDevice, type WebGpuDeviceOptions } from "../../src/device/webgpu/index.ts";
import { DeviceUnavailableError } from "../../src/base/errors.ts";
import { isRequired } from "./required.ts";

const chromium = "/usr/lib/chromium";
const softwareDriver = `${chromium}/vk_swiftshader_icd.json`;
const loader = `${chromium}/libvulkan.so.1`;

/** Opens a device, or gives undefined where there is none and none is required. */
export async function openWebGpuForTests(options: WebGpuDeviceOptions = {}): Promise<WebGpuDevice | undefined> {
  restBetweenPolls();
  try {
    return await openWebGpuHere(options);
  } catch (error) {
    if (!(error instanceof DeviceUnavailableError) || isRequired("webgpu")) throw error;
    return undefined;
  }
}

/** @throws DeviceUnavailableError */
export async function openWebGpuHere(options: WebGpuDeviceOptions = {}): Promise<WebGpuDevice> {
  try {
    return await createWebGpuDevice(options);
  } catch (error) {
    if (!existsSync(softwareDriver)) throw error;
    const chosen = (process.env["VK_ICD_FILENAMES"] ??= softwareDriver);
    if (chosen !== softwareDriver) throw error;
    loadVulkan();
    return createWebGpuDevice(options);
  }
}

let rests = false;

/**
 * Dawn's addon polls for the end of its work by the global `setImmediate`, half a million times while four kernels are
 * compiled, which takes one core of the two from whoever tests beside it. Its polls, and they alone, wait for a
 * millisecond. May go when the addon waits by itself (crbug.com/dawn/1127).
 */
function restBetweenPolls(): void {
  if (rests) return;
  rests = true;
  const { setImmediate } = globalThis;
  const resting = (callback: (...args: unknown[]) => void, ...args: unknown[]): unknown =>
    isOfAddon(callback) ? setTimeout(callback, 1, ...args) : setImmediate(callback, ...args);
  Object.assign(globalThis, { setImmediate: Object.assign(resting, setImmediate) });
}

/** Neither JavaScript nor a promise's own resolution, which takes an argument. */
const isOfAddon = (callback: Function): boolean => callback.length === 0 && String(callback).includes("[native code]");

/**
 * Dawn looks for libvulkan.so.1 on the library path, which cannot be changed from inside a process; but a library that
 * is already loaded is found. `dlopen` for add-ons throws, since this is none, and RTLD_NODELETE keeps it loaded all
 * the same.
 */
function loadVulkan(): void {
  const [lazy, noDelete] = [1, 0x1000];
  try {
    process.dlopen({ exports: {} }, loader, lazy | noDelete);
  } catch {
    // "Module did not self-register"
  }
}
