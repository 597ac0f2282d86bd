/** Products that are linear in discount factors: curves, flows, and legs that are made of flows. */
export { Curve, type CurveData, type CurveRule, knotsOf, type Turn, turnsUntil } from "./curve.ts";
export { creditSettlement, type CreditSwap, type CreditSwapSpec, creditSwapOf, timesOf } from "./credit.ts";
export type { DefaultPayment } from "./default.ts";
export {
  type CurveGradient,
  endOf,
  type Factor,
  type Flow,
  type FlowView,
  type Growth,
  type PreparedFlows,
  Valuation,
} from "./flows.ts";
export { SVENSSON } from "./svensson.ts";
export {
  type Fixings,
  fixedFlow,
  floatingOf,
  type Leg,
  type LegDates,
  legOf,
  type LegSpec,
  type OvernightRule,
  type PaidFlow,
  periodsOfLeg,
  type RateIndex,
  timeOf,
  zeroCouponOf,
} from "./legs.ts";
