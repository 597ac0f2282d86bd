/** Numbers of the WebGPU specification. Browsers have them as globals; Node has no such globals. */
export const usage = {
  mapRead: 0x1,
  copySrc: 0x4,
  copyDst: 0x8,
  uniform: 0x40,
  storage: 0x80,
} as const;

export const mapModeRead = 0x1;
export const stageCompute = 0x4;

export const bytesPerWord = 4;

/**
 * The size of the pieces in which transfers between host and device go, so that no single copy holds the device up for
 * long.
 */
export const transferBytes = 64 * 2 ** 20;

/**
 * The bytes of private arrays, which live in WGSL's function address space, which holds this much in every
 * implementation.
 */
export const maxPrivateBytes = 8192;

/** The bytes for the arguments of one launch: far more scalars than any kernel declares. */
export const argumentBytes = 4096;
