/** Products that are linear in discount factors: curves, flows, and legs that are made of flows. */
export { Curve, type CurveRule } from "./curve.ts";
export { type CurveGradient, type Factor, type Flow, type Growth, type FlowView, Valuation } from "./flows.ts";
export {
  type Fixings,
  fixedFlow,
  floatingOf,
  type Leg,
  legOf,
  type LegSpec,
  type OvernightRule,
  type PaidFlow,
  type RateIndex,
  timeOf,
  zeroCouponOf,
} from "./legs.ts";
