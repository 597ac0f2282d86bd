/**
 * The WebGPU back end, with the precisions f32 and f32x2. In Node it uses Dawn from the optional package `webgpu`, and
 * in a browser `navigator.gpu`.
 */
import { type AdapterOptions, openAdapter } from "./adapter.ts";
import { WebGpuDevice } from "./device.ts";

/** The options of `createWebGpuDevice`. */
export type WebGpuDeviceOptions = AdapterOptions;
export type { WebGpuDevice } from "./device.ts";

/** Creates a WebGPU device. @throws DeviceUnavailableError, which says what is missing and how to get it */
export async function createWebGpuDevice(options: WebGpuDeviceOptions = {}): Promise<WebGpuDevice> {
  return new WebGpuDevice(await openAdapter(options));
}
