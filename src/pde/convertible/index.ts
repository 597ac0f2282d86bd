/** Convertible bonds: two coupled equations or a hazard rate, by finite differences; closed forms where they exist. */
export { closedFormValue, hasClosedForm } from "./closed-form.ts";
export {
  accruedInterest,
  type Call,
  type Conversion,
  type Convertible,
  type ConvertibleMarket,
  type ConvertibleVolatility,
  type Coupon,
  covers,
  type Credit,
  type Period,
  type Put,
  ratioAtMaturity,
} from "./contract.ts";
export {
  type ConvertiblePoint,
  type ConvertibleRow,
  errorOfMoves,
  type RefinementLimit,
  solveConvertibles,
  DOMAIN_TRUNCATION_ERROR,
} from "./engine.ts";
