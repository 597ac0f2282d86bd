import type { Device } from "./device.ts";

/** Work items that a GPU holds at once at least; an adapter with fewer is a CPU that poses as one. */
const MIN_GPU = 8192;

/**
 * Whether a device is a GPU indeed, not a CPU or a software adapter, to which barriers and large register tiles are
 * dear.
 */
export const isGpu = ({ backend, parallelism }: Device): boolean => backend !== "cpu" && parallelism >= MIN_GPU;
