import type { ScriptInput } from "../input.ts";

/**
 * The script of a volatility swap: the realised volatility of the returns from fixing to fixing, whose mean is not
 * subtracted, less the strike, times the notional for a volatility of 1.
 *
 * Data: notional, fixings, returns (their number over the whole life), annualisation (returns a year), past (the sum of
 * squared returns so far), strike, maturity.
 */
export const volatilitySwap: ScriptInput = {
  state: { squares: "past" },
  events: [
    { on: "fixings", do: "squares += log(S / last)^2; last = S" },
    { on: "maturity", do: "pay(notional * (sqrt(squares * annualisation / returns) - strike))" },
  ],
};
