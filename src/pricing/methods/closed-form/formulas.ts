/** Closed formulas as the plan of `closed-form.ts` uses them. */
import type { Kernel } from "../../../kernel/index.ts";
import { type Heston, integrate, integratedVariance, shiftedVolatility, varianceOf } from "../../../market/index.ts";
import {
  BLACK_SCHOLES_INPUTS,
  BLACK_SCHOLES_OUTPUTS,
  blackScholesKernel,
  HESTON_INPUTS,
  HESTON_OUTPUTS,
  hestonKernel,
} from "../../../models/index.ts";
import type { TradeColumns } from "../../columns/trade-columns.ts";
import { thetaOf } from "../theta.ts";

/** A row's outputs in the currency: V, and its derivatives by the spot before its dividends. */
export interface Outputs {
  readonly value: number;
  readonly delta: number;
  readonly gamma: number;
  /** Output k as the kernel gives it, in units of the spot. */
  readonly raw: (k: number) => number;
}

/**
 * A formula of European options. Its kernel reads S, K, R, Q and what `inputsOf` gives, and writes V, V_S, V_SS, then
 * what is its own; the derivative by R is output 4.
 */
export interface Formula {
  readonly method: "black-scholes" | "heston";
  readonly kernel: Kernel;
  readonly inputs: number;
  readonly outputs: number;
  readonly inputsOf: (columns: TradeColumns, row: number) => readonly number[];
  readonly thetaOf: (columns: TradeColumns, trade: number, outputs: Outputs) => number;
  readonly vegaOf: (columns: TradeColumns, trade: number, outputs: Outputs) => number;
  /** Which output is an error estimate; undefined where rounding is all there is. */
  readonly estimate: number | undefined;
}

const tradeOf = (columns: TradeColumns, row: number): number => Math.floor(row / columns.cases.count);

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
  estimate: undefined,
};

/** Heston's model of a row, moved as its case says. */
function hestonOf(columns: TradeColumns, row: number): Heston {
  const { volatility } = columns.cases.cases[row % columns.cases.count].shift;
  const unshifted = columns.unshiftedVolatility(row) as Heston;
  return volatility === 0 ? unshifted : (shiftedVolatility(unshifted, volatility) as Heston);
}

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
  estimate: 7,
};
