import type { ScriptInput } from "../input.ts";

/**
 * The script of an option whose strike is a multiple of the spot on a date to come, the trade's `start`. Its notional
 * is a number of shares, or an amount if `relative` is 1, which then buys the return since the start.
 *
 * Data: notional, sign (1 for a call, -1 for a put), strike (as a multiple of the initial fixing), relative (1 or 0),
 * maturity.
 */
export const forwardStart: ScriptInput = {
  events: [
    {
      on: "maturity",
      do: "pay(notional * max(sign * (S / S0 - strike), 0) * (relative > 0.5 ? 1 : S0))",
    },
  ],
};
