/** Chooses the model of the short rate from the rates of a currency in a book. */
import type { FitState } from "./fit-state.ts";
import type { ForwardCurve, PiecewiseConstant } from "./rates.ts";

/**
 * The interest rates of one currency: a deterministic curve, or a model of the short rate r. Times are in years, rates
 * are continuously compounded per year.
 */
export type RatesModel = ShortRateModel & {
  /** How a scenario has moved the model. */
  readonly moved?: RatesMoved;
};

/** The move of a currency's rates in a scenario. Every model is moved by a deterministic shift of its short rate. */
export interface RatesMoved {
  /** The years from `asOf` to the scenario's date. */
  readonly years: number;
  /** The shift of the short rate from the scenario's date on, per year. */
  readonly rate: PiecewiseConstant;
  /** The shift of the volatilities. */
  readonly volatility: number;
}

type ShortRateModel =
  /** A deterministic curve: short rates are the forward rates. */
  | { readonly kind: "curve"; readonly curve: ForwardCurve }
  /** Hull and White: dr = (θ(t) − a·r) dt + σ(t) dW with the θ that reproduces the curve's discount factors. */
  | {
      readonly kind: "hullWhite";
      readonly curve: ForwardCurve;
      /** The mean reversion a ≥ 0, per year. */
      readonly meanReversion: number;
      /** The volatility σ(t) ≥ 0, per year and √year. */
      readonly volatility: PiecewiseConstant;
      /** The state of the fit, if the model was fitted to quotes. */
      readonly fit?: FitState;
    }
  /** Vasicek: dr = κ(θ − r) dt + σ dW from r0. */
  | AffineRate<"vasicek">
  /** Cox, Ingersoll and Ross: dr = κ(θ − r) dt + σ√r dW from r0; r0, κ, θ ≥ 0. */
  | AffineRate<"cir">
  /** G2++: r = x + y + φ(t), dx = −a·x dt + σ dW₁, dy = −b·y dt + η dW₂, d⟨W₁, W₂⟩ = ρ dt, fitted to the curve. */
  | {
      readonly kind: "g2";
      readonly curve: ForwardCurve;
      readonly a: number;
      readonly sigma: number;
      readonly b: number;
      readonly eta: number;
      readonly rho: number;
    }
  /** Black and Karasinski: d ln r = (θ(t) − a·ln r) dt + σ dW, fitted to the curve. */
  | {
      readonly kind: "blackKarasinski";
      readonly curve: ForwardCurve;
      readonly meanReversion: number;
      readonly volatility: number;
    }
  /** r = x + α(t), dx = drift(x, t) dt + volatility(x, t) dW from r0, fitted to the curve: formulas of r = x and t. */
  | {
      readonly kind: "shortRate";
      readonly curve: ForwardCurve;
      readonly r0: number;
      readonly drift: string;
      readonly volatility: string;
      /** The range of rates to which x is confined. */
      readonly range: readonly [low: number, high: number];
    }
  /**
   * Black, Derman and Toy's lattice with periods of a year, fitted to zero yields of 1, 2, … years (annually
   * compounded) and their volatilities.
   */
  | { readonly kind: "bdt"; readonly annualYields: readonly number[]; readonly yieldVolatilities: readonly number[] };

interface AffineRate<K extends string> {
  readonly kind: K;
  readonly r0: number;
  readonly kappa: number;
  readonly theta: number;
  readonly sigma: number;
}
