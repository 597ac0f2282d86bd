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
export { hostRealType, signatureOf } from "./ir.ts";
/** The intermediate representation of kernels, for other folders of the package. @internal */
export type { KernelIR, KernelSignature } from "./ir.ts";
/** @internal */
export {
  formulaMessage,
  liftFormula,
  formulaVariables,
  evaluateColumns,
  evaluateRow,
  substituteVariables,
} from "./frontend/formula.ts";
/** @internal */
export { dependenceOfStores } from "./dependence.ts";
/** @internal */
export { runOnHost } from "./host-gpu.ts";
/** @internal */
export { interpretWithin } from "./evaluate.ts";
/** @internal */
export { errorInFunction, messageWithCaret } from "./frontend/source.ts";
/** @internal */
export { type LiftedFunction, liftLiterals, codeKeyOf, memoizeByCode } from "./frontend/lift.ts";
/** @internal */
export { type DeclaredFunctions, declaredFunctions } from "./frontend/user-functions.ts";
/** @internal */
export { lower, type ResultKind, resultKindOf } from "./frontend/lower.ts";
/** @internal */
export { fromPairs, pairOf, toPairs } from "./pairs.ts";
/** @internal */
export { millsRatio } from "./math/normal.ts";
/** @internal */
export { canonicalText } from "./canonical.ts";
/** @internal */
export { specificationText } from "./specification.ts";
/** The rules that scripts share with formulas. @internal */
export {
  BINARY,
  calleeOf,
  decimalOf,
  type Fail,
  LOGICAL,
  placeInFormula,
  refuseChain,
  UNARY,
  unreadable,
  withPowers,
} from "./frontend/formula-rules.ts";
/** @internal */
export { FORMULA_CONSTANTS } from "./frontend/formula-names.ts";
/** @internal */
export { describeNode } from "./frontend/syntax.ts";
