/** Convertible bonds: by closed forms where they exist, else by finite differences of two coupled equations. */
export { priceConvertibles } from "./price-convertibles.ts";
export { laterConvertible } from "./market.ts";
