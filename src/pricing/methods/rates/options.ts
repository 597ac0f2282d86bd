import type { RateQuote, RatesProduct } from "../../../book/index.ts";
import { INSTANT } from "../../../market/index.ts";
import { accruedAt } from "./bond-figures.ts";

/** A sum of discounted payments, Σ coefficient·P(0, time), as pairs of time in years and coefficient. */
export type Amount = readonly (readonly [time: number, coefficient: number])[];

/** The right to receive (sign 1) or to pay (sign −1) flows in exchange for a fixed amount. */
export interface RateOption {
  readonly sign: 1 | -1;
  readonly expiry: number;
  /** The time at which the fixed amount is paid, at expiry or later. */
  readonly start: number;
  /** The present value of the fixed amount. */
  readonly strike: Amount;
  /** The flows with their payment times and present values. */
  readonly flows: readonly { readonly time: number; readonly amount: Amount }[];
  /**
   * The quoted volatility by which the option is priced, if there is one. The flows are then the forward, and for a
   * normal volatility also the annuity.
   */
  readonly quote: RateQuote | undefined;
}

/** A trade as a sum of certain payments and European options. */
export interface Parts {
  readonly certain: Amount;
  readonly options: readonly RateOption[];
}

/** Returns the payments and European options of which a trade consists. Each of its rights must have a single date. */
export function partsOf(product: RatesProduct): Parts {
  switch (product.kind) {
    case "bond":
      return { certain: product.bond.flows, options: [] };
    case "bondOption":
      return { certain: [], options: [bondOption(product)] };
    case "capFloor":
      return capFloor(product);
    case "swaption":
      return { certain: [], options: [swaption(product)] };
    default:
      return product satisfies never;
  }
}

/** Returns the only exercise date of a bond option or swaption. */
export function expiryOf({ exercise }: Extract<RatesProduct, { kind: "bondOption" | "swaption" }>): number {
  return exercise.kind === "american" ? exercise.to : exercise.times[0];
}

function bondOption(product: Extract<RatesProduct, { kind: "bondOption" }>): RateOption {
  const expiry = expiryOf(product);
  const { bond, right, strike, strikeIs } = product;
  const paid = strikeIs === "clean" ? strike + accruedAt(bond, expiry) : strike;
  const flows = bond.flows.filter(([time]) => time > expiry + INSTANT);
  return {
    sign: right === "call" ? 1 : -1,
    expiry,
    start: expiry,
    strike: [[expiry, paid]],
    flows: flows.map(([time, amount]) => ({ time, amount: [[time, amount]] })),
    quote: undefined,
  };
}

/** A caplet is a put on 1 + τK paid at the end of its period against 1 at its start, and a floorlet such a call. */
function capFloor(product: Extract<RatesProduct, { kind: "capFloor" }>): Parts {
  const { right, strike, notional, periods, fixing, quote } = product;
  const certain: [number, number][] = [];
  const options: RateOption[] = [];
  for (const { start, end } of periods) {
    const accrual = end - start;
    if (start < 0) {
      const spread = right === "cap" ? (fixing ?? 0) - strike : strike - (fixing ?? 0);
      certain.push([end, notional * accrual * Math.max(spread, 0)]);
      continue;
    }
    const annuity: Amount = [[end, notional * accrual]];
    const floating: Amount = [
      [start, notional],
      [end, -notional],
    ];
    if (quote !== undefined)
      options.push(quoted({ sign: right === "cap" ? 1 : -1, expiry: start, floating, annuity, strike, quote }));
    else
      options.push({
        sign: right === "cap" ? -1 : 1,
        expiry: start,
        start,
        strike: [[start, notional]],
        flows: [{ time: end, amount: [[end, notional * (1 + strike * accrual)]] }],
        quote,
      });
  }
  return { certain, options };
}

function swaption(product: Extract<RatesProduct, { kind: "swaption" }>): RateOption {
  const { right, strike, notional, quote } = product;
  const expiry = expiryOf(product);
  const periods = product.periods.filter(({ start }) => start > expiry - INSTANT);
  const [{ start }] = periods;
  const { end } = periods[periods.length - 1];
  if (quote !== undefined) {
    const annuity = periods.map((period): [number, number] => [period.end, notional * (period.end - period.start)]);
    const floating: Amount = [
      [start, notional],
      [end, -notional],
    ];
    return quoted({ sign: right === "payer" ? 1 : -1, expiry, floating, annuity, strike, quote });
  }
  return {
    sign: right === "payer" ? -1 : 1,
    expiry,
    start,
    strike: [[start, notional]],
    flows: periods.map((period) => ({
      time: period.end,
      amount: [[period.end, notional * (strike * (period.end - period.start) + (period.end === end ? 1 : 0))]],
    })),
    quote,
  };
}

interface Quoted {
  readonly sign: 1 | -1;
  readonly expiry: number;
  readonly floating: Amount;
  readonly annuity: Amount;
  readonly strike: number;
  readonly quote: RateQuote;
}

/** The right to exchange floating for fixed interest, F·A + shift·A against (K + shift)·A. */
function quoted({ sign, expiry, floating, annuity, strike, quote }: Quoted): RateOption {
  const times = (factor: number): Amount => annuity.map(([time, amount]) => [time, factor * amount]);
  const shift = quote.kind === "normal" ? 0 : quote.shift;
  const forward = { time: expiry, amount: [...floating, ...times(shift)] };
  const flows = quote.kind === "normal" ? [forward, { time: expiry, amount: annuity }] : [forward];
  return { sign, expiry, start: expiry, strike: times(strike + shift), flows, quote };
}
