/**
 * Knock-ins with early exercise: against a first passage to QuantLib's American prices, an explicit scheme, parities,
 * limits.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { BarrierType, Trade } from "../../src/book/index.ts";
import { constant, dividendSchedule, flatVolatility } from "../../src/market/index.ts";
import { type Device, openDevice } from "../../src/device/index.ts";
import type { PricingOptions } from "../../src/pricing/index.ts";
import { PlainDevice } from "../support/plain-device.ts";
import { explicitTrades, firstPassageTrades, type KnockInTrade } from "./knock-in-cases.ts";
import { priced, results, trade } from "./reference.ts";
import { barrier } from "./reference-barriers.ts";

const device = new PlainDevice();
const american = { kind: "american" } as const;
const european = { kind: "european" } as const;
const call = (strike: number) => ({ kind: "vanilla", right: "call", strike }) as const;
const put = (strike: number) => ({ kind: "vanilla", right: "put", strike }) as const;
const market = (rate: number, yieldRate: number, spot = 100) => ({
  spot,
  rates: constant(rate),
  dividends: dividendSchedule(yieldRate, []),
});
const values = async (trades: readonly Trade[]): Promise<number[]> =>
  (await priced(trades, { device, method: "fdm", greeks: "none" })).map(({ value }) => value);
const price = async (one: Trade): Promise<number> => (await values([one]))[0];

interface Errors {
  readonly id: string;
  /** Of spot. */
  readonly error: number;
  readonly honest: boolean;
}

async function errors(
  cases: readonly KnockInTrade[],
  options: Partial<PricingOptions> & { readonly device?: Device } = {},
): Promise<Errors[]> {
  const trades = cases.map((one) => one.trade);
  const got = await priced(trades, { device, method: "fdm", greeks: "none", ...options });
  return cases.map(({ trade: { id, underlying }, price: expected, moved }, i) => {
    const off = Math.abs(got[i].value - expected);
    return { id, error: off / underlying.spot, honest: off <= got[i].errorEstimate + moved };
  });
}

function worstOf(all: readonly Errors[], what: string): number {
  const worst = all.reduce((a, b) => (b.error > a.error ? b : a));
  const honest = all.filter((one) => one.honest).length;
  console.log(
    `${what}: ${all.length} trades, worst ${worst.error.toExponential(1)} of spot (${worst.id}), ${honest} estimates hold`,
  );
  expect(honest / all.length).toBeGreaterThanOrEqual(0.95);
  return worst.error;
}

describe("one level, monitored always, American", () => {
  const cases = firstPassageTrades();

  it("is a first passage to the American price: within the accuracy asked for, 1e-5 of spot", async () => {
    expect(worstOf(await errors(cases), "1e-5")).toBeLessThan(1e-5);
  });

  it("and to 1e-6 where that is asked for", async () => {
    expect(worstOf(await errors(cases, { accuracy: { relative: 1e-6 } }), "1e-6")).toBeLessThan(1e-6);
  });

  it("is the mirrored American price where it is out of the money, and so are its Greeks", async () => {
    const closed = cases.filter(({ greeks }) => greeks !== undefined);
    expect(closed.length).toBeGreaterThan(4);
    const got = await priced(
      closed.map((one) => one.trade),
      { device },
    );
    // As for trades without barriers: vega and rho are of the fine mesh alone, and of central differences wide enough
    // for moving boundaries.
    const allowed = { delta: 3e-5, gamma: 5e-5, theta: 5e-6, vega: 5e-4, rho: 8e-4 } as const;
    const worst: Record<string, number> = {};
    closed.forEach(({ trade: { underlying }, greeks }, i) => {
      const { spot } = underlying;
      const unit = { delta: 1, gamma: 1 / spot, theta: spot, vega: spot, rho: spot } as const;
      for (const name of ["delta", "gamma", "theta", "vega", "rho"] as const) {
        const error = Math.abs((got[i][name] as number) - (greeks as Record<string, number>)[name]) / unit[name];
        worst[name] = Math.max(worst[name] ?? 0, error);
      }
    });
    const found = Object.entries(worst).map(([name, x]) => `${name} ${x.toExponential(1)}`);
    console.log(`Greeks, ${closed.length} trades: ${found.join(", ")}`);
    for (const [name, x] of Object.entries(worst)) expect(x).toBeLessThan(allowed[name as "delta"]);
  });
});

describe("windows, dates, several levels, knock-outs, dividends, Bermudan exercise", () => {
  it("agree with an explicit scheme", async () => {
    expect(worstOf(await errors(explicitTrades()), "explicit scheme")).toBeLessThan(1e-5);
  });

  it("in f32 the accuracy that is the default, too", async () => {
    using cpu = await openDevice({ backend: "cpu", threads: 1 });
    const cases = [...explicitTrades(), ...firstPassageTrades()];
    expect(worstOf(await errors(cases, { device: cpu, precision: "f32" }), "f32")).toBeLessThan(1e-5);
  });

  it("in f32 the estimate of a small difference contains the rounding of both large values", async () => {
    using cpu = await openDevice({ backend: "cpu", threads: 1 });
    // Puts deep in the money with barriers far away.
    const trades = Array.from({ length: 60 }, (_, i) => {
      const barriers = [barrier({ type: "down-and-in", level: 50, to: 0.1 })];
      return trade({ payoff: put(150 + i), volatility: flatVolatility(0.03 + 0.002 * i), barriers, expiry: 0.1 });
    });
    const [single, double] = await Promise.all(
      (["f32", "f64"] as const).map((precision) => priced(trades, { device: cpu, precision, greeks: "none" })),
    );
    const excess = single.map(({ value, errorEstimate }, i) => Math.abs(value - double[i].value) / errorEstimate);
    expect(Math.max(...excess)).toBeLessThan(1);
  });
});

describe("limits", () => {
  const level = (type: "down-and-in" | "up-and-in", at: number, rebate = 0) => [
    barrier({ type, level: at, to: 1, rebate }),
  ];

  it("European ≤ Bermudan ≤ American knock-in ≤ American", async () => {
    const bermudan = { kind: "bermudan", times: [0.25, 0.5, 0.75] } as const;
    for (const payoff of [put(105), call(95)])
      for (const barriers of [level("down-and-in", 90), level("up-and-in", 112)]) {
        const parts = { payoff, market: market(0.05, 0.06) };
        const got = await values([
          ...[european, bermudan, american].map((exercise) => trade({ ...parts, exercise, barriers })),
          trade({ ...parts, exercise: american }),
        ]);
        for (let i = 1; i < got.length; i++) expect(got[i]).toBeGreaterThan(got[i - 1] - 1e-4);
        // Dates a quarter of a year apart lose something against any time, a level a tenth away much.
        expect(got[3]).toBeGreaterThan(got[2] + 0.1);
      }
  });

  it("so it is for any levels, windows, dates and knock-outs", async () => {
    const one = fc.record({
      right: fc.constantFrom("call" as const, "put" as const),
      strike: fc.integer({ min: 80, max: 125 }),
      sigma: fc.integer({ min: 10, max: 50 }),
      expiry: fc.integer({ min: 1, max: 8 }),
      yieldRate: fc.integer({ min: 0, max: 8 }),
      bermudan: fc.boolean(),
      levels: fc.array(
        fc.record({
          type: fc.constantFrom("up-and-in", "down-and-in", "up-and-out", "down-and-out"),
          away: fc.integer({ min: 2, max: 30 }),
          from: fc.constantFrom(0, 0, 0.25),
          to: fc.constantFrom(1, 1, 0.75),
          dates: fc.boolean(),
        }),
        { minLength: 1, maxLength: 3 },
      ),
    });
    const trades = fc.sample(one, { seed: 20_261_121, numRuns: 80 }).map((drawn) => {
      const expiry = drawn.expiry / 4;
      const levels = drawn.levels.map(({ type, away, from, to, dates }, i) =>
        barrier({
          // One at least is a knock-in.
          type: (i === 0 ? type.replace("out", "in") : type) as BarrierType,
          level: type.startsWith("up") ? 100 + away : 100 - away,
          from: from * expiry,
          to: to * expiry,
          monitoring: dates ? { kind: "discrete", times: [0.4 * expiry, 0.7 * expiry] } : { kind: "continuous" },
        }),
      );
      const early = drawn.bermudan ? ({ kind: "bermudan", times: [0.3 * expiry, 0.6 * expiry] } as const) : american;
      const with_ = (exercise: Trade["exercise"], barriers: Trade["barriers"]) =>
        trade({
          payoff: { kind: "vanilla", right: drawn.right, strike: drawn.strike },
          expiry,
          exercise,
          barriers,
          volatility: flatVolatility(drawn.sigma / 100),
          market: market(0.04, drawn.yieldRate / 100),
        });
      const outs = levels.filter(({ type }) => type.endsWith("out"));
      return [with_(european, levels), with_(early, levels), with_(early, outs)];
    });
    const got = await priced(trades.flat(), { device, method: "fdm", greeks: "none" });
    const wrong = trades.flatMap((three, k) => {
      const [min, middle, max] = three.map((_, i) => got[3 * k + i]);
      const slack = min.errorEstimate + middle.errorEstimate + max.errorEstimate;
      return min.value <= middle.value + slack && middle.value <= max.value + slack
        ? []
        : [JSON.stringify([min.value, middle.value, max.value, slack, three[1]])];
    });
    expect(wrong).toEqual([]);
  });

  it("an American call without dividends is the European one, knocked in too", async () => {
    for (const spot of [91, 100, 125])
      for (const barriers of [level("down-and-in", 90), level("down-and-in", 90, 3), level("up-and-in", 130)]) {
        const parts = { payoff: call(100), barriers, market: market(0.05, 0, spot) };
        const trades = [american, european].map((exercise) => trade({ ...parts, exercise }));
        const [early, late] = await priced(trades, { device, accuracy: { relative: 1e-7 }, greeks: "none" });
        expect(Math.abs(early.value - late.value) / spot).toBeLessThan(1e-6);
      }
  });

  it("from far away it is the rebate, from next to the level the American option", async () => {
    const bond = 3 * Math.exp(-0.05);
    const at = (spot: number, type: "down-and-in" | "up-and-in", to: number) =>
      trade({ exercise: american, barriers: level(type, to, 3), market: market(0.05, 0, spot) });
    const [below, above, near, plain] = await values([
      at(100, "down-and-in", 20),
      at(100, "up-and-in", 500),
      at(90.001, "down-and-in", 90),
      trade({ exercise: american, market: market(0.05, 0, 90.001) }),
    ]);
    expect(Math.abs(below - bond)).toBeLessThan(1e-6);
    expect(Math.abs(above - bond)).toBeLessThan(1e-6);
    // The slope of their difference at the level is some −0.9.
    expect(Math.abs(near - plain)).toBeLessThan(2e-3);
  });

  it("a knock-out at the same level goes before: the rebate of the knock-in, unless knocked out", async () => {
    const out = barrier({ type: "down-and-out", level: 90, to: 1, rebate: 2 });
    const both = (exercise: Trade["exercise"], ...barriers: Trade["barriers"]) => trade({ exercise, barriers });
    const cash = trade({ payoff: { kind: "expression", expression: "5", kinks: [] }, barriers: [out] });
    const [early, bermudan, cashUnlessOut] = await values([
      both(american, out, ...level("down-and-in", 90, 5)),
      both({ kind: "bermudan", times: [0.5] }, out, ...level("down-and-in", 90, 5)),
      cash,
    ]);
    expect(Math.abs(early - cashUnlessOut)).toBeLessThan(2e-4);
    expect(Math.abs(bermudan - cashUnlessOut)).toBeLessThan(2e-4);
  });

  it("without volatility: from when the forward's path hits it", async () => {
    const still = (parts: Parameters<typeof trade>[0]) =>
      trade({ volatility: flatVolatility(0), exercise: american, payoff: put(110), ...parts });
    // 100·e^{0.05t} is at 103 when t = ln(1.03)/0.05; the put is worth less and less.
    const hit = Math.log(1.03) / 0.05;
    const dates = { kind: "discrete", times: [0.5, 0.8] } as const;
    const got = await values([
      still({ barriers: level("up-and-in", 103) }),
      still({ barriers: level("up-and-in", 106, 2) }),
      still({ barriers: [barrier({ type: "up-and-in", level: 103, to: 1, monitoring: dates })] }),
      still({ barriers: level("up-and-in", 103), exercise: { kind: "bermudan", times: [0.5, 0.7, 0.9] } }),
      still({ barriers: [...level("up-and-in", 104), barrier({ type: "up-and-out", level: 103, to: 1, rebate: 1 })] }),
    ]);
    const exercised = (t: number): number => Math.exp(-0.05 * t) * 110 - 100;
    const expected = [exercised(hit), 2 * Math.exp(-0.05), exercised(0.8), exercised(0.7), Math.exp(-0.05 * hit)];
    got.forEach((value, i) => expect(value).toBeCloseTo(expected[i], 9));
  });

  it("little volatility tends to none", async () => {
    const at = (sigma: number) =>
      trade({
        volatility: flatVolatility(sigma),
        exercise: american,
        payoff: put(110),
        barriers: level("up-and-in", 103),
      });
    const [none, little] = await priced([at(0), at(0.001)], { device });
    expect(Math.abs(little.value - none.value)).toBeLessThan(little.errorEstimate + 0.1);
    expect(little.warnings).toHaveLength(1);
  });
});

describe("scenarios", () => {
  it("across a level are the books with those spots: beyond it the trade is knocked in", async () => {
    const spot = [-0.2, -0.05, 0, 0.05, 0.2];
    const levels = [
      [barrier({ type: "up-and-in", level: 110, to: 1, rebate: 1 })],
      [
        barrier({ type: "down-and-in", level: 96, to: 1 }),
        barrier({ type: "up-and-out", level: 115, to: 1, rebate: 3 }),
      ],
    ];
    for (const exercise of [american, { kind: "bermudan", times: [0, 0.5] } as const])
      for (const barriers of levels) {
        const [got] = await priced(
          [trade({ barriers, exercise })],
          { device },
          { spot, volatility: [0, 0.05], rate: [0, 0.01], time: [0] },
        );
        for (const [v, volatility] of [0.2, 0.25].entries())
          for (const [r, rate] of [0.05, 0.06].entries()) {
            const alone = await values(
              spot.map((shift) =>
                trade({
                  barriers,
                  exercise,
                  volatility: flatVolatility(volatility),
                  market: market(rate, 0, 100 * (1 + shift)),
                }),
              ),
            );
            spot.forEach((_, s) =>
              expect(Math.abs((got.scenarios?.[0][s][v][r] as number) - alone[s])).toBeLessThan(2e-3),
            );
          }
      }
  });

  it("at later dates are the trades that are left; a level whose window is over has not been hit", async () => {
    const barriers = [
      barrier({ type: "down-and-in", level: 92, to: 0.4, rebate: 2 }),
      barrier({ type: "up-and-in", level: 110, from: 0.2, to: 0.6, rebate: 2 }),
    ];
    const left: Readonly<Record<number, Trade["barriers"]>> = {
      0.3: [
        barrier({ type: "down-and-in", level: 92, to: 0.1, rebate: 2 }),
        barrier({ type: "up-and-in", level: 110, to: 0.3, rebate: 2 }),
      ],
      0.5: [barrier({ type: "up-and-in", level: 110, to: 0.1, rebate: 2 })],
    };
    const [time, spot] = [
      [0.3, 0.5, 0.7],
      [-0.1, 0, 0.2],
    ];
    const [got] = await priced(
      [trade({ barriers, exercise: american })],
      { device },
      { spot, volatility: [0], rate: [0], time },
    );
    for (const [t, years] of [0.3, 0.5].entries()) {
      const alone = await values(
        spot.map((shift) =>
          trade({
            barriers: left[years],
            exercise: american,
            expiry: 1 - years,
            market: market(0.05, 0, 100 * (1 + shift)),
          }),
        ),
      );
      spot.forEach((_, s) => expect(Math.abs((got.scenarios?.[t][s][0][0] as number) - alone[s])).toBeLessThan(2e-3));
    }
    for (const [value] of got.scenarios?.[2].map((plane) => plane[0]) ?? [])
      expect(value).toBeCloseTo(2 * Math.exp(-0.05 * 0.3), 6);
  });

  it("of a spot that is knocked in now: it is the American option, and those elsewhere wait", async () => {
    const barriers = [barrier({ type: "down-and-in", level: 101, to: 1 })];
    const [got] = await priced(
      [trade({ barriers, exercise: american })],
      { device },
      { spot: [0, 0.05], volatility: [0], rate: [0], time: [0] },
    );
    const [plain] = await priced([trade({ exercise: american })], { device });
    for (const name of ["value", "delta", "gamma", "theta", "vega", "rho"] as const)
      expect(Math.abs((got[name] as number) - (plain[name] as number))).toBeLessThan(
        name === "value" ? 1e-3 : 0.02 * (1 + Math.abs(plain[name] as number)),
      );
    const alone = await price(trade({ barriers, exercise: american, market: market(0.05, 0, 105) }));
    expect(Math.abs((got.scenarios?.[0][1][0][0] as number) - alone)).toBeLessThan(1e-3);
  });
});

describe("what cannot be", () => {
  it("knock-ins of several rebates are an error of their trade alone", async () => {
    const barriers = [
      barrier({ type: "up-and-in", level: 110, to: 1, rebate: 1 }),
      barrier({ type: "down-and-in", level: 90, to: 1, rebate: 2 }),
    ];
    const [bad, good] = await results([trade({ barriers, exercise: american }), trade()], { device });
    expect(bad).toMatchObject({ status: "error", error: { path: "trades[0].barriers" } });
    expect(good.status).toBe("ok");
  });
});
