/** Curves: the reference case, every interpolation's quotes, Svensson's round trip, and what has no solution. */
import { expect, test } from "vitest";
import { CurveError, findCurves, instrumentInYears, type RateInstrument } from "../../src/calibration/index.ts";
import { Curve, type CurveRule } from "../../src/market/linear/index.ts";
import { readFixture } from "../support/fixtures.ts";

const reference = (readFixture("reference/calibration.json") as { cases: readonly any[] }).cases.find(
  ({ product }) => product === "curve_bootstrap",
);
const quotes: readonly RateInstrument[] = [
  ...reference.params.deposits.map(([end, rate]: [number, number]) => ({ kind: "deposit", end, rate })),
  ...reference.params.par_swaps_annual.map(([end, rate]: [number, number]) => ({
    kind: "swap",
    end,
    rate,
    frequency: 1,
  })),
];

/** The curve of quotes, their fair rates in the order of their ends, and how far the quotes are missed at most. */
function found(instruments: readonly RateInstrument[], rule: CurveRule) {
  const made = instruments.map(instrumentInYears);
  const set = findCurves([], [{ name: "curve", rule, instruments: made }]);
  const misses = set.fitted[0].map((rate, k) => Math.abs(rate - instruments[set.orders[0][k]].rate));
  return { ...set, curve: set.curves[0], worst: Math.max(...misses) };
}
const discountFactor = (curve: Curve, time: number): number => Math.exp(-curve.logDiscount(time));

test("the reference case, quotes in any order", () => {
  const { curve } = found([...quotes].reverse(), "log-discount");
  const { expected, params } = reference;
  expected.discount_factors.forEach((discount: number, i: number) => {
    expect(Math.abs(discountFactor(curve, expected.pillars[i]) - discount)).toBeLessThan(1e-12);
    expect(Math.abs(curve.zeros[i] - expected.zero_rates[i])).toBeLessThan(1e-12);
  });
  expected.query_discount_factors.forEach((discount: number, i: number) =>
    expect(Math.abs(discountFactor(curve, params.query_times[i]) - discount)).toBeLessThan(1e-12),
  );
});

/** The flows of a par swap, written out apart from the source. */
function parRate(curve: Curve, end: number): number {
  const times = Array.from({ length: end }, (_, i) => i + 1);
  return (1 - discountFactor(curve, end)) / times.reduce((sum, time) => sum + discountFactor(curve, time), 0);
}

test("a monotone convex curve prices its quotes, is smoother, and keeps a flat curve flat", () => {
  const { curve, worst } = found(quotes, "monotone-convex");
  expect(worst).toBeLessThan(1e-14);
  for (const [end, rate] of reference.params.par_swaps_annual) expect(parRate(curve, end)).toBeCloseTo(rate, 12);
  /** The largest change of the forward rate within a hundredth of a year. */
  const jumps = (of: Curve): number => {
    const forwards = Array.from(
      { length: 2000 },
      (_, k) => 100 * (of.logDiscount((k + 1) / 100) - of.logDiscount(k / 100)),
    );
    return Math.max(...forwards.slice(1).map((f, i) => Math.abs(f - forwards[i])));
  };
  expect(jumps(curve)).toBeLessThan(0.1 * jumps(found(quotes, "log-discount").curve));
  const flat = quotes.map((quote) => ({
    ...quote,
    rate: quote.kind === "swap" ? Math.expm1(0.03) : (Math.exp(0.03 * quote.end) - 1) / quote.end,
  }));
  for (const zero of found(flat, "monotone-convex").curve.zeros) expect(zero).toBeCloseTo(0.03, 13);
});

test("monotone convex: the forward at a node is the mean of its neighbours, each weighted by the other's length", () => {
  // Hagan and West (2006), (22): f_i = (t_i − t_{i−1})/(t_{i+1} − t_{i−1})·f^d_{i+1} + (t_{i+1} − t_i)/(…)·f^d_i.
  const times = [0.25, 1, 5];
  const discrete = [0.02, 0.03, 0.034];
  const values = [0.25 * 0.02, 0.25 * 0.02 + 0.75 * 0.03, 0.25 * 0.02 + 0.75 * 0.03 + 4 * 0.034];
  const curve = new Curve(
    times,
    values.map((value, k) => value / times[k]),
    "monotone-convex",
  );
  const slope = (t: number): number => (curve.logDiscount(t + 1e-6) - curve.logDiscount(t - 1e-6)) / 2e-6;
  expect(slope(0.25)).toBeCloseTo(0.25 * discrete[1] + 0.75 * discrete[0], 6);
  expect(slope(1)).toBeCloseTo((0.75 / 4.75) * discrete[2] + (4 / 4.75) * discrete[1], 6);
});

test("FRAs follow a deposit: 1 + r·τ compounds", () => {
  const instruments: RateInstrument[] = [
    { kind: "deposit", end: 0.5, rate: -0.01 },
    { kind: "fra", start: 0.5, end: 1, rate: 0.02, accrual: 182.5 / 360 },
  ];
  expect(1 / discountFactor(found(instruments, "log-discount").curve, 1)).toBeCloseTo(
    (1 - 0.005) * (1 + (0.02 * 182.5) / 360),
    14,
  );
});

test("Svensson's curve is found again from the par rates of one, and fits the reference quotes closely", () => {
  const zero = (t: number): number => {
    const h = (x: number): number => -Math.expm1(-x) / x;
    const hump = (x: number): number => h(x) - Math.exp(-x);
    return 0.04 - 0.015 * h(t / 1.7) - 0.01 * hump(t / 1.7) + 0.012 * hump(t / 8);
  };
  const discount = (t: number): number => Math.exp(-zero(t) * t);
  const instruments = [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 20, 25, 30].map((end): RateInstrument => {
    const annuity = Array.from({ length: end }, (_, i) => discount(i + 1)).reduce((a, b) => a + b, 0);
    return { kind: "swap", end, rate: (1 - discount(end)) / annuity, frequency: 1 };
  });
  const { curve, worst } = found(instruments, "svensson");
  expect(worst).toBeLessThan(1e-8);
  for (const time of [1, 1.7, 4, 9, 14, 29]) expect(curve.logDiscount(time) / time).toBeCloseTo(zero(time), 6);
  expect(found(quotes, "svensson").worst).toBeLessThan(4e-4);
});

test("the parameters of Svensson's curve move with a quote as the derivatives say, where it misses the quotes, too", () => {
  const { byQuotes, orders } = found(quotes, "svensson");
  const rows = byQuotes();
  const at = (k: number, up: number): Curve => {
    const moved = quotes.map((quote, i) => (i === orders[0][k] ? { ...quote, rate: quote.rate + up } : quote));
    return found(moved, "svensson").curve;
  };
  for (const k of [1, 5, 8]) {
    const [up, down] = [at(k, 1e-6), at(k, -1e-6)];
    // Of discount factors: the parameters are nearly exchangeable with each other.
    for (const time of [0.5, 3, 10]) {
      const { curve } = found(quotes, "svensson");
      let slope = 0;
      curve.weights(time, (node, weight) => (slope += weight * rows[node][k]));
      expect((up.logDiscount(time) - down.logDiscount(time)) / 2e-6).toBeCloseTo(slope, 3);
    }
  }
});

test("quotes without a curve name themselves", () => {
  const deposit = { kind: "deposit", end: 1, rate: 0.02 } as const;
  const swap = (end: number, rate: number) => ({ kind: "swap", end, rate, frequency: 1 }) as const;
  expect(() => found([deposit, swap(1, 0.02)], "log-discount")).toThrow(/swap until 1 years ends when .*, too; leave/);
  try {
    found([deposit, swap(2, 50)], "log-discount");
    expect.unreachable();
  } catch (error) {
    expect(error).toBeInstanceOf(CurveError);
    expect((error as CurveError).instrument).toBe(1);
  }
});

test("a swap over two years and a half pays back from its end, its first period half a year", () => {
  const instruments: RateInstrument[] = [
    { kind: "deposit", end: 0.5, rate: 0.02 },
    { kind: "deposit", end: 1.5, rate: 0.025 },
    { kind: "swap", end: 2.5, rate: 0.03, frequency: 1 },
  ];
  const { curve } = found(instruments, "log-discount");
  // 0.03·(½·P(½) + P(1½) + P(2½)) = 1 − P(2½), with P(½) = 1/1.01 and P(1½) = 1/1.0375.
  const last = (1 - 0.03 * (0.5 / 1.01 + 1 / 1.0375)) / 1.03;
  expect(curve.zeros).toHaveLength(3);
  expect(curve.zeros[2]).toBeCloseTo(-Math.log(last) / 2.5, 13);
});
