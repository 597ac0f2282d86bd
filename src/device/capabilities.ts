/** What a device offers, its precisions and resources, and the choice among ways to run a kernel by them. */
import type { CompiledKernel, Device, DeviceLimits } from "./device.ts";
import { PrecisionError, SpecError } from "../base/errors.ts";
import type { Kernel, KernelIR, Precision } from "../kernel/index.ts";

/**
 * Compiles a kernel so that its results have the same bits on every device. If the device offers the choice, a product
 * and a sum are not fused into one operation. @throws PrecisionError if the device does not offer the precision itself
 */
export async function compileExact<K extends Kernel>(
  device: Device,
  kernel: K,
  precision: Precision,
): Promise<CompiledKernel<K["params"]>> {
  const exact = await offeredPrecision(device, precision, { reproducible: kernel.name });
  return device.compile(kernel, { precision: exact, fma: "reproducible" });
}

/** The options of `offeredPrecision`. @stable */
export interface EmulationOptions {
  /**
   * The name of a computation whose results must have the same bits on every device, for error messages. Emulated
   * double has other bits than f64, so that asking for f64 is an error on a device that only emulates it.
   */
  readonly reproducible?: string;
}

/**
 * Returns the precision in which a device computes if `wanted` is asked for. This is the same precision,
 * except that f64 becomes f32x2 (emulated double) on a device without f64. Every function with a precision among its
 * options uses this rule.
 *
 * @param device any device.
 * @param wanted "f64", "f32" or "f32x2".
 * @param options the name of a computation that must not be emulated.
 *
 * @throws PrecisionError if the device does not offer it, or if emulated double fails its test on this device.
 * @example
 * import { offeredPrecision, openDevice } from "feynkac/device";
 *
 * using device = await openDevice({ backend: "cpu", threads: 1 });
 * console.log(await offeredPrecision(device, "f64")); // f64
 * @stable
 */
export async function offeredPrecision(
  device: Device,
  wanted: Precision,
  options: EmulationOptions = {},
): Promise<Precision> {
  const { reproducible } = options;
  if (device.precisions.includes(wanted)) return wanted;
  if (wanted !== "f32" && device.enableEmulatedDouble !== undefined) {
    if (wanted === "f64" && reproducible !== undefined)
      throw new PrecisionError(
        `${reproducible}: got f64, which ${device.name} only emulates, with other bits; ask for precision "f32"`,
      );
    await device.enableEmulatedDouble();
    return "f32x2";
  }
  const { name, precisions } = device;
  const elsewhere = wanted === "f32x2" ? "f32x2 is WebGPU's" : "the CPU offers f64";
  throw new PrecisionError(`${name}: offers ${precisions.join(", ")}, not ${wanted}; ${elsewhere}`);
}

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

/**
 * The resources that a workgroup of a kernel needs. A property that is left out does not restrict the choice of a
 * device.
 */
export interface WorkgroupResources {
  /** The number of work items of the workgroup. */
  readonly items?: number;
  /** The subgroup size for which the code is written, if it needs a particular one. */
  readonly subgroup?: number | undefined;
  /** The bytes of the arrays that the work items share. */
  readonly workgroupBytes?: number;
  /** The bytes of the private arrays of a work item. */
  readonly privateBytes?: number;
}

/** Tells whether a device has the resources that a workgroup of a kernel needs. */
export function hasResources(
  { limits }: Device,
  { items, subgroup, workgroupBytes, privateBytes }: WorkgroupResources,
): boolean {
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
  resourcesOf: (candidate: C) => WorkgroupResources,
): C | undefined => candidates.find((candidate) => hasResources(device, resourcesOf(candidate)));

/**
 * Returns the sizes of private arrays for which variants of a kernel are compiled, in ascending order: the entries of
 * `sizes` that fit into a device's private memory, and the largest size that fits.
 *
 * @param sizes the wanted sizes, in ascending order
 * @param bytes the number of bytes of private memory for each unit of the size
 * @param others the number of bytes of the kernel's other private memory
 */
export function privateSizes({ limits }: Device, sizes: readonly number[], bytes: number, others: number): number[] {
  const max = Math.min(sizes[sizes.length - 1], Math.floor((limits.maxPrivateBytes - others) / bytes));
  return [...sizes.filter((size) => size < max), max];
}

/** The default for the maximum number of bytes of one launch's buffers. */
const LAUNCH_BYTES = 2 ** 28;

/**
 * Returns the maximum number of instances that share a launch, at least 1. Each instance takes `bytesEach` bytes of one
 * buffer, which may have at most `most` bytes. This bounds the memory of a launch, whatever the size of the batch.
 */
export const maxInstancesPerLaunch = ({ limits }: Device, bytesEach: number, most = LAUNCH_BYTES): number =>
  Math.max(1, Math.floor(Math.min(most, limits.maxBufferBytes) / bytesEach));

/**
 * Checks that a kernel is within the limits of a device. `further` lists other resources: the name, the number that the
 * kernel needs, and the number that the device has. @throws SpecError
 */
export function checkLimits(
  ir: KernelIR,
  limits: DeviceLimits,
  device: string,
  ...further: readonly (readonly [what: string, needed: number, available: number])[]
): void {
  const bytes = (arrays: KernelIR["privates"]): number =>
    arrays.reduce(
      (sum, { element, length }) => sum + length * (element === "real" && ir.precision === "f64" ? 8 : 4),
      0,
    );
  const needs = [
    ["buffers", ir.buffers.length, limits.maxBuffers],
    ...further,
    ["items a workgroup", ir.groupSize, limits.maxGroupSize],
    ["bytes of workgroup arrays", bytes(ir.workgroups), limits.maxWorkgroupBytes],
    ["bytes of private arrays", bytes(ir.privates), limits.maxPrivateBytes],
  ] as const;
  for (const [what, got, max] of needs)
    if (got > max) throw new SpecError(`${ir.name}: ${got} ${what}, at most ${max} on ${device}`);
}
