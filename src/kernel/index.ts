/**
 * The kernel language: kernels and kernel functions, written in TypeScript and compiled at run time for each device.
 * docs/kernels.md is the guide.
 */
export type { Gpu } from "./gpu.ts";
export type * from "./language.ts";
export type * from "./numbers.ts";
export { bool, i32, read, real, record, u32, write } from "./language.ts";
export type { ElementType, Precision, ScalarType } from "./ir.ts";
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
export {
  gradient,
  tangent,
  type AdjointOf,
  type ByInput,
  type ByInputs,
  type DirectionOf,
  type InputOf,
  type Slope,
  type WithExtra,
} from "./differentiate/declare.ts";
export { formula } from "./frontend/formula.ts";
export type { UserFunctions } from "./frontend/user-functions.ts";

// What follows serves other folders, not users of the package.
/** @internal */
export { hostReal, signatureOf } from "./ir.ts";
/** The intermediate representation of kernels, for other folders of the package. @internal */
export type { KernelIR, KernelSignature } from "./ir.ts";
/** @internal */
export { formulaMessage, formulaShape, formulaVariables, onColumn, onRow, substituted } from "./frontend/formula.ts";
/** @internal */
export { storesThatDepend } from "./dependence.ts";
/** @internal */
export { runOnHost } from "./host-gpu.ts";
/** @internal */
export { runWithin } from "./evaluate.ts";
/** @internal */
export { errorInFunction, whatIsWrong } from "./frontend/source.ts";
/** @internal */
export { type Lifted, liftLiterals, shapeOf, sharing } from "./frontend/lift.ts";
/** @internal */
export { type DeclaredFunctions, declaredFunctions } from "./frontend/user-functions.ts";
/** @internal */
export { lower, type ResultKind, resultOf } from "./frontend/lower.ts";
/** @internal */
export { fromPairs, pairOf, toPairs } from "./pairs.ts";
/** @internal */
export { millsRatio } from "./math/normal.ts";
/** @internal */
export { canonicalText } from "./canonical.ts";
/** @internal */
export { specificationText } from "./specification.ts";
