/** cuda.h: memory management. */
import type { Table } from "./signatures.ts";

/** The signatures of the driver's functions for memory. */
export const driverMemory = {
  cuMemGetInfo_v2: ["u64", "u64"], // size_t *free, size_t *total
  cuMemAlloc_v2: ["u64", "u64"], // CUdeviceptr *address, size_t bytes
  cuMemFree_v2: ["u64"],
  cuMemHostAlloc: ["u64", "u64", "u32"], // void **address, size_t bytes, flags
  cuMemFreeHost: ["u64"],
  cuMemcpyHtoDAsync_v2: ["u64", "u64", "u64", "u64"], // CUdeviceptr to, const void *from, size_t bytes, CUstream
  cuMemcpyDtoHAsync_v2: ["u64", "u64", "u64", "u64"], // void *to, CUdeviceptr from, size_t bytes, CUstream
  cuMemsetD8Async: ["u64", "u32", "u64", "u64"], // CUdeviceptr, unsigned char, size_t bytes, CUstream
} as const satisfies Table;
