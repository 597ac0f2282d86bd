/** Observed orders of convergence of user-written equations, against closed forms and published American prices. */
import { afterAll, describe, expect, test } from "vitest";
import { createCpuDevice } from "../../../../src/device/cpu/index.ts";
import type { SchemeChoice } from "../../../../src/pde/fdm/index.ts";
import { cevPrice } from "../../../market/models/cev.ts";
import { readFixture } from "../../../support/fixtures.ts";
import {
  type AnyProblem,
  axis,
  blackScholes,
  call,
  digitalCall,
  downAndOutCall,
  market,
  orderTable,
  put,
  solveOne,
  worst,
} from "./support.ts";

const device = createCpuDevice({ threads: 2 });
afterAll(() => device[Symbol.dispose]());

const SPOTS = [91, 95, 100, 104.3, 115];
const LEVELS = [50, 100, 200, 400];
const payoffPut = "max(K - S, 0)";
const payoffCall = "max(S - K, 0)";
const barrier = 90;

interface Case {
  readonly name: string;
  readonly problem: (n: number) => AnyProblem;
  readonly exact: (S: number) => number;
}

const cnSteps = (n: number): { steps: number } => ({ steps: n / 2 });
const schemes: readonly { readonly name: string; readonly scheme: SchemeChoice }[] = [
  { name: "CN-Rannacher", scheme: { kind: "crank-nicolson" } },
  { name: "TR-BDF2", scheme: { kind: "tr-bdf2" } },
];
const products: readonly Case[] = [
  { name: "put", exact: put, problem: (n) => ({ ...blackScholes, axes: axis(n), terminal: payoffPut }) },
  {
    name: "put, tanh density",
    exact: put,
    problem: (n) => ({ ...blackScholes, axes: axis(n, { density: "tanh" }), terminal: payoffPut }),
  },
  {
    name: "put, uniform mesh",
    exact: put,
    problem: (n) => ({ ...blackScholes, axes: axis(n, { density: "uniform" }), terminal: payoffPut }),
  },
  {
    name: "call, ln S, linear ends",
    exact: call,
    problem: (n) => ({
      ...blackScholes,
      axes: axis(n, { from: 20, to: 500, coordinate: "log" }),
      terminal: payoffCall,
    }),
  },
  {
    name: "call, ln S, Neumann ends",
    exact: call,
    problem: (n) => ({
      ...blackScholes,
      axes: axis(n, { from: 20, to: 500, coordinate: "log" }),
      terminal: payoffCall,
      boundaries: { S: { low: { kind: "neumann", slope: 0 }, high: { kind: "neumann", slope: 1 } } },
    }),
  },
  {
    name: "call, Dirichlet in time",
    exact: call,
    problem: (n) => ({
      ...blackScholes,
      axes: axis(n),
      terminal: payoffCall,
      boundaries: { S: { high: { kind: "dirichlet", value: "S - K*exp(-r*(1 - t))" } } },
    }),
  },
  {
    name: "digital, strike midway",
    exact: digitalCall,
    problem: (n) => ({
      ...blackScholes,
      axes: axis(n, { points: [{ at: "K", align: "midway" }] }),
      terminal: ({ S, K }) => (S > K ? 1 : 0),
    }),
  },
  {
    name: "down-and-out call, Dirichlet",
    exact: (S) => downAndOutCall(S, barrier),
    problem: (n) => ({
      ...blackScholes,
      axes: axis(n, { from: barrier }),
      terminal: payoffCall,
      boundaries: { S: { low: { kind: "dirichlet", value: 0 } } },
    }),
  },
];

describe("nodes and steps doubled together: order two", () => {
  for (const { name: by, scheme } of schemes)
    test.each(products)(`$name, ${by}`, async ({ name, problem, exact }) => {
      const { order } = await orderTable(`${name}, ${by}`, LEVELS, async (n) =>
        worst(await solveOne({ ...problem(n), scheme, ...cnSteps(n) }, device), exact, SPOTS),
      );
      expect(order).toBeGreaterThanOrEqual(1.9);
    });

  test("knock-out region in place of an end", async () => {
    // V has a kink at the barrier, so readings keep away from it.
    const spots = SPOTS.filter((S) => S >= 100);
    const { order } = await orderTable("down-and-out call, region", [100, 200, 400, 800], async (n) => {
      const problem = {
        ...blackScholes,
        axes: axis(n, { points: [barrier, "K"] }),
        terminal: payoffCall,
        conditions: [{ kind: "knock-out", below: barrier }],
        ...cnSteps(n),
      } as const;
      return worst(await solveOne(problem, device), (S) => downAndOutCall(S, barrier), spots);
    });
    expect(order).toBeGreaterThanOrEqual(1.9);
  });

  test("CEV, absorbed at zero", async () => {
    const option = {
      right: "call",
      strike: 100,
      expiry: 1,
      rate: 0.05,
      dividendYield: 0.02,
      sigma: 2,
      beta: 0.5,
    } as const;
    const { order } = await orderTable("CEV call", LEVELS, async (n) => {
      const problem: AnyProblem = {
        axes: axis(n),
        parameters: { K: 100, r: 0.05, q: 0.02, sigma: 2, beta: 0.5 },
        expiry: 1,
        equation: ({ S, r, q, sigma, beta }) => ({ SS: 0.5 * sigma * sigma * S ** (2 * beta), S: (r - q) * S, V: -r }),
        terminal: payoffCall,
        boundaries: { S: { low: { kind: "dirichlet", value: 0 } } },
        ...cnSteps(n),
      };
      return worst(await solveOne(problem, device), (spot) => cevPrice({ ...option, spot }), SPOTS);
    });
    expect(order).toBeGreaterThanOrEqual(1.9);
  });
});

describe("Greeks are read with order two as well", () => {
  test("delta and gamma of a put", async () => {
    const { r, sigma, T, K } = market;
    const bump = 1e-3;
    const gamma = (S: number): number => (put(S + bump) - 2 * put(S) + put(S - bump)) / bump ** 2;
    const delta = (S: number): number => (put(S + bump) - put(S - bump)) / (2 * bump);
    expect(gamma(K)).toBeCloseTo(
      Math.exp(-0.5 * (r / sigma + sigma / 2) ** 2 * T) / (Math.sqrt(2 * Math.PI) * K * sigma),
      6,
    );
    for (const [name, exact, key] of [
      ["delta", delta, "first"],
      ["gamma", gamma, "second"],
    ] as const) {
      const { order } = await orderTable(`put, ${name}`, LEVELS, async (n) => {
        const solution = await solveOne({ ...blackScholes, axes: axis(n), terminal: payoffPut, ...cnSteps(n) }, device);
        return Math.max(...SPOTS.map((S) => Math.abs(solution.at(S)[key] - exact(S))));
      });
      expect(order).toBeGreaterThanOrEqual(1.9);
    }
  });
});

describe("order in time, on one mesh, against 4,000 steps of TR-BDF2, extrapolated", () => {
  const problem = { ...blackScholes, axes: axis(400), terminal: payoffPut } as const;
  const exact = solveOne({ ...problem, steps: 4000, scheme: { kind: "tr-bdf2" }, extrapolate: "time" }, device);
  const cases: readonly (readonly [string, Partial<AnyProblem>, number])[] = [
    ["implicit Euler", { scheme: { kind: "implicit-euler" } }, 0.95],
    ["θ = 0.7", { scheme: { kind: "theta", theta: 0.7 } }, 0.95],
    ["CN-Rannacher", { scheme: { kind: "crank-nicolson" } }, 1.9],
    ["TR-BDF2", { scheme: { kind: "tr-bdf2" } }, 1.9],
    ["CN-Rannacher, lengths doubling three times", { grading: 4 }, 1.9],
    ["implicit Euler, extrapolated", { scheme: { kind: "implicit-euler" }, extrapolate: "time" }, 1.9],
    ["TR-BDF2, extrapolated", { scheme: { kind: "tr-bdf2" }, extrapolate: "time" }, 2.8],
  ];
  test.each(cases)("%s", async (name, more, min) => {
    const reference = await exact;
    const { order } = await orderTable(name, [16, 32, 64, 128], async (steps) =>
      worst(await solveOne({ ...problem, ...more, steps }, device), (S) => reference.at(S).value, SPOTS),
    );
    expect(order).toBeGreaterThanOrEqual(min);
  });
});

describe("extrapolation", () => {
  test("in space: order four", async () => {
    const { order, errors } = await orderTable("put, extrapolated in space", [52, 104, 208], async (n) => {
      const problem = {
        ...blackScholes,
        axes: axis(n),
        terminal: payoffPut,
        steps: 2000,
        extrapolate: "space",
      } as const;
      return worst(await solveOne(problem, device), put, SPOTS);
    });
    expect(order).toBeGreaterThanOrEqual(3.4);
    expect(errors[2]).toBeLessThan(2e-6);
  });
  test("in both, nodes and steps doubled together", async () => {
    const { order } = await orderTable("put, extrapolated in both", LEVELS, async (n) => {
      const problem = { ...blackScholes, axes: axis(n), terminal: payoffPut, steps: n, extrapolate: "both" } as const;
      return worst(await solveOne(problem, device), put, SPOTS);
    });
    expect(order).toBeGreaterThanOrEqual(3.5);
  });
});

interface ReferenceCase {
  readonly id: string;
  readonly product: string;
  readonly params: Readonly<Record<string, number>> & { readonly option_type: "put" | "call" };
  readonly expected: { readonly price: number };
}
const reference = (readFixture("reference/american-bermudan-1d.json") as { cases: readonly ReferenceCase[] }).cases;
const american = reference.filter(({ product }) => product === "american_vanilla");

/** An American vanilla as a user would write it. */
function americanProblem({ params }: ReferenceCase, n: number): AnyProblem {
  const { strike, rate, dividend_yield: q, volatility, maturity, option_type: right } = params;
  return {
    axes: { S: { from: 0, to: "K*max(5, exp(5*sigma*sqrt(T)))", nodes: n + 1, points: ["K"], width: "0.25*K" } },
    parameters: { K: strike, r: rate, q, sigma: volatility, T: maturity, sign: right === "put" ? -1 : 1 },
    expiry: "T",
    equation: ({ S, r, q, sigma }) => ({ SS: 0.5 * sigma * sigma * S * S, S: (r - q) * S, V: -r }),
    terminal: "max(sign*(S - K), 0)",
    ...cnSteps(n),
  };
}

describe("American options of the reference table", () => {
  const payoff = "max(sign*(S - K), 0)";
  const chosen = american.filter(({ id }) => ["AMR-O-01", "AMR-O-06", "AMR-O-10", "AMR-O-14"].includes(id));
  for (const method of ["penalty", "brennan-schwartz"] as const)
    for (const { name: by, scheme } of schemes)
      test.each(chosen)(`$id, ${method}, ${by}: order two`, async (c) => {
        const { order } = await orderTable(`${c.id}, ${method}, ${by}`, LEVELS, async (n) => {
          const problem = {
            ...americanProblem(c, n),
            scheme,
            conditions: [{ kind: "exercise", payoff, method }],
          } as const;
          return Math.abs((await solveOne(problem, device)).at(c.params["spot"]).value - c.expected.price);
        });
        expect(order).toBeGreaterThanOrEqual(1.9);
      });

  // The multiplier lags by a step where the boundary moves: first order there, whatever the scheme.
  test("operator splitting converges, with first order in time", async () => {
    const [c] = american;
    const fine = await solveOne(
      { ...americanProblem(c, 400), steps: 3200, conditions: [{ kind: "exercise", payoff }] },
      device,
    );
    const { order } = await orderTable(`${c.id}, operator splitting, in time`, [50, 100, 200, 400], async (steps) => {
      const conditions = [{ kind: "exercise", payoff, method: "operator-splitting" }] as const;
      const solution = await solveOne({ ...americanProblem(c, 400), steps, conditions }, device);
      return Math.abs(solution.at(c.params["spot"]).value - fine.at(c.params["spot"]).value);
    });
    expect(order).toBeGreaterThanOrEqual(0.8);
  });

  // One is beyond its estimate, AMR-O-15: over ten years most of its error is of the exercise boundary, which lies
  // otherwise between the nodes of each mesh.
  test("of all 19 at least 18 are within their own error estimates, none beyond four of them", async () => {
    const rows: string[] = [];
    let within = 0;
    for (const c of american) {
      const problem = {
        ...americanProblem(c, 400),
        conditions: [{ kind: "exercise", payoff }],
        errorEstimate: true,
      } as const;
      const { value, errorEstimate = NaN } = (await solveOne(problem, device)).at(c.params["spot"]);
      const error = Math.abs(value - c.expected.price);
      rows.push(`${c.id} ${error.toExponential(1)} ± ${errorEstimate.toExponential(1)}`);
      expect(error).toBeLessThan(4 * errorEstimate);
      if (error < errorEstimate) within++;
    }
    console.log(rows.join("; "));
    expect(american).toHaveLength(19);
    expect(within).toBeGreaterThanOrEqual(18);
  });
});
