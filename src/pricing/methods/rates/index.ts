/** Trades on interest rates: bonds, options on them, caps, floors and swaptions. */
export { ratesKind } from "./kind.ts";
export { laterRatesTrade } from "./later.ts";
export { RatesMarket } from "./rates-market.ts";
