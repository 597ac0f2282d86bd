import { SpecError } from "../../base/errors.ts";
import { type ElementType, hostRealType, type KernelSignature } from "../../kernel/index.ts";
import type { DeviceLimits } from "../device.ts";
import { maxArgumentBytes, bytesPerWord, maxPrivateBytes } from "./constants.ts";
import { bytesPerElement } from "../arguments.ts";
import type { WgslModule } from "../../kernel/emit/wgsl/index.ts";

/** Returns the limits of a WebGPU device in the form that all devices share. */
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

function bytesOf({ precision }: KernelSignature, arrays: Arrays): number {
  const bytes = (element: ElementType): number =>
    bytesPerElement(element === "real" ? hostRealType(precision) : element);
  return arrays.reduce((sum, { element, length }) => sum + length * bytes(element), 0);
}

/**
 * Returns the bytes of a kernel's private arrays, with four for each element. The second f32 of a pair is in another
 * address space.
 */
const privateBytes = ({ privates }: KernelSignature): number =>
  privates.reduce((bytes, { length }) => bytes + length * bytesPerWord, 0);

/**
 * Checks that a kernel is within the limits of a WebGPU device. @throws SpecError, which names what the kernel needs
 * and what the device has
 */
export function checkWebGpuLimits(limits: DeviceLimits, { signature, words }: WgslModule): void {
  const needs: readonly (readonly [what: string, needed: number, available: number])[] = [
    ["buffers", signature.buffers.length, limits.maxBuffers],
    ["items per workgroup", signature.groupSize, limits.maxGroupSize],
    ["bytes of shared arrays", bytesOf(signature, signature.workgroups), limits.maxWorkgroupBytes],
    ["bytes of private arrays per item", privateBytes(signature), limits.maxPrivateBytes],
    ["bytes of arguments", words.length * bytesPerWord, maxArgumentBytes],
  ];
  for (const [what, needed, available] of needs) {
    if (needed > available)
      throw new SpecError(`${signature.name}: needs ${needed} ${what}, this WebGPU device has ${available}`);
  }
}
