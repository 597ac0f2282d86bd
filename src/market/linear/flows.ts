/**
 * Products that are linear in the market: sums of flows
 *
 *   scale · Π P_c(t)^(±1) · (fixed + gearing·(G − 1)),   G = known · Π (1 + w·(P_p(s)/P_p(e) − 1))
 *
 * The first product discounts, and converts currencies by forward exchange rates; G is what one unit has grown to by
 * floating rates over periods from s to e: one of them for a rate that telescopes, one for each day otherwise.
 */
import type { Curve } from "./curve.ts";

/** A discount factor, or its inverse, of a curve by its number. */
export interface Factor {
  readonly curve: number;
  readonly time: number;
  readonly power: 1 | -1;
}

/** The growth of one unit by the floating rates of a projection curve. */
export interface Growth {
  readonly curve: number;
  /** What the unit has grown to by rates that are known. */
  readonly known: number;
  /** Start, end and weight of each period, one after the other. */
  readonly periods: readonly number[];
  /** Whether G − 1 is a sum over the periods, as for averaged rates, instead of a product. */
  readonly averaged?: boolean;
}

export interface Flow {
  readonly scale: number;
  readonly factors: readonly Factor[];
  readonly fixed: number;
  readonly gearing: number;
  readonly growth?: Growth | undefined;
}

/** The derivatives of a value by the zero rates of each curve's nodes. */
export type CurveGradient = readonly Float64Array[];

export const zeroGradient = (curves: readonly Curve[]): CurveGradient =>
  curves.map(({ times }) => new Float64Array(times.length));

/** Returns −ln of a flow's product of discount factors. */
const exponentOf = ({ factors }: Flow, curves: readonly Curve[]): number =>
  factors.reduce((sum, { curve, time, power }) => sum + power * curves[curve].logDiscount(time), 0);

function ratio(curve: Curve, start: number, end: number): number {
  return Math.exp(curve.logDiscount(end) - curve.logDiscount(start));
}

function growthOf({ curve, known, periods, averaged }: Growth, curves: readonly Curve[]): number {
  let growth = known;
  for (let k = 0; k < periods.length; k += 3) {
    const part = periods[k + 2] * (ratio(curves[curve], periods[k], periods[k + 1]) - 1);
    growth = averaged ? growth + part : growth * (1 + part);
  }
  return growth;
}

/** Returns the amount that a flow pays, before it is discounted. */
export function amountOf(flow: Flow, curves: readonly Curve[]): number {
  const growth = flow.growth ? growthOf(flow.growth, curves) - 1 : 0;
  return flow.fixed + flow.gearing * growth;
}

/** Returns the value of a flow. */
export const valueOfFlow = (flow: Flow, curves: readonly Curve[]): number =>
  flow.scale * Math.exp(-exponentOf(flow, curves)) * amountOf(flow, curves);

/** Returns the value of flows. */
export const valueOfFlows = (flows: readonly Flow[], curves: readonly Curve[]): number =>
  flows.reduce((sum, flow) => sum + valueOfFlow(flow, curves), 0);

/** Adds the derivatives of the value of flows, times a weight, to `gradient`. Cost: about twice the value's. */
export function addGradient(
  flows: readonly Flow[],
  curves: readonly Curve[],
  gradient: CurveGradient,
  weight = 1,
): void {
  for (const flow of flows) {
    const discount = weight * flow.scale * Math.exp(-exponentOf(flow, curves));
    const value = discount * amountOf(flow, curves);
    for (const { curve, time, power } of flow.factors)
      curves[curve].weights(time, (node, by) => (gradient[curve][node] -= value * power * by));
    const { growth, gearing } = flow;
    if (growth === undefined) continue;
    const { curve, periods, averaged } = growth;
    const all = discount * gearing * (averaged ? 1 : growthOf(growth, curves));
    for (let k = 0; k < periods.length; k += 3) {
      const [start, end, share] = [periods[k], periods[k + 1], periods[k + 2]];
      const r = ratio(curves[curve], start, end);
      const slope = (all * share * r) / (averaged ? 1 : 1 + share * (r - 1));
      curves[curve].weights(end, (node, by) => (gradient[curve][node] += slope * by));
      curves[curve].weights(start, (node, by) => (gradient[curve][node] -= slope * by));
    }
  }
}
