import type { Device } from "./device.ts";

/**
 * The smallest number of work items that a hardware GPU holds at once. An adapter with fewer is emulated on the CPU.
 */
const MIN_GPU = 8192;

/**
 * Tells whether a device is a hardware GPU. It is false for the CPU and for a GPU that is emulated in software, on
 * which barriers and large blocks of registers are slow.
 *
 * @param device any device.
 * @example
 * import { isGpu, openDevice } from "feynkac/device";
 *
 * using device = await openDevice({ backend: "cpu", threads: 1 });
 * console.log(isGpu(device)); // false
 * @stable
 */
export const isGpu = ({ backend, parallelism }: Device): boolean => backend !== "cpu" && parallelism >= MIN_GPU;
