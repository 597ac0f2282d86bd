import type { ScriptInput } from "../input.ts";

/**
 * The script of an option whose strike is a multiple of the mean of its fixings.
 *
 * Data: shares, sign (1 for a call, -1 for a put), multiple, fixings, past (the sum of the
 * fixings so far), count (the number of all), maturity.
 */
export const averageStrike: ScriptInput = {
  state: { total: "past" },
  events: [
    { on: "fixings", do: "total += S" },
    { on: "maturity", do: "pay(shares * max(sign * (S - multiple * total / count), 0))" },
  ],
};
