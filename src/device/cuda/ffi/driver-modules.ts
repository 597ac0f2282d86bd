/** cuda.h: module management, execution control. */
import type { Table } from "./signatures.ts";

/** The signatures of the driver's functions for modules. */
export const driverModuleFunctions = {
  cuModuleLoadData: ["u64", "data"], // CUmodule *module, const void *image
  cuModuleUnload: ["u64"], // CUmodule
  cuModuleGetFunction: ["u64", "u64", "text"], // CUfunction *function, CUmodule, const char *name
  cuFuncGetAttribute: ["u64", "i32", "u64"], // int *value, CUfunction_attribute, CUfunction
  cuFuncSetAttribute: ["u64", "i32", "i32"], // CUfunction, CUfunction_attribute, int value
  // CUfunction, grid x, y, z, block x, y, z, dynamic shared bytes, CUstream, void **parameters, void **extra
  cuLaunchKernel: ["u64", "u32", "u32", "u32", "u32", "u32", "u32", "u32", "u64", "u64", "u64"],
} as const satisfies Table;

/** The function attributes that are queried or set, by their numbers in cuda.h. */
export const functionAttribute = {
  maxThreadsPerBlock: 0,
  maxDynamicSharedBytes: 8,
} as const;
