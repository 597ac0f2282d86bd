/** cuda.h: initialisation, version, device management, context management. */
import type { Table } from "./signatures.ts";

/** The signatures of the driver's functions for devices. */
export const driverDeviceFunctions = {
  cuInit: ["u32"], // flags
  cuDriverGetVersion: ["u64"], // int *version
  cuDeviceGetCount: ["u64"], // int *count
  cuDeviceGet: ["u64", "i32"], // CUdevice *device, int ordinal
  cuDeviceGetName: ["data", "i32", "i32"], // char *name, int length, CUdevice
  cuDeviceTotalMem_v2: ["u64", "i32"], // size_t *bytes, CUdevice
  cuDeviceGetAttribute: ["u64", "i32", "i32"], // int *value, CUdevice_attribute, CUdevice
  // Version 2 has been there since CUDA 3.2, for programs built since; 4 is what CUDA 13's header names.
  cuCtxCreate_v2: ["u64", "u32", "i32"], // CUcontext *context, flags, CUdevice
  cuCtxCreate_v4: ["u64", "u64", "u32", "i32"], // CUcontext *context, CUctxCreateParams *, flags, CUdevice
  cuCtxDestroy_v2: ["u64"],
  cuCtxSetCurrent: ["u64"],
  cuCtxPopCurrent_v2: ["u64"], // CUcontext *popped
} as const satisfies Table;

/** The device attributes that are queried, by their numbers in cuda.h. */
export const deviceAttribute = {
  maxThreadsPerBlock: 1,
  maxGridX: 5,
  multiprocessors: 16,
  maxThreadsPerMultiprocessor: 39,
  computeCapabilityMajor: 75,
  computeCapabilityMinor: 76,
  singleToDoubleRatio: 87,
  maxSharedMemoryPerBlock: 97, // …OPTIN: what a kernel may ask for
} as const;
