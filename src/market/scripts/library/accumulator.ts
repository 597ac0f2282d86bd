import type { ScriptInput } from "../input.ts";

/**
 * The script of an accumulator, which buys shares at the strike on each fixing, more of them below it, until a fixing
 * reaches the knock-out. That fixing itself still buys if buysAtKnockOut is 1.
 *
 * Data: shares (of each fixing), leverage (their multiple below the strike), strike, knockOut, buysAtKnockOut, fixings.
 */
export const accumulator: ScriptInput = {
  events: [
    {
      on: "fixings",
      do: `
        if (S < knockOut || buysAtKnockOut > 0) pay(shares * (S < strike ? leverage : 1) * (S - strike))
        if (S >= knockOut) stop()`,
    },
  ],
};
