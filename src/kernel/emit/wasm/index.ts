/** Compiles KernelIR to WebAssembly with SIMD. */
export type { WasmOptions } from "./kernel.ts";
export { emitWasm } from "./kernel.ts";
export type { ArgumentLayout } from "./plan.ts";
