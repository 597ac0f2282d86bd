import type { ScriptInput } from "../input.ts";

/**
 * The script of an autocallable note. On the first observation at which the worst performance reaches the barrier it
 * redeems at notional·(1 + premium). At maturity it redeems at the notional, or at the worst performance over the put
 * strike, if this is less and the worst performance was below the knock-in level on one of the knock-in dates.
 *
 * Data: notional, observations, barriers and premiums (one for each observation), knockInDates, knockIn, putStrike,
 * maturity.
 */
export const autocallable: ScriptInput = {
  state: { knockedIn: false },
  events: [
    { on: "knockInDates", do: "if (worst < knockIn) knockedIn = true" },
    { on: "observations", do: "if (worst >= barriers) { pay(notional * (1 + premiums)); stop() }" },
    { on: "maturity", do: "pay(notional * (knockedIn ? min(worst / putStrike, 1) : 1))" },
  ],
};
