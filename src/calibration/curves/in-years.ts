/** Quotes of rates whose times are years from today, on one curve that discounts and projects. */
import type { Flow } from "../../market/linear/index.ts";
import type { QuotedInstrument } from "./curve-set.ts";

/** A quoted interest-rate instrument. Times are in years from today, rates are decimals per year. */
export type RateInstrument =
  /** A deposit from today: 1 + rate·τ at `end`. */
  | { readonly kind: "deposit"; readonly end: number; readonly rate: number; readonly accrual?: number }
  /** A forward rate agreement on the simple rate from `start` to `end`. */
  | {
      readonly kind: "fra";
      readonly start: number;
      readonly end: number;
      readonly rate: number;
      readonly accrual?: number;
    }
  /** A par swap from today, whose fixed leg pays `frequency` times a year; an overnight swap is worth the same. */
  | { readonly kind: "swap"; readonly end: number; readonly rate: number; readonly frequency: number };

/** Payment dates closer than this, in years, are one. */
const SAME_DATE = 1e-6;

/** The times of a swap's payments: back from its end, with a short first period where the years are no multiple. */
function paymentTimes(end: number, frequency: number): number[] {
  const periods = Math.max(Math.ceil(end * frequency - SAME_DATE), 1);
  return Array.from({ length: periods }, (_, i) => end - (periods - 1 - i) / frequency);
}

/**
 * Returns an instrument of the curve with the number 0. The floating leg of a swap is worth 1 − P(end). Year fractions
 * are `accrual` if given, and otherwise the time between two dates.
 */
export function instrumentInYears(instrument: RateInstrument): QuotedInstrument {
  const { end, rate, kind } = instrument;
  const paid = (time: number, fixed: number): Flow => ({
    scale: 1,
    factors: time === 0 ? [] : [{ curve: 0, time, power: 1 }],
    fixed,
    gearing: 0,
  });
  const start = kind === "fra" ? instrument.start : 0;
  let before = start;
  const times = kind === "swap" ? paymentTimes(end, instrument.frequency) : [end];
  const byQuote = times.map((time) => {
    const accrual = (kind === "swap" ? undefined : instrument.accrual) ?? time - before;
    before = time;
    return paid(time, -accrual);
  });
  return {
    name: `${kind} until ${end} years`,
    quote: rate,
    pillar: end,
    flows: [paid(start, 1), paid(end, -1)],
    byQuote,
  };
}
