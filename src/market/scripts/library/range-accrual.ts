import type { ScriptInput } from "../input.ts";

/**
 * The script of a range accrual note: each coupon is earned for the share of the fixings since the last one that lie in
 * a range, its ends included.
 *
 * Data: notional, rate, fixings, lower, upper, payments, fractions (the year fraction of each payment), totals (the
 * number of fixings of each payment), past (how many of the first period's fixings lay in the range so far), maturity.
 */
export const rangeAccrual: ScriptInput = {
  state: { inside: "past" },
  events: [
    { on: "fixings", do: "if (S >= lower && S <= upper) inside += 1" },
    { on: "payments", do: "pay(notional * rate * fractions * inside / totals); inside = 0" },
    { on: "maturity", do: "pay(notional)" },
  ],
};
