/** The buffer usage flags of the WebGPU specification, which are globals in browsers but not in Node. */
export const bufferUsage = {
  mapRead: 0x1,
  copySrc: 0x4,
  copyDst: 0x8,
  uniform: 0x40,
  storage: 0x80,
} as const;

/** The WebGPU flag for mapping a buffer to read it on the host. */
export const mapModeRead = 0x1;
/** The WebGPU flag of the compute shader stage. */
export const stageCompute = 0x4;

/** The number of bytes of a 32-bit integer. */
export const bytesPerWord = 4;

/**
 * The maximum number of bytes that one copy between host and device transfers. Larger transfers are split, so that no
 * single copy occupies the device for long.
 */
export const maxTransferBytes = 64 * 2 ** 20;

/**
 * The number of bytes of private arrays (in WGSL's function address space) that every WebGPU implementation supports.
 */
export const maxPrivateBytes = 8192;

/** The maximum number of bytes of the arguments of a launch. The binding has this size. Kernels need far less. */
export const maxArgumentBytes = 4096;
