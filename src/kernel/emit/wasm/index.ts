/** The compilation of KernelIR to WebAssembly SIMD. */
export type { WasmKernel, WasmOptions } from "./kernel.ts";
export { emitWasm } from "./kernel.ts";
export type { MemoryImport } from "./module.ts";
export type { ArgumentLayout } from "./plan.ts";
