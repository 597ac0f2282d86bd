import type { Device } from "./device.ts";

/** Work items that a GPU holds at once at least; an adapter with fewer is a CPU that poses as one. */
const MIN_GPU = 8192;

/**
 * Tells whether a device is a GPU in hardware, and not a CPU or a software adapter, on which barriers and large
 * register tiles are slow.
 *
 * @param device any device.
 * @example
 * import { isGpu, openDevice } from "feynkac/device";
 *
 * using device = await openDevice({ backend: "cpu", threads: 1 });
 * console.log(isGpu(device)); // false
 */
export const isGpu = ({ backend, parallelism }: Device): boolean => backend !== "cpu" && parallelism >= MIN_GPU;
