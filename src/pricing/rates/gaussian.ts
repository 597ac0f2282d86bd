import { decay } from "../../models/index.ts";
import { later, type PiecewiseConstant, type RatesModel } from "../../market/index.ts";
import type { RatesMarket } from "./rates-market.ts";

/** A deviation in two independent directions; that of one factor has the first only. */
export type Deviation = readonly [number, number];

/** The parameters of a model of Gaussian rates that its deviations depend on, and how volatilities move by time. */
export interface GaussianModel {
  readonly parameters: Readonly<Record<string, number>>;
  /** The parameters whose parallel move is vega. */
  readonly volatilities: readonly string[];
  /**
   * The deviation of ln P(T, t₂)/P(T, t₁) at the expiry T of an option, of times from `years` after the market's date,
   * with the parameters given.
   */
  deviation(of: DeviationOf): Deviation;
}

export interface DeviationOf {
  readonly parameters: Readonly<Record<string, number>>;
  readonly years: number;
  readonly expiry: number;
  readonly start: number;
  readonly end: number;
}

/** Deterministic rates, whose deviations are 0. */
const CERTAIN: GaussianModel = { parameters: {}, volatilities: [], deviation: () => [0, 0] };

/** The Gaussian model of a market; undefined where its rates are not Gaussian. */
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

function hullWhite(meanReversion: number, volatility: PiecewiseConstant): GaussianModel {
  return {
    // A parallel move of the volatility; 0 is the volatility as it is.
    parameters: { meanReversion, volatility: 0 },
    volatilities: ["volatility"],
    deviation({ parameters, years, expiry, start, end }) {
      const a = parameters.meanReversion;
      const { times, values } = years === 0 ? volatility : later(volatility, years);
      let variance = 0;
      values.forEach((value, k) => {
        const [from, to] = [k === 0 ? 0 : times[k - 1], Math.min(k < times.length ? times[k] : expiry, expiry)];
        const sigma = value + parameters.volatility;
        if (to > from) variance += sigma * sigma * Math.exp(-2 * a * (expiry - to)) * decay(2 * a, to - from);
      });
      return [(decay(a, end - expiry) - decay(a, start - expiry)) * Math.sqrt(variance), 0];
    },
  };
}

function vasicek({ r0, kappa, theta, sigma }: Extract<RatesModel, { kind: "vasicek" }>): GaussianModel {
  return {
    parameters: { r0, kappa, theta, sigma },
    volatilities: ["sigma"],
    deviation({ parameters, expiry, start, end }) {
      const a = parameters.kappa;
      const width = parameters.sigma * Math.sqrt(decay(2 * a, expiry));
      return [(decay(a, end - expiry) - decay(a, start - expiry)) * width, 0];
    },
  };
}

function g2(model: Extract<RatesModel, { kind: "g2" }>, shift: number): GaussianModel {
  const { a, b, rho } = model;
  const sigma = Math.max(model.sigma + shift, 0);
  const eta = Math.max(model.eta + shift, 0);
  return {
    parameters: { a, sigma, b, eta, rho },
    volatilities: ["sigma", "eta"],
    deviation({ parameters: { a, sigma, b, eta, rho }, expiry, start, end }) {
      const first = Math.sqrt(decay(2 * a, expiry));
      const second = Math.sqrt(decay(2 * b, expiry));
      const both = first > 0 ? Math.max(Math.min((rho * decay(a + b, expiry)) / (first * second), 1), -1) : 0;
      const x = (decay(a, end - expiry) - decay(a, start - expiry)) * sigma * first;
      const y = (decay(b, end - expiry) - decay(b, start - expiry)) * eta * second;
      return [x + y * both, y * Math.sqrt((1 - both) * (1 + both))];
    },
  };
}
