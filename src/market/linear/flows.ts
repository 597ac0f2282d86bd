/**
 * Products that are linear in the market: sums of flows
 *
 *   scale · Π P_c(t)^(±1) · (fixed + gearing·(G − 1)),   G = known · Π (1 + w·(P_p(s)/P_p(e) − 1))
 *
 * The first product discounts, and converts currencies by forward exchange rates; G is what one unit has grown to by
 * floating rates over periods from s to e: one of them for a rate that telescopes, one for each day otherwise.
 */
import { type Curve, knotsOf } from "./curve.ts";
import { type DefaultPayment, type DefaultValue, defaultValue } from "./default.ts";

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
  /** What is paid at default, in the place of an amount; its discount factor is part of the amount. */
  readonly atDefault?: DefaultPayment | undefined;
}

/** Returns the time of the last payment of a flow. */
export const endOf = ({ factors, atDefault }: Flow): number => atDefault?.end ?? factors[0].time;

/** The derivatives of a value with respect to the zero rates at each curve's nodes, [curve][node]. */
export type CurveGradient = readonly Float64Array[];

/**
 * The view of flows from a later date: forward rates are realised until then, and shifted after it, but for those of
 * survival curves.
 */
export interface FlowView {
  readonly years: number;
  readonly shift: number;
  readonly isSurvival?: readonly boolean[];
}

const NOW: FlowView = { years: 0, shift: 0 };

/** Flows whose times on curves are numbered, so that they can be valued again and again. */
export interface PreparedFlows {
  /** The scale, the fixed amount, the gearing and the known growth of each flow, one flow after the other. */
  readonly numbers: Float64Array;
  /** The numbers of factors and of periods up to the end of each flow. */
  readonly ends: Int32Array;
  /** The kind of growth of each flow. */
  readonly kinds: Uint8Array;
  /** Twice the number of a time on a curve, and 1 more for a factor that divides. */
  readonly factors: Int32Array;
  /**
   * The numbers of the start and of the end of each period. A payment at default has two for each part in which neither
   * curve has a node: the discount factors with what is paid first as their weight, and the survival probabilities with
   * what is paid last.
   */
  readonly periods: Int32Array;
  readonly weights: Float64Array;
  /** The growth and the amounts of the flows, and the products of scale and factors, as they were valued last. */
  readonly growths: Float64Array;
  readonly amounts: Float64Array;
  readonly scaled: Float64Array;
}

/** Numbers of times, in a table with open addresses: a map of numbers takes ten times as long. */
class TimeNumbers {
  #times = new Float64Array(64).fill(Number.NaN);
  #numbers = new Int32Array(64);
  #count = 0;

  /** Returns the number of a time; one that has none gets the given number. */
  getOrAdd(time: number, next: number): number {
    const at = this.#placeOf(time);
    if (this.#times[at] === time) return this.#numbers[at];
    this.#times[at] = time;
    this.#numbers[at] = next;
    if (2 * ++this.#count > this.#times.length) this.#grow();
    return next;
  }

  #placeOf(time: number): number {
    const mask = this.#times.length - 1;
    // Days are whole numbers here, and follow each other.
    let at = (time * 365 + 0.5) & mask;
    while (this.#times[at] !== time && !Number.isNaN(this.#times[at])) at = (at + 1) & mask;
    return at;
  }

  #grow(): void {
    const [times, numbers] = [this.#times, this.#numbers];
    this.#times = new Float64Array(4 * times.length).fill(Number.NaN);
    this.#numbers = new Int32Array(4 * times.length);
    times.forEach((time, at) => {
      if (Number.isNaN(time)) return;
      const place = this.#placeOf(time);
      this.#times[place] = time;
      this.#numbers[place] = numbers[at];
    });
  }
}

const NONE: readonly number[] = [];
const FIXED = 0;
const COMPOUNDED = 1;
const AVERAGED = 2;
const AT_DEFAULT = 3;

/**
 * Computes values of flows on curves. Times on curves are numbered when they are first asked for, and discount factors
 * are kept by their numbers, because dates repeat.
 */
export class Valuation {
  readonly curves: readonly Curve[];
  readonly #seen: FlowView;
  /** The number of each time, by curve. */
  readonly #numbers: readonly TimeNumbers[];
  readonly #curveOf: number[] = [];
  readonly #timeOf: number[] = [];
  readonly #discounts: number[] = [];
  /** The derivatives of −ln P by node, by the number of the time: nodes and weights in turn. */
  readonly #weights: (readonly number[] | undefined)[] = [];
  /** The derivatives by −ln P of the gradient that is being computed, and the times that have any. */
  readonly #slopes: number[] = [];
  readonly #touched: number[] = [];
  /** The times at which rates of a discount curve or hazard rates change, by the numbers of both curves. */
  readonly #knots = new Map<number, readonly number[]>();

  constructor(curves: readonly Curve[], seen: FlowView = NOW) {
    this.curves = curves;
    this.#seen = seen;
    this.#numbers = curves.map(() => new TimeNumbers());
  }

  /** Returns the discount factor of a curve, by its number, at a time in years from now. */
  discount(curve: number, time: number): number {
    return this.#discounts[this.#numberOf(curve, time)];
  }

  #numberOf(curve: number, time: number): number {
    const next = this.#timeOf.length;
    const known = this.#numbers[curve].getOrAdd(time, next);
    if (known !== next) return known;
    this.#curveOf.push(curve);
    this.#timeOf.push(time);
    this.#discounts.push(this.#discountAt(curve, time));
    this.#weights.push(undefined);
    this.#slopes.push(0);
    return next;
  }

  /** Computes the discount factors of a curve again after its values have changed. */
  refresh(curve: number): void {
    const of = this.curves[curve];
    const isLinear = of.rule === "log-discount" || of.rule === "zero-rate";
    for (let number = 0; number < this.#timeOf.length; number++) {
      if (this.#curveOf[number] !== curve) continue;
      if (!isLinear) this.#weights[number] = undefined;
      this.#discounts[number] = this.#discountAt(curve, this.#timeOf[number]);
    }
  }

  #discountAt(curve: number, time: number): number {
    const { years, shift, isSurvival } = this.#seen;
    const of = this.curves[curve];
    const log = of.logDiscount(time);
    if (years === 0 && shift === 0) return Math.exp(-log);
    // The issuer has survived until then.
    if (isSurvival?.[curve] === true) return Math.exp(of.logDiscount(years) - Math.max(log, of.logDiscount(years)));
    return Math.exp(of.logDiscount(years) - log - shift * Math.max(time - years, 0));
  }

  #weightsOf(number: number): readonly number[] {
    let weights = this.#weights[number];
    if (weights === undefined) {
      const made: number[] = [];
      this.curves[this.#curveOf[number]].weights(this.#timeOf[number], (node, weight) => made.push(node, weight));
      this.#weights[number] = weights = made;
    }
    return weights;
  }

  /** Numbers the times of flows, for `value` and `gradient` of this valuation. */
  prepare(flows: readonly Flow[]): PreparedFlows {
    const n = flows.length;
    const numbers = new Float64Array(4 * n);
    const ends = new Int32Array(2 * n);
    const kinds = new Uint8Array(n);
    const factors: number[] = [];
    const periods: number[] = [];
    const weights: number[] = [];
    flows.forEach(({ scale, fixed, gearing, growth, atDefault, factors: own }, k) => {
      for (const { curve, time, power } of own) factors.push(2 * this.#numberOf(curve, time) + (power === 1 ? 0 : 1));
      const open = growth?.periods ?? NONE;
      let known = growth?.known ?? 1;
      for (let i = 0; i < open.length; i += 3) {
        const { curve, averaged, term } = growth!;
        const [start, end, weight] = [open[i], open[i + 1], open[i + 2]];
        if (term === true && start < this.#seen.years) {
          const of = this.curves[curve];
          const part = weight * (Math.exp(of.logDiscount(end) - of.logDiscount(start)) - 1);
          known = averaged ? known + part : known * (1 + part);
          continue;
        }
        periods.push(this.#numberOf(curve, start), this.#numberOf(curve, end));
        weights.push(weight);
      }
      if (atDefault !== undefined) {
        const { discount, survival, start, end, from, to } = atDefault;
        const amountAt = (time: number): number => from + ((to - from) * (time - start)) / (end - start);
        const add = (left: number, right: number): void => {
          periods.push(this.#numberOf(discount, left), this.#numberOf(discount, right));
          periods.push(this.#numberOf(survival, left), this.#numberOf(survival, right));
          weights.push(amountAt(left), right === end ? to : amountAt(right));
        };
        // What is left of the period.
        let left = Math.max(start, this.#seen.years);
        for (const knot of this.#knotsOf(discount, survival)) {
          if (!(knot > left && knot < end)) continue;
          add(left, knot);
          left = knot;
        }
        add(left, end);
      }
      numbers[4 * k] = scale;
      numbers[4 * k + 1] = fixed;
      numbers[4 * k + 2] = gearing;
      numbers[4 * k + 3] = known;
      ends[2 * k] = factors.length;
      ends[2 * k + 1] = weights.length;
      const kind = growth === undefined ? FIXED : growth.averaged ? AVERAGED : COMPOUNDED;
      kinds[k] = atDefault === undefined ? kind : AT_DEFAULT;
    });
    return {
      numbers,
      ends,
      kinds,
      factors: Int32Array.from(factors),
      periods: Int32Array.from(periods),
      weights: Float64Array.from(weights),
      growths: new Float64Array(n),
      amounts: new Float64Array(n),
      scaled: new Float64Array(n),
    };
  }

  #knotsOf(discount: number, survival: number): readonly number[] {
    const both = discount * this.curves.length + survival;
    let knots = this.#knots.get(both);
    if (knots === undefined) {
      const all = [discount, survival].flatMap((one) => knotsOf(this.curves[one]));
      this.#knots.set(both, (knots = [...new Set(all)].sort((a, b) => a - b)));
    }
    return knots;
  }

  /** Returns the value of flows. */
  value(flows: readonly Flow[] | PreparedFlows): number {
    const { numbers, ends, kinds, factors, periods, weights, growths, amounts, scaled } = this.#prepared(flows);
    const discounts = this.#discounts;
    let [sum, factor, period] = [0, 0, 0];
    for (let k = 0; k < kinds.length; k++) {
      let product = numbers[4 * k];
      for (; factor < ends[2 * k]; factor++) {
        const discount = discounts[factors[factor] >> 1];
        product = (factors[factor] & 1) === 0 ? product * discount : product / discount;
      }
      let amount = numbers[4 * k + 1];
      if (kinds[k] === AT_DEFAULT) {
        for (; period < ends[2 * k + 1]; period += 2)
          amount += this.#alive(periods, period) * this.#atDefault(periods, weights, period).value;
      } else if (kinds[k] !== FIXED) {
        let growth = numbers[4 * k + 3];
        for (; period < ends[2 * k + 1]; period++) {
          const part = weights[period] * (discounts[periods[2 * period]] / discounts[periods[2 * period + 1]] - 1);
          growth = kinds[k] === AVERAGED ? growth + part : growth * (1 + part);
        }
        growths[k] = growth;
        amount += numbers[4 * k + 2] * (growth - 1);
      }
      amounts[k] = amount;
      scaled[k] = product;
      sum += product * amount;
    }
    return sum;
  }

  /** The discount factor and the survival probability at the start of the period of a payment at default. */
  #alive(periods: Int32Array, at: number): number {
    return this.#discounts[periods[2 * at]] * this.#discounts[periods[2 * at + 2]];
  }

  #atDefault(periods: Int32Array, weights: Float64Array, at: number): DefaultValue {
    const rate = (k: number): number => Math.log(this.#discounts[periods[2 * k]] / this.#discounts[periods[2 * k + 1]]);
    return defaultValue(weights[at], weights[at + 1], rate(at + 1), rate(at));
  }

  #prepared(flows: readonly Flow[] | PreparedFlows): PreparedFlows {
    return "numbers" in flows ? flows : this.prepare(flows);
  }

  /** Returns the amount that a flow pays, before it is discounted. */
  amount(flow: Flow): number {
    const prepared = this.prepare([flow]);
    this.value(prepared);
    return prepared.amounts[0];
  }

  /** Returns the derivatives of the value of flows. Cost: about twice the value's. */
  gradient(flows: readonly Flow[]): CurveGradient {
    const gradient = this.curves.map(({ zeros }) => new Float64Array(zeros.length));
    const prepared = this.prepare(flows);
    this.value(prepared);
    this.addSlopes(prepared, 1);
    this.takeSlopes((curve, node, slope) => (gradient[curve][node] += slope));
    return gradient;
  }

  /** Adds a multiple of the derivatives of flows, which were valued before, to those that `takeSlopes` returns. */
  addSlopes(flows: PreparedFlows, multiple: number): void {
    const { numbers, ends, kinds, factors, periods, weights, growths, amounts, scaled } = flows;
    const discounts = this.#discounts;
    let [factor, period] = [0, 0];
    for (let k = 0; k < kinds.length; k++) {
      const value = multiple * scaled[k] * amounts[k];
      for (; factor < ends[2 * k]; factor++)
        this.#add(factors[factor] >> 1, (factors[factor] & 1) === 0 ? -value : value);
      if (kinds[k] === AT_DEFAULT) {
        while (period < ends[2 * k + 1]) {
          const { value: part, byHazard, byForward } = this.#atDefault(periods, weights, period);
          const alive = multiple * scaled[k] * this.#alive(periods, period);
          for (const slope of [byForward, byHazard]) {
            this.#add(periods[2 * period], -alive * (part + slope));
            this.#add(periods[2 * period + 1], alive * slope);
            period++;
          }
        }
        continue;
      }
      const averaged = kinds[k] === AVERAGED;
      const all = multiple * scaled[k] * numbers[4 * k + 2] * (averaged ? 1 : growths[k]);
      for (; period < ends[2 * k + 1]; period++) {
        const [start, end] = [periods[2 * period], periods[2 * period + 1]];
        const weighted = weights[period] * (discounts[start] / discounts[end]);
        const slope = (all * weighted) / (averaged ? 1 : 1 + weighted - weights[period]);
        this.#add(end, slope);
        this.#add(start, -slope);
      }
    }
  }

  /** Adds the derivatives of a value that is proportional to a discount factor. */
  addFactor(curve: number, time: number, value: number): void {
    this.#add(this.#numberOf(curve, time), -value);
  }

  #add(number: number, slope: number): void {
    if (this.#slopes[number] === 0) this.#touched.push(number);
    this.#slopes[number] += slope;
  }

  /** Calls a function with the derivatives that were added, by curve and node, and forgets them. */
  takeSlopes(use: (curve: number, node: number, slope: number) => void): void {
    for (const number of this.#touched) {
      const slope = this.#slopes[number];
      this.#slopes[number] = 0;
      if (slope === 0) continue; // it was taken before, or it is none
      const weights = this.#weightsOf(number);
      const curve = this.#curveOf[number];
      for (let k = 0; k < weights.length; k += 2) use(curve, weights[k], slope * weights[k + 1]);
    }
    this.#touched.length = 0;
  }
}
