import type { Bond, RatesTrade } from "../../book/index.ts";
import { SpecError } from "../../errors.ts";
import { KEY_TIMES, keyMove, keyRatesUpTo } from "./key-rates.ts";
import type { RatesMethod, RatesRow, RatesValue } from "./method.ts";
import type { RatesMarket } from "./rates-market.ts";

/** Rounding errors of a sum, relative to the sum of the sizes of its parts. */
const ROUNDING = 4e-16;

/**
 * Bonds without rights by their discount factors.
 *
 * Error: rounding. Verified: test/pricing/rates.test.ts.
 */
export const closedFormRates: RatesMethod = {
  name: "closed-form",
  resultName: "closed-form",
  refuses,
  open: () => ({
    price: (rows) => Promise.resolve(rows.map(bondValue)),
    [Symbol.dispose]() {},
  }),
};

function refuses({ product }: RatesTrade): string | undefined {
  if (product.kind !== "bond") return "a right, which this version does not price yet";
  if (product.calls.length > 0) return "calls";
  return product.puts.length > 0 ? "puts" : undefined;
}

function bondValue({ trade: { product }, market }: RatesRow): RatesValue {
  if (product.kind !== "bond") throw new SpecError("expected a bond");
  return flowsValue(product.bond.flows, market);
}

/** The value of payments that are certain, and its sensitivities to the rates. */
function flowsValue(flows: Bond["flows"], market: RatesMarket): RatesValue {
  let [value, size, rho] = [0, 0, 0];
  const last = flows[flows.length - 1][0];
  const keyRates = KEY_TIMES.slice(0, keyRatesUpTo(last)).map(() => 0);
  for (const [time, amount] of flows) {
    const part = amount * market.discount(time);
    value += part;
    size += Math.abs(part) * (2 + Math.abs(market.logDiscount(time)));
    rho -= time * part;
    for (let k = 0; k < keyRates.length; k++) keyRates[k] -= keyMove(k, time) * part;
  }
  const theta = market.shortRate() * value;
  return { value, errorEstimate: ROUNDING * size, theta, vega: 0, rho, keyRates, parameters: {} };
}
