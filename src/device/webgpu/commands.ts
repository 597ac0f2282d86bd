import type { GroupPace } from "./pace.ts";

export interface Dispatch {
  readonly kind: "dispatch";
  readonly pipeline: GPUComputePipeline;
  readonly pace: GroupPace;
  readonly buffers: GPUBindGroup;
  /** The uniform block; its `firstGroup` is filled in for each piece. */
  readonly words: Uint32Array;
  readonly groups: number;
  /** The first group not yet encoded. */
  next: number;
}

export interface Write {
  readonly kind: "write";
  readonly target: GPUBuffer;
  readonly byteOffset: number;
  bytes: Uint8Array;
}

export interface Copy {
  readonly kind: "copy";
  readonly source: GPUBuffer;
  readonly byteOffset: number;
  readonly target: GPUBuffer;
  readonly byteLength: number;
}

/** A callback to be told once everything before it is with the GPU. */
export interface Mark {
  readonly kind: "mark";
  readonly submitted: () => void;
}

export interface Destroy {
  readonly kind: "destroy";
  readonly buffer: GPUBuffer;
}

export type Command = Dispatch | Write | Copy | Mark | Destroy;
