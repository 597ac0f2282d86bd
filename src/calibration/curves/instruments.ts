/** Quotes of rates as cash flows whose discounted sum is 0 on the right curve. */

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

/** A cash flow for a notional of 1, at a time in years. */
export interface Flow {
  readonly time: number;
  readonly amount: number;
  /** The derivative of the amount by the quoted rate. */
  readonly byRate: number;
}

/** Payment dates closer than this, in years, are one. */
const SAME_DATE = 1e-6;

/** The times of a swap's payments: back from its end, with a short first period where the years are no multiple. */
function paymentTimes(end: number, frequency: number): number[] {
  const periods = Math.max(Math.ceil(end * frequency - SAME_DATE), 1);
  return Array.from({ length: periods }, (_, i) => end - (periods - 1 - i) / frequency);
}

/**
 * Returns the cash flows of an instrument, for which Σ amount·P(time) = 0 on a curve that reproduces its rate. The
 * floating leg of a swap is worth 1 − P(end) on its discount curve. Year fractions are `accrual` if given, and
 * otherwise the time between two dates; a whole period of a swap is 1/frequency.
 */
export function flowsOf(instrument: RateInstrument): readonly Flow[] {
  const { end, rate } = instrument;
  if (instrument.kind === "swap") {
    let before = 0;
    const fixed = paymentTimes(end, instrument.frequency).map((time) => {
      const accrual = time - before;
      before = time;
      return { time, amount: -rate * accrual, byRate: -accrual };
    });
    return [{ time: 0, amount: 1, byRate: 0 }, ...fixed, { time: end, amount: -1, byRate: 0 }];
  }
  const start = instrument.kind === "fra" ? instrument.start : 0;
  const accrual = instrument.accrual ?? end - start;
  return [
    { time: start, amount: 1, byRate: 0 },
    { time: end, amount: -1 - rate * accrual, byRate: -accrual },
  ];
}

/** A discount curve as a function that returns −ln P at a time in years. */
export type LogDiscount = (time: number) => number;

/** Returns the sum of discounted cash flows. */
export function valueOf(flows: readonly Flow[], logDiscount: LogDiscount): number {
  return flows.reduce((sum, { time, amount }) => sum + amount * Math.exp(-logDiscount(time)), 0);
}

/** Returns the rate at which an instrument is worth 0 on a curve. */
export function fairRate(instrument: RateInstrument, logDiscount: LogDiscount): number {
  const flows = flowsOf(instrument);
  const annuity = flows.reduce((sum, { time, byRate }) => sum + byRate * Math.exp(-logDiscount(time)), 0);
  return instrument.rate - valueOf(flows, logDiscount) / annuity;
}
