/**
 * Degenerate limits at an accuracy of 1e-7 of the spot: next to no volatility, next to no time, half a day, negative
 * rates, dividends larger than the spot. What theory says of each stands beside it, as a number or as a trade with a
 * closed form.
 */
import { afterAll, describe, expect, it } from "vitest";
import type { Payoff, Trade } from "../../src/book/index.ts";
import { createCpuDevice } from "../../src/device/cpu/index.ts";
import { constant, dividendSchedule, flatVolatility } from "../../src/market/index.ts";
import { normalCdf } from "../support/normal.ts";
import { priced, trade } from "./reference.ts";

const device = createCpuDevice({ threads: 1 });
afterAll(() => device[Symbol.dispose]());

const ACCURACY = 1e-7;
const american = { kind: "american" } as const;
const call = (strike: number) => ({ kind: "vanilla", right: "call", strike }) as const;
const put = (strike: number) => ({ kind: "vanilla", right: "put", strike }) as const;
const digital = (right: "call" | "put", strike: number) => ({ kind: "digital", right, strike, cash: 10 }) as const;
const discount = Math.exp(-0.05);
const payer = (time: number, cash: number) => ({
  dividends: dividendSchedule(0, [{ time, cash, proportional: 0 }]),
});
const below = { rates: constant(-0.04) };

type Limit = readonly [name: string, limit: Trade, theory: number | Trade];

/** Both exercises of a payoff under the same terms, with what each is worth. */
function both(
  name: string,
  payoff: Payoff,
  terms: Parameters<typeof trade>[0],
  european: number | Trade,
  early: number | Trade,
): Limit[] {
  return [
    [`${name}, European`, trade({ ...terms, payoff }), european],
    [`${name}, American`, trade({ ...terms, payoff, exercise: american }), early],
  ];
}

/** σ → 0 at r = 5 %: the forward grows to 105.1, and nothing is left to chance. */
const still = [1e-3, 1e-5].flatMap((sigma): Limit[] => {
  const terms = { volatility: flatVolatility(sigma) };
  return [
    ...both(`σ = ${sigma}, call in the money`, call(90), terms, 100 - 90 * discount, 100 - 90 * discount),
    ...both(`σ = ${sigma}, call in the money forward`, call(103), terms, 100 - 103 * discount, 100 - 103 * discount),
    ...both(`σ = ${sigma}, put in the money: exercised now`, put(110), terms, 110 * discount - 100, 10),
    ...both(`σ = ${sigma}, put out of the money`, put(95), terms, 0, 0),
    ...both(`σ = ${sigma}, digital call in the money`, digital("call", 95), terms, 10 * discount, 10),
    // The spot comes there at t = ln(103/100)/0.05.
    ...both(`σ = ${sigma}, digital call on the way`, digital("call", 103), terms, 10 * discount, (10 * 100) / 103),
    ...both(`σ = ${sigma}, digital put out of the money`, digital("put", 95), terms, 0, 0),
  ];
});

const short = [1e-8, 1e-5].flatMap((expiry): Limit[] => [
  ...both(`T = ${expiry}, put in the money`, put(110), { expiry }, trade({ expiry, payoff: put(110) }), 10),
  ...both(`T = ${expiry}, call out of the money`, call(110), { expiry }, 0, 0),
  ...both(`T = ${expiry}, digital in the money`, digital("put", 110), { expiry }, 10 * Math.exp(-0.05 * expiry), 10),
  ...both(`T = ${expiry}, digital out of the money`, digital("call", 110), { expiry }, 0, 0),
]);

const halfADay = 0.5 / 365;
const brief: Limit[] = [
  ...both(
    "half a day, call at the money",
    call(100),
    { expiry: halfADay },
    trade({ expiry: halfADay, payoff: call(100) }),
    trade({ expiry: halfADay, payoff: call(100) }),
  ),
  ...both(
    "half a day, put in the money",
    put(103),
    { expiry: halfADay },
    trade({ expiry: halfADay, payoff: put(103) }),
    3,
  ),
  ...both(
    "half a day, digital",
    digital("call", 100.5),
    { expiry: halfADay },
    trade({ expiry: halfADay, payoff: digital("call", 100.5) }),
    oneTouch(100, 100.5, 10, 0.05, 0.2, halfADay),
  ),
];

/** Without a gain from having the cash sooner nobody exercises a put early; a digital's cash is better later, too. */
const negative: Limit[] = [
  ...both(
    "r < 0, put",
    put(105),
    { market: below },
    trade({ market: below, payoff: put(105) }),
    trade({ market: below, payoff: put(105) }),
  ),
  ...both(
    "r < 0, digital put in the money",
    digital("put", 150),
    { market: below, volatility: flatVolatility(1e-3) },
    10 * Math.exp(0.04),
    10 * Math.exp(0.04),
  ),
];

/** The spot falls to zero halfway, whatever it was. */
const huge = { market: payer(0.5, 500) };
const dividends: Limit[] = [
  ...both("a dividend larger than the spot, call", call(90), huge, 0, trade({ expiry: 0.5, payoff: call(90) })),
  ...both("a dividend larger than the spot, put", put(100), huge, 100 * discount, 100 * Math.exp(-0.05 * 0.5)),
  ...both(
    "a dividend larger than the spot, digital put",
    digital("put", 50),
    huge,
    10 * discount,
    oneTouchPutThen(100, 50, 10, 0.05, 0.2, 0.5),
  ),
  ["a dividend larger than the spot, digital call", trade({ ...huge, payoff: digital("call", 90) }), 0],
];

/** Reiner and Rubinstein's one-touch (1991), paid at the hit: up to `h` > s. */
function oneTouch(s: number, h: number, cash: number, r: number, sigma: number, t: number): number {
  const mu = r / sigma ** 2 - 0.5;
  const lambda = Math.sqrt(mu * mu + (2 * r) / sigma ** 2);
  const root = sigma * Math.sqrt(t);
  const z = Math.log(h / s) / root + lambda * root;
  return (
    cash * ((h / s) ** (mu + lambda) * normalCdf(-z) + (h / s) ** (mu - lambda) * normalCdf(-z + 2 * lambda * root))
  );
}

/**
 * A digital put, American, when the spot falls to zero at t: its cash at the hit before, or at t, where it is in the
 * money for certain. So it is a one-touch down to h, and its cash at t where h is not hit.
 */
function oneTouchPutThen(s: number, h: number, cash: number, r: number, sigma: number, t: number): number {
  const root = sigma * Math.sqrt(t);
  const mu = r / sigma ** 2 - 0.5;
  const lambda = Math.sqrt(mu * mu + (2 * r) / sigma ** 2);
  const z = Math.log(h / s) / root + lambda * root;
  const touched =
    cash * ((h / s) ** (mu + lambda) * normalCdf(z) + (h / s) ** (mu - lambda) * normalCdf(z - 2 * lambda * root));
  const d = Math.log(s / h) / root + mu * root;
  const missed = normalCdf(d) - (h / s) ** (2 * mu) * normalCdf(2 * (Math.log(h / s) / root) + d);
  return touched + cash * Math.exp(-r * t) * missed;
}

describe.each(["auto", "fdm"] as const)(
  `degenerate limits at an accuracy of ${ACCURACY} of the spot, method %s`,
  (method) => {
    it.each([...still, ...short, ...brief, ...negative, ...dividends])("%s", async (_, limit, theory) => {
      const [got] = await priced([limit], { device, method, accuracy: { relative: ACCURACY } });
      const expected = typeof theory === "number" ? theory : (await priced([theory], { device }))[0].value;
      expect(Math.abs(got.value - expected) / 100).toBeLessThanOrEqual(ACCURACY);
      for (const greek of ["delta", "gamma", "theta", "vega", "rho"] as const)
        expect(got[greek]).toEqual(expect.any(Number));
    });
  },
);

describe("without any volatility", () => {
  const never = { volatility: flatVolatility(0), exercise: american } as const;

  // The forward comes to the strike at t = ln(K/S)/r, where e^(−rt) = S/K.
  it.each<[string, Payoff, number]>([
    ["a digital", digital("call", 103), 1000 / 103],
    [
      "a range that the forward passes in a day",
      { kind: "expression", expression: "S > 103 && S < 103.01 ? 10 : 0", kinks: [103, 103.01] },
      1000 / 103,
    ],
    ["a digital that is not reached", digital("call", 106), 0],
  ])("%s is exercised where it begins to pay", async (_, payoff, expected) => {
    const [{ value }] = await priced([trade({ ...never, payoff })], { device });
    expect(value).toBeCloseTo(expected, 10);
  });

  it("theta of what is certain is that of its discounted parts: q·S·e^(−qT) − r·K·e^(−rT)", async () => {
    const market = { dividends: dividendSchedule(0.02, []) };
    // Early exercise gains nothing: the yield is less than r·K/S.
    const certain = trade({ ...never, payoff: call(90), market, expiry: 1 });
    const [{ value, theta }] = await priced([certain], { device });
    expect(value).toBeCloseTo(100 * Math.exp(-0.02) - 90 * discount, 10);
    expect(theta).toBeCloseTo(0.02 * 100 * Math.exp(-0.02) - 0.05 * 90 * discount, 6);
  });

  it("a digital is exercised where it begins to pay, whichever strike that is", async () => {
    const strikes = Array.from({ length: 40 }, (_, i) => 100.5 + i / 9);
    const results = await priced(
      strikes.map((strike) => trade({ ...never, payoff: digital("call", strike) })),
      { device },
    );
    results.forEach(({ value }, i) => expect(value).toBeCloseTo(1000 / strikes[i], 12));
  });

  it.each([
    // The kink of the payoff is at the spot, which does not move.
    [100, 0, [expect.stringContaining("has a kink or a jump at the spot")]],
    [110, 10, []],
  ])(
    "Heston's variance of 0 that stays 0 is none: an American put with strike %d",
    async (strike, expected, warnings) => {
      const still = { kind: "heston", v0: 0, kappa: 1, theta: 0, sigma: 0.3, rho: 0 } as const;
      const [got] = await priced([trade({ ...never, volatility: still, payoff: put(strike), expiry: 10 })], { device });
      expect(got).toMatchObject({ value: expected, method: "deterministic", vega: 0, warnings });
      expect(got.errorEstimate).toBeLessThan(1e-10);
    },
  );
});
