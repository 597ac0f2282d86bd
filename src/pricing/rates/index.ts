/** Trades on interest rates: bonds, options on them, caps, floors and swaptions. */
export { priceRates } from "./price-rates.ts";
