/**
 * A trade with the market that it needs, as a book writes them, so that any of them can be printed and priced again.
 */
import type { PricedTrade } from "../../src/book/index.ts";
import type { Method } from "../../src/pricing/index.ts";

export type Right = "call" | "put";

export type PayoffJson =
  | Right
  | { readonly digital: Right; readonly cash: number }
  | { readonly expression: string; readonly kinks?: readonly number[] };

export type VolatilityJson =
  | number
  | { readonly termStructure: readonly { readonly date: number; readonly volatility: number }[] }
  | { readonly cev: { readonly sigma: number; readonly beta: number } }
  | { readonly displaced: { readonly sigma: number; readonly shift: number } }
  | {
      readonly surface: {
        readonly times: readonly number[];
        readonly spots: readonly number[];
        readonly volatility: readonly (readonly number[])[];
      };
    }
  | { readonly local: string };

/** A model with a factor of its own. */
export type StochasticVolatilityJson = { readonly heston: HestonJson } | { readonly sabr: SabrJson };

export interface HestonJson {
  readonly v0: number;
  readonly kappa: number;
  readonly theta: number;
  readonly sigma: number;
  readonly rho: number;
}

export interface SabrJson {
  readonly alpha: number;
  readonly beta: number;
  readonly nu: number;
  readonly rho: number;
}

export type RateJson = number | readonly { readonly date: number; readonly zero: number }[];

/** Hull and White's short rate about the contract's own rate. */
export interface ShortRateJson {
  readonly meanReversion: number;
  readonly volatility: number;
  /** With the underlying. */
  readonly correlation: number;
}

export interface DividendJson {
  readonly date: number;
  readonly cash?: number;
  readonly proportional?: number;
}

export interface BarrierJson {
  readonly type: "up-and-out" | "down-and-out" | "up-and-in" | "down-and-in";
  readonly level: number;
  readonly rebate?: number;
  readonly rebateAt?: "hit" | "expiry";
  readonly monitoring?: readonly number[];
  readonly from?: number;
  readonly to?: number;
}

export interface ScenariosJson {
  readonly time: readonly number[];
  readonly spot: readonly number[];
  readonly volatility: readonly number[];
  readonly rate: readonly number[];
}

export interface MarketPart {
  readonly spot: number;
  readonly rate: RateJson;
  readonly yield?: number;
  readonly discrete?: readonly DividendJson[];
  readonly volatility: VolatilityJson;
  /** Stands for `volatility`. */
  readonly stochasticVolatility?: StochasticVolatilityJson;
  readonly shortRate?: ShortRateJson;
}

export interface Contract extends MarketPart {
  readonly payoff: PayoffJson;
  readonly strike?: number;
  /** Years; so are all other dates. */
  readonly expiry: number;
  readonly exercise?: "european" | "american" | readonly number[];
  readonly barriers?: readonly BarrierJson[];
  readonly scenarios?: ScenariosJson;
  /** The method that prices it; the book's own choice unless given. */
  readonly method?: Method;
}

export const AS_OF = "2026-11-20T16:00:00Z";

/**
 * A book of contracts with one set of scenarios; contract i is the trade `t<i>`. Those of one market share their
 * underlying.
 */
export function bookOf(contracts: readonly Contract[]) {
  const names = new Map<string, string>();
  const rates: Record<string, RateJson | object> = {};
  const underlyings: Record<string, object> = {};
  const correlations: [string, string, number][] = [];
  const trades = contracts.map((contract, i) => {
    const { spot, rate, yield: q, discrete, stochasticVolatility, shortRate } = contract;
    const volatility = stochasticVolatility ?? contract.volatility;
    const { payoff, strike, expiry, exercise, barriers } = contract;
    const key = JSON.stringify([spot, rate, q, discrete, volatility, shortRate]);
    const number = names.size;
    const underlying = names.get(key) ?? `U${number}`;
    if (!names.has(key)) {
      names.set(key, underlying);
      rates[`C${number}`] = shortRate === undefined ? rate : hullWhite(shortRate, rate);
      const dividends = q === undefined && discrete === undefined ? undefined : { yield: q, discrete };
      if (shortRate !== undefined) correlations.push([underlying, `C${number}`, shortRate.correlation]);
      underlyings[underlying] = { spot, currency: `C${number}`, volatility, dividends };
    }
    return { id: `t${i}`, underlying, payoff, strike, expiry, exercise, barriers };
  });
  const scenarios = contracts.find((contract) => contract.scenarios !== undefined)?.scenarios;
  return {
    asOf: AS_OF,
    market: { rates, underlyings, ...(correlations.length === 0 ? {} : { correlations }) },
    ...(scenarios === undefined ? {} : { scenarios }),
    trades,
  };
}

const hullWhite = ({ meanReversion, volatility }: ShortRateJson, curve: RateJson): object => ({
  hullWhite: { meanReversion, volatility, curve },
});

/** Lines for `feynkac price -`: the market, then the trades. */
export function ndjson(contracts: readonly Contract[]): string {
  const { trades, ...header } = bookOf(contracts);
  return [header, ...trades].map((line) => JSON.stringify(line)).join("\n");
}

/** What a trade was priced at, or why it was not. */
export interface Valued {
  readonly value: number;
  readonly estimate: number;
  readonly scenarios?: PricedTrade["scenarios"];
  readonly error?: string;
}
