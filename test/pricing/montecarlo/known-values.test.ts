/** Monte Carlo through the book against values that are known: sensitivities, late payments, exercise at once. */
import { afterAll, expect, test } from "vitest";
import { type BookInput, type PricedTrade, priceBook, readBook } from "../../../src/index.ts";
import { createCpuDevice } from "../../../src/device/cpu/index.ts";
import { normalCdf } from "../../support/normal.ts";

const device = createCpuDevice({ threads: 1 });
afterAll(() => device[Symbol.dispose]());

const [rate, sigmaA, sigmaB, rho] = [0.05, 0.2, 0.3, 0.4];
const market = {
  rates: { EUR: rate },
  underlyings: {
    A: { spot: 100, currency: "EUR", volatility: sigmaA },
    B: { spot: 95, currency: "EUR", volatility: sigmaB },
  },
  correlations: [["A", "B", rho]],
} satisfies BookInput["market"];

async function price(trades: BookInput["trades"]): Promise<PricedTrade[]> {
  const { results } = await priceBook(readBook({ asOf: "2026-01-01", market, trades, method: "montecarlo" }), {
    device,
  });
  return results.map((result) => {
    if (result.status === "error") throw new Error(result.error.message);
    return result;
  });
}

const density = (x: number): number => Math.exp(-0.5 * x * x) / Math.sqrt(2 * Math.PI);
const call = { underlying: "A", payoff: "call", strike: 100, expiry: 1 } as const;

test("gamma of a call is Black and Scholes'", async () => {
  const [{ value, gamma }] = await price([{ id: "1", ...call }]);
  const d = rate / sigmaA + 0.5 * sigmaA;
  expect(value).toBeCloseTo(100 * normalCdf(d) - 100 * Math.exp(-rate) * normalCdf(d - sigmaA), 1);
  expect(gamma! / (density(d) / (100 * sigmaA))).toBeCloseTo(1, 1);
});

test("an exchange option loses by correlation as Margrabe's formula (1978) does", async () => {
  const [{ value, correlation }] = await price([
    { id: "1", underlyings: ["A", "B"], payoff: { expression: "max(S1 - S2, 0)" }, expiry: 1 },
  ]);
  const sigma = Math.sqrt(sigmaA ** 2 + sigmaB ** 2 - 2 * rho * sigmaA * sigmaB);
  const d = Math.log(100 / 95) / sigma + 0.5 * sigma;
  expect(value).toBeCloseTo(100 * normalCdf(d) - 95 * normalCdf(d - sigma), 1);
  const slope = (-100 * density(d) * sigmaA * sigmaB) / sigma;
  expect(correlation![0][2] / slope).toBeCloseTo(1, 1);
});

test("what is fixed before expiry is discounted from expiry", async () => {
  const average = { kind: "arithmetic" as const, dates: [0.25, 0.5, 0.75, 1] };
  const [early, late] = await price([
    { id: "1", ...call, average },
    { id: "2", ...call, expiry: 1.5, average },
  ]);
  expect(Math.abs(late.value / early.value - Math.exp(-0.5 * rate))).toBeLessThan(5e-3);
  const once = { ...average, past: { count: 4, mean: 100 } };
  const [half, halfLate] = await price([
    { id: "1", ...call, average: once },
    { id: "2", ...call, expiry: 1.5, average: once },
  ]);
  expect(Math.abs(halfLate.value / half.value - Math.exp(-0.5 * rate))).toBeLessThan(5e-3);
});

test("a put deep in the money is exercised at once", async () => {
  const [{ value }] = await price([{ id: "1", ...call, payoff: "put", strike: 200, exercise: "american" }]);
  expect(value).toBe(100);
});
