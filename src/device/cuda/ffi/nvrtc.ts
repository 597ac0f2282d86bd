/** nvrtc.h */
import type { Table } from "./signatures.ts";

/** The signatures of NVRTC's functions. */
export const nvrtcFunctions = {
  nvrtcVersion: ["u64", "u64"], // int *major, int *minor
  nvrtcGetNumSupportedArchs: ["u64"], // int *count
  nvrtcGetSupportedArchs: ["data"], // int *architectures
  // nvrtcProgram *program, const char *source, const char *name, int headers, const char **headers, const char **names
  nvrtcCreateProgram: ["u64", "text", "text", "i32", "u64", "u64"],
  nvrtcCompileProgram: ["u64", "i32", "u64"], // nvrtcProgram, int count, const char **options
  nvrtcGetProgramLogSize: ["u64", "u64"], // nvrtcProgram, size_t *bytes
  nvrtcGetProgramLog: ["u64", "data"], // nvrtcProgram, char *log
  nvrtcGetCUBINSize: ["u64", "u64"],
  nvrtcGetCUBIN: ["u64", "data"],
  nvrtcGetPTXSize: ["u64", "u64"],
  nvrtcGetPTX: ["u64", "data"],
  nvrtcDestroyProgram: ["u64"], // nvrtcProgram *program
} as const satisfies Table;

/** The status of a successful NVRTC call. */
export const NVRTC_SUCCESS = 0;
/** The status of a failed compilation. */
export const NVRTC_ERROR_COMPILATION = 6;

const names = [
  "SUCCESS",
  "ERROR_OUT_OF_MEMORY",
  "ERROR_PROGRAM_CREATION_FAILURE",
  "ERROR_INVALID_INPUT",
  "ERROR_INVALID_PROGRAM",
  "ERROR_INVALID_OPTION",
  "ERROR_COMPILATION",
  "ERROR_BUILTIN_OPERATION_FAILURE",
  "ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION",
  "ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION",
  "ERROR_NAME_EXPRESSION_NOT_VALID",
  "ERROR_INTERNAL_ERROR",
];

/** Returns the name of an NVRTC status. */
export const nvrtcResultName = (status: number): string => `NVRTC_${names[status] ?? `status ${status}`}`;
