/** Chooses among ways to run a kernel by the resources that a device has. */
import type { Device } from "./device.ts";

/**
 * The resources that a workgroup of a kernel needs. A property that is left out does not restrict the choice of a
 * device.
 */
export interface Resources {
  /** The number of work items of the workgroup. */
  readonly items?: number;
  /** The subgroup size for which the code is written, if it needs a particular one. */
  readonly subgroup?: number | undefined;
  /** The bytes of the arrays that the work items share. */
  readonly workgroupBytes?: number;
  /** The bytes of the private arrays of a work item. */
  readonly privateBytes?: number;
}

/** Tells whether a device has the resources that a workgroup needs. */
export function fits({ limits }: Device, { items, subgroup, workgroupBytes, privateBytes }: Resources): boolean {
  const within = (need: number | undefined, limit: number): boolean => need === undefined || need <= limit;
  return (
    (subgroup === undefined || subgroup === limits.subgroupSize) &&
    within(items, limits.maxGroupSize) &&
    within(workgroupBytes, limits.maxWorkgroupBytes) &&
    within(privateBytes, limits.maxPrivateBytes)
  );
}

/**
 * Returns the first candidate whose resources a device has; undefined if there is none. Callers list the candidates in
 * order of preference.
 */
export const firstThatFits = <C>(
  device: Device,
  candidates: readonly C[],
  resourcesOf: (candidate: C) => Resources,
): C | undefined => candidates.find((candidate) => fits(device, resourcesOf(candidate)));

/**
 * Returns the sizes of private arrays for which a kernel is compiled, in ascending order: the entries of `sizes` that
 * fit on a device, and the largest size that fits.
 *
 * @param bytes the bytes of private memory for each unit of the size
 * @param others the bytes of the kernel's other private memory
 */
export function privateSizes({ limits }: Device, sizes: readonly number[], bytes: number, others: number): number[] {
  const max = Math.min(sizes[sizes.length - 1], Math.floor((limits.maxPrivateBytes - others) / bytes));
  return [...sizes.filter((size) => size < max), max];
}

/** The default for the maximum number of bytes of one launch's buffers. */
const LAUNCH_BYTES = 2 ** 28;

/**
 * Returns the number of instances of `bytesEach` bytes that fit into the buffers of one launch, at least 1. It bounds
 * the memory of a launch, whatever the size of the batch. `most` is the maximum number of bytes.
 */
export const instancesThatFit = ({ limits }: Device, bytesEach: number, most = LAUNCH_BYTES): number =>
  Math.max(1, Math.floor(Math.min(most, limits.maxBufferBytes) / bytesEach));
