/** The kernel language: declare kernels in TypeScript, lower them to typed IR, emit WebAssembly SIMD, WGSL (and CUDA). */
export type * from "./language.ts";
export { bool, i32, read, real, record, u32, write } from "./language.ts";
export { hostReal, signatureOf } from "./ir.ts";
export type { ElementType, KernelIR, KernelSignature, Precision, ScalarType } from "./ir.ts";
export {
  fn,
  functionFromSource,
  kernel,
  kernelFromSource,
  userFunction,
  withEnvironment,
  type FunctionSource,
  type KernelSource,
  type UserFunction,
} from "./frontend/declare.ts";
export { formula, formulaMessage, formulaVariables } from "./frontend/formula.ts";
export { runWithin } from "./evaluate.ts";
export { errorInFunction, whatIsWrong } from "./frontend/source.ts";
export { type Lifted, liftLiterals, shapeOf } from "./frontend/lift.ts";
export { lower, type ResultKind, resultOf } from "./frontend/lower.ts";
export { fromPairs, pairOf, toPairs } from "./pairs.ts";
export { canonicalText } from "./canonical.ts";
