import type { ScriptInput } from "../input.ts";

/**
 * The script of a worst-of note that its issuer may call: an observation at which the worst performance reaches a
 * barrier pays a coupon, then the issuer may redeem the note. At maturity it redeems at the notional, or at the worst
 * performance below the knock-in level.
 *
 * Data: notional, observations, coupons and barriers (one for each of these), calls, prices (of each call, as a share
 * of the notional), knockIn, maturity.
 */
export const callableWorstOf: ScriptInput = {
  events: [
    { on: "observations", do: "if (worst >= barriers) pay(notional * coupons)" },
    { on: "calls", do: "call(notional * prices)" },
    { on: "maturity", do: "pay(notional * (worst < knockIn ? worst : 1))" },
  ],
};
