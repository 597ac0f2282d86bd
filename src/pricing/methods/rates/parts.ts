/** Trades on rates as sums of certain payments and European options, and the payments of floating legs. */
import type { CapPeriod, FloatingPeriod, LegPeriod, RateQuote, RatesProduct, RatesTrade } from "../../../book/index.ts";
import { ONE_SECOND } from "../../../market/index.ts";
import { accruedAt } from "./bond-figures.ts";
import type { Lag, RatesMarket } from "./rates-market.ts";

/**
 * A sum of discounted payments, Σ coefficient·P(0, time), as lists of time in years and coefficient. A coefficient with
 * a lag moves as P(to)/P(from) if the curve is shifted.
 */
export type PaymentSum = readonly Payment[];
type Payment = readonly [time: number, coefficient: number, lag?: Lag];

/** Returns the present value of a sum of payments. */
export const presentValueOf = (amount: PaymentSum, market: RatesMarket): number =>
  amount.reduce((sum, [time, coefficient]) => sum + coefficient * market.discount(time), 0);

/** The right to receive (sign 1) or to pay (sign −1) flows in exchange for a fixed amount. */
export interface RateOption {
  readonly sign: 1 | -1;
  readonly expiry: number;
  /** The time at which the fixed amount is paid, at expiry or later. */
  readonly start: number;
  /** The present value of the fixed amount. */
  readonly strike: PaymentSum;
  /** The flows with their payment times and present values. */
  readonly flows: readonly { readonly time: number; readonly amount: PaymentSum }[];
  /**
   * The quoted volatility by which the option is priced, if there is one. The flows are then the forward, and for a
   * normal volatility also the annuity.
   */
  readonly quote: RateQuote | undefined;
}

/** A trade as a sum of certain payments and European options. */
export interface ReplicatingParts {
  readonly certain: PaymentSum;
  readonly options: readonly RateOption[];
}

/** Returns the quoted volatilities of a product. */
export function quotesOf(product: RatesProduct): readonly RateQuote[] {
  if (product.kind === "swaption") return product.quote === undefined ? [] : [product.quote];
  if (product.kind !== "capFloor") return [];
  return product.periods.flatMap(({ quote }) => quote ?? []);
}

/**
 * Returns β of a period, what one unit paid at its start must be to grow, along the discount curve and until it is
 * paid, as much as one unit along the projection curve over the period. It stays as it is when both curves move, and is
 * 1 where they are one curve and interest is paid at the end. So floating interest is Σ (β·P(start) − P(paid)).
 */
export function basisOf(
  { start, end, paid }: LegPeriod,
  { projection }: Pick<RatesTrade, "projection">,
  market: RatesMarket,
): number {
  if (projection === undefined && paid === end) return 1;
  return Math.exp(market.logGrowth(projection, start, end) - market.logGrowth(undefined, start, paid));
}

const lagOf = ({ end, paid }: LegPeriod): readonly [] | readonly [Lag] =>
  paid === end ? [] : [{ from: end, to: paid }];

/** Returns the payments of a floating leg, in increasing order of time; those that cancel are left out. */
export function floatingSum(
  periods: readonly FloatingPeriod[],
  notional: number,
  trade: Pick<RatesTrade, "projection">,
  market: RatesMarket,
): PaymentSum {
  const sum: Payment[] = [];
  periods.forEach((period, i) => {
    const grown = notional * basisOf(period, trade, market);
    const isAfterAnother = periods[i - 1]?.paid === period.start;
    if (isAfterAnother) sum.pop();
    const amount = isAfterAnother ? grown - notional : grown;
    if (amount !== 0) sum.push([period.start, amount, ...lagOf(period)]);
    sum.push([period.paid, -notional]);
  });
  return sum.toSorted(([a], [b]) => a - b);
}

/** Returns the payments and European options of which a trade consists. Each of its rights must have a single date. */
export function partsOf(trade: RatesTrade, market: RatesMarket): ReplicatingParts {
  const { product } = trade;
  switch (product.kind) {
    case "bond":
      return { certain: product.bond.flows, options: [] };
    case "bondOption":
      return { certain: [], options: [bondOption(product)] };
    case "capFloor":
      return capFloor(product, trade, market);
    case "swaption":
      return { certain: [], options: [swaption(product, trade, market)] };
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
  const flows = bond.flows.filter(([time]) => time > expiry + ONE_SECOND);
  return {
    sign: right === "call" ? 1 : -1,
    expiry,
    start: expiry,
    strike: [[expiry, paid]],
    flows: flows.map(([time, amount]) => ({ time, amount: [[time, amount]] })),
    quote: undefined,
  };
}

type CapFloor = Extract<RatesProduct, { readonly kind: "capFloor" }>;

/** Returns what a cap or floor pays for a period whose rate is known. */
export const knownPayment = (
  { right, strike, notional }: CapFloor,
  { accrual }: Pick<CapPeriod, "accrual">,
  rate: number,
): number => notional * accrual * Math.max((right === "cap" ? 1 : -1) * (rate - strike), 0);

/** A caplet is a put on 1 + τK paid at the end of its period against 1 at its start, and a floorlet such a call. */
function capFloor(product: CapFloor, trade: RatesTrade, market: RatesMarket): ReplicatingParts {
  const { right, strike, notional, periods } = product;
  const certain: [number, number][] = [];
  const options: RateOption[] = [];
  for (const period of periods) {
    const { start, paid, accrual, rate, quote } = period;
    if (rate !== undefined) {
      certain.push([paid, knownPayment(product, period, rate)]);
      continue;
    }
    const expiry = Math.max(period.fixed, 0);
    if (quote !== undefined) {
      const annuity: PaymentSum = [[paid, notional * accrual]];
      const floating = floatingSum([period], notional, trade, market);
      options.push(quoted({ sign: right === "cap" ? 1 : -1, expiry, floating, annuity, strike, quote }));
      continue;
    }
    options.push({
      sign: right === "cap" ? -1 : 1,
      expiry,
      start,
      strike: [[start, notional * basisOf(period, trade, market), ...lagOf(period)]],
      flows: [{ time: paid, amount: [[paid, notional * (1 + strike * accrual)]] }],
      quote,
    });
  }
  return { certain, options };
}

/** A receiver swaption buys fixed payments, and the notional at the end, for the notional at the start of the swap. */
function swaption(
  product: Extract<RatesProduct, { kind: "swaption" }>,
  trade: RatesTrade,
  market: RatesMarket,
): RateOption {
  const { right, strike, notional, quote } = product;
  const expiry = expiryOf(product);
  const isLeft = ({ start }: LegPeriod): boolean => start > expiry - ONE_SECOND;
  const periods = product.periods.filter(isLeft);
  const floating = floatingSum(product.floating.filter(isLeft), notional, trade, market);
  if (quote !== undefined) {
    const annuity = periods.map(({ paid, accrual }): [number, number] => [paid, notional * accrual]);
    return quoted({ sign: right === "payer" ? 1 : -1, expiry, floating, annuity, strike, quote });
  }
  const [first, ...others] = floating;
  const fixed: PaymentSum = periods.map(({ paid, accrual }) => [paid, notional * strike * accrual]);
  const owed: PaymentSum = others.map(([time, amount, ...lag]) => [time, -amount, ...lag]);
  const byTime = new Map<number, Payment[]>();
  for (const payment of [...fixed, ...owed].toSorted(([a], [b]) => a - b))
    byTime.set(payment[0], [...(byTime.get(payment[0]) ?? []), payment]);
  return {
    sign: right === "payer" ? -1 : 1,
    expiry,
    start: first[0],
    strike: [first],
    flows: [...byTime].map(([time, amount]) => ({ time, amount })),
    quote,
  };
}

interface Quoted {
  readonly sign: 1 | -1;
  readonly expiry: number;
  readonly floating: PaymentSum;
  readonly annuity: PaymentSum;
  readonly strike: number;
  readonly quote: RateQuote;
}

/** The right to exchange floating for fixed interest, F·A + shift·A against (K + shift)·A. */
function quoted({ sign, expiry, floating, annuity, strike, quote }: Quoted): RateOption {
  const times = (factor: number): PaymentSum => annuity.map(([time, amount]) => [time, factor * amount]);
  const shift = quote.kind === "normal" ? 0 : quote.shift;
  const forward = { time: expiry, amount: [...floating, ...times(shift)] };
  const flows = quote.kind === "normal" ? [forward, { time: expiry, amount: annuity }] : [forward];
  return { sign, expiry, start: expiry, strike: times(strike + shift), flows, quote };
}
