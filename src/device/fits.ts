/** Choices among ways to run a kernel, by what a device has room for. */
import type { Device } from "./device.ts";

/** The resources of a workgroup of a kernel. What is left out is not limited. */
export interface Resources {
  /** The number of its work items. */
  readonly items?: number;
  /** The lanes of the device's subgroups, where the code is written for subgroups of one size. */
  readonly subgroup?: number | undefined;
  /** The bytes of the arrays that its items share. */
  readonly workgroupBytes?: number;
  /** The bytes of an item's private arrays. */
  readonly privateBytes?: number;
}

/** Tells whether a device has the resources. */
export function fits({ limits }: Device, { items, subgroup, workgroupBytes, privateBytes }: Resources): boolean {
  const within = (need: number | undefined, limit: number): boolean => need === undefined || need <= limit;
  return (
    (subgroup === undefined || subgroup === limits.subgroupSize) &&
    within(items, limits.maxGroupSize) &&
    within(workgroupBytes, limits.maxWorkgroupBytes) &&
    within(privateBytes, limits.maxPrivateBytes)
  );
}

/** The first candidate whose resources a device has: callers name those that are large enough, the best first. */
export const firstThatFits = <C>(
  device: Device,
  candidates: readonly C[],
  resourcesOf: (candidate: C) => Resources,
): C | undefined => candidates.find((candidate) => fits(device, resourcesOf(candidate)));

/**
 * Returns the sizes of private arrays for which a kernel is compiled, ascending: those of `sizes` that fit on a device,
 * and the largest that fits.
 *
 * @param bytes the bytes of private memory that each unit of the size takes, beside `others`
 */
export function privateSizes({ limits }: Device, sizes: readonly number[], bytes: number, others: number): number[] {
  const max = Math.min(sizes[sizes.length - 1], Math.floor((limits.maxPrivateBytes - others) / bytes));
  return [...sizes.filter((size) => size < max), max];
}

/** The bytes of one launch's buffers, unless something else is said. */
const LAUNCH_BYTES = 2 ** 28;

/** Returns the number of instances of a size in bytes that fit in one launch, which bounds memory for any batch. */
export const instancesThatFit = ({ limits }: Device, bytesEach: number, most = LAUNCH_BYTES): number =>
  Math.max(1, Math.floor(Math.min(most, limits.maxBufferBytes) / bytesEach));
