/** Settlements and currency pairs between two dates, for explanations. */
import type { ExchangeRate, Settlement } from "../book/index.ts";
import { type CurrencyPair, type ForwardCurve, type PiecewiseConstant, rollCurve } from "../market/index.ts";

/** How much of each move of a market has been made: 0 or 1, for spots and volatilities any part. */
export interface Shares {
  readonly time?: number;
  readonly spot?: number;
  readonly rate?: number;
  readonly volatility?: number;
}

/** Returns a pair as it is some years later. */
export function rollPair(pair: CurrencyPair, years: number): CurrencyPair {
  return { ...pair, domestic: rollCurve(pair.domestic, years), foreign: rollCurve(pair.foreign, years) };
}

/** Returns a settlement as it is some years later. */
export function rollSettlement(settlement: Settlement, years: number): Settlement {
  return {
    ...settlement,
    discount: rollCurve(settlement.discount, years),
    payment: settlement.payment - years,
    exchange: settlement.exchange.map((rate) => rate && { ...rate, sigma: rollCurve(rate.sigma, years) }),
  };
}

/** Returns the later of two curves that start with the same date, before `years` the earlier one. */
type Later = (before: ForwardCurve, after: ForwardCurve) => ForwardCurve;

/** Returns a pair on the way from one date to another, `years` later. */
export function pairBetween(
  before: CurrencyPair,
  after: CurrencyPair,
  years: number,
  { time = 0, rate = 0 }: Shares,
  joined: Later,
): CurrencyPair {
  if (time === 1) return rate === 1 ? after : rollPair(before, years);
  if (rate !== 1) return before;
  return {
    ...before,
    domestic: joined(before.domestic, after.domestic),
    foreign: joined(before.foreign, after.foreign),
  };
}

/** Returns a settlement on the way from one date to another, `years` later. */
export function settlementBetween(
  before: Settlement,
  after: Settlement,
  years: number,
  { time = 0, spot = 0, rate = 0, volatility = 0 }: Shares,
  joined: Later,
): Settlement {
  const start = time === 1 ? rollSettlement(before, years) : before;
  const discount = rate !== 1 ? start.discount : time === 1 ? after.discount : joined(before.discount, after.discount);
  const sigma = (own: PiecewiseConstant, later: PiecewiseConstant): PiecewiseConstant =>
    volatility !== 1 ? own : time === 1 ? later : joined(own, later);
  const exchange = start.exchange.map((own, i): ExchangeRate | undefined => {
    const later = after.exchange[i];
    if (own === undefined || later === undefined) return own;
    const at = (from: number, to: number): number => from + spot * (to - from);
    return {
      ...own,
      spot: at(own.spot, later.spot),
      rate: at(own.rate, later.rate),
      sigma: sigma(own.sigma, later.sigma),
    };
  });
  return { ...(time === 1 ? { ...after, payment: start.payment } : start), discount, exchange };
}
