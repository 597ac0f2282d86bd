import type { WorkgroupTime } from "./workgroup-time.ts";

/** A command of a device's stream: a kernel launch, which may be submitted in several dispatches. */
export interface DispatchCommand {
  readonly kind: "dispatch";
  readonly pipeline: GPUComputePipeline;
  /** The measured time of a workgroup in similar launches. */
  readonly workgroupTime: WorkgroupTime;
  readonly buffers: GPUBindGroup;
  /** The uniform block as 32-bit integers. Its member `firstGroup` is set for each dispatch. */
  readonly words: Uint32Array;
  /** The number of workgroups of the launch. */
  readonly groups: number;
  /** The first workgroup that is not yet encoded. */
  next: number;
}

/** A command of a device's stream: a copy from the host to a buffer. */
export interface WriteCommand {
  readonly kind: "write";
  readonly target: GPUBuffer;
  readonly byteOffset: number;
  bytes: Uint8Array;
}

/** A command of a device's stream: a copy from a buffer to a buffer that the host can read. */
export interface CopyCommand {
  readonly kind: "copy";
  readonly source: GPUBuffer;
  readonly byteOffset: number;
  readonly target: GPUBuffer;
  readonly byteLength: number;
}

/** A command of a device's stream: a function that is called when everything before it has been submitted. */
export interface MarkCommand {
  readonly kind: "mark";
  readonly submitted: () => void;
}

/** A command of a device's stream: the destruction of a buffer. */
export interface DestroyCommand {
  readonly kind: "destroy";
  readonly buffer: GPUBuffer;
}

/** A command of a WebGPU device's stream. */
export type Command = DispatchCommand | WriteCommand | CopyCommand | MarkCommand | DestroyCommand;
