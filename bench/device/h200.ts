/**
 * What an NVIDIA H200 cannot exceed, measured on one: the floors of the benchmarks of devices, which hold for that GPU
 * alone.
 */
import type { Device } from "../../src/device/index.ts";

export const H200 = {
  /** Copies, bytes read and written a second. */
  copy: 4.28e12,
  /** Fused multiply-adds outside the tensor cores, two flops each. */
  flops: { f64: 33e12, f32: 64e12 },
  /**
   * Nodes and steps a second of 2,048 options × 256 × 500 with a constant matrix, state on the chip: 54 µs (f32) and
   * 105 µs (f64), from a count of operations at the measured peak.
   */
  nodeSteps: { f64: 262_144_000 / 105e-6, f32: 262_144_000 / 54e-6 },
  /** The same where the matrix depends on time and is eliminated every step: 138 µs and 359 µs. */
  eliminatedNodeSteps: { f64: 262_144_000 / 359e-6, f32: 262_144_000 / 138e-6 },
} as const;

/** The floor as a part of a report, where the device is an H200. CUDA and WebGPU spell its name differently. */
export const floorOn = ({ name }: Device, floor: number): { readonly floor?: number } =>
  /h200/i.test(name) ? { floor } : {};
