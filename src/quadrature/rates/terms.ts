/** Trades and markets of short-rate models as plain data, and as the arrays that kernels read. */
import type { PiecewiseConstant } from "../../market/index.ts";

/** A date at which a right may be exercised, just after the payments of that date. */
export interface ExerciseDate {
  /** The time in years, ≥ 0. */
  readonly time: number;
  /** The payment time of the price: `time`, or later by a period of notice. */
  readonly settlement: number;
  /** The payment time of the cap, where it is not that of the floor. */
  readonly capSettlement?: number | undefined;
  /** The price at which the holder may put a bond, accrued interest included; the strike of an option. */
  readonly floor?: number | undefined;
  /** The price at which the issuer may call a bond, accrued interest included. */
  readonly cap?: number | undefined;
}

/**
 * A claim on fixed payments. "bond": the holder receives the payments until the bond is called or put. "receiver" and
 * "payer": the holder may on one of the dates buy or sell the later payments for the strike `floor`, as a receiver
 * swaption buys a bond for its notional. "receivers" and "payers": on each of the dates the holder may buy or sell the
 * payments up to the next date, like the caplets of a cap; payments up to the first date are certain. Amounts are in
 * the trade's currency.
 */
export interface ShortRateTrade {
  readonly kind: keyof typeof SIDES;
  /** The payments [time, amount], with increasing times above 0. */
  readonly flows: readonly (readonly [number, number])[];
  /** The dates in increasing order. */
  readonly dates: readonly ExerciseDate[];
}

/**
 * A Gaussian short rate r = x + α(t), dx = −a·x dt + σ(t) dW, fitted to discount factors: Hull and White's model, and
 * Vasicek's with the discount factors that follow from its parameters.
 */
export interface GaussianMarket {
  /** The mean reversion a per year, of any sign. */
  readonly meanReversion: number;
  /** The volatility σ(t) ≥ 0, per year and √year. */
  readonly volatility: PiecewiseConstant;
  /** Returns ln P(0, t). */
  readonly logDiscount: (t: number) => number;
}

/** The price that stands for an absent exercise right, because nobody would exercise at it. */
export const NO_EXERCISE_PRICE = 1e30;

/** The smallest volatility in a backward induction, which needs a positive width. */
export const MIN_VOLATILITY = 1e-10;

/**
 * The largest change of the logarithms of payments over `density` nodes, with which a kink is a polynomial on eight
 * nodes.
 */
export const MAX_LOG_CHANGE = 0.625;

/** The number of integers of a trade: first flow, flows, first date, dates, side. */
export const TRADE_INTEGERS = 5;
/** The number of reals of a flow: time, amount. */
export const FLOW_REALS = 2;
/** The number of reals of a date: time, settlements of floor and cap, floor, cap. */
export const EXERCISE_DATE_REALS = 5;
/** The number of integers of a market: first parameter, pieces of the volatility. */
export const MARKET_INTEGERS = 2;
/**
 * The number of integers of an instance: its trade, its market, and the first of its zero bonds, which mature at the
 * times of its flows and settlements.
 */
export const INSTANCE_INTEGERS = 3;

const SIDES = { bond: 0, receiver: 1, payer: -1, receivers: 1, payers: -1 } as const;

/** Returns the sign of an option's payments (0 for a bond), and whether there is an option for each date. */
export function sidesOf(kind: ShortRateTrade["kind"]): { readonly side: -1 | 0 | 1; readonly isSum: boolean } {
  return { side: SIDES[kind], isSum: kind === "receivers" || kind === "payers" };
}

/** Packs trades into arrays: `TRADE_INTEGERS` integers each, and the flows and dates to which they refer. */
export function packTrades(list: readonly ShortRateTrade[]) {
  const trades = new Int32Array(TRADE_INTEGERS * list.length);
  const flows = new Float64Array(FLOW_REALS * list.reduce((sum, trade) => sum + trade.flows.length, 0));
  const dates = new Float64Array(EXERCISE_DATE_REALS * list.reduce((sum, trade) => sum + trade.dates.length, 0));
  let flow = 0;
  let date = 0;
  let at = 0;
  for (const trade of list) {
    trades[at++] = flow / FLOW_REALS;
    trades[at++] = trade.flows.length;
    trades[at++] = date / EXERCISE_DATE_REALS;
    trades[at++] = trade.dates.length;
    trades[at++] = SIDES[trade.kind];
    for (const [time, amount] of trade.flows) {
      flows[flow++] = time;
      flows[flow++] = amount;
    }
    for (const {
      time,
      settlement,
      capSettlement = settlement,
      floor = -NO_EXERCISE_PRICE,
      cap = NO_EXERCISE_PRICE,
    } of trade.dates) {
      dates[date++] = time;
      dates[date++] = settlement;
      dates[date++] = capSettlement;
      dates[date++] = floor;
      dates[date++] = cap;
    }
  }
  return { trades, flows, dates };
}

/**
 * Packs markets into arrays: `MARKET_INTEGERS` integers each, and the parameters to which they refer. The parameters
 * are a, and the end and value of each piece of σ; the last piece is unbounded.
 */
export function packMarkets(list: readonly GaussianMarket[]) {
  const parameters: number[] = [];
  const markets = list.flatMap(({ meanReversion, volatility: { times, values } }) => {
    const start = parameters.length;
    parameters.push(meanReversion, ...values.flatMap((value, i) => [times[i] ?? NO_EXERCISE_PRICE, value]));
    return [start, values.length];
  });
  return { markets: Int32Array.from(markets), parameters: Float64Array.from(parameters) };
}

/** A trade in a market, by their numbers. */
export interface ShortRateInstance {
  readonly trade: number;
  readonly market: number;
}

/**
 * Packs some instances into arrays: `INSTANCE_INTEGERS` integers each, and ln P(0, t) at the times of flows and
 * settlements.
 */
export function packBonds(
  trades: readonly ShortRateTrade[],
  markets: readonly Pick<GaussianMarket, "logDiscount">[],
  all: readonly ShortRateInstance[],
  members: readonly number[],
): { readonly instances: Int32Array; readonly bonds: Float64Array } {
  let count = 0;
  for (const k of members) count += trades[all[k].trade].flows.length + 2 * trades[all[k].trade].dates.length;
  const instances = new Int32Array(INSTANCE_INTEGERS * members.length);
  const bonds = new Float64Array(count);
  let next = 0;
  let at = 0;
  for (const k of members) {
    const { trade, market } = all[k];
    instances[at++] = trade;
    instances[at++] = market;
    instances[at++] = next;
    const { flows, dates } = trades[trade];
    const { logDiscount } = markets[market];
    for (let i = 0; i < flows.length; i++) bonds[next++] = logDiscount(flows[i][0]);
    for (const { settlement, capSettlement = settlement } of dates) {
      bonds[next++] = logDiscount(settlement);
      bonds[next++] = capSettlement === settlement ? bonds[next - 2] : logDiscount(capSettlement);
    }
  }
  return { instances, bonds };
}
