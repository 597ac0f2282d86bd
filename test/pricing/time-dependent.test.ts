/**
 * Rates and volatility that depend on time alone: nodes that move with the forward (`fdm/forward.ts`) against closed
 * forms, symmetries and the mesh of prices.
 */
import { describe, expect, it } from "vitest";
import type { Trade } from "../../src/book/index.ts";
import {
  type Grid,
  grids,
  gridsOn,
  instance,
  BatchSolver,
  type OneFactorProblem,
  pointValue,
  type Resolution,
} from "../../src/pde/fdm/index.ts";
import { meshSpecOf } from "../../src/pde/fdm/mesh/domain.ts";
import { certainExercise } from "../../src/pde/fdm/problem/one-factor.ts";
import { mesh } from "../../src/pde/fdm/mesh/mesh.ts";
import { constant, dividendSchedule, type PiecewiseConstant } from "../../src/market/index.ts";
import { tradeProblem } from "../../src/pricing/trade-problem.ts";
import type { Right } from "../../src/market/products/index.ts";
import { PlainDevice } from "../support/plain-device.ts";
import { priced, trade } from "./reference.ts";

const steps = (times: readonly number[], values: readonly number[]): PiecewiseConstant => ({ times, values });
const rates = {
  rising: steps([0.1, 0.4, 0.7], [0.01, 0.015, 0.02, 0.028]),
  falling: steps([0.3], [0.05, 0.042]),
  turning: steps([0.2, 0.5], [0.03, 0.021, 0.03]),
  "jumping up": steps([0.5], [0.01, 0.08]),
  steep: steps([0.25], [0.4, 0.5]),
  "all of it negative": steps([0.5], [-0.01, -0.015]),
};
const sigmas = {
  falling: steps([0.1, 0.3, 0.6], [0.3, 0.28, 0.25, 0.23]),
  jumping: steps([0.3, 0.6], [0.15, 0.4, 0.2]),
  "none at first": steps([0.3], [0, 0.3]),
  constant: constant(0.2),
};

interface Terms {
  readonly right: Right;
  readonly strike: number;
  readonly rate: PiecewiseConstant;
  readonly sigma: PiecewiseConstant;
  readonly carry: number;
  readonly early?: boolean;
  readonly spot?: number;
}

const option = ({ right, strike, rate, sigma, carry, early = false, spot = 100 }: Terms): Trade =>
  trade({
    payoff: { kind: "vanilla", right, strike },
    exercise: { kind: early ? "american" : "european" },
    volatility: { kind: "deterministic", sigma },
    market: { spot, rates: rate, dividends: dividendSchedule(carry, []) },
  });

/** Every pair of a rate and a volatility, puts and calls in turn, in and out of the money. */
const markets = Object.values(rates).flatMap((rate, i) =>
  Object.values(sigmas).map((sigma, k): Terms => {
    const right = (i + k) % 2 === 0 ? "put" : "call";
    return { right, strike: [90, 100, 115][(i + 2 * k) % 3], rate, sigma, carry: [0, 0.02, 0.06][(2 * i + k) % 3] };
  }),
);

const isMoving = (grid: Grid): boolean => grid.forward !== undefined;
const gridOf = (one: Trade, size: Resolution): Grid => grids(tradeProblem(one, undefined), size)[0];
const NATURAL = { delta: 1, gamma: 0.1, theta: 20, vega: 100, rho: 100 } as const;

type Priced = Awaited<ReturnType<typeof priced>>;

/** Values within 1e-5 of the spot of those of a closed form, Greeks within a part of their natural units. */
function expectAlike(solved: Priced, exact: Priced, part: number): void {
  expect(solved).toHaveLength(exact.length);
  solved.forEach((one, i) => {
    expect(one.method).not.toEqual(exact[i].method);
    expect(Math.abs(one.value - exact[i].value)).toBeLessThan(1e-5 * 100);
    for (const name of ["delta", "gamma", "theta", "vega", "rho"] as const) {
      const difference = Math.abs((one[name] as number) - (exact[i][name] as number)) / NATURAL[name];
      expect({ i, name, difference, fine: difference < part }).toMatchObject({ fine: true });
    }
  });
}

describe("coefficients of time alone", () => {
  it("are taken out of a vanilla option's equation, and for early exercise where they do not vary by much", () => {
    const size = { nodes: 57, steps: 24 };
    expect(markets.every((terms) => isMoving(gridOf(option(terms), size)))).toBe(true);
    const early = (terms: Partial<Terms>): Grid =>
      gridOf(
        option({
          right: "put",
          strike: 100,
          rate: rates.rising,
          sigma: sigmas.falling,
          carry: 0,
          ...terms,
          early: true,
        }),
        size,
      );
    expect(early({}).scheme).toBe("time-dependent");
    expect(early({ sigma: sigmas.jumping }).scheme).toBe("time-dependent");
    // The boundary today is far from the kink at expiry; nothing happens for a third of the life; exercise is in two
    // regions.
    expect(early({ rate: rates.steep, sigma: sigmas.constant }).scheme).toBe("brennan-schwartz");
    expect(early({ sigma: sigmas["none at first"] }).scheme).toBe("brennan-schwartz");
    expect(early({ rate: rates["all of it negative"] }).scheme).toBe("policy");
    expect(isMoving(gridOf(option({ ...markets[0], rate: constant(0.03), sigma: constant(0.2) }), size))).toBe(false);
  });

  it("give Black and Scholes' value and Greeks on a mesh", async () => {
    const trades = markets.map(option);
    const device = new PlainDevice();
    const exact = await priced(trades, { device });
    const solved = await priced(trades, { device, method: "fdm" });
    // Largest difference seen: 3e-5.
    expectAlike(solved, exact, 1e-4);
  });

  it("and of American calls that nobody exercises, without dividends", async () => {
    const calls = markets
      .filter(
        ({ rate, sigma }) => Math.min(...rate.values) >= 0 && sigma !== sigmas["none at first"] && rate !== rates.steep,
      )
      .map((terms): Terms => ({ ...terms, right: "call", carry: 0 }));
    const early = calls.map((terms) => option({ ...terms, early: true }));
    expect(early.every((one) => gridOf(one, { nodes: 57, steps: 24 }).scheme === "time-dependent")).toBe(true);
    const device = new PlainDevice();
    const exact = await priced(calls.map(option), { device });
    const solved = await priced(early, { device });
    expectAlike(solved, exact, 2e-4);
  });

  it("keep the symmetry of puts and calls (McDonald & Schroder 1998)", async () => {
    // P(S, K, r, q) = C(K, S, q, r), with σ of time alone; the two sides have other meshes, steps and obstacles.
    const pairs = [sigmas.falling, sigmas.jumping].flatMap((sigma) =>
      [
        [0.05, 0.02, 110],
        [0.03, 0.03, 95],
        [0.04, 0.06, 100],
      ].map(([r, q, strike]) => [
        option({ right: "put", strike, rate: constant(r), sigma, carry: q, early: true }),
        option({ right: "call", strike: 100, spot: strike, rate: constant(q), sigma, carry: r, early: true }),
      ]),
    );
    const got = await priced(pairs.flat(), { device: new PlainDevice(), accuracy: { relative: 1e-6 }, greeks: "none" });
    pairs.forEach((_, i) => {
      const [put, call] = [got[2 * i].value, got[2 * i + 1].value];
      expect(Math.abs(put - call)).toBeLessThan(2e-6 * 110);
    });
  });

  it("converge to what the mesh of prices does, early exercise included, at order two", async () => {
    const problems = [
      { right: "put", strike: 105, rate: rates.rising, sigma: sigmas.falling, carry: 0.01 },
      { right: "call", strike: 95, rate: rates.falling, sigma: sigmas.falling, carry: 0.06 },
      { right: "put", strike: 105, rate: rates["jumping up"], sigma: sigmas.constant, carry: 0 },
      { right: "put", strike: 100, rate: rates.turning, sigma: sigmas.jumping, carry: 0.02 },
    ].map((terms) => tradeProblem(option({ ...(terms as Terms), early: true }), undefined));
    using solver = new BatchSolver(new PlainDevice(), "f64");
    const value = async ([grid]: readonly [Grid, Grid]): Promise<number> =>
      pointValue(grid, (await solver.solve([instance(grid)]))[0], 1e-12).value;
    const ofPrices = (problem: OneFactorProblem, size: Resolution): readonly [Grid, Grid] => {
      const spec = meshSpecOf(problem, size.nodes, certainExercise(problem));
      return gridsOn(problem, mesh(spec), size, undefined, spec.firstExercised);
    };
    for (const problem of problems) {
      const made = [113, 225, 449].map((nodes) => grids(problem, { nodes, steps: ((nodes - 1) / 28) * 9 }));
      expect(made.every(([grid]) => grid.scheme === "time-dependent")).toBe(true);
      const expected = await value(ofPrices(problem, { nodes: 1793, steps: 1152 }));
      const errors = await Promise.all(made.map(async (grid) => Math.abs((await value(grid)) - expected)));
      expect(Math.log2(errors[0] / errors[2]) / 2).toBeGreaterThan(1.8);
      expect(errors[2]).toBeLessThan(1e-5 * 100);
    }
  });
});
