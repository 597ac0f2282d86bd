import { describe, expect, it } from "vitest";
import { reinerRubinstein } from "./reiner-rubinstein.ts";
import { cases } from "../../pricing/reference.ts";

describe("the closed form of one barrier", () => {
  it.each(cases("barrier-single").map((c) => [c.id, c] as const))("%s, 40 digits rounded", (_, c) => {
    const { spot, strike, barrier, rebate, rate, dividend_yield, volatility, maturity, option_type } = c.params;
    const [up, out] = [c.product.includes("up"), c.product.endsWith("out")];
    const got = reinerRubinstein(
      ...([spot, strike, barrier, rebate, rate, dividend_yield, volatility, maturity] as const),
      ...([option_type === "call", up, out, false] as const),
    );
    const { abs, rel } = c.tolerance;
    expect(Math.abs(got - c.expected["price"])).toBeLessThanOrEqual(abs + rel * Math.abs(c.expected["price"]));
  });

  it.each(
    cases("digital")
      .filter(({ product }) => product.includes("touch"))
      .map((c) => [c.id, c] as const),
  )("%s, touches as rebates, at once and at expiry", (_, c) => {
    const { spot, barrier, cash, rate, dividend_yield, volatility, maturity } = c.params;
    const up = spot < barrier;
    const noTouch = c.product === "no_touch";
    // No payoff: a call struck out of reach. A no-touch is the rebate of a knock-in.
    const got = reinerRubinstein(
      ...([spot, 1e9, barrier, cash, rate, dividend_yield, volatility, maturity] as const),
      ...([true, up, !noTouch, c.product.endsWith("expiry")] as const),
    );
    expect(Math.abs(got - c.expected["price"])).toBeLessThanOrEqual(1e-9);
  });
});
