import type { ScriptInput } from "../input.ts";

/**
 * The script of a barrier reverse convertible: fixed coupons, and at maturity the notional, or shares at the strike,
 * in cash, if the worst performance was below the barrier on one of the monitoring dates and ends below the strike.
 *
 * Data: notional, couponDates, coupons (one for each of these), monitoring, barrier, strike (as a share of the initial
 * fixing), maturity.
 */
export const reverseConvertible: ScriptInput = {
  state: { knockedIn: false },
  events: [
    { on: "couponDates", do: "pay(notional * coupons)" },
    { on: "monitoring", do: "if (worst < barrier) knockedIn = true" },
    { on: "maturity", do: "pay(notional * (knockedIn ? min(worst / strike, 1) : 1))" },
  ],
};
