/**
 * Estimates of random trades by Monte Carlo cover their errors: as often as they say, where no path pays, and where
 * paths do not show the second moment of a spot.
 */
import { afterAll, expect, test } from "vitest";
import { readBook } from "../../../src/book/index.ts";
import { createCpuDevice } from "../../../src/device/cpu/index.ts";
import { priceBook } from "../../../src/pricing/index.ts";
import { FAMILIES } from "../../../tools/coverage/families/all.ts";
import { drawCases, multipleOf, priceCases } from "../../../tools/coverage/price.ts";
import { counted, everything } from "../../support/extent.ts";
import { blackScholes } from "../../../tools/properties/closed-forms.ts";
import { hestonPrice } from "../../../tools/coverage/references/heston.ts";
import { Random } from "../../../tools/properties/random.ts";

const device = createCpuDevice({ threads: 1 });
afterAll(() => device[Symbol.dispose]());

const LOOKBACKS = counted("FEYNKAC_LOOKBACKS", 300, 1000);

test("98.5 % of lookbacks are within their estimates", { timeout: 120_000 }, async () => {
  const family = FAMILIES.find(({ name }) => name === "lookbacks, continuous")!;
  const multiples: number[] = [];
  for (let from = 0; from < LOOKBACKS; from += 100) {
    const outcomes = await priceCases(device, drawCases(family, { seed: 11, from, to: from + 100 }), from);
    multiples.push(...outcomes.map(multipleOf));
  }
  expect(multiples.filter((multiple) => multiple <= 1).length).toBeGreaterThanOrEqual(0.985 * LOOKBACKS);
  expect(Math.max(...multiples)).toBeLessThan(2.5);
});

interface Asset {
  readonly spot: number;
  readonly volatility: number;
}

/**
 * Prices the right to give the second asset for the first: American or European, without rates and dividends, so that
 * it is not exercised early.
 */
async function exchanged(assets: readonly [Asset, Asset], rho: number, expiry: number, seed: number, trade: object) {
  const [A, B] = assets.map((asset) => ({ ...asset, currency: "EUR" }));
  const book = readBook({
    asOf: "2026-01-01",
    method: "montecarlo",
    seed,
    market: { rates: { EUR: 0 }, underlyings: { A, B }, correlations: [["A", "B", rho]] },
    trades: [{ id: "1", underlyings: ["A", "B"], payoff: { spread: "call" }, strike: 0, expiry, ...trade } as never],
  });
  const [result] = (await priceBook(book, { device, greeks: "none" })).results;
  if (result.status === "error") throw new Error(result.error.message);
  const [a, b] = assets;
  const volatility = Math.sqrt(a.volatility ** 2 + b.volatility ** 2 - 2 * rho * a.volatility * b.volatility);
  const right = blackScholes({ spot: a.spot, rate: 0, yield: 0, volatility, expiry }, "call", b.spot);
  return { ...result, error: Math.abs(result.value - right) - 1e-9 * a.spot };
}

const AMERICAN = { exercise: "american" };

test("an American trade that as good as no path pays is not worth 0 ± 0", { timeout: 60_000 }, async () => {
  const assets = [
    { spot: 75, volatility: 0.245 },
    { spot: 119.6, volatility: 0.2 },
  ] as const;
  for (let seed = 1; seed <= (everything ? 12 : 4); seed++) {
    const { error, errorEstimate } = await exchanged(assets, 0.18, 0.08 + 0.01 * seed, seed, AMERICAN);
    expect(errorEstimate).toBeGreaterThan(1e-3);
    expect(error).toBeLessThanOrEqual(errorEstimate);
  }
});

test.each([
  ["European", everything ? 3 : 1, {}],
  ["American", everything ? 12 : 4, AMERICAN],
])("%s exchange under deviations of up to 10", { timeout: 120_000 }, async (_, count, trade) => {
  for (let n = 0; n < count; n++) {
    const random = new Random(100 + n);
    const expiry = random.logUniform(0.1, 10);
    const asset = (): Asset => ({
      spot: random.uniform(70, 130),
      volatility: random.uniform(1, 10) / Math.sqrt(expiry),
    });
    const assets = [asset(), asset()] as const;
    const { error, errorEstimate } = await exchanged(assets, random.uniform(-0.9, 0.9), expiry, 1 + n, trade);
    expect(error, `trade ${n}`).toBeLessThanOrEqual(errorEstimate);
  }
});

test("puts under large variances in Heston's model", { timeout: 60_000 }, async () => {
  const random = new Random(5);
  for (let n = 0; n < (everything ? 12 : 4); n++) {
    const [expiry, kappa, theta] = [random.uniform(0.5, 2), random.uniform(2, 12), random.logUniform(2, 40)];
    const rho = random.uniform(-0.95, 0.95);
    const heston = { v0: theta * random.logUniform(0.3, 3), kappa, theta, sigma: random.uniform(0.2, 1), rho };
    const [rate, strike] = [0.02, random.uniform(70, 140)];
    const book = readBook({
      asOf: "2026-01-01",
      method: "montecarlo",
      market: { rates: { EUR: rate }, underlyings: { A: { spot: 100, currency: "EUR", volatility: { heston } } } },
      trades: [{ id: "1", underlying: "A", payoff: "put", strike, expiry }],
    });
    const [result] = (await priceBook(book, { device, greeks: "none" })).results;
    if (result.status === "error") throw new Error(result.error.message);
    const right = hestonPrice({ spot: 100, rate, yield: 0, expiry, heston }, "put", strike);
    expect(Math.abs(result.value - right), `trade ${n}`).toBeLessThanOrEqual(result.errorEstimate);
    expect(result.errorEstimate).toBeLessThan(0.2);
  }
});
