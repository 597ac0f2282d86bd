import { describe, expect, it } from "vitest";
import { cevPrice } from "./cev.ts";
import { incompleteGamma, logGamma, noncentralChiSquare } from "./noncentral-chi-square.ts";
import { PlainDevice } from "../../support/plain-device.ts";
import { cases, priced, trade } from "../../pricing/reference.ts";

describe("CEV in closed form", () => {
  const covered = cases("local-volatility").filter(({ product }) => product.startsWith("european_cev"));

  it.each(covered.map((c) => [c.id, c] as const))(
    "%s, within its own tolerance",
    (_, { product, params, expected, tolerance }) => {
      const forward = product === "european_cev_forward";
      const price = cevPrice({
        right: params["option_type"],
        spot: forward ? params["forward"] : params["spot"],
        strike: params["strike"],
        expiry: params["maturity"],
        rate: params["rate"],
        dividendYield: forward ? params["rate"] : params["dividend_yield"],
        sigma: forward ? params["alpha"] : params["sigma"],
        beta: params["beta"],
      });
      expect(Math.abs(price - expected["price"])).toBeLessThanOrEqual(
        tolerance.abs + tolerance.rel * expected["price"],
      );
    },
  );

  it("agrees with finite differences over strikes, maturities and elasticities", async () => {
    const grid = [60, 90, 100, 130].flatMap((strike) =>
      [0.1, 1, 3].flatMap((expiry) => [0.2, 0.6, 0.9].map((beta) => ({ strike, expiry, beta }))),
    );
    const market = { rate: 0.03, dividendYield: 0.01 };
    const sigmaOf = (beta: number): number => 0.25 * 100 ** (1 - beta);
    const trades = grid.map(({ strike, expiry, beta }) => {
      const one = trade({
        expiry,
        payoff: { kind: "vanilla", right: "put", strike },
        volatility: { kind: "cev", sigma: sigmaOf(beta), beta },
      });
      return {
        ...one,
        underlying: {
          ...one.underlying,
          rates: { times: [], values: [0.03] },
          dividends: { yield: 0.01, discrete: [] },
        },
      };
    });
    const got = await priced(trades, { device: new PlainDevice(), greeks: "none" });
    grid.forEach(({ strike, expiry, beta }, i) => {
      const exact = cevPrice({ right: "put", spot: 100, strike, expiry, ...market, sigma: sigmaOf(beta), beta });
      expect(Math.abs(got[i].value - exact)).toBeLessThanOrEqual(1e-4);
    });
  });
});

describe("the distributions behind it", () => {
  it("ln Γ: at integers and at one half", () => {
    let factorial = 1;
    for (let n = 1; n <= 20; n++) {
      expect(logGamma(n)).toBeCloseTo(Math.log(factorial), 12);
      factorial *= n;
    }
    expect(logGamma(0.5)).toBeCloseTo(0.5 * Math.log(Math.PI), 14);
  });

  it("incomplete gamma: P(1, x) = 1 − e⁻ˣ, and P + Q = 1 on both sides of the mean", () => {
    for (const x of [0.01, 0.5, 1.9, 2.1, 10, 40]) expect(incompleteGamma(1, x).p).toBeCloseTo(-Math.expm1(-x), 14);
    for (const a of [0.3, 5, 200])
      for (const factor of [0.5, 0.99, 1.01, 2]) {
        const { p, q } = incompleteGamma(a, a * factor);
        expect(p + q).toBeCloseTo(1, 14);
      }
  });

  it("noncentral chi-square with two degrees of freedom is the Rice distribution: one minus Marcum's Q₁", () => {
    // By quadrature of x·exp(−(x² + a²)/2)·I₀(a·x) over (0, b); I₀ by its integral.
    const [a, b] = [1.5, 2.2];
    const bessel = (z: number): number => mean((angle) => Math.exp(z * Math.cos(angle)), 0, Math.PI, 400);
    const rice = b * mean((x) => x * Math.exp(-0.5 * (x * x + a * a)) * bessel(a * x), 0, b, 2000);
    const { lower, upper } = noncentralChiSquare(b * b, 2, a * a);
    expect(lower).toBeCloseTo(rice, 9);
    expect(lower + upper).toBeCloseTo(1, 13);
  });
});

/** Simpson's mean of f over (from, to). */
function mean(f: (x: number) => number, from: number, to: number, n: number): number {
  let sum = 0;
  for (let i = 0; i <= n; i++) sum += (i === 0 || i === n ? 1 : i % 2 === 1 ? 4 : 2) * f(from + ((to - from) * i) / n);
  return sum / (3 * n);
}
