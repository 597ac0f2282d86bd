/** Finds curves that reprice quotes: all nodes of all curves at once, by Newton's method with exact derivatives. */
import { SpecError } from "../../base/errors.ts";
import type { Day } from "../../market/conventions/index.ts";
import { Curve, type CurveRule, type Flow, timeOf, Valuation } from "../../market/linear/index.ts";

/**
 * An instrument whose present value is 0 at its quote. Its flows per unit of notional are the sum of constant flows and
 * of the quote times other flows. It determines the curve's node at `pillar`, the last day on which its value depends.
 */
export interface QuotedInstrument {
  readonly name: string;
  readonly quote: number;
  readonly start: Day;
  readonly end: Day;
  readonly pillar: Day;
  readonly flows: readonly Flow[];
  readonly byQuote: readonly Flow[];
}

/** A curve to be found. Flows refer to the curve by its number: known curves first, then those to be found. */
export interface CurveToFind {
  readonly name: string;
  readonly rule: CurveRule;
  readonly instruments: readonly QuotedInstrument[];
}

/** Curves that reprice their instruments, and the derivatives of their nodes with respect to the quotes. */
export interface CurveSet {
  readonly curves: readonly Curve[];
  /** Returns the derivatives of the zero rates of all found nodes by all quotes, a row a node. */
  byQuotes(): readonly Float64Array[];
  /** The largest difference between a quote and the one that the curves give. */
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

const MAX_STEPS = 50;

/**
 * Finds curves from quotes.
 * @throws CurveError for two instruments of a curve with one pillar, or quotes that no curves reproduce
 */
export function findCurves(known: readonly Curve[], wanted: readonly CurveToFind[], reference: Day): CurveSet {
  const found = wanted.map(({ name, rule, instruments }, c) => {
    const times = instruments.map(({ pillar }) => timeOf(pillar, reference));
    times.forEach((time, k) => {
      if (!(time > (times[k - 1] ?? 0)))
        throw new CurveError(
          c,
          k,
          `${name}: ${instruments[k].name} ends at or before ${instruments[k - 1]?.name ?? "the curve begins"}; leave one out`,
        );
    });
    return new Curve(
      times,
      times.map(() => 0.02),
      rule,
    );
  });
  const curves = [...known, ...found];
  const instruments = wanted.flatMap((one) => one.instruments);
  let error = Infinity;
  for (let step = 0; step < MAX_STEPS; step++) {
    const off = quotesOn(curves, instruments).map((quote, k) => quote - instruments[k].quote);
    const before = error;
    error = Math.max(0, ...off.map(Math.abs));
    if (Number.isNaN(error) || error < 1e-15 || (error < 1e-12 && error >= before)) break;
    const change = solveDense(jacobian(curves, known.length, instruments), [Float64Array.from(off)])[0];
    let at = 0;
    for (const { zeros } of found) for (let k = 0; k < zeros.length; k++) zeros[k] -= change[at++];
  }
  const fail = (at: number, why: string): never => {
    const owner = wanted.findIndex((one) => one.instruments.includes(instruments[at]));
    const place = wanted[owner].instruments.indexOf(instruments[at]);
    throw new CurveError(owner, place, `${instruments[at].name}: ${why}`);
  };
  // Where Newton's method has lost its way, the slopes are those of flat curves.
  const isLost = found.some(({ zeros }) => !zeros.every(Number.isFinite));
  const flat = [...known, ...found.map(({ times, rule }) => new Curve(times, new Float64Array(times.length), rule))];
  const dependent = firstDependent(jacobian(isLost ? flat : curves, known.length, instruments));
  if (dependent >= 0)
    fail(dependent, "it follows from the other quotes, which leave a curve open; quote one curve without the others");
  const quotes = quotesOn(curves, instruments);
  const worst = quotes.findIndex((quote, k) => !(Math.abs(quote - instruments[k].quote) < 1e-10));
  if (worst >= 0) fail(worst, "no curve reproduces this quote beside the others");
  const byQuotes = (): readonly Float64Array[] => {
    const units = instruments.map((_, k) => Float64Array.from(instruments, (__, j) => (j === k ? 1 : 0)));
    const columns = solveDense(jacobian(curves, known.length, instruments), units);
    return instruments.map((_, node) => Float64Array.from(columns, (column) => column[node]));
  };
  return { curves, byQuotes, error };
}

/** Returns the quotes that curves give: q = −V/A, of the value V at a quote of zero and its change A by the quote. */
function quotesOn(curves: readonly Curve[], instruments: readonly QuotedInstrument[]): number[] {
  const valuation = new Valuation(curves);
  return instruments.map(({ flows, byQuote }) => -valuation.value(flows) / valuation.value(byQuote));
}

/** Returns the derivatives of the quotes that curves give by the nodes from curve `first` on: −(dV + q·dA)/A. */
function jacobian(curves: readonly Curve[], first: number, instruments: readonly QuotedInstrument[]): Float64Array[] {
  const valuation = new Valuation(curves);
  const size = instruments.length;
  return instruments.map(({ flows, byQuote }) => {
    const annuity = valuation.value(byQuote);
    const quote = -valuation.value(flows) / annuity;
    const quoted = byQuote.map((flow) => ({ ...flow, scale: flow.scale * quote }));
    const row = new Float64Array(size);
    let at = 0;
    for (const part of valuation.gradient([...flows, ...quoted]).slice(first))
      for (const slope of part) row[at++] = -slope / annuity;
    return row;
  });
}

/** Below this part of its length, what a row has beside others is rounding. */
const ROUNDING = 1e-11;

/** Returns the number of the first row that is a combination of those before it; −1 if none is. */
function firstDependent(matrix: readonly Float64Array[]): number {
  const dot = (a: Float64Array, b: Float64Array): number => a.reduce((sum, value, k) => sum + value * b[k], 0);
  const basis: Float64Array[] = [];
  return matrix.findIndex((row) => {
    const rest = Float64Array.from(row);
    for (const unit of basis) {
      const part = dot(rest, unit);
      unit.forEach((value, k) => (rest[k] -= part * value));
    }
    const length = Math.sqrt(dot(rest, rest));
    basis.push(rest.map((value) => value / length));
    return length <= ROUNDING * Math.sqrt(dot(row, row));
  });
}

/** Solves A·x = b for several right-hand sides, by elimination with partial pivoting. */
function solveDense(matrix: readonly Float64Array[], sides: readonly Float64Array[]): Float64Array[] {
  const n = matrix.length;
  const rows = matrix.map((row, k) => Float64Array.from([...row, ...sides.map((side) => side[k])]));
  for (let k = 0; k < n; k++) {
    let pivot = k;
    for (let i = k + 1; i < n; i++) if (Math.abs(rows[i][k]) > Math.abs(rows[pivot][k])) pivot = i;
    [rows[k], rows[pivot]] = [rows[pivot], rows[k]];
    for (let i = k + 1; i < n; i++) {
      const factor = rows[i][k] / rows[k][k];
      if (factor !== 0) for (let j = k; j < rows[i].length; j++) rows[i][j] -= factor * rows[k][j];
    }
  }
  return sides.map((_, side) => {
    const x = new Float64Array(n);
    for (let i = n - 1; i >= 0; i--) {
      let sum = rows[i][n + side];
      for (let j = i + 1; j < n; j++) sum -= rows[i][j] * x[j];
      x[i] = sum / rows[i][i];
    }
    return x;
  });
}
