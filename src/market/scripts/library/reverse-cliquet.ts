import type { ScriptInput } from "../input.ts";

/**
 * The script of a reverse cliquet: a coupon less all falls from reset to reset, and no less than a floor.
 *
 * Data: notional, coupon, resets, floor, maturity.
 */
export const reverseCliquet: ScriptInput = {
  state: { total: "coupon" },
  events: [
    { on: "resets", do: "total += min(S / last - 1, 0); last = S" },
    { on: "maturity", do: "pay(notional * max(total, floor))" },
  ],
};
