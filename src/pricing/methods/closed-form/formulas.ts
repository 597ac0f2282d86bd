/** The closed formulas of European options: Black and Scholes', and Heston's. */
import type { SensitivityName } from "../../../book/index.ts";
import type { Kernel } from "../../../kernel/index.ts";
import { type Heston, integrate, integratedVariance, shiftedVolatility, varianceOf } from "../../../market/index.ts";
import {
  BLACK_SCHOLES_INPUTS,
  BLACK_SCHOLES_OUTPUTS,
  blackScholesKernel,
  HESTON_INPUTS,
  HESTON_OUTPUTS,
  hestonKernel,
} from "../../../market/models/index.ts";
import type { TradeColumns } from "../../columns/trade-columns.ts";
import { thetaOf } from "../../plan/greeks.ts";

/**
 * The outputs of a formula for one row (a trade in one case of the scenarios): the value V in the currency, and its
 * derivatives with respect to the spot before dividends.
 */
export interface FormulaOutputs {
  readonly value: number;
  readonly delta: number;
  readonly gamma: number;
  /** Returns output k of the kernel as it is, in units of the spot. */
  readonly raw: (k: number) => number;
}

/**
 * A formula of European options. Its kernel takes S, K, R = ∫r dt, Q = ∫q dt and the further inputs of `inputsOf`. It
 * writes V, V_S, V_SS, then further outputs, of which number 4 is the derivative with respect to R.
 */
export interface Formula {
  readonly method: "black-scholes" | "heston";
  readonly kernel: Kernel;
  /** The number of inputs of the kernel for each option, and of its `outputs`. */
  readonly inputs: number;
  readonly outputs: number;
  /** Returns the further inputs of the kernel for a row. */
  readonly inputsOf: (columns: TradeColumns, row: number) => readonly number[];
  /** The further input that a move of the volatility changes, and a function that returns it for a row and a move. */
  readonly moving: number;
  readonly movedInput: (columns: TradeColumns, row: number, by: number) => number;
  /** Returns theta of a trade per year, in the currency. */
  readonly thetaOf: (columns: TradeColumns, trade: number, outputs: FormulaOutputs) => number;
  /** Returns vega of a trade per unit of volatility, in the currency. */
  readonly vegaOf: (columns: TradeColumns, trade: number, outputs: FormulaOutputs) => number;
  /**
   * Returns the error estimates of the sensitivities; `rounding` is the rounding error of values, relative to the spot.
   */
  readonly errorsOf: (columns: TradeColumns, trade: number, found: Sensitivities, rounding: number) => Sensitivities;
  /** The index of the output that is an error estimate; undefined where rounding is the only error. */
  readonly estimate: number | undefined;
}

/** The sensitivities of a trade, or their error estimates, in the currency. */
export type Sensitivities = Readonly<Record<SensitivityName, number>>;

const tradeOf = (columns: TradeColumns, row: number): number => Math.floor(row / columns.cases.count);

/** The formula of Black and Scholes, for deterministic volatilities. */
export const BLACK_SCHOLES: Formula = {
  method: "black-scholes",
  kernel: blackScholesKernel,
  inputs: BLACK_SCHOLES_INPUTS,
  outputs: BLACK_SCHOLES_OUTPUTS,
  inputsOf: (columns, row) => {
    const trade = tradeOf(columns, row);
    const variance = integratedVariance(columns.sigmaOf(row)!, columns.expiry[row]);
    return [variance, columns.sign[trade], columns.cash[trade] / columns.spot[trade]];
  },
  moving: 0,
  movedInput: (columns, row, by) =>
    integrate(columns.sigmaOf(row)!, columns.expiry[row], (sigma) => Math.max(sigma + by, 0) ** 2),
  thetaOf: (columns, trade, { value, delta, gamma }) => {
    const row = columns.rowOf(trade);
    const market = {
      spot: columns.spot[trade],
      rate: columns.ratesOf(row).values[0],
      dividendYield: columns.dividendYield[trade],
      sigma: columns.sigmaOf(row)!.values[0],
    };
    return thetaOf(market, value, delta, gamma);
  },
  // w = ∫σ² moves by 2·∫σ per unit of a parallel move of σ.
  vegaOf: (columns, trade, { raw }) => {
    const row = columns.rowOf(trade);
    return raw(3) * columns.spot[trade] * 2 * integrate(columns.sigmaOf(row)!, columns.expiry[row]);
  },
  errorsOf: blackScholesErrors,
  estimate: undefined,
};

/**
 * The errors that rounding leaves in the sensitivities. Logarithm and rates give d₁ and d₂ an absolute error of ε/√w,
 * which each formula takes on by its derivative.
 */
function blackScholesErrors(
  columns: TradeColumns,
  trade: number,
  { delta, gamma, theta, vega, rho }: Sensitivities,
  rounding: number,
): Sensitivities {
  const row = columns.rowOf(trade);
  const spot = columns.spot[trade];
  const expiry = columns.expiry[row];
  const rate = integrate(columns.ratesOf(row), expiry);
  const yields = columns.dividendYield[trade] * expiry;
  const deviation = Math.max(Math.sqrt(integratedVariance(columns.sigmaOf(row)!, expiry)), 1e-9);
  const x = Math.log((spot * keptByDividends(columns, row)) / columns.strike[trade]) + rate - yields;
  const d = Math.abs(x) / deviation + 0.5 * deviation;
  const ofD = rounding * ((1 + Math.abs(rate) + Math.abs(yields)) / deviation + d);
  const cash = columns.cash[trade];
  // The density of a vanilla's d₁ times the asset, of a digital's d₂ times the cash, and how often d multiplies it.
  const density = cash > 0 ? Math.abs(delta) * spot * deviation : Math.abs(gamma) * spot * spot * deviation;
  const once = density * ofD;
  const [first, second] =
    cash > 0 ? [(once * d) / deviation, (once * (d * d + 1)) / deviation ** 2] : [once, (once * d) / deviation];
  // Tails may vanish in f32.
  const size = spot + cash;
  const errors = {
    delta: (first + rounding * (size + Math.abs(spot * delta))) / spot,
    gamma: (second + rounding ** 2 * size) / spot ** 2 + 2 * rounding * Math.abs(gamma),
    vega: (second + rounding ** 2 * size) * integrate(columns.sigmaOf(row)!, expiry) + 2 * rounding * Math.abs(vega),
    rho: first * expiry + rounding * (size * expiry + Math.abs(rho)),
  };
  const sigma = columns.sigmaOf(row)!.values[0];
  const [r, drift] = [columns.ratesOf(row).values[0], columns.ratesOf(row).values[0] - columns.dividendYield[trade]];
  return {
    ...errors,
    theta:
      Math.abs(r) * rounding * size +
      Math.abs(drift) * spot * errors.delta +
      0.5 * sigma * sigma * spot * spot * errors.gamma +
      rounding * Math.abs(theta),
  };
}

/**
 * Returns the fraction of the spot that remains after the proportional dividends up to expiry, ∏ (1 − proportional).
 */
export function keptByDividends(columns: TradeColumns, row: number): number {
  let kept = 1;
  for (const { time, proportional } of columns.dividendsOf(row).discrete)
    if (time <= columns.expiry[row]) kept *= 1 - proportional;
  return kept;
}

/** Heston's model of a row, moved as its case says. */
function hestonOf(columns: TradeColumns, row: number): Heston {
  const { volatility } = columns.cases.cases[row % columns.cases.count].shift;
  const unshifted = columns.unshiftedVolatility(row) as Heston;
  return volatility === 0 ? unshifted : (shiftedVolatility(unshifted, volatility) as Heston);
}

/** The formula of Heston's model, a Fourier integral. */
export const HESTON: Formula = {
  method: "heston",
  kernel: hestonKernel,
  inputs: HESTON_INPUTS,
  outputs: HESTON_OUTPUTS,
  inputsOf: (columns, row) => {
    const trade = tradeOf(columns, row);
    const heston = hestonOf(columns, row);
    const { kappa, theta, sigma, rho } = heston;
    const cash = columns.cash[trade] / columns.spot[trade];
    // A row at expiry is not read.
    const expiry = Math.max(columns.expiry[row], 1e-6);
    return [expiry, columns.sign[trade], cash, varianceOf(heston), kappa, theta, sigma, rho];
  },
  moving: 3,
  movedInput: (columns, row, by) => varianceOf(shiftedVolatility(hestonOf(columns, row), by) as Heston),
  // The equation itself.
  thetaOf: (columns, trade, { value, delta, gamma, raw }) => {
    const row = columns.rowOf(trade);
    const spot = columns.spot[trade];
    const heston = hestonOf(columns, row);
    const { kappa, theta, sigma, rho } = heston;
    const v = varianceOf(heston);
    const inVariance =
      kappa * (theta - v) * raw(3) * spot + rho * sigma * v * raw(5) * spot + 0.5 * sigma * sigma * v * raw(6) * spot;
    const market = {
      spot,
      rate: columns.ratesOf(row).values[0],
      dividendYield: columns.dividendYield[trade],
      sigma: Math.sqrt(v),
    };
    return thetaOf(market, value, delta, gamma) - inVariance;
  },
  // To √v₀.
  vegaOf: (columns, trade, { raw }) =>
    2 * Math.sqrt(varianceOf(hestonOf(columns, columns.rowOf(trade)))) * raw(3) * columns.spot[trade],
  errorsOf: hestonErrors,
  estimate: 7,
};

/**
 * The quadrature's error, of which a derivative takes on as much more as its integrand is steeper: 1/√w for each
 * derivative by ln S, T/w for each by v₀, w the expected variance.
 */
function hestonErrors(
  columns: TradeColumns,
  trade: number,
  { delta, gamma, theta, vega, rho }: Sensitivities,
  error: number,
): Sensitivities {
  const row = columns.rowOf(trade);
  const spot = columns.spot[trade];
  const expiry = columns.expiry[row];
  const heston = hestonOf(columns, row);
  const { kappa, theta: mean, sigma, rho: correlation } = heston;
  const v = varianceOf(heston);
  const decay = kappa * expiry > 1e-8 ? -Math.expm1(-kappa * expiry) / kappa : expiry;
  const steep = 1 + 1 / Math.sqrt(Math.max(mean * expiry + (v - mean) * decay, 1e-12));
  const byV = decay * steep ** 2;
  const e = SAFETY * error * spot;
  const relative = (x: number): number => 1e-11 * Math.abs(x);
  const rate = columns.ratesOf(row).values[0];
  const inVariance =
    kappa * Math.abs(mean - v) * byV +
    Math.abs(correlation) * sigma * v * byV * steep +
    0.5 * sigma ** 2 * v * byV ** 2;
  const drift = Math.abs(rate - columns.dividendYield[trade]);
  return {
    delta: (e * steep) / spot + relative(delta),
    gamma: (e * steep ** 2) / spot ** 2 + relative(gamma),
    theta: e * (Math.abs(rate) + drift * steep + 0.5 * v * steep ** 2 + inVariance) + relative(theta),
    vega: e * 2 * Math.sqrt(v) * byV + relative(vega),
    rho: e * expiry * steep + relative(rho),
  };
}

/** An estimate of a derivative's scale is good to a factor. */
const SAFETY = 10;
