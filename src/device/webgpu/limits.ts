import { SpecError } from "../../errors.ts";
import type { KernelIR } from "../../kernel/index.ts";
import type { DeviceLimits } from "../device.ts";
import { argumentBytes, bytesPerElement, maxPrivateBytes } from "./constants.ts";

export function limitsOf({ limits }: GPUDevice): DeviceLimits {
  return {
    maxBufferBytes: Math.min(limits.maxBufferSize, limits.maxStorageBufferBindingSize),
    maxBuffers: limits.maxStorageBuffersPerShaderStage,
    maxGroupSize: Math.min(limits.maxComputeInvocationsPerWorkgroup, limits.maxComputeWorkgroupSizeX),
    maxWorkgroupBytes: limits.maxComputeWorkgroupStorageSize,
    maxPrivateBytes,
  };
}

const bytesOf = (arrays: readonly { readonly length: number }[]): number =>
  arrays.reduce((bytes, { length }) => bytes + length * bytesPerElement, 0);

/** @throws SpecError naming what the kernel needs and what the device has */
export function assertWithin(limits: DeviceLimits, ir: KernelIR): void {
  const argumentWords = 4 + ir.buffers.length + ir.scalars.length;
  const needs: readonly (readonly [what: string, needed: number, available: number])[] = [
    ["buffers", ir.buffers.length, limits.maxBuffers],
    ["items per workgroup", ir.groupSize, limits.maxGroupSize],
    ["bytes of shared arrays", bytesOf(ir.workgroups), limits.maxWorkgroupBytes],
    ["bytes of private arrays per item", bytesOf(ir.privates), limits.maxPrivateBytes],
    ["bytes of arguments", argumentWords * bytesPerElement, argumentBytes],
  ];
  for (const [what, needed, available] of needs) {
    if (needed > available)
      throw new SpecError(`${ir.name}: needs ${needed} ${what}, this WebGPU device has ${available}`);
  }
}
