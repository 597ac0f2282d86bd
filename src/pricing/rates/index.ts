/** Trades on interest rates: bonds, options on them, caps, floors and swaptions. */
export { priceRates } from "./price-rates.ts";
export { laterRatesTrade } from "./later.ts";
export { RatesMarket } from "./rates-market.ts";
