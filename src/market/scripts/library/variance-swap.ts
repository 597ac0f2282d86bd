import type { ScriptInput } from "../input.ts";

/**
 * The script of a variance swap: the realised variance of the returns from fixing to fixing, whose mean is not
 * subtracted, less that of the strike, times the notional for a variance of 1. The number of returns is that of the
 * whole life.
 *
 * Data: notional, fixings, returns (their number), annualisation (returns a year), strike (a volatility), maturity.
 */
export const varianceSwap: ScriptInput = {
  state: { squares: 0 },
  events: [
    { on: "fixings", do: "squares += log(S / last) * log(S / last); last = S" },
    { on: "maturity", do: "pay(notional * (squares * annualisation / returns - strike * strike))" },
  ],
};
