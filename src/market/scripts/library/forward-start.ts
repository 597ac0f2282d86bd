import type { ScriptInput } from "../input.ts";

/**
 * The script of an option whose strike is a multiple of the spot on a date to come, the trade's `start`.
 *
 * Data: shares, sign (1 for a call, -1 for a put), strike (as a multiple of the initial fixing), maturity.
 */
export const forwardStart: ScriptInput = {
  events: [{ on: "maturity", do: "pay(shares * max(sign * (S - strike * S0), 0))" }],
};
