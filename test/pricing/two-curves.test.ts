/** Caps, floors and swaptions whose rates are projected on another curve than that which discounts. */
import { afterAll, describe, expect, it, test } from "vitest";
import { parseBook, type PricedTrade } from "../../src/book/index.ts";
import { createCpuDevice } from "../../src/device/cpu/index.ts";
import { explainBook, priceBook, type PricingOptions } from "../../src/pricing/index.ts";

const device = createCpuDevice({ threads: 1 });
afterAll(() => device[Symbol.dispose]());

const AS_OF = Date.parse("2026-11-20");
const years = (date: string): number => (Date.parse(date) - AS_OF) / (365 * 86_400_000);

/** Flat curves, whose discount factors are exponentials. */
interface Level {
  readonly discount?: number;
  readonly forward?: number;
  readonly volatility?: number;
  readonly meanReversion?: number;
}
const BASE = { discount: 0.021, forward: 0.024, volatility: 0.009, meanReversion: 0.04 } as const;
const flat = (zero: number) => [
  { date: "1Y", zero },
  { date: "30Y", zero },
];
const marketOf = (level: Level) => {
  const { discount, forward, volatility, meanReversion } = { ...BASE, ...level };
  const curve = { discount: "D", forward: { "EURIBOR-6M": "F" } };
  return {
    curves: { D: { index: "ESTR", zeros: flat(discount) }, F: { index: "EURIBOR-6M", zeros: flat(forward) } },
    rates: { EUR: { hullWhite: { meanReversion, volatility, curve } } },
    fixings: { "EURIBOR-6M": { "2026-06-10": 0.0243, "2026-11-18": 0.0251, "2026-11-23": 0.0249 } },
  };
};

async function priced(
  trades: readonly object[],
  level: Level = {},
  options: Partial<PricingOptions> = {},
  more: object = {},
): Promise<readonly PricedTrade[]> {
  const book = { asOf: "2026-11-20", market: marketOf(level), trades, ...more };
  const { results } = await priceBook(parseBook(book as never), { device, ...options });
  return results.map((result) => {
    if (result.status === "error") throw new Error(result.error.message);
    return result;
  });
}

const swap = { index: "EURIBOR-6M", start: "2028-11-20", end: "2033-11-20", notional: 1e6 } as const;
const payer = { id: "S", strike: 0.024, swaption: "payer", expiry: "2028-11-16", swap };
const overnight = { ...payer, id: "O", swap: { ...swap, index: "ESTR" } };
const capOf = (more: object) => ({
  id: "C",
  strike: 0.025,
  cap: { index: "EURIBOR-6M", start: "2027-11-22", end: "2028-11-20", notional: 1e6 },
  ...more,
});

/** The adjusted dates of the trades above, by the calendar of TARGET; both counts of days are those of the market. */
const RESETS = ["2028-11-20", "2029-05-21", "2029-11-20", "2030-05-20", "2030-11-20", "2031-05-20"].concat([
  "2031-11-20",
  "2032-05-20",
  "2032-11-22",
  "2033-05-20",
  "2033-11-21",
]);
const thirty = (from: string, to: string): number => {
  const [[y, m, d], [v, n, e]] = [from, to].map((date) => date.split("-").map(Number));
  return (360 * (v - y) + 30 * (n - m) + (Math.min(e, 30) - Math.min(d, 30))) / 360;
};

/** ∫ f(z)·φ(z) dz by Simpson's rule. */
function expectation(f: (z: number) => number): number {
  const [n, reach] = [20_000, 9];
  let sum = 0;
  for (let i = 0; i <= n; i++) {
    const z = -reach + (2 * reach * i) / n;
    sum += (i === 0 || i === n ? 1 : i % 2 === 1 ? 4 : 2) * f(z) * Math.exp(-0.5 * z * z);
  }
  return (sum * 2 * reach) / n / 3 / Math.sqrt(2 * Math.PI);
}

describe("beside an integral over the state of Hull and White's rate", () => {
  const { discount, forward, volatility: sigma, meanReversion: a } = BASE;
  const P = (t: number): number => Math.exp(-discount * t);
  const growth = (s: string, e: string): number => Math.exp(forward * (years(e) - years(s)));
  /** P(T, t) under the forward measure of T, given a standard normal number. */
  const later = (T: number, t: number, z: number): number => {
    const B = (1 - Math.exp(-a * (t - T))) / a;
    const deviation = B * sigma * Math.sqrt((1 - Math.exp(-2 * a * T)) / (2 * a));
    return (P(t) / P(T)) * Math.exp(-deviation * z - 0.5 * deviation * deviation);
  };
  /** The value at T of one period of floating interest, whose basis to the discount curve stays. */
  const floating = (T: number, s: string, e: string, z: number): number => {
    const [from, to] = [years(s), years(e)];
    const basis = (growth(s, e) * P(to)) / P(from);
    return basis * later(T, from, z) - later(T, to, z);
  };

  it("a payer swaption", async () => {
    const T = years(payer.expiry);
    const yearly = RESETS.filter((_, i) => i % 2 === 0);
    const value = (z: number): number => {
      const paid = yearly.slice(1).map((e, i) => 0.024 * thirty(yearly[i], e) * later(T, years(e), z));
      const got = RESETS.slice(1).map((e, i) => floating(T, RESETS[i], e, z));
      return [...got, ...paid.map((x) => -x)].reduce((sum, one) => sum + one, 0);
    };
    const expected = 1e6 * P(T) * expectation((z) => Math.max(value(z), 0));
    const methods = ["closed-form", "convolution", "fdm"] as const;
    for (const method of methods) {
      const [one] = await priced([payer], {}, { method });
      expect(Math.abs(one.value - expected)).toBeLessThan(one.errorEstimate + 0.005);
    }
  });

  it("a caplet that is fixed two business days before its period", async () => {
    const [s, e] = ["2027-11-22", "2028-05-22"];
    const T = years("2027-11-18");
    const accrual = ((years(e) - years(s)) * 365) / 360;
    const expected =
      1e6 * P(T) * expectation((z) => Math.max(floating(T, s, e, z) - 0.025 * accrual * later(T, years(e), z), 0));
    const cap = { index: "EURIBOR-6M", start: s, end: "2028-05-22", notional: 1e6 };
    const [one] = await priced([capOf({ cap })]);
    expect(one.value).toBeCloseTo(expected, 3);
  });
});

it("quoted volatilities are of forward rates of the index, beside an integral of their payoffs", async () => {
  const [s, e] = ["2027-11-22", "2028-05-22"];
  const accrual = ((years(e) - years(s)) * 365) / 360;
  const F = Math.expm1(BASE.forward * (years(e) - years(s))) / accrual;
  const T = years("2027-11-18");
  const cap = { index: "EURIBOR-6M", start: s, end: e, notional: 1e6 };
  const rates = {
    displaced: (z: number) => (F + 0.01) * Math.exp(0.3 * Math.sqrt(T) * z - 0.045 * T) - 0.01,
    normal: (z: number) => F + 0.007 * Math.sqrt(T) * z,
  };
  const quotes = { displaced: { displaced: { sigma: 0.3, shift: 0.01 } }, normal: { normal: 0.007 } };
  for (const kind of ["displaced", "normal"] as const) {
    const [one] = await priced([capOf({ cap, volatility: quotes[kind] })]);
    const gain = expectation((z) => Math.max(rates[kind](z) - 0.025, 0));
    expect(one.value).toBeCloseTo(1e6 * accrual * Math.exp(-BASE.discount * years(e)) * gain, 3);
  }
});

const quoted = [capOf({ id: "N", volatility: { normal: 0.008 } }), { ...payer, id: "Q", volatility: 0.3 }];
const bermudan = {
  ...payer,
  id: "B",
  swaption: "receiver",
  expiry: "2030-11-18",
  exercise: ["2028-11-16", "2029-11-16", "2030-11-18"],
};
const ALL = [capOf({}), payer, overnight, ...quoted, bermudan];

describe("sensitivities are slopes of values", () => {
  const slope = async (level: (by: number) => Level, by: number, i: number): Promise<number> => {
    const [up, down] = await Promise.all([by, -by].map((one) => priced(ALL, level(one))));
    return (up[i].value - down[i].value) / (2 * by);
  };
  test.each(ALL.map(({ id }, i) => [id, i] as const))("%s", async (_, i) => {
    const one = (await priced(ALL))[i];
    const both = (by: number): Level => ({ discount: BASE.discount + by, forward: BASE.forward + by });
    const scale = Math.abs(one.rho!);
    expect(Math.abs((await slope(both, 1e-5, i)) / scale - Math.sign(one.rho!))).toBeLessThan(2e-4);
    const byKey = one.keyRates!.reduce((sum, [, key]) => sum + key, 0);
    expect(byKey / one.rho!).toBeCloseTo(1, 6);
    if (ALL[i].id === "N" || ALL[i].id === "Q") return;
    const byVolatility = await slope((by) => ({ volatility: BASE.volatility + by }), 1e-6, i);
    expect(byVolatility / one.vega!).toBeCloseTo(1, 3);
  });

  test("by each curve, as buckets", async () => {
    const results = await priced(ALL, {}, { greeks: "buckets" });
    const curves = {
      D: (by: number) => ({ discount: BASE.discount + by }),
      F: (by: number) => ({ forward: BASE.forward + by }),
    };
    for (const [i, { buckets, rho }] of results.entries())
      for (const [name, level] of Object.entries(curves)) {
        const sum = buckets!
          .filter(({ factor, of }) => factor === "rate" && of === name)
          .reduce((all, { value }) => all + value, 0);
        expect(Math.abs(sum - (await slope(level, 1e-5, i)))).toBeLessThan(3e-4 * Math.abs(rho!));
      }
  });
});

it("parity: a payer less a receiver is the swap, a cap less a floor its floating less its fixed interest", async () => {
  const leg = { index: "EURIBOR-6M", start: "2027-11-22", end: "2030-11-20", notional: 1e6 };
  const sides = ["payer", "receiver"].map((swaption) => ({
    id: swaption,
    strike: 0.024,
    swaption,
    expiry: "2027-11-18",
    swap: leg,
  }));
  const floors = ["cap", "floor"].map((right) => ({ id: right, strike: 0.024, [right]: leg }));
  const { index, ...period } = leg;
  const fixed = { every: "6M", dayCount: "Act/360", rate: 0.024 };
  const swaps = [{ rate: 0.024 }, fixed].map((pay, i) => ({
    id: `swap ${i}`,
    swap: { ...period, pay, receive: { index } },
  }));
  const [p, r, c, f, yearly, halfYearly] = await priced([...sides, ...floors, ...swaps]);
  expect(p.value - r.value).toBeCloseTo(yearly.value, 5);
  expect(c.value - f.value).toBeCloseTo(halfYearly.value, 5);
  expect(p.rho! - r.rho!).toBeCloseTo(yearly.rho!, 2);
  expect(c.rho! - f.rho!).toBeCloseTo(halfYearly.rho!, 2);
  expect(p.theta! - r.theta!).toBeCloseTo(yearly.theta!, 2);
});

it("a published rate counts from its day on, for a period that begins on asOf, too", async () => {
  const leg = { index: "EURIBOR-6M", start: "2026-11-20", end: "2027-05-20", notional: 1e6 };
  const [onIndex] = await priced([capOf({ cap: leg, strike: 0.02 })]);
  const paid = (1e6 * (0.0251 - 0.02) * 181) / 360;
  expect(onIndex.value).toBeCloseTo(paid * Math.exp((-BASE.discount * 181) / 365), 6);
  const inYears = (fixing?: number) =>
    capOf({
      id: String(fixing),
      currency: "EUR",
      cap: { start: 0, end: 0.5, frequency: 2, notional: 1e6, ...(fixing && { fixing }) },
    });
  const [fixedNow, open] = await priced([inYears(0.031), inYears()]);
  expect(fixedNow.value).toBeCloseTo(1e6 * 0.5 * 0.006 * Math.exp(-BASE.discount / 2), 6);
  expect(open.value).toBe(0);
});

it("explanations add up, over the publication of a rate", async () => {
  const trades = [
    capOf({ cap: { index: "EURIBOR-6M", start: "2026-06-12", end: "2029-06-12", notional: 1e6 } }),
  ].concat(ALL.slice(1) as never, {
    ...capOf({ id: "P", cap: { index: "EURIBOR-6M", start: "2026-11-25", end: "2029-11-26", notional: 1e6 } }),
  });
  const book = (asOf: string, level: Level) => parseBook({ asOf, market: marketOf(level), trades } as never);
  const [before, after] = [
    book("2026-11-20", {}),
    book("2026-11-24", { discount: 0.0212, forward: 0.0243, volatility: 0.0091 }),
  ];
  const report = await explainBook(before, after, { device, method: "revaluation" });
  for (const { id, status, terms, change, unexplained } of report.results) {
    expect([id, status]).toEqual([id, "explained"]);
    const sum = Object.values(terms!).reduce((all: number, one) => all + (one ?? 0), 0);
    expect(sum + unexplained!).toBeCloseTo(change!, 6);
    expect(Math.abs(unexplained!)).toBeLessThan(0.02 * Math.abs(change!) + 1);
  }
});

test.each([
  [
    { cap: { index: "ESTR", end: "2Y", notional: 1 }, strike: 0.02 },
    "trades[0].cap.index: expected the index of a term rate",
  ],
  [
    { cap: { start: 1, end: 2, frequency: 2, notional: 1, fixing: 0.02 }, strike: 0.02, currency: "EUR" },
    "trades[0].cap.fixing: no period has begun",
  ],
  [
    { cap: { index: "EURIBOR-6M", start: "2026-03-12", end: "2Y", notional: 1 }, strike: 0.02 },
    "EURIBOR-6M of 2026-09-10 is missing",
  ],
  [{ ...payer, currency: "USD" }, 'trades[0].currency: expected that of the index, "EUR"'],
  [
    { ...payer, exercise: ["2029-05-21"], expiry: undefined },
    "expected times after which periods of both legs begin together",
  ],
] as const)("%j: %s", (trade, message) => {
  const [read] = parseBook({
    asOf: "2026-11-20",
    market: marketOf({}),
    trades: [{ id: "T", ...trade }],
  } as never).trades;
  expect(read.ok ? "" : read.error.message).toContain(message);
});
