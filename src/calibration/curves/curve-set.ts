/** Curves that are to be found from quotes, and what was found. */
import { SpecError } from "../../base/errors.ts";
import type { Curve, CurveRule, Flow, Turn } from "../../market/linear/index.ts";

/**
 * An instrument whose present value is 0 at its quote. Its flows per unit of notional are the sum of constant flows and
 * of the quote times other flows.
 */
export interface QuotedInstrument {
  readonly name: string;
  readonly quote: number;
  /** The last time in years on which its value depends, where it determines a node of its curve. */
  readonly pillar: number;
  readonly flows: readonly Flow[];
  readonly byQuote: readonly Flow[];
  /** The derivatives of the flows by the recovery of an issuer. */
  readonly byRecovery?: readonly Flow[];
}

/** A curve to be found. Flows refer to the curve by its number: known curves first, then those to be found. */
export interface CurveToFind {
  readonly name: string;
  readonly rule: CurveRule;
  readonly turns?: readonly Turn[];
  /** Whether the curve has survival probabilities. */
  readonly isSurvival?: boolean;
  /** In any order. */
  readonly instruments: readonly QuotedInstrument[];
}

/** Curves that reprice their instruments, and the derivatives of their nodes with respect to the quotes. */
export interface CurveSet {
  readonly curves: readonly Curve[];
  /** The positions of each found curve's instruments in the order of their pillars. */
  readonly orders: readonly (readonly number[])[];
  /** The quotes that the curves give, by found curve and in that order. */
  readonly fitted: readonly (readonly number[])[];
  /** Whether all fits by least squares have converged. */
  readonly hasConverged: boolean;
  /**
   * Returns the derivatives of the zero rates, or parameters, of all found curves by all quotes: a row for each of
   * them, and a column for each quote in the order of pillars.
   */
  byQuotes(): readonly Float64Array[];
  /** The largest difference between a quote and the one that a curve gives, among curves with a node for each quote. */
  readonly error: number;
}

/**
 * The error of a quote that no curve can reproduce, alone or together with the other quotes. It states the curve and
 * the quote's position in it.
 */
export class CurveError extends SpecError {
  readonly curve: number;
  readonly instrument: number;

  constructor(curve: number, instrument: number, message: string) {
    super(message);
    this.curve = curve;
    this.instrument = instrument;
  }
}
