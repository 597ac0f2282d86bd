/** Curves of survival probabilities: their quotes by ISDA's standard model, and what is refused. */
import { BookError } from "../base/errors.ts";
import { creditSwap, type CurveSet, type CurveToFind, type QuotedInstrument } from "../calibration/index.ts";
import { calendarOf, type Calendar, creditMaturity, type Day, isoOf } from "../market/conventions/index.ts";
import { type CurveData, Valuation } from "../market/linear/index.ts";
import { quote } from "./names.ts";
import type { PathOf } from "./paths.ts";
import type { CurveInstrument, NamedCurveSpec, NamedRatesSpec } from "./schema/index.ts";
import { type AsOf, dayNumber, dayOfAsOf, type TimeSpec } from "./time.ts";

/** Returns the last day of a credit default swap: a day, or that of a standard one of a tenor. */
export function creditEnd(end: TimeSpec, traded: Day, asOf: AsOf): Day {
  return end.kind === "tenor" && end.days === 0 ? creditMaturity(traded, end.months) : dayNumber(asOf, end);
}

/** Returns the calendar of credit default swaps on an issuer: weekends only by default. */
export const creditCalendar = (given: NamedCurveSpec["calendar"]): Calendar => calendarOf(given ?? ["weekends"]);

/** A curve of survival probabilities with the numbers that its quotes need. */
interface QuotedCredit {
  readonly spec: NamedCurveSpec;
  readonly asOf: AsOf;
  readonly survival: number;
  readonly discount: number;
}

/** Returns a quoted credit default swap. @throws BookError for one that has ended */
export function creditInstrument(
  { end, quote: quoted }: Extract<CurveInstrument, { readonly kind: "cds" }>,
  { spec, asOf, survival, discount }: QuotedCredit,
  pathOf: PathOf,
): QuotedInstrument {
  const reference = dayOfAsOf(asOf);
  const maturity = creditEnd(end, reference, asOf);
  if (!(maturity > reference)) throw new BookError(pathOf("cds"), "expected an end after asOf");
  const terms = {
    maturity,
    calendar: creditCalendar(spec.calendar),
    discount,
    survival,
  };
  return creditSwap(`${textOf(end, maturity)} CDS`, quoted, spec.recovery!, terms, reference);
}

/** The end of a swap as its quote writes it: a tenor, or a date. */
function textOf(end: TimeSpec, maturity: Day): string {
  if (end.kind !== "tenor" || end.days !== 0) return isoOf(maturity);
  return end.months % 12 === 0 ? `${end.months / 12}Y` : `${end.months}M`;
}

/** @throws BookError for terms of a curve that one of survival probabilities does not have, and the other way round */
export function checkCredit(spec: NamedCurveSpec, pathOf: PathOf): void {
  const { recovery, instruments = [], interpolation, fit, turns, index, pair } = spec;
  if (recovery === undefined) {
    if (instruments.some(({ kind }) => kind === "cds"))
      throw new BookError(pathOf("recovery"), "expected the part of a notional that is left at default, such as 0.4");
    return;
  }
  const other = instruments.findIndex(({ kind }) => kind !== "cds");
  if (other >= 0)
    throw new BookError(pathOf("instruments", other), 'a curve with "recovery" has quotes with "cds" only');
  const terms = {
    interpolation: interpolation === "log-discount" ? undefined : interpolation,
    fit,
    turns,
    index,
    pair,
  };
  const extra = Object.entries(terms).find(([, term]) => term !== undefined);
  if (extra !== undefined)
    throw new BookError(
      pathOf(extra[0]),
      "a curve of survival probabilities has piecewise constant hazard rates; leave it out",
    );
  if (spec.currency === undefined)
    throw new BookError(
      pathOf("currency"),
      'expected the currency of credit default swaps on the issuer, such as "EUR"',
    );
}

/** @throws BookError for survival probabilities that rise */
export function checkSurvival({ times, zeros }: CurveData, pathOf: PathOf): void {
  times.forEach((time, k) => {
    if (k === 0 ? zeros[0] < 0 : time * zeros[k] < times[k - 1] * zeros[k - 1])
      throw new BookError(pathOf("zeros", k, "zero"), "the probability of survival rises; expected a larger rate");
  });
}

/** @throws BookError where rates are to be taken from a curve of survival probabilities */
export function checkRateCurves(
  curves: ReadonlyMap<string, NamedCurveSpec>,
  rates: Iterable<readonly [string, NamedRatesSpec | undefined]>,
  pathOf: PathOf,
): void {
  const check = (used: string | undefined, ...path: readonly string[]): void => {
    if (used !== undefined && curves.get(used)?.recovery !== undefined)
      throw new BookError(pathOf(...path), `${quote(used)} has survival probabilities, not discount factors`);
  };
  for (const [currency, named] of rates) {
    check(named?.discount, "rates", currency, "discount");
    for (const [index, used] of named?.forward ?? []) check(used, "rates", currency, "forward", index);
  }
  for (const [name, { discount, forward = [] }] of curves) {
    check(discount, "curves", name, "discount");
    for (const [index, used] of forward) check(used, "curves", name, "forward", index);
  }
}

/**
 * Returns the derivatives of the zero rates at each curve's nodes by its recovery, if all quotes stay; undefined for
 * curves that have none, or that were not found from quotes.
 */
export function recoverySlopes(
  { curves, orders }: CurveSet,
  wanted: readonly CurveToFind[],
  byQuotes: readonly Float64Array[],
): (Float64Array | undefined)[] {
  const on = new Valuation(curves);
  const known = curves.length - wanted.length;
  let [row, column] = [0, 0];
  const found = wanted.map(({ instruments, isSurvival }, c) => {
    const nodes = curves[known + c].zeros;
    const rows = byQuotes.slice(row, (row += nodes.length));
    const first = column;
    column += instruments.length;
    if (isSurvival !== true) return undefined;
    const quotes = orders[c].map((i) => -on.value(instruments[i].byRecovery!) / on.value(instruments[i].byQuote));
    return Float64Array.from(rows, (slopes) => -quotes.reduce((sum, one, k) => sum + slopes[first + k] * one, 0));
  });
  return [...curves.slice(0, known).map(() => undefined), ...found];
}
