import type { ScriptInput } from "../input.ts";

/**
 * The script of a worst-of autocallable with memory coupons. An observation at which the worst performance reaches the
 * coupon barrier pays the coupon and those that were missed. One at which it reaches the call barrier redeems the note.
 * At maturity it redeems at the notional, or at the worst performance if this was below the knock-in level on one of
 * the knock-in dates.
 *
 * Data: notional, observations, coupons, couponBarriers and callBarriers (one for each observation), payments (the
 * dates of what observations pay), knockInDates, knockIn, maturity, redemption (the date of what is paid then), missed
 * (the rates of coupons missed so far, 0 for none).
 */
export const phoenix: ScriptInput = {
  state: { unpaid: "missed", knockedIn: false },
  events: [
    { on: "knockInDates", do: "if (worst < knockIn) knockedIn = true" },
    {
      on: "observations",
      do: `
        unpaid += coupons
        if (worst >= couponBarriers) { pay(notional * unpaid, { on: payments }); unpaid = 0 }
        if (worst >= callBarriers) { pay(notional, { on: payments }); stop() }`,
    },
    { on: "maturity", do: "pay(notional * (knockedIn ? min(worst, 1) : 1), { on: redemption })" },
  ],
};
