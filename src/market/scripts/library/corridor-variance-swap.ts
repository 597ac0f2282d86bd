import type { ScriptInput } from "../input.ts";

/**
 * The script of a corridor variance swap, in which a return counts if the fixing at its beginning lies in the corridor,
 * its ends included. The variance of the strike counts for as many returns.
 *
 * Data: notional, fixings, returns (their number over the whole life), annualisation (returns a year), lower, upper,
 * past (the sum of squared returns that counted so far), counted (their number), strike (a volatility), maturity.
 */
export const corridorVarianceSwap: ScriptInput = {
  state: { squares: "past", inside: "counted" },
  events: [
    {
      on: "fixings",
      do: `
        if (last >= lower && last <= upper) { squares += log(S / last)^2; inside += 1 }
        last = S`,
    },
    { on: "maturity", do: "pay(notional * (squares * annualisation / returns - strike^2 * inside / returns))" },
  ],
};
