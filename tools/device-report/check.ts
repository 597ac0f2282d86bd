/** What the suite is made of: families of checks, each for one device in one precision. */
import type { CompileOptions, Device } from "../../src/device/device.ts";
import type { Precision } from "../../src/kernel/index.ts";

/** A device in one of its precisions. */
export interface Target {
  readonly device: Device;
  /** For people and records: "NVIDIA H200 (CUDA)". */
  readonly name: string;
  readonly precision: Precision;
  readonly fma: "contract" | "exact";
}

export interface Verdict {
  /** In the unit of the check's group. */
  readonly error: number;
  /** What is wrong, if anything is. */
  readonly failure?: string | undefined;
}

export interface Check {
  readonly name: string;
  run(): Promise<Verdict>;
}

/** Checks whose errors have one unit; a row of the report. */
export interface Group {
  readonly family: string;
  readonly unit: string;
  readonly checks: readonly Check[];
}

export interface Context {
  readonly quick: boolean;
  /** How many times fewer cases a quick run takes of this target: kernels in f32x2 take seconds to compile. */
  readonly thinning?: number | undefined;
  /** What devices are compared with in f64. */
  readonly cpu: Device;
}

export type Family = (target: Target, context: Context) => readonly Group[] | Promise<readonly Group[]>;

export const compileOptions = ({ precision, fma }: Target): CompileOptions => ({ precision, fma });

/** Whether a device is emulated on the CPU, where a case takes seconds. */
export const isSlow = ({ device }: Pick<Target, "device">): boolean =>
  device.backend !== "cpu" && (device.parallelism < 8192 || device.name.startsWith("Emulated"));

/** The same once, however many checks look at it. */
export function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => (made ??= make());
}

/** One of two, or one of `stride`: what a quick run takes of a list. */
export const some = <T>(list: readonly T[], { quick, thinning = 1 }: Context, stride: number): readonly T[] =>
  quick ? list.filter((_, i) => i % (stride * thinning) === 0) : list;
