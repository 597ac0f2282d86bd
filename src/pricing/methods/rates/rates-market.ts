import { SpecError } from "../../../base/errors.ts";
import {
  firstKeyFrom,
  type ForwardCurve,
  integrate,
  KEY_TIMES,
  keyMove,
  ONE_SECOND,
  type PiecewiseConstant,
  type RatesModel,
  type RatesMoved,
  rollCurve,
} from "../../../market/index.ts";
import { cirBond, vasicekBond } from "../../../market/models/index.ts";

/** The changes of a currency's rates in a scenario or for a sensitivity. */
export interface RatesMove {
  /** The years from `asOf` to the market's date, by which the curve rolls along its forward rates. */
  readonly years?: number;
  /** The amount added to the volatilities of the model, which are bounded below by 0. */
  readonly volatility?: number;
  /** Returns the integral of the short rate's shift from the market's date to t years later. */
  readonly shift?: (t: number) => number;
  /** The times at which the shift jumps, beside those of key rates. */
  readonly breaks?: readonly number[];
}

/**
 * The rates of a currency at a date, as changed by a scenario or for a sensitivity. Every model is moved by a
 * deterministic shift of its short rate, which leaves its volatility unchanged, so that the curve of any model can
 * move.
 */
export class RatesMarket {
  /** The model; its volatility is shifted already where that determines the curve. */
  readonly model: RatesModel;
  readonly #given: RatesModel;
  /** The years from `asOf` to the market's date. */
  readonly years: number;
  /** The amount added to the volatilities of the model. */
  readonly volatilityShift: number;
  readonly #shift: ((t: number) => number) | undefined;
  readonly #breaks: readonly number[];
  readonly #base: number;

  constructor(given: RatesModel, move: RatesMove = {}) {
    const { moved, ...unmoved } = given;
    // Models are the keys of caches: one that no scenario has moved is taken as it is.
    const model = moved === undefined ? given : unmoved;
    const { years = 0, volatility = 0, shift, breaks = [] } = moved === undefined ? move : both(moved, move);
    this.#given = model;
    // These models have no curve of their own: their volatility is part of it.
    const isAffine = model.kind === "vasicek" || model.kind === "cir";
    this.model = isAffine ? { ...model, sigma: Math.max(model.sigma + volatility, 0) } : model;
    this.years = years;
    this.volatilityShift = volatility;
    this.#shift = shift;
    this.#breaks = breaks;
    this.#base = logDiscountOf(this.model, years);
  }

  /** Returns ln P, where P is the price of 1 paid `t` years after the market's date. */
  logDiscount(t: number): number {
    const shift = this.#shift === undefined ? 0 : this.#shift(t);
    return logDiscountOf(this.model, this.years + t) - this.#base - shift;
  }

  /**
   * Returns the logarithm of what 1 grows to between two times, in years from the market's date, along a curve that
   * moves as the market does; by default along the market's own.
   */
  logGrowth(curve: ForwardCurve | undefined, start: number, end: number): number {
    if (curve === undefined) return this.logDiscount(start) - this.logDiscount(end);
    const own = integrate(curve, this.years + end) - integrate(curve, this.years + start);
    return this.#shift === undefined ? own : own + this.#shift(end) - this.#shift(start);
  }

  /** Returns the times, in years from the market's date, at which forward rates jump. */
  breaks(): readonly number[] {
    const own = "curve" in this.model ? this.model.curve.times.map((time) => time - this.years) : [];
    return this.#shift === undefined ? own : [...own, ...this.#breaks, ...KEY_TIMES];
  }

  /** Returns the price of 1 paid `t` years after the market's date. */
  discount(t: number): number {
    return Math.exp(this.logDiscount(t));
  }

  /** Returns the short rate at the market's date; where the curve jumps there, the rate a second later. */
  shortRate(): number {
    return -this.logDiscount(ONE_SECOND) / ONE_SECOND;
  }

  /**
   * Returns the integral, from the market's date to `t` years later, of the shift with which the rate of Cox, Ingersoll
   * and Ross' model fits the market's curve.
   */
  shiftTo(t: number): number {
    return cirBond(until(cirAt(this), t)) - this.logDiscount(t);
  }

  /** Returns this market with its short rate shifted further; `shift` is the integral of the shift up to a time. */
  moved(shift: (t: number) => number): RatesMarket {
    const before = this.#shift;
    const both = before === undefined ? shift : (t: number): number => before(t) + shift(t);
    return new RatesMarket(this.#given, {
      years: this.years,
      volatility: this.volatilityShift,
      shift: both,
      breaks: this.#breaks,
    });
  }

  /** Returns σ(t) of Hull and White's model from the market's date on, with the market's volatility shift. */
  sigma(volatility: PiecewiseConstant): PiecewiseConstant {
    const { times, values } = rollCurve(volatility, this.years);
    return { times, values: values.map((value) => Math.max(value + this.volatilityShift, 0)) };
  }
}

/** Returns the move of a scenario and a further one. */
function both(
  { years, rate, volatility }: RatesMoved,
  { years: later = 0, volatility: more = 0, shift }: RatesMove,
): RatesMove {
  const left = rollCurve(rate, later);
  const own = (t: number): number => integrate(left, t);
  const all = shift === undefined ? own : (t: number): number => own(t) + shift(t);
  const total = rate.values.every((by) => by === 0) ? shift : all;
  return {
    years: years + later,
    volatility: volatility + more,
    breaks: left.times,
    ...(total === undefined ? {} : { shift: total }),
  };
}

/**
 * Returns the parameters of Cox, Ingersoll and Ross' model at the market's date. @throws SpecError for another model
 */
export function cirAt({ model, years }: RatesMarket): Extract<RatesModel, { readonly kind: "cir" }> {
  if (model.kind !== "cir") throw new SpecError(`rates: expected cir, got ${model.kind}`);
  const { kind, kappa, theta, sigma } = model;
  return { kind, r0: cirMean(model, years), kappa, theta, sigma };
}

/** E[r] of Cox, Ingersoll and Ross' rate, which stands for it at a later date. */
function cirMean({ r0, kappa, theta }: Extract<RatesModel, { readonly kind: "cir" }>, years: number): number {
  return theta + (r0 - theta) * Math.exp(-kappa * years);
}

/** An affine model to a time, field by field: a copy of the object takes longer than the bond's formula. */
const until = (
  { r0, kappa, theta, sigma }: Extract<RatesModel, { readonly kind: "vasicek" | "cir" }>,
  years: number,
) => ({
  r0,
  kappa,
  theta,
  sigma,
  years,
});

/** ln P(0, t). */
function logDiscountOf(model: RatesModel, t: number): number {
  switch (model.kind) {
    case "vasicek":
      return vasicekBond(until(model, t));
    case "cir":
      return cirBond(until(model, t));
    case "bdt":
      return logDiscountOfYields(model.annualYields, t);
    default:
      return -integrate(model.curve, t);
  }
}

/** Linear in t between whole years; beyond the last yield as in its year. */
function logDiscountOfYields(yields: readonly number[], t: number): number {
  const at = (years: number): number => (years === 0 ? 0 : -years * Math.log1p(yields[years - 1]));
  const before = Math.min(Math.floor(t), yields.length - 1);
  return at(before) + (t - before) * (at(before + 1) - at(before));
}

/** The time from the end of a period to its payment, in years from the market's date. */
export interface Lag {
  readonly from: number;
  readonly to: number;
}

/** The derivatives of a value by ln P(0, t) at several times t, from which its sensitivities to the curve follow. */
export class CurveSlopes {
  readonly times: number[] = [];
  readonly slopes: number[] = [];

  /** Adds the derivative by ln P at a time in years, and by ln P(to)/P(from) of what is paid with a lag. */
  add(time: number, slope: number, lag?: Lag): void {
    this.times.push(time);
    this.slopes.push(slope);
    if (lag === undefined) return;
    this.times.push(lag.from, lag.to);
    this.slopes.push(-slope, slope);
  }

  /** Returns the first-order change of the value when ln P(0, t) changes by `move(t)`. */
  along(move: (t: number) => number): number {
    return this.slopes.reduce((sum, slope, i) => sum + move(this.times[i]) * slope, 0);
  }

  /**
   * Returns the sensitivities to a parallel shift of the rates, and to the key rates up to the last payment
   * (`KEY_TIMES`).
   */
  byRates(): { readonly rho: number; readonly keyRates: readonly number[] } {
    let [rho, last] = [0, 0];
    const keyRates = KEY_TIMES.map(() => 0);
    for (let i = 0; i < this.times.length; i++) {
      const [t, slope] = [this.times[i], this.slopes[i]];
      const right = firstKeyFrom(t);
      rho -= t * slope;
      keyRates[right] -= keyMove(right, t) * slope;
      if (right > 0) keyRates[right - 1] -= keyMove(right - 1, t) * slope;
      last = Math.max(last, right);
    }
    keyRates.length = last + 1;
    return { rho, keyRates };
  }
}
