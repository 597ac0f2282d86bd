/** Trades on interest rates: bonds, options on them, caps, floors and swaptions. */
export { ratesKind } from "./kind.ts";
