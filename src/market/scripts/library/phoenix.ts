import type { ScriptInput } from "../input.ts";

/**
 * The script of a worst-of autocallable with coupons. An observation at which the worst performance reaches the coupon
 * barrier pays the coupon, and with memory those that were missed. One at which it reaches the call barrier redeems the
 * note. At maturity it redeems at the notional, or at the worst performance over the put strike, if this is less and
 * the worst performance was below the knock-in level on one of the knock-in dates.
 *
 * Data: notional, observations, coupons, couponBarriers and callBarriers (one for each observation), payments (the
 * dates of what observations pay), memory (1 or 0), missed (the rates of coupons missed so far), knockInDates, knockIn,
 * putStrike, maturity, redemption (the date of what is paid then).
 */
export const phoenix: ScriptInput = {
  state: { unpaid: "missed", knockedIn: false },
  events: [
    { on: "knockInDates", do: "if (worst < knockIn) knockedIn = true" },
    {
      on: "observations",
      do: `
        unpaid += coupons
        if (worst >= couponBarriers) pay(notional * unpaid, { on: payments })
        if (worst >= couponBarriers || memory < 0.5) unpaid = 0
        if (worst >= callBarriers) { pay(notional, { on: payments }); stop() }`,
    },
    { on: "maturity", do: "pay(notional * (knockedIn ? min(worst / putStrike, 1) : 1), { on: redemption })" },
  ],
};
