/** Trades and markets of short-rate models as plain data, and as the arrays that kernels read. */
import type { PiecewiseConstant } from "../market/index.ts";

/** A date at which a right may be exercised, just after the payments of that date. */
export interface ExerciseDate {
  /** Years, ≥ 0. */
  readonly time: number;
  /** The time at which the price is paid: `time`, or later by a period of notice. */
  readonly settlement: number;
  /** The price that the holder of a bond may ask for, accrued interest included; the strike of an option. */
  readonly floor?: number | undefined;
  /** The price at which the issuer of a bond may redeem it, accrued interest included. */
  readonly cap?: number | undefined;
}

/**
 * A claim on fixed payments. "bond": the holder has the payments, until the bond is called or put. "receiver" and
 * "payer": the holder may on one of the dates buy or sell the payments that are due after it for the strike `floor`,
 * as a receiver swaption buys a bond for its notional. "receivers" and "payers": on each of the dates those up to the
 * next, as the caplets of a cap do; payments up to the first date are certain. Amounts in the trade's currency.
 */
export interface ShortRateTrade {
  readonly kind: keyof typeof SIDES;
  /** Payments [time, amount] with times above 0 that increase. */
  readonly flows: readonly (readonly [number, number])[];
  /** Dates that increase. */
  readonly dates: readonly ExerciseDate[];
}

/**
 * A Gaussian short rate r = x + α(t), dx = −a·x dt + σ(t) dW, fitted to discount factors: Hull and White's model, and
 * Vasicek's with the discount factors that follow from its parameters.
 */
export interface GaussianMarket {
  /** a per year, of any sign. */
  readonly meanReversion: number;
  /** σ(t) ≥ 0, per year and √year. */
  readonly volatility: PiecewiseConstant;
  /** ln P(0, t). */
  readonly logDiscount: (t: number) => number;
}

/** Prices that nobody would ask for or pay stand for rights that are not there. */
export const NO_PRICE = 1e30;

/** The volatility that stands for none: the recursion needs a width. */
export const MIN_VOLATILITY = 1e-10;

/** Integers of a trade in `trades`: first flow, flows, first date, dates, side. */
export const TRADE_WIDTH = 5;
/** Reals of a flow: time, amount. */
export const FLOW_WIDTH = 2;
/** Reals of a date: time, settlement, floor, cap. */
export const DATE_WIDTH = 4;
/** Integers of a market: first parameter, pieces of the volatility. */
export const MARKET_WIDTH = 2;
/** Integers of an instance: trade, market, first of the zero bonds at the times of its flows and settlements. */
export const INSTANCE_WIDTH = 3;

const SIDES = { bond: 0, receiver: 1, payer: -1, receivers: 1, payers: -1 } as const;

/** The sign of the payments that an option is for, 0 of a bond, and whether there is an option for each date. */
export function sidesOf(kind: ShortRateTrade["kind"]): { readonly side: -1 | 0 | 1; readonly isSum: boolean } {
  return { side: SIDES[kind], isSum: kind === "receivers" || kind === "payers" };
}

/** Trades as arrays: integers of `TRADE_WIDTH` each, and the flows and dates they point to. */
export interface PackedTrades {
  readonly trades: Int32Array;
  readonly flows: Float64Array;
  readonly dates: Float64Array;
}

export function packTrades(list: readonly ShortRateTrade[]): PackedTrades {
  const trades = new Int32Array(TRADE_WIDTH * list.length);
  const flows = new Float64Array(FLOW_WIDTH * list.reduce((sum, trade) => sum + trade.flows.length, 0));
  const dates = new Float64Array(DATE_WIDTH * list.reduce((sum, trade) => sum + trade.dates.length, 0));
  let flow = 0;
  let date = 0;
  let at = 0;
  for (const trade of list) {
    trades[at++] = flow / FLOW_WIDTH;
    trades[at++] = trade.flows.length;
    trades[at++] = date / DATE_WIDTH;
    trades[at++] = trade.dates.length;
    trades[at++] = SIDES[trade.kind];
    for (const [time, amount] of trade.flows) {
      flows[flow++] = time;
      flows[flow++] = amount;
    }
    for (const { time, settlement, floor = -NO_PRICE, cap = NO_PRICE } of trade.dates) {
      dates[date++] = time;
      dates[date++] = settlement;
      dates[date++] = floor;
      dates[date++] = cap;
    }
  }
  return { trades, flows, dates };
}

/** Markets as arrays: integers of `MARKET_WIDTH` each, and the parameters they point to. */
export interface PackedMarkets {
  readonly markets: Int32Array;
  readonly parameters: Float64Array;
}

/** The parameters are a, and end and value of each piece of σ; the last one ends never. */
export function packMarkets(list: readonly GaussianMarket[]): PackedMarkets {
  const parameters: number[] = [];
  const markets = list.flatMap(({ meanReversion, volatility: { times, values } }) => {
    const start = parameters.length;
    parameters.push(meanReversion, ...values.flatMap((value, i) => [times[i] ?? NO_PRICE, value]));
    return [start, values.length];
  });
  return { markets: Int32Array.from(markets), parameters: Float64Array.from(parameters) };
}

/** A trade in a market, by their numbers. */
export interface ShortRateInstance {
  readonly trade: number;
  readonly market: number;
}

/** Members of a list of instances as arrays: integers of `INSTANCE_WIDTH` each, ln P(0, t) of flows and settlements. */
export function packBonds(
  trades: readonly ShortRateTrade[],
  markets: readonly Pick<GaussianMarket, "logDiscount">[],
  all: readonly ShortRateInstance[],
  members: readonly number[],
): { readonly instances: Int32Array; readonly bonds: Float64Array } {
  let count = 0;
  for (const k of members) count += trades[all[k].trade].flows.length + trades[all[k].trade].dates.length;
  const instances = new Int32Array(INSTANCE_WIDTH * members.length);
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
    for (let i = 0; i < dates.length; i++) bonds[next++] = logDiscount(dates[i].settlement);
  }
  return { instances, bonds };
}
