/** Local volatility by direct calibration: its gradient, its fits, and prices under what it fits. */
import { describe, expect, it } from "vitest";
import { AdjointProblem, fitAdjoint } from "../../src/calibration/adjoint-fit.ts";
import { rmseOf, type UnderlyingQuotes } from "../../src/calibration/fit.ts";
import { hestonSlice } from "../../src/calibration/heston-slices.ts";
import { localSurface, rowMean, rowVolatility } from "../../src/market/index.ts";
import { dax, quotesOf } from "./quotes.ts";
import { uniform } from "./uniform.ts";
import { normalCdf } from "../support/normal.ts";

/** The smiles of a random model of Heston's, with rates of 2 %: free of arbitrage, of no local volatility on a grid. */
function hestonQuotes(random: () => number): UnderlyingQuotes {
  const [variance, kappa] = [0.01 + 0.1 * random(), 0.5 + 3 * random()];
  const model = [variance, kappa, variance * (0.5 + random()), 0.2 + 0.6 * random(), -0.9 + 1.2 * random()];
  return {
    spot: 100,
    expiries: [0.1, 0.25, 0.5, 1, 1.5, 2, 3].map((t) => {
      const slice = hestonSlice(model, t, 2);
      const width = 1.6 * Math.sqrt(variance * t);
      const k = Array.from({ length: 15 }, (_, i) => width * (i / 7 - 1));
      return quotesOf(t, k, (at) => slice.volatility(at), 100 * Math.exp(0.02 * t));
    }),
  };
}

/** The prices of calls in units of the forward by Dupire's equation in ln S, another grid and another scheme. */
function impliedByDensity(fit: ReturnType<typeof fitAdjoint>, t: number, rate: number, k: readonly number[]): number[] {
  if (fit.volatility.kind !== "surface") throw new Error("expected a surface");
  const { times, spots, volatility } = fit.volatility.surface;
  const surface = localSurface(times, spots, volatility);
  const nodes = 501;
  const [low, high] = [-2, 2];
  const h = (high - low) / (nodes - 1);
  // The call C(x), x = ln κ, of forward 1: ∂C/∂t = ½σ²·(∂²C/∂x² − ∂C/∂x), by implicit Euler in √t, extrapolated.
  let call: Float64Array = Float64Array.from({ length: nodes }, (_, j) => Math.max(1 - Math.exp(low + j * h), 0));
  const solve = (steps: number): Float64Array => {
    let now = 0;
    let values = call.slice();
    for (let n = 1; n <= steps; n++) {
      const next = t * (n / steps) ** 2;
      const dt = next - now;
      const middle = 0.5 * (now + next);
      const row = rowMean(surface, middle, middle);
      const [c, d] = [new Float64Array(nodes), new Float64Array(nodes)];
      for (let j = 0; j < nodes; j++) {
        if (j === 0 || j === nodes - 1) {
          d[j] = values[j];
          continue;
        }
        const spot = 100 * Math.exp(low + j * h + rate * middle);
        const half = 0.5 * rowVolatility(surface, row, spot) ** 2 * dt;
        const [a, b] = [-half * (1 / (h * h) + 0.5 / h), -half * (1 / (h * h) - 0.5 / h)];
        const pivot = 1 + (2 * half) / (h * h) - a * c[j - 1];
        c[j] = b / pivot;
        d[j] = (values[j] - a * d[j - 1]) / pivot;
      }
      for (let j = nodes - 2; j >= 0; j--) d[j] -= c[j] * d[j + 1];
      values = d;
      now = next;
    }
    return values;
  };
  const [coarse, fine] = [solve(50), solve(100)];
  call = fine.map((value, j) => 2 * value - coarse[j]);
  return k.map((x) => {
    const at = Math.floor((x - low) / h);
    let price = 0;
    for (let a = at - 1; a <= at + 2; a++) {
      let share = call[a];
      for (let b = at - 1; b <= at + 2; b++) if (b !== a) share *= (x - low - b * h) / ((a - b) * h);
      price += share;
    }
    return impliedOf(price, x, t);
  });
}

/** Black's volatility of a call of forward 1, by bisection. */
function impliedOf(price: number, k: number, t: number): number {
  let [low, high] = [1e-4, 5];
  for (let i = 0; i < 60; i++) {
    const middle = 0.5 * (low + high);
    const deviation = middle * Math.sqrt(t);
    const d1 = -k / deviation + 0.5 * deviation;
    if (normalCdf(d1) - Math.exp(k) * normalCdf(d1 - deviation) < price) low = middle;
    else high = middle;
  }
  return 0.5 * (low + high);
}

describe("local volatility by the adjoint of Dupire's equation", () => {
  it("has the gradient that differences have", () => {
    const problem = new AdjointProblem(dax(), { spots: 80, times: 30, tolerance: 1e-3 });
    const { nodes, steps } = problem.grid;
    const random = uniform(11);
    const z = Float64Array.from({ length: nodes * (steps + 1) }, () => 0.4 * (random() - 0.5));
    const direction = z.map(() => random() - 0.5);
    const [gradient, unused] = [z.slice(), z.slice()];
    problem.evaluate(z, gradient);
    const slope = direction.reduce((sum, one, i) => sum + one * gradient[i], 0);
    const valueAt = (h: number): number =>
      problem.evaluate(
        z.map((one, i) => one + h * direction[i]),
        unused,
      );
    // Differences of the fourth order, whose error is below 1e-9 here.
    const h = 1e-3;
    const difference = (8 * (valueAt(h) - valueAt(-h)) - (valueAt(2 * h) - valueAt(-2 * h))) / (12 * h);
    expect(Math.abs(slope / difference - 1)).toBeLessThan(1e-8);
  });

  it("prices quotes without arbitrage to its tolerance, and so does another grid under its surface", () => {
    const random = uniform(5);
    for (let i = 0; i < 5; i++) {
      const quotes = hestonQuotes(random);
      const fit = fitAdjoint(quotes);
      expect(fit.status).toBe("converged");
      expect(rmseOf(quotes, fit.impliedVolatility)).toBeLessThan(3e-4);
      expect(fit.butterfly.free && fit.calendar.free).toBe(true);
      if (i > 0) continue;
      const { time, logMoneyness, implied } = quotes.expiries[4];
      const found = impliedByDensity(fit, time, 0.02, Array.from(logMoneyness));
      found.forEach((volatility, q) => {
        const own = fit.impliedVolatility(logMoneyness[q], time);
        expect(Math.abs(volatility - own)).toBeLessThan(1e-4);
        expect(Math.abs(volatility - implied[q])).toBeLessThan(1e-3);
      });
    }
  });

  it("smooths quotes that have arbitrage", () => {
    const fit = fitAdjoint(dax());
    expect(fit.status).toBe("converged");
    expect(rmseOf(dax(), fit.impliedVolatility)).toBeLessThan(0.004);
    expect(fit.butterfly.free && fit.calendar.free).toBe(true);
  });

  it("keeps its nodes within five times a smooth volatility where a quote is a bad tick, and says so", () => {
    const random = uniform(17);
    for (let round = 0; round < 2; round++) {
      const level = 0.15 + 0.2 * random();
      const bad = 1 + Math.floor(5 * random());
      const k = [-0.2, -0.1, -0.05, 0, 0.05, 0.1, 0.2];
      const spike = (_: number, i: number): number => (i === bad ? 3 * level : level);
      const fit = fitAdjoint({ spot: 100, expiries: [quotesOf(0.5, k, spike), quotesOf(1, k, () => level)] });
      if (fit.volatility.kind !== "surface") throw new Error("expected a surface");
      // The reference is at most twice the largest implied volatility, which a spline may exceed between quotes.
      for (const sigma of fit.volatility.surface.volatility.flat()) expect(sigma).toBeLessThanOrEqual(40 * level);
      expect(fit.message).toMatch(/^\d+ nodes? of the local volatility at a limit/);
    }
  });

  it.each([
    ["one quote", [quotesOf(1, [0], () => 0.2)]],
    ["one expiry", [quotesOf(1, [-0.2, 0, 0.2], (k) => 0.2 - 0.1 * k)]],
    ["one strike", [0.5, 1, 2].map((t) => quotesOf(t, [0.1], () => 0.2 + 0.01 * t))],
    ["volatilities of 1 % and 300 %", [quotesOf(1, [-0.01, 0, 0.01], () => 0.01), quotesOf(2, [-1, 0, 1], () => 3)]],
  ])("fits %s", (_, expiries) => {
    const quotes = { spot: 100, expiries };
    const fit = fitAdjoint(quotes);
    expect(fit.status).toBe("converged");
    expect(rmseOf(quotes, fit.impliedVolatility)).toBeLessThan(1e-3);
  });

  it("refuses a grid that is too small for the expiries", () => {
    expect(() => fitAdjoint(dax(), { times: 8 })).toThrow("spots and times: got 200 × 8, expected at least 20 spots");
  });
});
