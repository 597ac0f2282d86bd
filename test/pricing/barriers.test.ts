/** Barriers and Bermudan exercise against closed forms, other solvers, and what theory says of limits. */
import { describe, expect, it } from "vitest";
import type { PricedTrade, Trade } from "../../src/book/index.ts";
import { constant, dividendSchedule, flatVolatility } from "../../src/market/index.ts";
import { reinerRubinstein } from "../market/models/reiner-rubinstein.ts";
import { normalCdf } from "../support/normal.ts";
import { PlainDevice } from "../support/plain-device.ts";
import { type EarlyBarrier, explicitPrice } from "./explicit-oracle.ts";
import { priced, trade, windowSums } from "./reference.ts";
import { barrier } from "./reference-barriers.ts";
import { dealt } from "../support/extent.ts";

const device = new PlainDevice();
const american = { kind: "american" } as const;
const call = (strike: number) => ({ kind: "vanilla", right: "call", strike }) as const;
const put = (strike: number) => ({ kind: "vanilla", right: "put", strike }) as const;
const nothing = { kind: "expression", expression: "0", kinks: [] } as const;
const market = (rate: number, yieldRate: number, spot = 100) => ({
  spot,
  rates: constant(rate),
  dividends: dividendSchedule(yieldRate, []),
});
const values = async (trades: readonly Trade[], method: "auto" | "fdm" = "fdm"): Promise<number[]> =>
  (await priced(trades, { device, method, greeks: "none" })).map(({ value }) => value);
const price = async (one: Trade): Promise<number> => (await values([one]))[0];
const every = (n: number, expiry = 1): number[] => Array.from({ length: n }, (_, i) => ((i + 1) * expiry) / n);

interface Single {
  readonly right: "call" | "put";
  readonly spot: number;
  readonly strike: number;
  readonly level: number;
  readonly rebate: number;
  readonly out: boolean;
  readonly atExpiry: boolean;
}
const [RATE, YIELD, SIGMA, EXPIRY] = [0.04, 0.015, 0.25, 0.75];

/** Every kind of single barrier, with spots far from the barrier, near it, and nearly on it. */
const singles: readonly Single[] = ["call", "put"].flatMap((right) =>
  [85, 103, 120].flatMap((strike) =>
    [true, false].flatMap((out) =>
      [
        { level: 90, spots: [90.009, 90.5, 100, 130] },
        { level: 112, spots: [111.99, 111, 100, 80] },
      ].flatMap(({ level, spots }) =>
        spots.flatMap((spot) =>
          (out ? [false, true] : [true]).map((atExpiry): Single => {
            return { right: right as "call", spot, strike, level, rebate: spot === 100 ? 3 : 0, out, atExpiry };
          }),
        ),
      ),
    ),
  ),
);

function singleTrade({ right, spot, strike, level, rebate, out, atExpiry }: Single): Trade {
  const type = `${spot < level ? "up" : "down"}-and-${out ? "out" : "in"}` as const;
  return trade({
    payoff: { kind: "vanilla", right, strike },
    expiry: EXPIRY,
    volatility: flatVolatility(SIGMA),
    market: market(RATE, YIELD, spot),
    barriers: [barrier({ type, level, to: EXPIRY, rebate, rebateAt: atExpiry ? "expiry" : "hit" })],
  });
}

/**
 * The closed form, and its derivatives: it goes on smoothly beyond the barrier, so central differences of it may cross
 * that.
 */
function closedForm({ right, spot, strike, level, rebate, out, atExpiry }: Single): Record<string, number> {
  const f = (s: number, sigma = SIGMA, rate = RATE, expiry = EXPIRY): number =>
    reinerRubinstein(
      s,
      strike,
      level,
      rebate,
      rate,
      YIELD,
      sigma,
      expiry,
      right === "call",
      spot < level,
      out,
      atExpiry,
    );
  const h = 1e-3 * spot;
  return {
    value: f(spot),
    delta: (f(spot + h) - f(spot - h)) / (2 * h),
    gamma: (f(spot + h) - 2 * f(spot) + f(spot - h)) / (h * h),
    theta: -(f(spot, SIGMA, RATE, EXPIRY + 1e-4) - f(spot, SIGMA, RATE, EXPIRY - 1e-4)) / 2e-4,
    vega: (f(spot, SIGMA + 1e-4) - f(spot, SIGMA - 1e-4)) / 2e-4,
    rho: (f(spot, SIGMA, RATE + 1e-4) - f(spot, SIGMA, RATE - 1e-4)) / 2e-4,
  };
}

describe("one barrier, against the closed form", () => {
  let prices: Promise<readonly PricedTrade[]> | undefined;
  const pricesOfSingles = (): Promise<readonly PricedTrade[]> =>
    (prices ??= priced(singles.map(singleTrade), { device, method: "fdm" }));

  it("values within 1e-6 of spot, and Greeks, near the barrier as well", async () => {
    const got = await pricesOfSingles();
    const worst: Record<string, number> = {};
    const tooWrong: object[] = [];
    // In units of spot, 1, 1/spot, and spot: vega and rho are those of the fine mesh alone.
    const allowed = { value: 1e-6, delta: 1e-5, gamma: 5e-4, theta: 2e-5, vega: 3e-4, rho: 2e-4 } as const;
    got.forEach((result, i) => {
      const expected = closedForm(singles[i]);
      const { spot } = singles[i];
      const unit: Record<string, number> = {
        value: spot,
        delta: 1,
        gamma: 1 / spot,
        theta: spot,
        vega: spot,
        rho: spot,
      };
      for (const [name, tolerance] of Object.entries(allowed)) {
        const error = Math.abs(result[name as "value"] - expected[name]) / unit[name];
        worst[name] = Math.max(worst[name] ?? 0, error);
        if (!(error <= tolerance)) tooWrong.push({ ...singles[i], name, error });
      }
    });
    console.log(
      `${singles.length} single barriers, worst errors over spot: ${Object.entries(worst)
        .map(([name, x]) => `${name} ${x.toExponential(1)}`)
        .join(", ")}`,
    );
    expect(tooWrong).toEqual([]);
  });

  it("error estimates hold in at least 95 %", async () => {
    const got = await pricesOfSingles();
    const honest = got.filter(
      ({ value, errorEstimate }, i) => Math.abs(value - closedForm(singles[i]).value) <= errorEstimate,
    );
    expect(honest.length / got.length).toBeGreaterThanOrEqual(0.95);
  });
});

describe("a spot on or past a barrier", () => {
  it.each([
    ["down-and-out", 100],
    ["down-and-out", 105],
    ["up-and-out", 100],
    ["up-and-out", 95],
  ] as const)("%s at %d: the rebate, at once or discounted", async (type, level) => {
    for (const payoff of [put(100), { kind: "digital", right: "call", strike: 90, cash: 5 } as const, nothing]) {
      const at = (rebateAt: "hit" | "expiry") =>
        trade({ payoff, barriers: [barrier({ type, level, to: 1, rebate: 7, rebateAt })] });
      const [now, later] = await priced([at("hit"), at("expiry")], { device });
      expect(now).toMatchObject({ value: 7, delta: 0, gamma: 0, theta: 0, vega: 0, rho: 0, method: "knocked-out" });
      const bond = 7 * Math.exp(-0.05);
      expect(later.value).toBeCloseTo(bond, 12);
      expect(later).toMatchObject({ delta: 0, gamma: 0, vega: 0 });
      expect(later.theta).toBeCloseTo(0.05 * bond, 12);
      expect(later.rho).toBeCloseTo(-bond, 12);
    }
  });

  it("knocked in it is what it becomes, American too", async () => {
    const barriers = [barrier({ type: "down-and-in", level: 100, to: 1, rebate: 3 })];
    for (const exercise of [{ kind: "european" }, american, { kind: "bermudan", times: [0.5, 1] }] as const)
      expect(await priced([trade({ barriers, exercise })], { device })).toEqual(
        await priced([trade({ exercise })], { device }),
      );
  });

  it("is still alive before the window, and on dates of monitoring to come", async () => {
    const window = barrier({ type: "down-and-out", level: 101, from: 0.5, to: 1 });
    const dates = barrier({ type: "down-and-out", level: 101, to: 1, monitoring: { kind: "discrete", times: [0.5] } });
    for (const barriers of [[window], [dates]])
      expect(await price(trade({ payoff: call(100), barriers }))).toBeGreaterThan(3);
  });

  it("a date of monitoring today counts", async () => {
    const today = (level: number) =>
      trade({
        barriers: [barrier({ type: "up-and-out", level, to: 1, monitoring: { kind: "discrete", times: [0] } })],
      });
    const [hit, alive, plain] = await values([today(100), today(101), trade()]);
    expect(hit).toBe(0);
    expect(Math.abs(alive - plain)).toBeLessThan(2e-4);
  });
});

describe("limits", () => {
  it("knock-in and knock-out are the vanilla, whatever stands together", async () => {
    const kinds: (readonly Trade["barriers"][number][])[] = (["in", "out"] as const).map((end) => [
      barrier({ type: `up-and-${end}`, level: 118, to: 1 }),
      barrier({ type: `down-and-${end}`, level: 84, from: 0.2, to: 0.8 }),
      barrier({ type: `down-and-${end}`, level: 88, to: 1, monitoring: { kind: "discrete", times: every(6) } }),
    ]);
    const payoffs = [put(100), call(105), { kind: "digital", right: "call", strike: 95, cash: 20 } as const];
    for (const payoff of payoffs) {
      const [parts, [vanilla]] = [
        await values(kinds.map((barriers) => trade({ payoff, barriers }))),
        await values([trade({ payoff })], "auto"),
      ];
      expect(Math.abs(parts[0] + parts[1] - vanilla)).toBeLessThan(2e-4);
    }
  });

  it("a knock-out that cancels a knock-in: alive between the two", async () => {
    // In at 115 unless out at 88 before or after: the knock-out at 88 less the double knock-out.
    const [low, high] = [
      barrier({ type: "down-and-out", level: 88, to: 1 }),
      barrier({ type: "up-and-out", level: 115, to: 1 }),
    ];
    const [both, one, two] = await values([
      trade({ payoff: call(100), barriers: [barrier({ type: "up-and-in", level: 115, to: 1 }), low] }),
      trade({ payoff: call(100), barriers: [low] }),
      trade({ payoff: call(100), barriers: [low, high] }),
    ]);
    expect(Math.abs(both - (one - two))).toBeLessThan(2e-4);
    expect(both).toBeGreaterThan(1);
  });

  it("two of them at one level on one date are one", async () => {
    const dates = (times: number[], rebate = 0) =>
      barrier({ type: "down-and-out", level: 92, to: 1, rebate, monitoring: { kind: "discrete", times } });
    const always = barrier({ type: "down-and-out", level: 92, to: 1, rebate: 2 });
    const got = await values(
      [
        [dates([0.25, 0.5])],
        [dates([0.25, 0.5]), dates([0.5])],
        [always],
        [always, dates([0.25, 0.5])],
        [dates([0.25, 0.5], 1), always],
      ].map((barriers) => trade({ barriers })),
    );
    // Nodes are denser about two of them; where dates are added the steps are others, too: within the accuracy of both.
    expect(Math.abs(got[1] - got[0])).toBeLessThan(1e-5);
    expect(Math.abs(got[3] - got[2])).toBeLessThan(1e-3);
    expect(Math.abs(got[4] - got[2])).toBeLessThan(1e-3);
  });

  it("two knock-ins at one level on one date are one", async () => {
    const into = (type: "up-and-in" | "down-and-in", level: number) =>
      barrier({ type, level, to: 1, rebate: 8, monitoring: { kind: "discrete", times: [0.25, 0.5] } });
    const levels = [into("down-and-in", 92), into("up-and-in", 112)];
    const exercise = { kind: "bermudan", times: [0.3, 0.5, 0.75] } as const;
    const [once, twice] = await values(
      [levels, [...levels, ...levels]].map((barriers) => trade({ payoff: put(101), exercise, barriers })),
    );
    expect(Math.abs(once - twice)).toBeLessThan(1e-4);
  });

  it("an American digital is exercised at its strike, whatever barriers are beyond", async () => {
    const parts = { exercise: american, expiry: 0.35, volatility: flatVolatility(0.11) } as const;
    for (const strike of [100.002, 100.05, 100.3, 101]) {
      const payoff = { kind: "digital", right: "call", strike, cash: 3 } as const;
      const beyond = { level: 111, to: 0.35 } as const;
      const dates = { kind: "discrete", times: [0.1, 0.2, 0.3] } as const;
      const [plain, ...barred] = await values([
        trade({ ...parts, payoff }),
        trade({ ...parts, payoff, barriers: [barrier({ type: "up-and-out", ...beyond })] }),
        trade({ ...parts, payoff, barriers: [barrier({ type: "up-and-out", ...beyond, from: 0.1 })] }),
        trade({ ...parts, payoff, barriers: [barrier({ type: "up-and-out", ...beyond, monitoring: dates })] }),
      ]);
      for (const value of barred) expect(Math.abs(value - plain)).toBeLessThan(1e-4);
    }
  });

  it("a barrier far away is none", async () => {
    for (const type of ["up-and-out", "down-and-out"] as const)
      for (const exercise of [{ kind: "european" }, american] as const) {
        const barriers = [barrier({ type, level: type === "up-and-out" ? 400 : 20, to: 1 })];
        const [far, none] = await values([trade({ barriers, exercise }), trade({ exercise })]);
        expect(Math.abs(far - none)).toBeLessThan(2e-4);
      }
  });

  it("half a day to expiry", async () => {
    const expiry = 0.5 / 365;
    for (const spot of [99.9, 100, 100.4]) {
      const parts = { expiry, volatility: flatVolatility(0.3), market: market(0.03, 0, spot), payoff: call(100) };
      const got = await price(
        trade({ ...parts, barriers: [barrier({ type: "up-and-out", level: 100.5, to: expiry, rebate: 1 })] }),
      );
      const expected = reinerRubinstein(spot, 100, 100.5, 1, 0.03, 0, 0.3, expiry, true, true, true, false);
      expect(Math.abs(got - expected)).toBeLessThan(2e-3 * 0.1);
    }
  });

  it("without volatility: the path of the forward says whether and when it is hit", async () => {
    const still = (parts: Parameters<typeof trade>[0]) => trade({ volatility: flatVolatility(0), ...parts });
    const up = (level: number, rest: object = {}) => [
      barrier({ type: "up-and-out", level, to: 1, rebate: 2, ...rest }),
    ];
    // 100·e^{0.05t} is at 103 when t = ln(1.03)/0.05.
    const hit = Math.log(1.03) / 0.05;
    const got = await values([
      still({ payoff: call(90), barriers: up(103) }),
      still({ payoff: call(90), barriers: up(103, { rebateAt: "expiry" }) }),
      still({ payoff: call(90), barriers: up(106) }),
      still({ payoff: call(90), barriers: up(103, { to: 0.5 }) }),
      still({ payoff: call(90), barriers: up(103, { monitoring: { kind: "discrete", times: [0.5, 0.8] } }) }),
      still({ payoff: call(90), barriers: [barrier({ type: "up-and-in", level: 103, to: 1, rebate: 2 })] }),
      still({ payoff: call(90), barriers: [barrier({ type: "up-and-in", level: 106, to: 1, rebate: 2 })] }),
      still({ payoff: call(90), exercise: american, barriers: up(103) }),
      still({ payoff: put(110), exercise: { kind: "bermudan", times: [0.25, 0.5] } }),
    ]);
    const forward = 100 - 90 * Math.exp(-0.05);
    const expected = [
      2 * Math.exp(-0.05 * hit),
      2 * Math.exp(-0.05),
      forward,
      forward,
      2 * Math.exp(-0.05 * 0.8),
      forward,
      2 * Math.exp(-0.05),
      100 - 90 * Math.exp(-0.05 * hit),
      110 * Math.exp(-0.05 * 0.25) - 100,
    ];
    got.forEach((value, i) => expect(value).toBeCloseTo(expected[i], 9));
  });

  it("little volatility tends to none", async () => {
    const barriers = [barrier({ type: "up-and-out", level: 103, to: 1, rebate: 2 })];
    const at = (sigma: number) => trade({ payoff: call(90), barriers, volatility: flatVolatility(sigma) });
    const [none, some] = await values([at(0), at(0.02)]);
    const closed = (sigma: number) => reinerRubinstein(100, 90, 103, 2, 0.05, 0, sigma, 1, true, true, true, false);
    expect(Math.abs(some - closed(0.02))).toBeLessThan(2e-3);
    expect(Math.abs(none - closed(0.004))).toBeLessThan(1e-3);
    const [little, less] = await priced([at(0.004), at(0.001)], { device });
    expect(Math.abs(little.value - none)).toBeLessThan(1e-5);
    // The mesh became fine enough for it.
    expect(little.warnings).toEqual([]);
    expect(Math.abs(less.value - none)).toBeLessThan(less.errorEstimate);
    expect(less.warnings).toEqual([
      expect.stringContaining("drift dominates diffusion"),
      "the accuracy that was asked for is not reached: errorEstimate is larger",
    ]);
  });

  it("dates of monitoring tend to monitoring always, by the shift of Broadie, Glasserman & Kou (1997)", async () => {
    // The barrier moved out to H·exp(±0.5826·σ·√Δt), for payoffs of nothing there; what it leaves is o(√Δt).
    for (const [side, level] of [
      ["down", 92],
      ["up", 108],
    ] as const) {
      const [outward, right] = side === "up" ? [1, "put" as const] : [-1, "call" as const];
      const f = (at: number) =>
        reinerRubinstein(100, 100, at, 0, 0.05, 0, 0.2, 1, right === "call", side === "up", true, false);
      const left: number[] = [];
      for (const n of [12, 50, 250]) {
        const monitoring = { kind: "discrete", times: every(n) } as const;
        const payoff = { kind: "vanilla", right, strike: 100 } as const;
        const got = await price(
          trade({ payoff, barriers: [barrier({ type: `${side}-and-out`, level, to: 1, monitoring })] }),
        );
        const error = Math.abs(got - f(level * Math.exp(outward * 0.5826 * 0.2 * Math.sqrt(1 / n))));
        left.push(error / Math.abs(got - f(level)));
      }
      console.log(
        `BGK's shift, ${side}: leaves ${left.map((part) => `${(100 * part).toFixed(2)} %`).join(", ")} of the difference`,
      );
      expect(left[0]).toBeLessThan(0.05);
      expect(left[2]).toBeLessThan(0.01);
    }
  });

  it("touched from either side in a window: alive above all the time, or below", async () => {
    for (const { trades, expected } of windowSums()) {
      const sum = (await values(trades.map((one) => one.trade))).reduce((a, b) => a + b);
      expect(Math.abs(sum - expected) / trades[0].trade.underlying.spot).toBeLessThan(1e-6);
    }
  });
});

describe("early exercise", () => {
  const option: EarlyBarrier = {
    right: "put",
    spot: 100,
    strike: 100,
    side: "up",
    level: 112,
    rebate: 0,
    rate: 0.06,
    dividendYield: 0.01,
    sigma: 0.3,
    expiry: 0.5,
    from: 0,
    to: 0.5,
  };
  const cases: readonly (readonly [string, EarlyBarrier])[] = [
    ["American up-and-out put", option],
    ["American up-and-out put with a rebate", { ...option, rebate: 4 }],
    ["American down-and-out put, barrier above where it would be exercised", { ...option, side: "down", level: 88 }],
    ["American down-and-out put with a rebate", { ...option, side: "down", level: 88, rebate: 20 }],
    ["American up-and-out call", { ...option, right: "call", level: 120 }],
    ["American put, window", { ...option, from: 0.125, to: 0.375 }],
    ["Bermudan put", { ...option, exerciseTimes: [0.25, 0.5, 0.75], from: 2, to: 2 }],
    ["Bermudan down-and-out put", { ...option, side: "down", level: 88, exerciseTimes: [0.25, 0.5, 0.75] }],
    ["Bermudan up-and-out put with a rebate", { ...option, rebate: 4, exerciseTimes: [0.5] }],
  ];

  // Every kind of early exercise and of barrier, not each of them with each.
  it.each(dealt(cases, 0, 2))("%s, against the explicit scheme", async (_, o) => {
    const { side, level, rebate, from, to, exerciseTimes } = o;
    const got = await price(
      trade({
        payoff: { kind: "vanilla", right: o.right, strike: o.strike },
        expiry: o.expiry,
        volatility: flatVolatility(o.sigma),
        market: market(o.rate, o.dividendYield, o.spot),
        exercise:
          exerciseTimes === undefined ? american : { kind: "bermudan", times: exerciseTimes.map((t) => t * o.expiry) },
        barriers: from > o.expiry ? [] : [barrier({ type: `${side}-and-out`, level, rebate, from, to })],
      }),
    );
    // The oracle's own error, of Δx = 0.0013 extrapolated, is a few 1e-6 of spot at most.
    expect(Math.abs(got - explicitPrice(o, 45)) / o.spot).toBeLessThan(1e-5);
  });

  it("an American down-and-out call without dividends is never exercised early", async () => {
    // Its discounted payoff is a submartingale up to the barrier, where it is nothing.
    for (const spot of [91, 100, 130]) {
      const got = await price(
        trade({
          payoff: call(95),
          exercise: american,
          market: market(0.05, 0, spot),
          barriers: [barrier({ type: "down-and-out", level: 90, to: 1 })],
        }),
      );
      const european = reinerRubinstein(spot, 95, 90, 0, 0.05, 0, 0.2, 1, true, false, true, false);
      expect(Math.abs(got - european) / spot).toBeLessThan(1e-5);
    }
  });

  it("Bermudan prices rise with the dates, from the European to the American one, with dividends and a barrier", async () => {
    const dividends = dividendSchedule(0, [
      { time: 0.3, cash: 3, proportional: 0 },
      { time: 0.7, cash: 0, proportional: 0.03 },
    ]);
    for (const barriers of [[], [barrier({ type: "up-and-out", level: 125, to: 1 })]])
      for (const payoff of [put(105), call(95)]) {
        const with_ = (exercise: Trade["exercise"]) => trade({ payoff, barriers, exercise, market: { dividends } });
        const got = await values([
          with_({ kind: "european" }),
          ...[1, 2, 4, 16, 64].map((n) => with_({ kind: "bermudan", times: every(n) })),
          with_(american),
        ]);
        expect(Math.abs(got[1] - got[0])).toBeLessThan(1e-9);
        for (let i = 2; i < got.length; i++) expect(got[i]).toBeGreaterThan(got[i - 1] - 2e-4);
        // What is left of 64 dates: the holder waits for one, and may not stop right before a dividend.
        expect(got[6] - got[5]).toBeLessThan(payoff.right === "put" ? 0.02 : 0.6);
      }
  });

  it("one date before expiry is an integral over the spot on that date, for calls, puts and digitals", async () => {
    const [rate, dividendYield, sigma, strike, date] = [0.05, 0.03, 0.3, 104, 0.6];
    const drift = rate - dividendYield - 0.5 * sigma * sigma;
    for (const right of ["call", "put"] as const)
      for (const digital of [false, true]) {
        const payoff = digital
          ? ({ kind: "digital", right, strike, cash: 20 } as const)
          : right === "call"
            ? call(strike)
            : put(strike);
        const sign = right === "call" ? 1 : -1;
        /** What is left on the date: Black and Scholes. */
        const held = (spot: number): number => {
          const deviation = sigma * Math.sqrt(1 - date);
          const d2 = (Math.log(spot / strike) + drift * (1 - date)) / deviation;
          const [forward, bond] = [spot * Math.exp(-dividendYield * (1 - date)), Math.exp(-rate * (1 - date))];
          if (digital) return 20 * bond * normalCdf(sign * d2);
          return sign * (forward * normalCdf(sign * (d2 + deviation)) - strike * bond * normalCdf(sign * d2));
        };
        const paid = (spot: number): number =>
          sign * (spot - strike) <= 0 ? 0 : digital ? 20 : sign * (spot - strike);
        /** The integrand, with what exercise pays where it pays. */
        const value = (z: number, exercised: boolean): number => {
          const spot = 100 * Math.exp(drift * date + sigma * Math.sqrt(date) * z);
          return (Math.exp(-0.5 * z * z) / Math.sqrt(2 * Math.PI)) * (exercised ? paid(spot) : held(spot));
        };
        // Exercised beyond one price: the strike of a digital, else where both are worth as much.
        let [near, far] = [strike, strike * Math.exp(3 * sign)];
        for (let i = 0; i < (digital ? 0 : 60); i++) {
          const middle = 0.5 * (near + far);
          if (held(middle) > paid(middle)) near = middle;
          else far = middle;
        }
        const from = (Math.log(near / 100) - drift * date) / (sigma * Math.sqrt(date));
        const simpson = (f: (x: number) => number, width: number, n = 400): number =>
          (width / (3 * n)) *
          Array.from(
            { length: n + 1 },
            (_, i) => (i === 0 || i === n ? 1 : i % 2 === 1 ? 4 : 2) * f((i * width) / n),
          ).reduce((x, y) => x + y);
        // From just beyond the strike, where a digital pays.
        const sum =
          simpson((x) => value(from + sign * (x + 1e-12), true), 10) +
          simpson((x) => value(from - sign * x, false), 10);
        const expected = Math.exp(-rate * date) * sum;
        const [got] = await priced(
          [
            trade({
              payoff,
              volatility: flatVolatility(sigma),
              exercise: { kind: "bermudan", times: [date] },
              market: market(rate, dividendYield),
            }),
          ],
          { device, accuracy: { relative: 1e-7 }, greeks: "none" },
        );
        expect(Math.abs(got.value - expected) / 100).toBeLessThan(1e-7);
        expect(Math.abs(got.value - expected)).toBeLessThan(got.errorEstimate + 1e-6);
      }
  });

  it("a date of exercise today is one", async () => {
    const [now] = await priced([trade({ payoff: put(130), exercise: { kind: "bermudan", times: [0] } })], { device });
    expect(now).toMatchObject({ value: 30, gamma: 0, theta: 0 });
    expect(now.delta).toBeCloseTo(-1, 8);
  });
});

describe("scenarios", () => {
  it("across a barrier are the books with those spots", async () => {
    const spot = [-0.2, -0.05, 0, 0.05, 0.2];
    const ends = [
      [barrier({ type: "up-and-out", level: 110, to: 1, rebate: 3 })],
      [barrier({ type: "up-and-in", level: 110, to: 1 })],
      [
        barrier({ type: "down-and-out", level: 90, to: 1, rebate: 3, rebateAt: "expiry" }),
        barrier({ type: "up-and-in", level: 110, to: 1 }),
      ],
    ];
    for (const barriers of ends) {
      const [got] = await priced(
        [trade({ barriers })],
        { device },
        { spot, volatility: [0, 0.05], rate: [0, 0.01], time: [0] },
      );
      for (const [v, volatility] of [0.2, 0.25].entries())
        for (const [r, rate] of [0.05, 0.06].entries()) {
          const alone = await values(
            spot.map((shift) =>
              trade({ barriers, volatility: flatVolatility(volatility), market: market(rate, 0, 100 * (1 + shift)) }),
            ),
          );
          spot.forEach((_, s) =>
            expect(Math.abs((got.scenarios?.[0][s][v][r] as number) - alone[s])).toBeLessThan(2e-4),
          );
        }
    }
  });

  it("of a spot that is knocked out now, and would not be elsewhere", async () => {
    const barriers = [barrier({ type: "up-and-out", level: 99, to: 1, rebate: 1 })];
    const [got] = await priced(
      [trade({ barriers })],
      { device },
      { spot: [0, -0.1], volatility: [0], rate: [0], time: [0] },
    );
    expect(got).toMatchObject({ value: 1, delta: 0, vega: 0, method: "knocked-out" } satisfies Partial<PricedTrade>);
    const alone = await price(trade({ barriers, market: market(0.05, 0, 90) }));
    expect(got.scenarios?.[0][0][0][0]).toBe(1);
    expect(Math.abs((got.scenarios?.[0][1][0][0] as number) - alone)).toBeLessThan(2e-4);
  });

  it("at later dates are the trades that are left", async () => {
    const barriers = [
      barrier({ type: "up-and-out", level: 115, from: 0.2, to: 0.6, rebate: 2 }),
      barrier({ type: "down-and-in", level: 92, to: 0.4 }),
      barrier({ type: "down-and-in", level: 85, to: 1, monitoring: { kind: "discrete", times: [0.3, 0.9] } }),
    ];
    const left: Readonly<Record<number, Trade["barriers"]>> = {
      0.3: [
        barrier({ type: "up-and-out", level: 115, to: 0.3, rebate: 2 }),
        barrier({ type: "down-and-in", level: 92, to: 0.1 }),
        barrier({ type: "down-and-in", level: 85, to: 0.7, monitoring: { kind: "discrete", times: [0.6] } }),
      ],
      0.7: [barrier({ type: "down-and-in", level: 85, to: 0.3, monitoring: { kind: "discrete", times: [0.2] } })],
    };
    const time = [0, 0.3, 0.7];
    const spot = [-0.1, 0, 0.2];
    const [got] = await priced([trade({ barriers })], { device }, { spot, volatility: [0], rate: [0], time });
    for (const [t, years] of time.entries()) {
      if (years === 0) continue;
      const alone = await values(
        spot.map((shift) =>
          trade({ barriers: left[years], expiry: 1 - years, market: market(0.05, 0, 100 * (1 + shift)) }),
        ),
      );
      spot.forEach((_, s) => expect(Math.abs((got.scenarios?.[t][s][0][0] as number) - alone[s])).toBeLessThan(2e-4));
    }
  });

  it("at later dates of a Bermudan are the dates that are left", async () => {
    const exercise = (times: number[]) => ({ kind: "bermudan", times }) as const;
    const [got] = await priced(
      [trade({ exercise: exercise([0.25, 0.5, 0.75]) })],
      { device },
      { spot: [0], volatility: [0], rate: [0], time: [0.4] },
    );
    const alone = await price(trade({ exercise: exercise([0.1, 0.35]), expiry: 0.6 }));
    expect(Math.abs((got.scenarios?.[0][0][0][0] as number) - alone)).toBeLessThan(2e-4);
  });
});
