/** The buffer usages of the WebGPU specification, which are globals in browsers but not in Node. */
export const usage = {
  mapRead: 0x1,
  copySrc: 0x4,
  copyDst: 0x8,
  uniform: 0x40,
  storage: 0x80,
} as const;

/** The mode of mapping a buffer for reading. */
export const mapModeRead = 0x1;
/** The shader stage of compute pipelines. */
export const stageCompute = 0x4;

/** The number of bytes of a word. */
export const bytesPerWord = 4;

/**
 * The size in bytes of the pieces of a transfer between host and device, so that no single copy occupies the device for
 * long.
 */
export const transferBytes = 64 * 2 ** 20;

/** The number of bytes of private arrays, in WGSL's function address space, that every implementation supports. */
export const maxPrivateBytes = 8192;

/** The number of bytes for the arguments of one launch, far more than any kernel declares. */
export const argumentBytes = 4096;
