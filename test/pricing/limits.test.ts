import { describe, expect, it } from "vitest";
import { constant, dividendSchedule, flatVolatility } from "../../src/market/index.ts";
import { PlainDevice } from "../support/plain-device.ts";
import { priced, results, trade } from "./reference.ts";
import { barrier } from "./reference-barriers.ts";

const device = new PlainDevice();
const american = { kind: "american" } as const;
const call = (strike: number) => ({ kind: "vanilla", right: "call", strike }) as const;
const put = (strike: number) => ({ kind: "vanilla", right: "put", strike }) as const;
const knockIn = (level: number, rebate: number) => barrier({ type: "down-and-in", level, to: 1, rebate });
const cash = (time: number, amount: number) => ({
  dividends: dividendSchedule(0, [{ time, cash: amount, proportional: 0 }]),
});

async function one(parts: Parameters<typeof trade>[0], method: "auto" | "fdm" = "auto", accuracy = 1e-5) {
  const [got] = await priced([trade(parts)], { device, method, accuracy: { relative: accuracy } });
  return got;
}

describe("at expiry", () => {
  it("a trade is worth its payoff", async () => {
    expect(await one({ expiry: 0, payoff: put(110) })).toMatchObject({
      value: 10,
      gamma: 0,
      vega: 0,
      theta: 0,
      rho: 0,
      method: "payoff",
    });
    expect((await one({ expiry: 0, payoff: put(110), exercise: american })).delta).toBeCloseTo(-1, 8);
    expect((await one({ expiry: 0, payoff: { kind: "digital", right: "call", strike: 90, cash: 7 } })).value).toBe(7);
  });
});

describe("without volatility", () => {
  const volatility = flatVolatility(0);

  it("an American put is exercised now when rates are positive, at expiry when they are not", async () => {
    expect((await one({ volatility, payoff: put(110), exercise: american })).value).toBeCloseTo(10, 12);
    const late = await one({ volatility, payoff: put(110), exercise: american, market: { rates: constant(-0.05) } });
    expect(late.value).toBeCloseTo(110 * Math.exp(0.05) - 100, 10);
  });

  it("an American call waits for the forward, and stops before it is paid away", async () => {
    // (S·e^{−qt} − K·e^{−rt}) is largest where q·S·e^{−qt} = r·K·e^{−rt}.
    const market = { rates: constant(0.1), dividends: dividendSchedule(0.05, []) };
    const t = Math.log((0.1 * 95) / (0.05 * 100)) / 0.05;
    const got = await one({ volatility, payoff: call(95), exercise: american, expiry: 20, market });
    expect(got.value).toBeCloseTo(100 * Math.exp(-0.05 * t) - 95 * Math.exp(-0.1 * t), 10);
  });

  it("an American call is exercised just before a cash dividend", async () => {
    const got = await one({ volatility, payoff: call(90), exercise: american, market: cash(0.5, 20) });
    expect(got.value).toBeCloseTo(100 - 90 * Math.exp(-0.05 * 0.5), 9);
  });

  it("is the limit of little volatility, on the mesh as well", async () => {
    for (const payoff of [put(110), put(90), call(90)]) {
      const [limit, near] = [
        await one({ volatility, payoff, exercise: american }, "fdm"),
        await one({ volatility: flatVolatility(0.01), payoff, exercise: american }, "fdm"),
      ];
      expect(Math.abs(limit.value - near.value)).toBeLessThan(0.01);
    }
  });

  it("a scenario that takes all volatility away is priced, too", async () => {
    const [got] = await priced(
      [trade({ payoff: put(110), exercise: american })],
      { device },
      { time: [0], spot: [0], volatility: [-0.2, -0.5, 0], rate: [0] },
    );
    expect(got.scenarios?.[0][0]).toEqual([[10], [10], [got.value]]);
  });
});

describe("extremes", () => {
  it.each([
    ["half a day", { expiry: 0.5 / 365 }],
    ["thirty years", { expiry: 30 }],
    ["volatility 5", { volatility: flatVolatility(5) }],
    ["volatility 1e-3", { volatility: flatVolatility(1e-3) }],
    ["rates at 50 %", { market: { rates: constant(0.5) } }],
    ["rates at -10 %", { market: { rates: constant(-0.1) } }],
    ["a far strike", { payoff: put(1e4) }],
    ["a near-zero strike", { payoff: call(0.01) }],
    ["a dividend above the spot", { market: cash(0.5, 150) }],
    [
      "a dividend tomorrow and one at expiry",
      {
        market: {
          dividends: dividendSchedule(0, [
            { time: 1 / 365, cash: 2, proportional: 0 },
            { time: 1, cash: 2, proportional: 0 },
          ]),
        },
      },
    ],
    [
      "a dividend of everything",
      { market: { dividends: dividendSchedule(0, [{ time: 0.5, cash: 0, proportional: 1 }]) } },
    ],
  ] as const)("%s: bounds and monotonicity hold", async (_, parts) => {
    const european = trade(parts);
    const both = await priced([european, { ...european, exercise: american }], { device, method: "fdm" });
    const payoff = european.payoff as ReturnType<typeof put> | ReturnType<typeof call>;
    const intrinsic = Math.max((payoff.right === "call" ? 1 : -1) * (100 - payoff.strike), 0);
    const max =
      payoff.right === "call"
        ? 100
        : payoff.strike * Math.max(1, Math.exp(-european.underlying.rates.values[0] * european.expiry));
    const slack = both[0].errorEstimate + both[1].errorEstimate + 1e-9;
    expect(both[0].value).toBeGreaterThanOrEqual(-slack);
    expect(both[1].value).toBeGreaterThanOrEqual(intrinsic - 1e-9);
    expect(both[1].value).toBeGreaterThanOrEqual(both[0].value - slack);
    expect(both[1].value).toBeLessThanOrEqual(max + slack);
    for (const { delta, gamma, theta, vega, rho } of both)
      for (const greek of [delta, gamma, theta, vega, rho]) expect(Number.isFinite(greek)).toBe(true);
  });

  it("a dividend above the spot leaves a put its discounted strike, a call nothing", async () => {
    expect((await one({ market: cash(0.5, 500), payoff: put(100) })).value).toBeCloseTo(100 * Math.exp(-0.05), 4);
    expect((await one({ market: cash(0.5, 500), payoff: call(100) })).value).toBeCloseTo(0, 4);
  });

  it("a dividend at expiry comes before the payoff", async () => {
    const with2 = await one({ market: cash(1, 2), payoff: call(98) }, "auto", 1e-6);
    const without = await one({ payoff: call(100) });
    expect(with2.value).toBeCloseTo(without.value, 3);
  });
});

describe("what cannot be priced", () => {
  it("fails where the error of a value is not finite, at any yield and expiry", async () => {
    const yields = [-3, -1, -0.3, 0, 3];
    const trades = yields.flatMap((rate) =>
      [1, 100, 900].flatMap((expiry) =>
        [call(100), put(100)].map((payoff) =>
          trade({ expiry, payoff, market: { dividends: dividendSchedule(rate, []) } }),
        ),
      ),
    );
    const got = await results(trades, { device });
    const failed = got.filter(({ status }) => status === "error");
    expect(failed).not.toHaveLength(0);
    for (const result of got)
      if (result.status === "error") expect(result.error.message).toContain("beyond what");
      else expect([result.value, result.errorEstimate].filter(Number.isFinite)).toHaveLength(2);
  });

  it.each([
    [{ barriers: [knockIn(90, 1), knockIn(80, 2)] }, "BOOK", "trades[1].barriers: knock-ins have one rebate"],
    [
      { payoff: { kind: "expression", expression: "log(S - 100)", kinks: [] } },
      "SPEC",
      'payoff: "log(S - 100)": NaN at S = ',
    ],
    [{ payoff: { kind: "expression", expression: "foo(S)", kinks: [] } }, "KERNEL", "foo"],
  ])("is its own failure: %j", async (parts, code, message) => {
    const got = await results([trade(), trade(parts as never), trade()], { device });
    expect(got.map(({ status }) => status)).toEqual(["ok", "error", "ok"]);
    expect(got[1]).toMatchObject({ id: "T", value: null, error: { code } });
    expect((got[1] as { error: { message: string } }).error.message).toContain(message);
  });
});
