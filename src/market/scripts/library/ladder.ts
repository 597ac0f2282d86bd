import type { ScriptInput } from "../input.ts";

/**
 * The script of a ladder call: at maturity the spot, or the highest rung that an observation has reached, over the
 * strike. Rungs are equal steps from a first one on.
 *
 * Data: shares, strike, observations, first, step, rungs (their number), reached (the highest
 * rung reached so far, or 0), maturity.
 */
export const ladder: ScriptInput = {
  state: { rung: "reached" },
  events: [
    {
      on: "observations",
      do: "if (S >= first) rung = max(rung, first + step * min(floor((S - first) / step), rungs - 1))",
    },
    { on: "maturity", do: "pay(shares * max(S - strike, rung - strike, 0))" },
  ],
};
