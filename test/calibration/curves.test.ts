/** Curves: the reference case, every interpolation's quotes, Svensson's round trip, and what has no solution. */
import { expect, test } from "vitest";
import { fitCurve, InstrumentError, type RateInstrument } from "../../src/calibration/index.ts";
import { zeroCurve, discountFactor } from "../../src/market/index.ts";
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

test("the reference case, quotes in any order", () => {
  const { status, nodes } = fitCurve({
    instruments: [...quotes].reverse(),
    interpolation: "log-discount",
    fit: "bootstrap",
  });
  expect(status).toBe("converged");
  const curve = zeroCurve(nodes);
  const { expected, params } = reference;
  expected.discount_factors.forEach((discount: number, i: number) => {
    expect(Math.abs(discountFactor(curve, expected.pillars[i]) - discount)).toBeLessThan(1e-12);
    expect(Math.abs(nodes[i].zero - expected.zero_rates[i])).toBeLessThan(1e-12);
  });
  expected.query_discount_factors.forEach((discount: number, i: number) =>
    expect(Math.abs(discountFactor(curve, params.query_times[i]) - discount)).toBeLessThan(1e-12),
  );
});

/** The flows of a par swap, written out apart from the source. */
function parRate(curve: ReturnType<typeof zeroCurve>, end: number): number {
  const times = Array.from({ length: end }, (_, i) => i + 1);
  return (1 - discountFactor(curve, end)) / times.reduce((sum, time) => sum + discountFactor(curve, time), 0);
}

test("a monotone convex curve prices its quotes, is smoother, and keeps a flat curve flat", () => {
  const spec = { interpolation: "monotone-convex", fit: "bootstrap" } as const;
  const { status, nodes, rmse } = fitCurve({ ...spec, instruments: quotes });
  expect(status).toBe("converged");
  expect(rmse).toBeLessThan(1e-14);
  const curve = zeroCurve(nodes);
  for (const [end, rate] of reference.params.par_swaps_annual) expect(parRate(curve, end)).toBeCloseTo(rate, 12);
  const jumps = (of: typeof curve): number => Math.max(...of.values.slice(1).map((f, i) => Math.abs(f - of.values[i])));
  expect(jumps(curve)).toBeLessThan(
    0.5 * jumps(zeroCurve(fitCurve({ ...spec, interpolation: "linear-zero", instruments: quotes }).nodes)),
  );
  const flat = quotes.map((quote) => ({
    ...quote,
    rate: quote.kind === "swap" ? Math.expm1(0.03) : (Math.exp(0.03 * quote.end) - 1) / quote.end,
  }));
  for (const { zero } of fitCurve({ ...spec, instruments: flat }).nodes) expect(zero).toBeCloseTo(0.03, 13);
});

test("FRAs follow a deposit: 1 + r·τ compounds", () => {
  const instruments: RateInstrument[] = [
    { kind: "deposit", end: 0.5, rate: -0.01 },
    { kind: "fra", start: 0.5, end: 1, rate: 0.02, accrual: 182.5 / 360 },
  ];
  const { nodes } = fitCurve({ instruments, interpolation: "linear-zero", fit: "bootstrap" });
  expect(Math.exp(nodes[1].zero)).toBeCloseTo((1 - 0.005) * (1 + (0.02 * 182.5) / 360), 14);
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
  const spec = { interpolation: "log-discount", fit: "svensson" } as const;
  const found = fitCurve({ ...spec, instruments });
  expect(found.rmse).toBeLessThan(1e-8);
  for (const { time, zero: rate } of found.nodes) if (time >= 1) expect(rate).toBeCloseTo(zero(time), 6);
  expect(fitCurve({ ...spec, instruments: quotes }).rmse).toBeLessThan(2e-4);
});

test("quotes without a curve name themselves", () => {
  const fit = (...instruments: RateInstrument[]) =>
    fitCurve({ instruments, interpolation: "log-discount", fit: "bootstrap" });
  const deposit = { kind: "deposit", end: 1, rate: 0.02 } as const;
  expect(() => fit(deposit, { kind: "swap", end: 1, rate: 0.02, frequency: 1 })).toThrow(
    /another quote ends at 1 years/,
  );
  try {
    fit(deposit, { kind: "swap", end: 2, rate: 50, frequency: 1 });
    expect.unreachable();
  } catch (error) {
    expect(error).toBeInstanceOf(InstrumentError);
    expect((error as InstrumentError).index).toBe(1);
  }
});

test("a swap over two years and a half pays back from its end, its first period half a year", () => {
  const instruments: RateInstrument[] = [
    { kind: "deposit", end: 0.5, rate: 0.02 },
    { kind: "deposit", end: 1.5, rate: 0.025 },
    { kind: "swap", end: 2.5, rate: 0.03, frequency: 1 },
  ];
  const { nodes } = fitCurve({ instruments, interpolation: "log-discount", fit: "bootstrap" });
  // 0.03·(½·P(½) + P(1½) + P(2½)) = 1 − P(2½), with P(½) = 1/1.01 and P(1½) = 1/1.0375.
  const last = (1 - 0.03 * (0.5 / 1.01 + 1 / 1.0375)) / 1.03;
  expect(nodes).toHaveLength(3);
  expect(nodes[2].zero).toBeCloseTo(-Math.log(last) / 2.5, 13);
});
