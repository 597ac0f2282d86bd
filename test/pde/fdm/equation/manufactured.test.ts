/**
 * A manufactured solution with every coefficient in use and in time, for all kinds of ends, coordinates and directions:
 *
 *   V = (1 + t)³/(1 + x),   a = (1 + 0.3/(1 + x))(1 + t/2)/2, b = 0.2·(2 − x), c = −0.1·x, d what makes V a solution.
 */
import { afterAll, describe, expect, test } from "vitest";
import { createCpuDevice } from "../../../../src/device/cpu/index.ts";
import { solve } from "../../../../src/pde/fdm/index.ts";
import { timeProgram } from "../../../../src/pde/fdm/time/timeline.ts";
import { crankNicolson, trBdf2 } from "../../../../src/pde/fdm/time/schemes.ts";
import { hostGpu } from "../../../../src/kernel/host-gpu.ts";
import { type AnyProblem, axis, blackScholes, market, orderTable, solveOne, worst } from "./support.ts";

const device = createCpuDevice({ threads: 2 });
afterAll(() => device[Symbol.dispose]());

const V = "(1 + t)^3/(1 + x)";
const a = "0.5*(1 + 0.3/(1 + x))*(1 + t/2)";
const b = "0.2*(2 - x)";
const c = "(-0.1*x)";
const slope = "(0 - (1 + t)^3/((1 + x)*(1 + x)))";
const d = `(-3*(1 + t)*(1 + t)/(1 + x)) - ${a}*2*${V}/((1 + x)*(1 + x)) - ${b}*${slope} - ${c}*${V}`;
const exact = (x: number): number => 1 / (1 + x);
const manufactured: AnyProblem = {
  axes: { x: { from: 0.5, to: 3 } },
  equation: { xx: a, x: b, V: c, source: d },
  terminal: V,
  expiry: 1,
};
const POINTS = [0.5, 0.8, 1.3, 2.2, 2.9, 3];

const ends: Readonly<Record<string, NonNullable<AnyProblem["boundaries"]>>> = {
  Dirichlet: { x: { low: { kind: "dirichlet", value: V }, high: { kind: "dirichlet", value: V } } },
  Neumann: { x: { low: { kind: "neumann", slope }, high: { kind: "neumann", slope } } },
  "Dirichlet and Neumann": { x: { low: { kind: "dirichlet", value: V }, high: { kind: "neumann", slope } } },
  "Neumann and Dirichlet": { x: { low: { kind: "neumann", slope }, high: { kind: "dirichlet", value: V } } },
};

describe.each([
  ["crank-nicolson", "linear", false],
  ["crank-nicolson", "log", true],
  ["tr-bdf2", "log", false],
  ["tr-bdf2", "linear", true],
] as const)("order two: %s, %s coordinate, nodes descending: %j", (kind, coordinate, descending) => {
  test.each(Object.keys(ends))("%s", async (name) => {
    const { order } = await orderTable(`${kind}, ${coordinate}, ${name}`, [20, 40, 80, 160], async (n) => {
      const problem: AnyProblem = {
        ...manufactured,
        axes: { x: { from: 0.5, to: 3, nodes: n + 1, coordinate, points: [{ at: 1, align: "none" }], width: 0.5 } },
        boundaries: ends[name],
        scheme: { kind },
        steps: n,
        // Never exercised; but nodes run from where it would be.
        conditions: [
          { kind: "exercise", payoff: -1000, side: descending ? "high" : "low", method: "brennan-schwartz" },
        ],
        grading: 1,
      };
      return worst(await solveOne(problem, device), exact, POINTS);
    });
    expect(order).toBeGreaterThanOrEqual(1.9);
  });
});

test("zero curvature in the coordinate, linear in S: exact for solutions that are so, at any mesh", async () => {
  const { r, K } = market;
  const forward: AnyProblem = {
    ...blackScholes,
    terminal: "S - K",
    axes: axis(20, { from: 20, coordinate: "log" }),
    steps: 400,
  };
  const { values, nodes } = await solveOne(forward, device);
  // Linear in S, so without error in space but for three-point differences of e^x between the ends.
  values.forEach((value, i) => expect(Math.abs(value - (nodes[i] - K * Math.exp(-r)))).toBeLessThan(2e-2 * nodes[i]));
  const logarithm: AnyProblem = {
    axes: { S: { from: 20, to: 500, coordinate: "log", nodes: 21 } },
    equation: { SS: "0.02*S^2", S: "0.02*S" },
    terminal: "log(S)",
    expiry: 1,
    boundaries: { S: { low: { kind: "zero-curvature" }, high: { kind: "zero-curvature" } } },
  };
  // ½σ²S²·(−1/S²) + rS/S = −0.02 + 0.02 = 0: ln S stays ln S, and is linear in x = ln S.
  const solution = await solveOne(logarithm, device);
  solution.values.forEach((value, i) => expect(value).toBeCloseTo(Math.log(solution.nodes[i]), 10));
});

test("volatility and rate in time: order two, against Black and Scholes with their means", async () => {
  const { K, T } = market;
  // σ² = 0.04·(0.5 + t), r = 0.02 + 0.06·t: means 0.04 and 0.05.
  const width = 0.2 * Math.sqrt(T);
  const put = (S: number): number => {
    const d1 = (Math.log(S / K) + 0.05 * T) / width + width / 2;
    return K * Math.exp(-0.05 * T) * hostGpu.normalCdf(width - d1) - S * hostGpu.normalCdf(-d1);
  };
  for (const kind of ["crank-nicolson", "tr-bdf2"] as const) {
    const { order } = await orderTable(`σ(t), r(t), ${kind}`, [50, 100, 200, 400], async (n) => {
      const problem: AnyProblem = {
        axes: axis(n),
        parameters: { K },
        equation: { SS: "0.02*(0.5 + t)*S^2", S: "(0.02 + 0.06*t)*S", V: "-0.02 - 0.06*t" },
        terminal: "max(K - S, 0)",
        expiry: T,
        scheme: { kind },
        steps: n / 2,
      };
      return worst(await solveOne(problem, device), put, [91, 100, 104.3, 115]);
    });
    expect(order).toBeGreaterThanOrEqual(1.9);
  }
});

test("a problem of formulas may travel as JSON", async () => {
  const problem: AnyProblem = { ...manufactured, boundaries: ends["Dirichlet"], steps: 10 };
  const travelled = JSON.parse(JSON.stringify(problem)) as AnyProblem;
  const [here, there] = [await solve(problem, { device }), await solve(travelled, { device })];
  expect([...there.entries[0].values]).toEqual([...here.entries[0].values]);
});

describe("the program of a time grid", () => {
  const spec = {
    scheme: crankNicolson,
    steps: 100,
    refinement: 1,
    grading: 1,
    rannacherSteps: 2,
    damped: false,
    matrixInTime: false,
    obstacleInTime: false,
    record: "none",
    exercise: -1,
  } as const;
  const alone = { dates: [0, 1], events: [[], []], regions: [0] };
  const factorisations = (program: { readonly words: Int32Array }): number =>
    program.words.filter((word, i) => i % 2 === 0 && (word & 1) !== 0).length;

  test("a matrix that does not depend on time is factored once for each step length", () => {
    const program = timeProgram(spec, alone);
    expect(program.words.length / 2).toBe(102);
    expect(factorisations(program)).toBe(1);
    expect(factorisations(timeProgram({ ...spec, scheme: trBdf2, rannacherSteps: 0 }, alone))).toBe(1);
    expect(factorisations(timeProgram({ ...spec, grading: 4 }, alone))).toBe(4);
    expect(factorisations(timeProgram({ ...spec, matrixInTime: true }, alone))).toBe(102);
  });

  test("steps double after expiry, and Rannacher's steps begin anew after a date", () => {
    const { words, reals } = timeProgram(
      { ...spec, grading: 3 },
      { dates: [0, 0.5, 1], events: [[], [0], []], regions: [0, 0] },
    );
    const rows = [...words].filter((_, i) => i % 2 === 0);
    const event = rows.findIndex((word) => (word & 8) !== 0);
    const lengths = rows.map((_, i) => reals[6 * i + 2]);
    const euler = rows.map((_, i) => reals[6 * i + 5] === 1);
    expect(euler.slice(0, 5)).toEqual([true, true, true, true, false]);
    expect(euler.slice(event + 1, event + 6)).toEqual([true, true, true, true, false]);
    for (const first of [0, event + 1]) {
      const last = first === 0 ? event - 1 : rows.length - 1;
      expect(lengths[last] / lengths[first]).toBeCloseTo(4, 9);
    }
  });
});
