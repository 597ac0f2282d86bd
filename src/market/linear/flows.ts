/**
 * Products that are linear in the market: sums of flows
 *
 *   scale · Π P_c(t)^(±1) · (fixed + gearing·(G − 1)),   G = known · Π (1 + w·(P_p(s)/P_p(e) − 1))
 *
 * The first product discounts, and converts currencies by forward exchange rates; G is what one unit has grown to by
 * floating rates over periods from s to e: one of them for a rate that telescopes, one for each day otherwise.
 */
import type { Curve } from "./curve.ts";

/** The discount factor of a curve at a time, or its inverse; `curve` is the index of the curve. */
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
  /** Whether the rate of a period is known once the period has begun, as term rates are. */
  readonly term?: boolean;
}

export interface Flow {
  readonly scale: number;
  readonly factors: readonly Factor[];
  readonly fixed: number;
  readonly gearing: number;
  readonly growth?: Growth | undefined;
}

/** The derivatives of a value with respect to the zero rates at each curve's nodes, [curve][node]. */
export type CurveGradient = readonly Float64Array[];

/** The view of flows from a later date: `forward` rates are realised until then, and shifted after it. */
export interface FlowView {
  readonly years: number;
  readonly shift: number;
}

const NOW: FlowView = { years: 0, shift: 0 };

/**
 * Computes values of flows on curves as they are when it is created. Discount factors are kept by date, because dates
 * repeat.
 */
export class Valuation {
  readonly curves: readonly Curve[];
  readonly #seen: FlowView;
  readonly #discounts: readonly Map<number, number>[];

  constructor(curves: readonly Curve[], seen: FlowView = NOW) {
    this.curves = curves;
    this.#seen = seen;
    this.#discounts = curves.map(() => new Map<number, number>());
  }

  /** Returns the discount factor of a curve, by its number, at a time in years from now. */
  discount(curve: number, time: number): number {
    const known = this.#discounts[curve];
    let discount = known.get(time);
    if (discount === undefined) known.set(time, (discount = this.#discountAt(this.curves[curve], time)));
    return discount;
  }

  #discountAt(curve: Curve, time: number): number {
    const { years, shift } = this.#seen;
    const log = curve.logDiscount(time);
    if (years === 0 && shift === 0) return Math.exp(-log);
    return Math.exp(curve.logDiscount(years) - log - shift * Math.max(time - years, 0));
  }

  /** Returns the value of flows. */
  value(flows: readonly Flow[]): number {
    let sum = 0;
    for (const flow of flows) sum += this.#scaled(flow) * this.amount(flow);
    return sum;
  }

  /** Returns the amount that a flow pays, before it is discounted. */
  amount({ fixed, gearing, growth }: Flow): number {
    return growth === undefined ? fixed : fixed + gearing * (this.#growth(growth) - 1);
  }

  /** Returns the derivatives of the value of flows. Cost: about twice the value's. */
  gradient(flows: readonly Flow[]): CurveGradient {
    // By −ln P at each time first: the dates of many flows are the same.
    const byTime = this.curves.map(() => new Map<number, number>());
    const add = (curve: number, time: number, change: number): void =>
      void byTime[curve].set(time, (byTime[curve].get(time) ?? 0) + change);
    for (const flow of flows) {
      const scaled = this.#scaled(flow);
      const value = scaled * this.amount(flow);
      for (const { curve, time, power } of flow.factors) add(curve, time, -power * value);
      const { growth, gearing } = flow;
      if (growth === undefined) continue;
      const { curve, periods, averaged } = growth;
      const all = scaled * gearing * (averaged ? 1 : this.#growth(growth));
      for (let k = 0; k < periods.length; k += 3) {
        const weighted = periods[k + 2] * this.#ratio(curve, periods[k], periods[k + 1]);
        const slope = (all * weighted) / (averaged ? 1 : 1 + weighted - periods[k + 2]);
        add(curve, periods[k + 1], slope);
        add(curve, periods[k], -slope);
      }
    }
    return this.curves.map((curve, c) => {
      const gradient = new Float64Array(curve.times.length);
      for (const [time, change] of byTime[c])
        curve.weights(time, (node, weight) => (gradient[node] += change * weight));
      return gradient;
    });
  }

  #scaled({ scale, factors }: Flow): number {
    let product = scale;
    for (const { curve, time, power } of factors)
      product = power === 1 ? product * this.discount(curve, time) : product / this.discount(curve, time);
    return product;
  }

  #ratio(curve: number, start: number, end: number): number {
    return this.discount(curve, start) / this.discount(curve, end);
  }

  #growth({ curve, known, periods, averaged, term }: Growth): number {
    let growth = known;
    for (let k = 0; k < periods.length; k += 3) {
      const [start, end] = [periods[k], periods[k + 1]];
      const isKnown = term === true && start < this.#seen.years;
      const of = this.curves[curve];
      const ratio = isKnown ? Math.exp(of.logDiscount(end) - of.logDiscount(start)) : this.#ratio(curve, start, end);
      const part = periods[k + 2] * (ratio - 1);
      growth = averaged ? growth + part : growth * (1 + part);
    }
    return growth;
  }
}
