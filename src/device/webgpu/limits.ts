import { SpecError } from "../../errors.ts";
import { type ElementType, hostReal, type KernelIR } from "../../kernel/index.ts";
import type { DeviceLimits } from "../device.ts";
import { argumentBytes, bytesPerWord, maxPrivateBytes } from "./constants.ts";
import { bytesPerElement } from "../buffers.ts";
import type { WgslModule } from "./lowering.ts";

export function limitsOf({ limits }: GPUDevice): DeviceLimits {
  return {
    maxBufferBytes: Math.min(limits.maxBufferSize, limits.maxStorageBufferBindingSize),
    maxBuffers: limits.maxStorageBuffersPerShaderStage,
    maxGroupSize: Math.min(limits.maxComputeInvocationsPerWorkgroup, limits.maxComputeWorkgroupSizeX),
    maxWorkgroupBytes: limits.maxComputeWorkgroupStorageSize,
    maxPrivateBytes,
  };
}

type Arrays = readonly { readonly element: ElementType; readonly length: number }[];

function bytesOf({ precision }: KernelIR, arrays: Arrays): number {
  const bytes = (element: ElementType): number => bytesPerElement(element === "real" ? hostReal(precision) : element);
  return arrays.reduce((sum, { element, length }) => sum + length * bytes(element), 0);
}

/** Every element is one word; the other word of a pair lies in an address space of its own. */
const privateBytes = ({ privates }: KernelIR): number =>
  privates.reduce((bytes, { length }) => bytes + length * bytesPerWord, 0);

/** @throws SpecError naming what the kernel needs and what the device has */
export function assertWithin(limits: DeviceLimits, { ir, words }: WgslModule): void {
  const needs: readonly (readonly [what: string, needed: number, available: number])[] = [
    ["buffers", ir.buffers.length, limits.maxBuffers],
    ["items per workgroup", ir.groupSize, limits.maxGroupSize],
    ["bytes of shared arrays", bytesOf(ir, ir.workgroups), limits.maxWorkgroupBytes],
    ["bytes of private arrays per item", privateBytes(ir), limits.maxPrivateBytes],
    ["bytes of arguments", words.length * bytesPerWord, argumentBytes],
  ];
  for (const [what, needed, available] of needs) {
    if (needed > available)
      throw new SpecError(`${ir.name}: needs ${needed} ${what}, this WebGPU device has ${available}`);
  }
}
