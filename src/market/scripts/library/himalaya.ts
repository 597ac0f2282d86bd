import type { ScriptInput } from "../input.ts";

/**
 * The script of a Himalaya option: on each selection the best underlying that is left locks its return since the start,
 * no less than a floor, and leaves. At maturity the mean of the locked returns over a strike is paid.
 *
 * Data: notional, selections, count (their number), floor (of each locked return), strike, maturity.
 */
export const himalaya: ScriptInput = {
  state: { left: { each: 1 }, locked: 0 },
  events: [
    {
      on: "selections",
      do: `
        let top = -1
        for (x in S) if (left[x] > 0.5) top = max(top, S[x] / S0[x] - 1)
        let isFound = false
        for (x in S) if (!isFound && left[x] > 0.5 && S[x] / S0[x] - 1 >= top) { left[x] = 0; isFound = true }
        locked += max(top, floor)`,
    },
    { on: "maturity", do: "pay(notional * max(locked / count - strike, 0))" },
  ],
};
