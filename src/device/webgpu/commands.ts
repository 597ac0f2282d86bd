import type { GroupPace } from "./pace.ts";

/** A launch in the stream of commands. */
export interface Dispatch {
  readonly kind: "dispatch";
  readonly pipeline: GPUComputePipeline;
  readonly pace: GroupPace;
  readonly buffers: GPUBindGroup;
  /** The uniform block; `firstGroup` is set for each piece. */
  readonly words: Uint32Array;
  readonly groups: number;
  /** The first group that is not yet encoded. */
  next: number;
}

/** A copy from the host in the stream of commands. */
export interface Write {
  readonly kind: "write";
  readonly target: GPUBuffer;
  readonly byteOffset: number;
  bytes: Uint8Array;
}

/** A copy to the host in the stream of commands. */
export interface Copy {
  readonly kind: "copy";
  readonly source: GPUBuffer;
  readonly byteOffset: number;
  readonly target: GPUBuffer;
  readonly byteLength: number;
}

/** A callback in the stream of commands, called once everything before it has been submitted. */
export interface Mark {
  readonly kind: "mark";
  readonly submitted: () => void;
}

/** The destruction of a buffer in the stream of commands. */
export interface Destroy {
  readonly kind: "destroy";
  readonly buffer: GPUBuffer;
}

/** A command in a WebGPU device's stream. */
export type Command = Dispatch | Write | Copy | Mark | Destroy;
