import type { ScriptInput } from "../input.ts";

/**
 * The script of a Napoleon: each period pays a coupon plus the worst return of its fixings, and no less than a floor.
 *
 * Data: notional, fixings, ends (the last fixing of each period), coupons and floors (one for each of these).
 */
export const napoleon: ScriptInput = {
  state: { low: 1e9 },
  events: [
    { on: "fixings", do: "low = min(low, S / last - 1); last = S" },
    { on: "ends", do: "pay(notional * max(floors, coupons + low)); low = 1e9" },
  ],
};
