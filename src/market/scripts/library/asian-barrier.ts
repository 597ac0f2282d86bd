import type { ScriptInput } from "../input.ts";

/**
 * The script of an option on the mean of its fixings that is knocked out by one of them, beyond or at a barrier, and
 * then pays a rebate at maturity.
 *
 * Data: shares, sign (1 for a call, -1 for a put), strike, barrier, side (1 for a barrier above,
 * -1 for one below), rebate, fixings, past (the sum of the fixings so far), count (the number of all), maturity.
 */
export const asianBarrier: ScriptInput = {
  state: { total: "past", isOut: false },
  events: [
    { on: "fixings", do: "total += S; if (side * (S - barrier) >= 0) isOut = true" },
    { on: "maturity", do: "pay(shares * (isOut ? rebate : max(sign * (total / count - strike), 0)))" },
  ],
};
