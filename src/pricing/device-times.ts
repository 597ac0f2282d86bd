/** Expected times of a book on the CPU and on a GPU. */
import type { MethodName } from "../book/index.ts";
import type { CudaDeviceInfo } from "../device/index.ts";
import type { ExpectedCost } from "./expected-costs.ts";

/**
 * The computing time of a book in seconds of one core: by pricing method, and for the host, which is needed on any
 * device.
 */
export type Work = ReadonlyMap<"host" | MethodName, number>;

/** A method's work on a GPU, for each second that it takes one core. */
interface OnGpu {
  /** The time in seconds of one thread of the host, which several threads share where `isShared`. */
  readonly host: number;
  readonly isShared: boolean;
  /** The time in seconds of the GPU that was measured. */
  readonly gpu: number;
}

/**
 * Measured on an H100 beside 16 cores, whole commands of 100,000 one-factor trades, 1,000 Heston options, 2,000 Asian
 * options and 500 baskets (design/pipeline.md); one-factor trades on 8 cores too, which tells host and GPU apart.
 */
const ON_GPU: { readonly [Name in "host" | MethodName]?: OnGpu } = {
  host: { host: 1, isShared: true, gpu: 0 },
  "closed-form": { host: 1, isShared: true, gpu: 0 },
  deterministic: { host: 1, isShared: true, gpu: 0 },
  integral: { host: 0.8, isShared: true, gpu: 0.005 },
  fdm: { host: 0.37, isShared: true, gpu: 0.02 },
  adi: { host: 0, isShared: true, gpu: 0.018 },
};
/** Paths, trees and sparse grids: much work for each trade. */
const OTHERS: OnGpu = { host: 0, isShared: false, gpu: 0.018 };

/** Multiprocessors of the GPU that was measured, which does f64 at half the rate of f32. */
const MEASURED = { multiprocessors: 132, ratio: 2 };

/** Start-up times in seconds: of the CPU's threads; of a GPU's driver, context and kernels from the disk. */
const CPU_START = 0.1;
const GPU_START = 0.5;

/** The CPU time of a book, in seconds, below which a GPU is not used, because starting it takes longer. */
export const WORTH_A_GPU = GPU_START;

/**
 * Sums the expected costs of a sample of a book's trades by method, and multiplies them by `times` to represent the
 * whole book.
 */
export function workOf(costs: readonly ExpectedCost[], times: number): Work {
  const work = new Map<"host" | MethodName, number>();
  const add = (what: "host" | MethodName, seconds: number): void =>
    void work.set(what, (work.get(what) ?? 0) + seconds * times);
  for (const { method, seconds, host } of costs) {
    if (method === undefined) continue;
    add("host", host);
    add(method, seconds - host);
  }
  return work;
}

/**
 * Returns the computing time, in seconds of one core, of the trades that host threads can price independently of one
 * another. It is 0 if most of the work is done by methods that use one set of paths, or one solution, for several
 * trades.
 */
export function independentSeconds(work: Work): number {
  let separate = 0;
  let others = 0;
  for (const [method, seconds] of work)
    if (ON_GPU[method] === undefined) others += seconds;
    else separate += seconds;
  return separate > others ? separate : 0;
}

/** Returns the expected time in seconds on the CPU with a number of threads. */
export function cpuSeconds(work: Work, threads: number): number {
  let sum = 0;
  for (const seconds of work.values()) sum += seconds;
  return CPU_START + sum / threads;
}

/** Returns the expected time in seconds on an NVIDIA GPU, with a number of host threads to prepare its work. */
export function gpuSeconds(
  work: Work,
  threads: number,
  gpu: Pick<CudaDeviceInfo, "multiprocessors" | "singleToDoubleRatio">,
): number {
  const speed = (gpu.multiprocessors / MEASURED.multiprocessors) * (MEASURED.ratio / gpu.singleToDoubleRatio);
  let sum = GPU_START;
  for (const [method, seconds] of work) {
    const of = ON_GPU[method] ?? OTHERS;
    sum += seconds * (of.host / (of.isShared ? threads : 1) + of.gpu / speed);
  }
  return sum;
}
