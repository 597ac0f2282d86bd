/** Books of options in three currencies on curves, with two correlated shares. */
import type { BookInput } from "../../src/book/index.ts";

/** A market as a random test makes it: zero rates after one and three years, spots and volatilities. */
export interface Market {
  readonly rates: Readonly<Record<"USD" | "EUR" | "JPY", readonly [one: number, three: number]>>;
  readonly fx: Readonly<Record<string, number>>;
  readonly sigma: Readonly<Record<string, number>>;
  readonly rho: number;
  readonly spot: number;
}

export const AS_OF = "2026-11-20";
/** Both spot dates: the Tuesday after the Friday. */
export const LAG = 4 / 365;

/** Returns a book of trades in a market. */
export function bookOf(
  { rates, fx, sigma, rho, spot }: Market,
  trades: readonly object[],
  more: object = {},
): BookInput {
  const curve = ([one, three]: readonly [number, number]) => [
    { date: 1, zero: one },
    { date: 3, zero: three },
  ];
  const pair = (name: string) => ({ fx: name, volatility: sigma[name] ?? sigma["EURUSD"] });
  return {
    asOf: AS_OF,
    market: {
      rates: { USD: curve(rates.USD), EUR: curve(rates.EUR), JPY: curve(rates.JPY) },
      fx,
      underlyings: {
        EURUSD: pair("EURUSD"),
        USDEUR: pair("USDEUR"),
        EURJPY: pair("EURJPY"),
        SPX: { spot, currency: "USD", dividends: { yield: 0.013 }, volatility: sigma["SPX"] },
        SAP: { spot: 180, currency: "EUR", volatility: sigma["SAP"] },
      },
      correlations: [
        ["SPX", "EURUSD", rho],
        ["SAP", "EURUSD", -0.2],
        ["SPX", "SAP", 0.4],
      ],
    },
    trades: trades.map((trade, i) => ({ id: `T${i}`, ...trade })),
    ...more,
  } as object as BookInput;
}

/** ∫ of forward rates from 0, by linear interpolation of zero rate times time. */
export function integrated([one, three]: readonly [number, number], t: number): number {
  if (t <= 1) return one * t;
  return one + ((3 * three - one) * (t - 1)) / 2;
}

/** A market as it might be. */
export const FIXED: Market = {
  rates: { USD: [0.036, 0.034], EUR: [0.019, 0.023], JPY: [0.006, 0.01] },
  fx: { EURUSD: 1.16, USDJPY: 156 },
  sigma: { EURUSD: 0.08, USDEUR: 0.08, EURJPY: 0.11, SPX: 0.18, SAP: 0.24 },
  rho: 0.3,
  spot: 100,
};

/** Expiry on a Friday, 2027-09-17; EURUSD is delivered on the Tuesday after. */
export const EXPIRY = "2027-09-17";
export const YEARS = 301 / 365;
export const DELIVERY = 305 / 365;
