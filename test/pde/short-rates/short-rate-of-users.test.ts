/** Short rates that users write as formulas, beside the same models by name. */
import { afterAll, describe, expect, test } from "vitest";
import { type PricedTrade, readBook } from "../../../src/book/index.ts";
import { createCpuDevice } from "../../../src/device/cpu/index.ts";
import { priceBook, type PricingOptions } from "../../../src/pricing/index.ts";

const device = createCpuDevice({ threads: 1 });
afterAll(() => {
  expect(device.liveBuffers).toBe(0);
  device[Symbol.dispose]();
});

const curve = [1, 3, 10].map((date, i) => ({ date, zero: 0.02 + 0.004 * i }));
const swap = { start: 1, end: 5, frequency: 1, notional: 100 };
const bond = { maturity: 5, coupon: 0.03, frequency: 1, notional: 100 };
const trades = [
  { swaption: "payer", strike: 0.03, exercise: [1, 2, 3], swap },
  { bond: { ...bond, calls: [2, 3].map((date) => ({ date, price: 100 })) } },
  { cap: { start: 1, end: 4, frequency: 1, notional: 100 }, strike: 0.03 },
].map((trade, i) => ({ id: `${i}`, currency: "EUR", ...trade }));

const bookOf = (rates: object) => readBook({ asOf: "2026-01-01", market: { rates: { EUR: rates } }, trades });

async function priced(rates: object, options: Partial<PricingOptions> = {}): Promise<readonly PricedTrade[]> {
  const { results } = await priceBook(bookOf(rates), { device, ...options });
  return results.map((result) => {
    if (result.status !== "ok") throw new Error(JSON.stringify(result.error));
    return result;
  });
}

describe("a short rate by formulas", () => {
  test("is Hull and White's model where it is written so, with its sensitivities", async () => {
    const written = { r0: 0.01, drift: "-0.1*(r - 0.01)", volatility: "0.01", range: [-0.19, 0.21], curve };
    const named = await priced({ hullWhite: { meanReversion: 0.1, volatility: 0.01, curve } });
    const own = await priced({ shortRate: written });
    named.forEach((exact, i) => {
      expect(own[i].method).toBe("fdm");
      expect(Math.abs(own[i].value - exact.value)).toBeLessThan(own[i].errorEstimate + exact.errorEstimate);
      expect(own[i].errorEstimate).toBeLessThan(2e-5);
      for (const name of ["vega", "rho", "theta"] as const) expect(own[i][name]! / exact[name]!).toBeCloseTo(1, 3);
    });
  });

  /** Its volatility vanishes at the lower end of the range, which is reached: 2κθ < σ². */
  test.each([0.6, 1.5])(
    "is Cox, Ingersoll and Ross' model where it is written so, up to a rate of %f",
    async (high) => {
      const [r0, kappa, theta, sigma] = [0.02, 0.3, 0.04, 0.2];
      const [named] = await priced({ cir: { r0, kappa, theta, sigma } }, { greeks: "none" });
      // The model's own curve on the dates of the trade, by its formula of zero bonds.
      const h = Math.sqrt(kappa * kappa + 2 * sigma * sigma);
      const zeros = [1, 2, 3, 4, 5].map((date) => {
        const grown = Math.expm1(h * date);
        const below = 2 * h + (kappa + h) * grown;
        const level =
          ((2 * kappa * theta) / sigma ** 2) * Math.log((2 * h * Math.exp(0.5 * (kappa + h) * date)) / below);
        return { date, zero: (((2 * grown) / below) * r0 - level) / date };
      });
      const volatility = "0.2*sqrt(max(r, 0))";
      const written = { r0, drift: "0.3*(0.04 - r)", volatility, range: [0, high], curve: zeros };
      const [own] = await priced({ shortRate: written }, { greeks: "none" });
      expect(Math.abs(own.value - named.value)).toBeLessThan(own.errorEstimate + named.errorEstimate);
      expect(own.errorEstimate).toBeLessThan(1e-3);
    },
  );

  /** Values of an independent solution, by Crank and Nicolson on three uniform meshes, extrapolated: to 2e-5. */
  test("is reflected at the very end of its range", async () => {
    const zeros = [1, 5, 10].map((date, i) => ({ date, zero: [0.025, 0.035, 0.04][i] }));
    const written = { r0: 0.02, drift: "0.2*(0.03 - r)", volatility: "0.01", range: [0, 0.3], curve: zeros };
    const { results } = await priceBook(
      readBook({
        asOf: "2026-01-01",
        market: { rates: { EUR: { shortRate: written } } },
        trades: [
          {
            id: "b",
            currency: "EUR",
            swaption: "payer",
            strike: 0.035,
            exercise: [1, 2, 3],
            swap: { ...swap, end: 6 },
          },
          { id: "c", currency: "EUR", cap: { start: 1, end: 4, frequency: 2, notional: 100 }, strike: 0.035 },
        ],
      }),
      { device, greeks: "none" },
    );
    [2.62825, 1.61125].forEach((right, i) => {
      const result = results[i];
      if (result.status !== "ok") throw new Error(JSON.stringify(result.error));
      expect(Math.abs(result.value - right)).toBeLessThan(result.errorEstimate + 2e-5);
    });
  });

  /**
   * Brennan and Schwartz' lognormal diffusion: no closed form, and no rate below 0. The values are those of a program
   * of its own, in Python: Crank and Nicolson's scheme in r = x + α(t) on up to 3,201 nodes and 400 steps a year, α by
   * state prices, discounting by half before and half after each diffusion, extrapolated. They are right to 3e-6.
   */
  test("may depend on the rate and on time", async () => {
    const written = { r0: 0.02, drift: "0.2*(0.03 - r)", volatility: "0.2*r*(1 + 0.1*t)", curve };
    for (const range of [
      [0, 1],
      [0, 0.5],
    ]) {
      const found = await priced({ shortRate: { ...written, range } }, { greeks: "none" });
      [0.533904, 100.901811, 0.373843].forEach((known, i) => {
        expect(Math.abs(found[i].value - known)).toBeLessThan(found[i].errorEstimate + 3e-6);
        expect(found[i].errorEstimate).toBeLessThan(1e-5);
      });
    }
  });

  test("is an error that names its place where it cannot be", () => {
    const written = { r0: 0.02, drift: "0.2*(0.03 - r)", volatility: "0.01", range: [-0.2, 0.3], curve: 0.03 };
    const fails = (change: object, expected: RegExp): void => {
      expect(() => bookOf({ shortRate: { ...written, ...change } })).toThrow(expected);
    };
    fails({ range: [0.1, 0.3] }, /rates\.EUR\.shortRate\.range.*both sides of r0/);
    fails({ volatility: "0.1*sqrt(r)" }, /shortRate\.volatility.*max\(r, 0\)/);
    fails({ volatility: "r" }, /shortRate\.volatility.*≥ 0/);
    fails({ drift: "0.2*(q - r)" }, /shortRate\.drift/);
  });
});
