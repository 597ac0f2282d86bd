/** The kernels of Heston's fit on the calling thread. */
import { runOnHost } from "../kernel/index.ts";
import type { UnderlyingQuotes } from "./fit.ts";
import { type HestonVolatilities, quoteArrays } from "./heston-engine.ts";
import {
  hestonMomentKernel,
  hestonQuoteKernel,
  hestonRuleKernel,
  MAX_NODES,
  MOMENTS,
  QUOTE_OUTPUTS,
  RULE,
} from "./heston-kernels.ts";

/**
 * Returns a function that computes the implied volatilities of one underlying's quotes for parameters v₀, κ, θ, σ, ρ,
 * in JavaScript on the calling thread.
 */
export function hestonOnHost({ expiries: quoted }: UnderlyingQuotes): (point: Float64Array) => HestonVolatilities {
  const { expiry, quote, expiryOf } = quoteArrays(quoted);
  const expiries = quoted.length;
  const rule = new Float64Array(RULE * expiries);
  const moments = new Float64Array(2 * MOMENTS * MAX_NODES * expiries);
  return (point) => {
    const output = new Float64Array(QUOTE_OUTPUTS * quote.length);
    const shared = { expiries, expiry, rule };
    runOnHost(hestonRuleKernel, { ...shared, items: expiries, point }, expiries);
    const nodes = expiries * MAX_NODES;
    runOnHost(hestonMomentKernel, { ...shared, items: expiries, point, moments }, nodes);
    const quotes = quote.length;
    runOnHost(hestonQuoteKernel, { ...shared, items: quotes, quotes, quote, expiryOf, moments, output }, quotes);
    return output;
  };
}
