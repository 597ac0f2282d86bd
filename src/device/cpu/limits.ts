/** The limits of a kernel on the CPU device. */
import { SpecError } from "../../base/errors.ts";
import type { KernelIR } from "../../kernel/index.ts";
import type { DeviceLimits } from "../device.ts";

/** Returns the limits of a CPU device whose memory has `capacity` bytes. */
export function limitsOf(capacity: number): DeviceLimits {
  return {
    maxBufferBytes: capacity - 2 ** 20, // room for the argument and scratch areas
    maxBuffers: 128,
    maxGroupSize: 1024,
    maxWorkgroupBytes: 2 ** 18,
    maxPrivateBytes: 2 ** 20,
  };
}

/** Checks a kernel against the limits of the CPU device. @throws SpecError */
export function checkLimits(ir: KernelIR, limits: DeviceLimits): void {
  const bytes = (arrays: KernelIR["privates"]): number =>
    arrays.reduce(
      (sum, { element, length }) => sum + length * (element === "real" && ir.precision === "f64" ? 8 : 4),
      0,
    );
  const needs = [
    ["buffers", ir.buffers.length, limits.maxBuffers],
    ["items a workgroup", ir.groupSize, limits.maxGroupSize],
    ["bytes of workgroup arrays", bytes(ir.workgroups), limits.maxWorkgroupBytes],
    ["bytes of private arrays", bytes(ir.privates), limits.maxPrivateBytes],
  ] as const;
  for (const [what, got, max] of needs) {
    if (got > max) throw new SpecError(`${ir.name}: ${got} ${what}, at most ${max} on the CPU device`);
  }
}

/** Checks the number of SIMD vectors in the options of `compile`. @throws SpecError */
export function checkVectors(vectors: number | undefined): void {
  if (vectors !== undefined && ![1, 2, 4, 8].includes(vectors))
    throw new SpecError(`vectors: got ${vectors}, expected 1, 2, 4 or 8`);
}
