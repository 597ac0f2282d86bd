/** The value of a linear trade in one market, and its exact derivatives. */
import { memoizeBy } from "../../../base/memoize.ts";
import type { Conversion, LinearCurves, LinearLeg, LinearTrade } from "../../../book/index.ts";
import { ONE_SECOND } from "../../../market/index.ts";
import {
  Curve,
  type CurveGradient,
  type DefaultPayment,
  endOf,
  type FlowView,
  type PaidFlow,
  type PreparedFlows,
  Valuation,
} from "../../../market/linear/index.ts";

/** Rounding, relative to the sum of the sizes of all flows. */
export const ROUNDING = 1e-14;

/** Years over which slopes of curves are taken, which have none at nodes. */
const STEP = 1e-5;

export const curvesOf = memoizeBy(({ curves }: LinearCurves): readonly Curve[] =>
  curves.map(({ times, zeros, rule, turns }) => new Curve(times, zeros, rule, turns)),
);

const todays = memoizeBy((market: LinearCurves) => new Valuation(curvesOf(market)));

/** The forward rates of the curves of a market today, −d ln P/dt at 0. */
const slopesOf = memoizeBy((market: LinearCurves): Float64Array =>
  Float64Array.from(curvesOf(market), (curve) => curve.logDiscount(STEP) / STEP),
);

/** Which curves of a market have survival probabilities. */
const survivalOf = memoizeBy(({ recoveries }: LinearCurves): readonly boolean[] =>
  recoveries.map((one) => one !== undefined),
);

/** A leg as it is valued: the flows that are left, and the value of a unit of its currency, with its sign. */
export interface ValuedLeg {
  readonly leg: LinearLeg;
  readonly left: readonly PaidFlow[];
  readonly flows: PreparedFlows;
  /** The value in the leg's own currency. */
  readonly value: number;
  readonly unit: number;
}

/** A trade in one market: values of its legs, and of a unit of each leg's currency in that of the trade. */
export class LinearValue {
  readonly legs: readonly ValuedLeg[];
  readonly #trade: LinearTrade;
  readonly #seen: FlowView;
  readonly #on: Valuation;

  constructor(trade: LinearTrade, shift = 0) {
    this.#trade = trade;
    this.#seen = { years: trade.seen, shift, isSurvival: survivalOf(trade.market) };
    const isToday = trade.seen === 0 && shift === 0;
    this.#on = isToday ? todays(trade.market) : new Valuation(curvesOf(trade.market), this.#seen);
    this.legs = trade.legs.map((leg) => {
      const left = this.#left(leg.flows);
      const flows = this.#on.prepare(left);
      return { leg, left, flows, value: this.#on.value(flows), unit: leg.sign * this.unit(leg) };
    });
  }

  /** Returns the value to the holder, with the spots of pairs multiplied by the given factors. */
  value(factorOf?: (pair: string) => number): number {
    return this.legs.reduce(
      (sum, { leg, value, unit }) =>
        sum + value * (factorOf === undefined ? unit : leg.sign * this.unit(leg, factorOf)),
      0,
    );
  }

  /** Returns the value of flows that are not legs, such as the derivatives of a leg's flows by its rate. */
  valueOf(flows: readonly PaidFlow[]): number {
    return this.#on.value(this.#left(flows));
  }

  /** Returns the value of a unit of a leg's currency. */
  unit({ conversion }: LinearLeg, factorOf: (pair: string) => number = () => 1): number {
    return conversion.reduce((unit, step) => {
      const { pair, spot, power, base, quote, lag } = step;
      const at = this.#seen.years + lag;
      const rate = spot * factorOf(pair) * (this.#on.discount(quote, at) / this.#on.discount(base, at));
      return power === 1 ? unit * rate : unit / rate;
    }, 1);
  }

  /** Returns the flows that are not yet paid. */
  #left(flows: readonly PaidFlow[]): readonly PaidFlow[] {
    const { years } = this.#seen;
    return years === 0 ? flows : flows.filter((flow) => endOf(flow) > years + ONE_SECOND);
  }

  /** Returns the derivatives by all nodes of all curves, as seen today. */
  gradient(): CurveGradient {
    const gradient = this.#on.curves.map(({ zeros }) => new Float64Array(zeros.length));
    for (const { leg, flows, value, unit } of this.legs) {
      this.#on.addSlopes(flows, unit);
      for (const { base, quote, power, lag } of leg.conversion) {
        this.#on.addFactor(quote, lag, power * unit * value);
        this.#on.addFactor(base, lag, -power * unit * value);
      }
    }
    this.#on.takeSlopes((curve, node, slope) => (gradient[curve][node] += slope));
    return gradient;
  }

  /** The sum of the sizes of all amounts. */
  get size(): number {
    let size = 0;
    for (const { flows, unit } of this.legs)
      for (let k = 0; k < flows.amounts.length; k++) size += Math.abs(unit * flows.scaled[k] * flows.amounts[k]);
    return size;
  }

  /** Returns the derivative by the valuation time, along forward rates and at constant spots. */
  theta(): number {
    const curves = curvesOf(this.#trade.market);
    const slopes = slopesOf(this.#trade.market);
    const later = (curve: number, at: number): number =>
      (curves[curve].logDiscount(at + STEP) - curves[curve].logDiscount(at)) / STEP;
    const grown = ({ base, quote, power, lag }: Conversion): number =>
      power * (slopes[quote] - later(quote, lag) - slopes[base] + later(base, lag));
    let theta = 0;
    for (const { leg, left, flows, unit } of this.legs) {
      const drift = leg.conversion.reduce((all, step) => all + grown(step), 0);
      left.forEach(({ factors, atDefault, scale }, k) => {
        let own = drift;
        for (const { curve, power } of factors) own += power * slopes[curve];
        if (atDefault !== undefined) {
          own += slopes[atDefault.discount] + slopes[atDefault.survival];
          theta -= unit * scale * slopes[atDefault.survival] * paidNow(atDefault);
        }
        theta += unit * flows.scaled[k] * flows.amounts[k] * own;
      });
    }
    return theta;
  }
}

/** Returns what is paid if default is today as a trade of today sees it. */
export const paidNow = ({ start, from }: DefaultPayment): number => (start <= 0 ? from : 0);

/** What a flow pays, and the product of its factors. */
export const paymentOf = (
  { left, flows }: ValuedLeg,
  k: number,
): { readonly amount: number; readonly discount: number } => ({
  amount: left[k].scale * flows.amounts[k],
  discount: flows.scaled[k] / left[k].scale,
});
