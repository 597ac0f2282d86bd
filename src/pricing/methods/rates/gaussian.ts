import { decay } from "../../../market/models/index.ts";
import { rollCurve, type PiecewiseConstant, type RatesModel } from "../../../market/index.ts";
import type { RatesMarket } from "./rates-market.ts";

/** A model of Gaussian rates: its parameters by name, and the standard deviations of bond prices that they imply. */
export interface GaussianModel {
  /** The names of the parameters. */
  readonly names: readonly string[];
  readonly parameters: readonly number[];
  /** The names of the parameters whose parallel shift is vega. */
  readonly volatilities: readonly string[];
  /**
   * Writes the standard deviations of ln P(T, t₂)/P(T, t₁) at an option's expiry T, for the payment time t₂ of each of
   * its flows. There are two numbers for each flow, for two independent directions; a model with one factor sets only
   * the first.
   */
  deviations(of: DeviationsOf, out: number[]): void;
}

/**
 * The parameters of a model and the times of an option whose deviations are computed. Times are in years from the
 * market's date, which is `years` after today.
 */
export interface DeviationsOf {
  readonly parameters: readonly number[];
  readonly years: number;
  readonly expiry: number;
  /** The time t₁ at which the fixed amount is paid. */
  readonly start: number;
  readonly flows: readonly { readonly time: number }[];
}

/** Deterministic rates, whose deviations are 0. */
const CERTAIN: GaussianModel = {
  names: [],
  parameters: [],
  volatilities: [],
  deviations: (of, out) => {
    writeFactor(0, of, 0, out);
  },
};

/** Returns the Gaussian model of a market; undefined where its rates are not Gaussian. */
export function gaussianModel(market: RatesMarket): GaussianModel | undefined {
  const { model } = market;
  switch (model.kind) {
    case "curve":
      return CERTAIN;
    case "hullWhite":
      return hullWhite(model.meanReversion, market.sigma(model.volatility));
    case "vasicek":
      return vasicek(model);
    case "g2":
      return g2(model, market.volatilityShift);
    default:
      return undefined;
  }
}

/** Writes the deviations of one factor, B(T, t₂) − B(T, t₁) times `width`, and 0 for the second direction. */
function writeFactor(a: number, { years, expiry, start, flows }: DeviationsOf, width: number, out: number[]): void {
  const first = decay(a, start - years - expiry);
  for (let j = 0; j < flows.length; j++) {
    out[2 * j] = (decay(a, flows[j].time - years - expiry) - first) * width;
    out[2 * j + 1] = 0;
  }
}

function hullWhite(meanReversion: number, volatility: PiecewiseConstant): GaussianModel {
  return {
    // A parallel move of the volatility; 0 is the volatility as it is.
    names: ["meanReversion", "volatility"],
    parameters: [meanReversion, 0],
    volatilities: ["volatility"],
    deviations(of, out) {
      const [a, move] = of.parameters;
      const { expiry, years } = of;
      const { times, values } = years === 0 ? volatility : rollCurve(volatility, years);
      let variance = 0;
      let from = 0;
      for (let k = 0; k < values.length && from < expiry; k++) {
        const to = k < times.length ? Math.min(times[k], expiry) : expiry;
        const sigma = values[k] + move;
        variance += sigma * sigma * Math.exp(-2 * a * (expiry - to)) * decay(2 * a, to - from);
        from = to;
      }
      writeFactor(a, of, Math.sqrt(variance), out);
    },
  };
}

function vasicek({ r0, kappa, theta, sigma }: Extract<RatesModel, { kind: "vasicek" }>): GaussianModel {
  return {
    names: ["r0", "kappa", "theta", "sigma"],
    parameters: [r0, kappa, theta, sigma],
    volatilities: ["sigma"],
    deviations(of, out) {
      const [, a, , sigma] = of.parameters;
      writeFactor(a, of, sigma * Math.sqrt(decay(2 * a, of.expiry)), out);
    },
  };
}

function g2(model: Extract<RatesModel, { kind: "g2" }>, shift: number): GaussianModel {
  const { a, b, rho } = model;
  return {
    names: ["a", "sigma", "b", "eta", "rho"],
    parameters: [a, Math.max(model.sigma + shift, 0), b, Math.max(model.eta + shift, 0), rho],
    volatilities: ["sigma", "eta"],
    deviations(of, out) {
      const [a, sigma, b, eta, rho] = of.parameters;
      const first = Math.sqrt(decay(2 * a, of.expiry));
      const second = Math.sqrt(decay(2 * b, of.expiry));
      const both = first > 0 ? Math.max(Math.min((rho * decay(a + b, of.expiry)) / (first * second), 1), -1) : 0;
      const own = Math.sqrt((1 - both) * (1 + both));
      const others: number[] = [];
      writeFactor(a, of, sigma * first, out);
      writeFactor(b, of, eta * second, others);
      for (let k = 0; k < others.length; k += 2) {
        out[k] += others[k] * both;
        out[k + 1] = others[k] * own;
      }
    },
  };
}
