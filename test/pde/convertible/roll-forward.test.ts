/** A convertible bond on a later day: a coupon of that day is paid. */
import { expect, test } from "vitest";
import { rollContract } from "../../../src/pricing/methods/convertibles/rows.ts";

test("coupons of the day and before it are paid, and the others come that much earlier", () => {
  const times = [0.5, 1, 1.5, 2];
  const coupons = times.map((time) => ({ time, accruesFrom: time - 0.5, amount: 2 }));
  const contract = { maturity: 2, coupons, conversions: [], calls: [], puts: [] } as never;
  const left = (years: number): readonly number[] => rollContract(contract, years)!.coupons.map(({ time }) => time);
  expect(left(0.25)).toEqual([0.25, 0.75, 1.25, 1.75]);
  for (const day of [0.5, 0.5 + 1e-12, 0.5 - 1e-12]) {
    expect(left(day)).toHaveLength(3);
    left(day).forEach((time, i) => expect(time).toBeCloseTo(0.5 * (i + 1), 9));
  }
  expect(rollContract(contract, 2)).toBeUndefined();
});
