/** Products on rates as options: which payments their holders get. */
import { expect, test } from "vitest";
import { partsOf } from "../../src/pricing/methods/rates/parts.ts";

test("who exercises an option on a bond gets what it pays afterwards, not the coupon of the day", () => {
  const flows = [0.5, 1, 1.5, 2].map((time) => [time, time === 2 ? 102 : 2] as const);
  const bond = { flows, coupons: [], notional: 100 };
  for (const expiry of [1, 1 + 1e-12, 1 - 1e-12]) {
    const exercise = { kind: "european", times: [expiry] };
    const product = { kind: "bondOption", bond, right: "call", strike: 99, strikeIs: "dirty", exercise };
    const [option] = partsOf({ product } as never, undefined as never).options;
    expect(option.flows.map(({ time }) => time)).toEqual([1.5, 2]);
    expect(option.strike).toEqual([[expiry, 99]]);
  }
});
