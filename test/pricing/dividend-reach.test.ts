/** Where dividends take the spot: as far as the mesh, and the barriers on it, have to go. */
import { afterAll, describe, expect, it } from "vitest";
import { createCpuDevice } from "../../src/device/cpu/index.ts";
import { constant, dividendSchedule, flatVolatility } from "../../src/market/index.ts";
import { priced, trade } from "./reference.ts";
import { barrier } from "./reference-barriers.ts";

const device = createCpuDevice({ threads: 1 });
afterAll(() => device[Symbol.dispose]());

const put = (strike: number) => ({ kind: "vanilla", right: "put", strike }) as const;
const call = (strike: number) => ({ kind: "vanilla", right: "call", strike }) as const;

describe("dividends of cash, a month before expiry", () => {
  const [expiry, rate, volatility] = [0.1, 0.03, 0.2];
  const strikes = [60, 90, 100, 130, 200];

  /** Of ten deviations the lowest leaves something of the spot, so that V(K − S) = K·e^{−rT} − S + D·e^{−rt}. */
  it.each([1, 5, 8])("of %f: put–call parity, also far in the money", async (cash) => {
    const parts = {
      expiry,
      volatility: flatVolatility(volatility),
      market: { rates: constant(rate), dividends: dividendSchedule(0, [{ time: 0.08, cash, proportional: 0 }]) },
    };
    const straight = strikes.map((strike) =>
      trade({ ...parts, payoff: { kind: "expression", expression: `${strike} - S`, kinks: [] } }),
    );
    const trades = strikes
      .flatMap((strike) => [put(strike), call(strike)])
      .map((payoff) => trade({ ...parts, payoff }));
    const got = await priced([...trades, ...straight], { device, greeks: "none" });
    strikes.forEach((strike, i) => {
      const exact = strike * Math.exp(-rate * expiry) - 100 + cash * Math.exp(-rate * 0.08);
      expect(Math.abs(got[2 * i].value - got[2 * i + 1].value - exact)).toBeLessThan(1e-3);
      expect(Math.abs(got[2 * strikes.length + i].value - exact)).toBeLessThan(1e-3);
    });
  });
});

describe("a dividend that takes the spot across a barrier", () => {
  const market = (cash: number, proportional: number) => ({
    rates: constant(0),
    dividends: dividendSchedule(0, [{ time: 0.25, cash, proportional }]),
  });
  const low = { expiry: 0.5, volatility: flatVolatility(0.01) };

  it.each([
    ["of cash", 15, 0],
    ["a part of the spot", 0, 0.15],
  ])("%s: hits it, many deviations away", async (_, cash, proportional) => {
    const out = barrier({ type: "down-and-out", level: 90, to: 0.5, rebate: 5 });
    const dated = { ...out, monitoring: { kind: "discrete", times: [0.3] } } as const;
    const into = barrier({ type: "down-and-in", level: 90, to: 0.5 });
    const got = await priced(
      [
        trade({ ...low, payoff: put(100), market: market(cash, proportional), barriers: [out] }),
        trade({ ...low, payoff: put(100), market: market(cash, proportional), barriers: [dated] }),
        trade({ ...low, payoff: call(120), market: market(cash, proportional), barriers: [out] }),
        trade({ ...low, payoff: put(100), market: market(cash, proportional), barriers: [into] }),
      ],
      { device },
    );
    [5, 5, 5, 15].forEach((exact, i) => expect(Math.abs(got[i].value - exact)).toBeLessThan(1e-3));
  });

  it("above which the spot is already, before the barrier is monitored", async () => {
    const monitored = barrier({ type: "up-and-out", level: 100.4, rebate: 9, from: 0.15, to: 0.4 });
    const dividends = dividendSchedule(-0.0164, [
      { time: 0.17, cash: 0.1, proportional: 0.086 },
      { time: 0.5, cash: 0, proportional: 0.085 },
    ]);
    const market = { spot: 110, rates: constant(0), dividends };
    const [got] = await priced([trade({ ...low, expiry: 0.53, payoff: call(133), market, barriers: [monitored] })], {
      device,
    });
    expect(Math.abs(got.value - 9)).toBeLessThan(1e-3);
  });
});
