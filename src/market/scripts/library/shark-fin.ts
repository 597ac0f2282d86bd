import type { ScriptInput } from "../input.ts";

/**
 * The script of a shark fin: a share of the notional, and a share of the performance over a strike, or a rebate if the
 * performance reached the knock-out on one of the observations.
 *
 * Data: notional, protection, participation, strike and knockOut (as shares of the initial fixing), rebate,
 * observations, maturity.
 */
export const sharkFin: ScriptInput = {
  state: { isOut: false },
  events: [
    { on: "observations", do: "if (S / S0 >= knockOut) isOut = true" },
    {
      on: "maturity",
      do: "pay(notional * (protection + (isOut ? rebate : participation * max(S / S0 - strike, 0))))",
    },
  ],
};
