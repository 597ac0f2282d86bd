/** Trades as American puts on a strike of 1. */
import { type Puts, TupleNumbers } from "../../../quadrature/integral/index.ts";
import type { PiecewiseConstant } from "../../../market/index.ts";
import type { TradeColumns } from "../../columns/trade-columns.ts";

/** Rate, yield and volatility of a row. */
interface ConstantMarket {
  readonly rate: number;
  readonly dividendYield: number;
  readonly sigma: number;
}

/**
 * Returns the market of a row if it is constant until expiry; otherwise the feature that is not, as text that completes
 * the sentence "it has …".
 */
export function constantMarket(columns: TradeColumns, trade: number, row: number): ConstantMarket | string {
  const expiry = columns.expiry[row];
  const sigmas = columns.sigmaOf(row);
  if (sigmas === undefined) return "a volatility that depends on the spot";
  const sigma = constantUntil(sigmas, expiry);
  if (sigma === undefined) return "a volatility that depends on time";
  if (!(sigma > 0)) return "no volatility";
  const rate = constantUntil(columns.ratesOf(row), expiry);
  if (rate === undefined) return "a rate that depends on time";
  if (columns.dividendsOf(row).discrete.some(({ time }) => time <= expiry)) return "discrete dividends";
  const dividendYield = columns.dividendYield[trade];
  return { rate, dividendYield, sigma };
}

function constantUntil({ times, values }: PiecewiseConstant, expiry: number): number | undefined {
  const [value] = values;
  for (let i = 0; i < times.length && times[i] < expiry; i++) if (values[i + 1] !== value) return undefined;
  return value;
}

/**
 * The puts with strike 1 that are equivalent to given trades: for each trade and each case of the scenarios, one for
 * today's spot and one for each scenario spot.
 */
export interface TradePuts extends Puts {
  /** The amount in the currency that corresponds to strike 1: the strike of a put, the spot of a call. */
  readonly unit: Float64Array;
}

/** A boundary serves expiries from a quarter of its own on: which one a trade has depends on nothing but the trade. */
const longestFor = (expiry: number): number => 4 ** Math.ceil(Math.log2(expiry) / 2 - 1e-12);

/**
 * Returns trades as puts with strike 1. A call is worth S·P(K/S), where P is the put with rate and yield exchanged
 * (McDonald & Schroder 1998). Puts that expire now have boundary −1.
 */
export function putsOf(columns: TradeColumns, trades: readonly number[]): TradePuts {
  const { cases } = columns;
  const spots = 1 + cases.spots;
  const count = trades.length * cases.count * spots;
  const unit = new Float64Array(count);
  const logSpot = new Float64Array(count);
  const expiries = new Float64Array(count);
  const boundary = new Int32Array(count).fill(-1);
  const boundaries: (readonly number[])[] = [];
  const numbers = new TupleNumbers(5);
  let put = 0;
  for (const trade of trades) {
    const isCall = columns.sign[trade] > 0;
    const strike = columns.strike[trade];
    const first = columns.rowOf(trade);
    for (let row = first; row < first + cases.count; row++) {
      const expiry = columns.expiry[row];
      const isOpen = columns.settled[row] === 0 && expiry > 0;
      const number = isOpen ? numberOf(constantMarket(columns, trade, row) as ConstantMarket, isCall, expiry) : -1;
      for (let k = 0; k < spots; k++, put++) {
        const spot = columns.spotAt(trade, k);
        unit[put] = isCall ? spot : strike;
        logSpot[put] = isCall ? Math.log(strike / spot) : Math.log(spot / strike);
        expiries[put] = expiry;
        boundary[put] = number;
      }
    }
  }
  return { unit, logSpot, expiry: expiries, boundary, boundaries };

  function numberOf({ rate, dividendYield, sigma }: ConstantMarket, isCall: boolean, expiry: number): number {
    const longest = longestFor(expiry);
    const inputs = isCall ? [dividendYield, rate, sigma, longest, -1] : [rate, dividendYield, sigma, longest, 1];
    const number = numbers.add(inputs);
    if (number === boundaries.length) boundaries.push(inputs);
    return number;
  }
}
