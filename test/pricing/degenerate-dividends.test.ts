/**
 * Dividends that are large, many, due minutes after today or before expiry, or reached by a spot that hardly moves: `S⁺
 * = max(S⁻ − D, 0)` in every volatility model, against what is known without a mesh that follows dividends:
 *
 *   due at once          the trade without it, from the spot S − D
 *   due at expiry        put(K + D) − put(D), call(K + D), a digital of K + D, knocked out before that or not
 *   due in between       the integral of Black and Scholes' formula over the spot just before it
 *   beyond any spot      the payoff at zero
 *
 * An accuracy of 1e-6 of the spot is asked for. Kinks that lie as near to each other as 150 and 151 leave up to ten
 * times that.
 */
import { afterAll, describe, expect, it } from "vitest";
import type { Barrier, Payoff, Trade } from "../../src/book/index.ts";
import { createCpuDevice } from "../../src/device/cpu/index.ts";
import { dividendSchedule, flatVolatility, localSurface, type Volatility } from "../../src/market/index.ts";
import { cevPrice } from "../market/models/cev.ts";
import { normalCdf } from "../support/normal.ts";
import { priced, trade } from "./reference.ts";
import { barrier } from "./reference-barriers.ts";
import { dealt, everything } from "../support/extent.ts";

const device = createCpuDevice({ threads: 1 });
afterAll(() => device[Symbol.dispose]());

const ACCURACY = 1e-6;
const TOLERANCE = 1e-5;
const RATE = 0.05;
const american = { kind: "american" } as const;
const call = (strike: number) => ({ kind: "vanilla", right: "call", strike }) as const;
const put = (strike: number) => ({ kind: "vanilla", right: "put", strike }) as const;
const digital = (right: "call" | "put", strike: number) => ({ kind: "digital", right, strike, cash: 10 }) as const;
const cash = (...dividends: (readonly [time: number, cash: number])[]) => ({
  dividends: dividendSchedule(
    0,
    dividends.map(([time, amount]) => ({ time, cash: amount, proportional: 0 })),
  ),
});

/** Black and Scholes' model, written in all ways. */
const lognormal = (sigma: number): Readonly<Record<string, Volatility>> => ({
  flat: flatVolatility(sigma),
  term: { kind: "deterministic", sigma: { times: [0.3], values: [sigma, sigma * (1 + 1e-12)] } },
  cev: { kind: "cev", sigma, beta: 1 },
  displaced: { kind: "displaced", sigma, shift: 0 },
  "formula in S": { kind: "local", expression: `${sigma} + 0*S` },
  "formula in t": { kind: "local", expression: `${sigma} + 0*t` },
  surface: {
    kind: "surface",
    surface: localSurface(
      [0, 1],
      [50, 150],
      [
        [sigma, sigma],
        [sigma, sigma],
      ],
    ),
  },
});
const models = Object.keys(lognormal(0.2));

/** And models that are none, for which a price is wanted of which only the engine itself knows much. */
const skewed: Readonly<Record<string, Volatility>> = {
  cev: { kind: "cev", sigma: 2, beta: 0.5 },
  displaced: { kind: "displaced", sigma: 0.1, shift: 100 },
  formula: { kind: "local", expression: "0.15 + 0.1*exp(-S/100) + 0.02*t" },
};

async function value(parts: Parameters<typeof trade>[0], method: "auto" | "fdm" = "fdm"): Promise<number> {
  const [got] = await priced([trade(parts)], { device, method, greeks: "none", accuracy: { relative: ACCURACY } });
  return got.value;
}

async function expectValue(parts: Parameters<typeof trade>[0], theory: number, tolerance = TOLERANCE): Promise<void> {
  const got = await value(parts);
  expect(Math.abs(got - theory) / 100, `${got} against ${theory}`).toBeLessThanOrEqual(tolerance);
}

function blackScholes(
  { right, strike }: { right: "call" | "put"; strike: number },
  s: number,
  t: number,
  sigma: number,
) {
  if (s <= 0) return right === "call" ? 0 : strike * Math.exp(-RATE * t);
  const root = sigma * Math.sqrt(t);
  const d = (Math.log(s / strike) + RATE * t) / root + 0.5 * root;
  const sign = right === "call" ? 1 : -1;
  return sign * (s * normalCdf(sign * d) - strike * Math.exp(-RATE * t) * normalCdf(sign * (d - root)));
}

/**
 * A European option, one dividend at t, life 1: Simpson's rule on both sides of the spot that falls to zero just so.
 */
function integrated(
  payoff: ReturnType<typeof call> | ReturnType<typeof put>,
  dividend: number,
  t: number,
  sigma: number,
) {
  const root = sigma * Math.sqrt(t);
  const drift = (RATE - 0.5 * sigma * sigma) * t;
  const bend = Math.min(Math.max((Math.log(dividend / 100) - drift) / root, -9), 9);
  const at = (z: number): number =>
    (Math.exp(-0.5 * z * z) / Math.sqrt(2 * Math.PI)) *
    blackScholes(payoff, Math.max(100 * Math.exp(drift + root * z) - dividend, 0), 1 - t, sigma);
  return Math.exp(-RATE * t) * (simpson(at, -9, bend) + simpson(at, bend, 9));
}

function simpson(f: (z: number) => number, a: number, b: number, n = 400): number {
  let sum = f(a) + f(b);
  for (let i = 1; i < n; i++) sum += (i % 2 === 1 ? 4 : 2) * f(a + ((b - a) * i) / n);
  return (sum * (b - a)) / (3 * n);
}

describe.each(dealt(models, 0, 2))("volatility as %s", (name) => {
  const volatility = lognormal(0.2)[name];

  it.each([
    ["a put struck at 1", put(1), 200],
    ["a put struck at 1, the spot next to zero", put(1), 99],
    ["a put", put(100), 50],
    ["a put, the spot about to fall to zero or not", put(100), 100],
    ["a call", call(40), 60],
  ] as const)("%s: a dividend halfway", async (_, payoff, dividend) => {
    await expectValue({ volatility, payoff, market: cash([0.5, dividend]) }, integrated(payoff, dividend, 0.5, 0.2));
  });

  it.each(dealt([3, 50, 99, 150], models.indexOf(name) >> 1, 2))("a dividend of %f at expiry", async (dividend) => {
    const terms = { volatility, market: cash([1, dividend]) };
    const of = (payoff: Payoff): Promise<number> => value({ payoff }, "auto");
    await expectValue({ ...terms, payoff: put(5) }, (await of(put(5 + dividend))) - (await of(put(dividend))));
    await expectValue({ ...terms, payoff: call(20) }, await of(call(20 + dividend)));
    // A jump that is read between nodes before anything has smoothed it.
    await expectValue({ ...terms, payoff: digital("call", 20) }, await of(digital("call", 20 + dividend)), 1e-4);
  });

  it("a dividend beyond any spot: European, American, Bermudan", async () => {
    const terms = { volatility, market: cash([0.5, 500]) };
    await expectValue({ ...terms, payoff: put(1) }, Math.exp(-RATE));
    await expectValue({ ...terms, payoff: digital("put", 1) }, 10 * Math.exp(-RATE));
    await expectValue({ ...terms, payoff: put(1), exercise: american }, Math.exp(-0.5 * RATE));
    await expectValue(
      { ...terms, payoff: put(1), exercise: { kind: "bermudan", times: [0.75] } },
      Math.exp(-0.75 * RATE),
    );
    // Too late for the call's holder, who would have exercised at the last moment.
    await expectValue({ ...terms, payoff: call(90) }, 0);
    await expectValue({ ...terms, payoff: call(90), exercise: american }, blackScholes(call(90), 100, 0.5, 0.2));
  });

  const parts = [0.5, 0.9, 0.99];
  it.each(parts)("a part of %f of the spot, which scales it", async (proportional) => {
    const spot = 100 * (1 - proportional);
    for (const time of dealt([1e-6, 0.5, 1], parts.indexOf(proportional) + (models.indexOf(name) >> 1), 3)) {
      const market = { dividends: dividendSchedule(0, [{ time, cash: 0, proportional }]) };
      for (const payoff of [put(100), put(1), call(10)])
        await expectValue({ volatility, payoff, market }, blackScholes(payoff, spot, 1, 0.2));
    }
  });

  it("all of the spot", async () => {
    const market = { dividends: dividendSchedule(0, [{ time: 0.5, cash: 0, proportional: 1 }]) };
    await expectValue({ volatility, payoff: put(10), market }, 10 * Math.exp(-RATE));
    await expectValue({ volatility, payoff: put(10), market, exercise: american }, 10 * Math.exp(-0.5 * RATE));
  });

  it("a life of half a minute", async () => {
    const terms = { volatility, expiry: 1e-6 };
    await expectValue({ ...terms, payoff: put(100), market: cash([5e-7, 5]) }, 5);
    await expectValue({ ...terms, payoff: put(1), market: cash([5e-7, 200]) }, 1);
    await expectValue({ ...terms, payoff: call(20), market: cash([5e-7, 50]) }, 30);
    // At the money once the dividend is paid.
    const left = { ...terms, payoff: call(97), market: cash([5e-7, 3]) };
    await expectValue(left, blackScholes(call(100), 100, 1e-6, 0.2));
  });
});

describe.each(Object.keys(skewed))("volatility as a skewed %s", (name) => {
  const volatility = skewed[name];

  const hand = Object.keys(skewed).indexOf(name);
  it.each(dealt([3, 50, 90], hand, 3))("a dividend of %f at once, with every exercise", async (dividend) => {
    const soon = { volatility, market: cash([1e-8, dividend]) };
    const after = { volatility, market: { spot: 100 - dividend } };
    for (const payoff of [put(100), put(10), call(20), digital("call", 20)]) {
      await expectValue({ ...soon, payoff }, await value({ ...after, payoff }));
      if (payoff.kind === "digital") continue;
      const bermudan = { kind: "bermudan", times: [0.25, 0.5, 0.75] } as const;
      await expectValue({ ...soon, payoff, exercise: bermudan }, await value({ ...after, payoff, exercise: bermudan }));
      const now = Math.max(payoff.right === "call" ? 100 - payoff.strike : payoff.strike - 100, 0);
      const later = await value({ ...after, payoff, exercise: american });
      await expectValue({ ...soon, payoff, exercise: american }, Math.max(now, later));
    }
  });

  it.each(dealt([20, 99, 120], hand, 3))("a dividend of %f at expiry", async (dividend) => {
    const terms = { volatility, market: cash([1, dividend]) };
    const theory =
      (await value({ volatility, payoff: put(5 + dividend) })) - (await value({ volatility, payoff: put(dividend) }));
    await expectValue({ ...terms, payoff: put(5) }, theory);
    await expectValue({ ...terms, payoff: call(20) }, await value({ volatility, payoff: call(20 + dividend) }));
  });
});

it("a dividend at expiry, in Cox' closed form", async () => {
  const volatility: Volatility = { kind: "cev", sigma: 2, beta: 0.5 };
  const exact = (strike: number) =>
    cevPrice({ right: "put", spot: 100, strike, expiry: 1, rate: RATE, dividendYield: 0, sigma: 2, beta: 0.5 });
  for (const dividend of [50, 95, 120])
    await expectValue(
      { volatility, payoff: put(5), market: cash([1, dividend]) },
      exact(5 + dividend) - exact(dividend),
    );
});

describe("next to no volatility", () => {
  // Where the drift outweighs diffusion the scheme is of first order, so there is none.
  const terms = { volatility: flatVolatility(1e-4), market: { rates: { times: [], values: [0] } } };
  const at = (time: number, dividend: number) => ({ ...terms.market, ...cash([time, dividend]) });

  it.each([0.01, 0.5, 0.99, 1])("a dividend at %f", async (time) => {
    await expectValue({ ...terms, market: at(time, 60), payoff: put(100) }, 60);
    await expectValue({ ...terms, market: at(time, 60), payoff: call(30) }, 10);
    await expectValue({ ...terms, market: at(time, 99.5), payoff: put(1) }, 0.5);
    await expectValue({ ...terms, market: at(time, 101), payoff: put(1) }, 1);
    await expectValue({ ...terms, market: at(time, 101), payoff: digital("call", 1) }, 0);
    await expectValue({ ...terms, market: at(time, 60), payoff: call(30), exercise: american }, 70);
  });
});

describe("barriers", () => {
  const volatility = flatVolatility(0.2);
  const outs: readonly [string, Barrier][] = [
    ["down", barrier({ type: "down-and-out", level: 5, to: 1 })],
    ["down, with a rebate", barrier({ type: "down-and-out", level: 40, to: 1, rebate: 7 })],
    ["up", barrier({ type: "up-and-out", level: 130, to: 1 })],
  ];

  it.each(outs)("a dividend at once: %s", async (_, one) => {
    const hand = outs.findIndex(([, other]) => other === one);
    for (const dividend of [20, 50, 90])
      for (const payoff of dealt([put(100), call(20)], hand, 2)) {
        const market = { spot: 100 - dividend };
        const isHit = one.type === "down-and-out" && market.spot <= one.level;
        const theory = isHit ? one.rebate : await value({ volatility, payoff, barriers: [one], market });
        // Trades with barriers are solved once: their own accuracy is 1e-5.
        await expectValue({ volatility, payoff, barriers: [one], market: cash([1e-8, dividend]) }, theory, 2e-5);
      }
  });

  it("a dividend at expiry: up", async () => {
    const [, one] = outs[2];
    const of = (payoff: Payoff): Promise<number> => value({ volatility, payoff, barriers: [one] });
    for (const dividend of [20, 50, 90]) {
      const terms = { volatility, barriers: [one], market: cash([1, dividend]) };
      await expectValue({ ...terms, payoff: put(5) }, (await of(put(5 + dividend))) - (await of(put(dividend))), 2e-5);
      await expectValue({ ...terms, payoff: call(20) }, await of(call(20 + dividend)), 2e-5);
    }
  });
});

describe("knocked in and knocked out", () => {
  const monitored = [
    ["continuously", { kind: "continuous" }],
    ["on dates, the dividend's among them", { kind: "discrete", times: [0.25, 0.5, 0.75, 1] }],
  ] as const;

  const levels = [
    ["down", 60],
    ["down", 5],
    ["up", 120],
  ] as const;
  const cases = [20, 90, 150].flatMap((dividend) =>
    levels.flatMap(([side, level]) => [put(100), call(20)].map((payoff) => ({ dividend, side, level, payoff }))),
  );

  it.each(monitored)("are the plain trade together: monitored %s", async (way, monitoring) => {
    // Each dividend, level and payoff has its turn.
    const hand = monitored.findIndex(([name]) => name === way);
    for (const { dividend, side, level, payoff } of dealt(cases, hand, 5)) {
      const terms = { volatility: flatVolatility(0.3), payoff, market: cash([0.5, dividend]) };
      const [inside, outside] = await Promise.all(
        (["in", "out"] as const).map((end) =>
          value({ ...terms, barriers: [barrier({ type: `${side}-and-${end}`, level, to: 1, monitoring })] }),
        ),
      );
      // Three problems on two meshes, each solved to 1e-5.
      await expectValue(terms, inside + outside, 3e-5);
    }
  });
});

/** Each of them small, together as large as the spot: meshes in ln S and in S have nothing in common near zero. */
describe.each([[12, 9], [40, 2.4], ...(everything ? [[250, 0.5]] : [])])(
  "%i dividends of %f in ten years",
  (count, each) => {
    const market = cash(...Array.from({ length: count }, (_, i) => [((i + 0.5) * 10) / count, each] as const));
    const both = (parts: Partial<Trade>): Promise<number[]> =>
      Promise.all(
        [flatVolatility(0.2), lognormal(0.2)["formula in S"]].map((volatility) =>
          value({ ...parts, volatility, market, expiry: 10 }),
        ),
      );

    it.each(dealt([put(100), call(30)], count === 12 ? 0 : 1, 2))("$right", async (payoff) => {
      const [log, linear] = await both({ payoff });
      expect(Math.abs(log - linear)).toBeLessThanOrEqual(1e-3);
      const [early, earlyLinear] = await both({ payoff, exercise: american });
      expect(Math.abs(early - earlyLinear)).toBeLessThanOrEqual(2e-3);
      expect(early).toBeGreaterThanOrEqual(log - 1e-3);
    });
  },
);

it("the mesh of a formula goes on beyond the spot however low the strike", async () => {
  const volatility = lognormal(0.2)["formula in S"];
  for (const strike of [1, 4, 8, 16])
    for (const accuracy of [1e-3, 1e-4, 1e-5]) {
      const one = trade({ volatility, payoff: digital("call", strike) });
      const [got] = await priced([one], { device, greeks: "none", accuracy: { relative: accuracy } });
      // What was asked for; on meshes that are not the coarsest nothing but rounding is left.
      expect(Math.abs(got.value - 10 * Math.exp(-RATE))).toBeLessThanOrEqual(accuracy > 1e-5 ? accuracy * 100 : 1e-7);
    }
});
