import { describe, expect, it } from "vitest";
import { afterDividend, constant, dividendSchedule, flatVolatility } from "../../src/market/index.ts";
import { priced, trade } from "../pricing/reference.ts";
import { PlainDevice } from "../support/plain-device.ts";

describe("a dividend with a cash and a proportional part", () => {
  it("takes both of the spot before it, and never more than all", () => {
    expect(afterDividend(100, { time: 1, cash: 5, proportional: 0.1 })).toBe(85);
    expect(afterDividend(4, { time: 1, cash: 5, proportional: 0.1 })).toBe(0);
  });

  it("adds to others of its date", () => {
    const parts = [
      { time: 0.5, cash: 2, proportional: 0.125 },
      { time: 0.25, cash: 1, proportional: 0 },
      { time: 0.5, cash: 3, proportional: 0.25 },
    ];
    expect(dividendSchedule(0.01, parts)).toEqual({
      yield: 0.01,
      discrete: [
        { time: 0.25, cash: 1, proportional: 0 },
        { time: 0.5, cash: 5, proportional: 0.375 },
      ],
    });
  });

  it("leaves the forward by hand where nothing is random", async () => {
    const [rate, date, expiry] = [0.04, 0.3, 1];
    const call = trade({
      volatility: flatVolatility(0),
      payoff: { kind: "vanilla", right: "call", strike: 70 },
      expiry,
      market: { rates: constant(rate), dividends: dividendSchedule(0, [{ time: date, cash: 6, proportional: 0.1 }]) },
    });
    const forward = (100 * Math.exp(rate * date) * 0.9 - 6) * Math.exp(rate * (expiry - date));
    const [{ value }] = await priced([call], { device: new PlainDevice() });
    expect(value).toBeCloseTo(Math.exp(-rate * expiry) * (forward - 70), 10);
  });
});
