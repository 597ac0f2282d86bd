/** Conditions on dates and at all times, against reference values that were found by other means. */
import { afterAll, describe, expect, test } from "vitest";
import { createCpuDevice } from "../../../../src/device/cpu/index.ts";
import { hostGpu } from "../../../../src/kernel/host-gpu.ts";
import { readFixture } from "../../../support/fixtures.ts";
import { type AnyProblem, axis, blackScholes, market, orderTable, solveOne } from "./support.ts";

const device = createCpuDevice({ threads: 2 });
afterAll(() => device[Symbol.dispose]());

type Parameters = Readonly<Record<string, number>> & {
  readonly option_type: "put" | "call";
  readonly dividends: readonly (readonly [number, number])[];
};
interface ReferenceCase {
  readonly id: string;
  readonly product: string;
  readonly params: Parameters;
  readonly expected: { readonly price: number; readonly exercise_boundary?: readonly (readonly [number, number])[] };
}
const casesOf = (name: string, product: RegExp): readonly ReferenceCase[] =>
  (readFixture(`reference/${name}.json`) as { cases: readonly ReferenceCase[] }).cases.filter((c) =>
    product.test(c.product),
  );

/** A vanilla in Black and Scholes' model, of which a test gives conditions and points. */
function vanilla(
  { params }: ReferenceCase,
  points: NonNullable<AnyProblem["axes"][string]["points"]> = ["K"],
): AnyProblem {
  const { strike, rate, dividend_yield: q = 0, volatility, maturity, option_type: right } = params;
  return {
    axes: { S: { from: 0, to: "K*max(4, exp(5*sigma*sqrt(T)))", nodes: 801, points, width: "0.2*K" } },
    parameters: { K: strike, r: rate, q, sigma: volatility, T: maturity, sign: right === "put" ? -1 : 1 },
    expiry: "T",
    equation: ({ S, r, q, sigma }) => ({ SS: 0.5 * sigma * sigma * S * S, S: (r - q) * S, V: -r }),
    terminal: "max(sign*(S - K), 0)",
    steps: 400,
    errorEstimate: true,
  };
}

const dates = (maturity: number, count: number): number[] =>
  Array.from({ length: count }, (_, i) => ((i + 1) * maturity) / count);

async function expectPrice(c: ReferenceCase, problem: AnyProblem, accuracy: number): Promise<void> {
  const { value, errorEstimate } = (await solveOne(problem, device)).at(c.params["spot"]);
  const error = value - c.expected.price;
  console.log(
    `${c.id} ${value.toFixed(6)}, ${error.toExponential(1)} off, estimate ${errorEstimate!.toExponential(1)}`,
  );
  expect(Math.abs(error)).toBeLessThan(accuracy);
}

// 801 nodes on a mesh of width 0.2·K: h about 0.3 % of K, an error of about h²·gamma/2 (2e-4 at K = 100, a sixth of the
// vanillas' at 401).
const PER_SPOT = 4e-6;

describe("exercise on dates", () => {
  test.each(casesOf("bermudan-1d", /bermudan/))("$id", async (c) => {
    const at = dates(c.params["maturity"], c.params["n_exercise"]);
    const conditions = [{ kind: "exercise", payoff: "max(sign*(S - K), 0)", at }] as const;
    const problem = { ...vanilla(c), conditions };
    await expectPrice(c, problem, PER_SPOT * c.params["spot"]);
    const { times, levels } = (await solveOne(problem, device)).exerciseBoundary!;
    const errors = c.expected.exercise_boundary!.map(([time, level], i) => {
      expect(times[i]).toBeCloseTo(time, 12);
      return Math.abs(levels[i] - level);
    });
    console.log(`${c.id}: the boundary is ${Math.max(...errors).toExponential(1)} off at most`);
    expect(Math.max(...errors)).toBeLessThan(1e-3 * c.params["strike"]);
  });

  test("its boundary is at those dates: at expiry the strike, before it lower, the payoff's value there", async () => {
    const at = [0, 0.25, 0.5, 0.75, 1];
    const conditions = [{ kind: "exercise", payoff: "K - S", at }] as const;
    const problem = { ...blackScholes, axes: axis(400), terminal: "max(K - S, 0)", conditions } as const;
    const { exerciseBoundary } = await solveOne(problem, device);
    expect([...exerciseBoundary!.times]).toEqual(at);
    const levels = [...exerciseBoundary!.levels];
    expect(levels[4]).toBeCloseTo(100, 9);
    expect(levels).toEqual(levels.toSorted((a, b) => a - b));
    // Holding on at 0.75 is a European put of three months: it is worth K − S at the boundary.
    const european = await solveOne(
      { ...blackScholes, axes: axis(800), terminal: "max(K - S, 0)", expiry: 0.25 },
      device,
    );
    expect(european.at(levels[3]).value - (100 - levels[3])).toBeCloseTo(0, 2);
  });
});

describe("jumps of the state: cash dividends", () => {
  test.each(casesOf("discrete-dividends", /european_spot/))("$id", async (c) => {
    const conditions = c.params.dividends.map(
      ([time, cash]) => ({ kind: "jump", at: [time], to: `max(S - ${cash}, 0)` }) as const,
    );
    await expectPrice(c, { ...vanilla(c), conditions }, 2 * PER_SPOT * c.params["spot"]);
  });
  test.each(casesOf("discrete-dividends", /american_spot/))("$id", async (c) => {
    const jumps = c.params.dividends.map(
      ([time, cash]) => ({ kind: "jump", at: [time], to: `max(S - ${cash}, 0)` }) as const,
    );
    const conditions = [{ kind: "exercise", payoff: "max(sign*(S - K), 0)" } as const, ...jumps];
    await expectPrice(c, { ...vanilla(c), conditions }, 4 * PER_SPOT * c.params["spot"]);
  });

  test("any map, in any order: reflected at 100, of a payoff that this leaves as it is", async () => {
    const problem: AnyProblem = {
      axes: { S: { from: 50, to: 150, nodes: 101 } },
      equation: { SS: "0.5*S", V: -0.1 },
      terminal: "(S - 100)^2",
      expiry: 1,
      conditions: [{ kind: "jump", at: [1], to: "200 - S" }],
    };
    const [plain, reflected] = [
      await solveOne({ ...problem, conditions: [] }, device),
      await solveOne(problem, device),
    ];
    const difference = plain.values.reduce((max, value, i) => Math.max(max, Math.abs(value - reflected.values[i])), 0);
    expect(difference).toBeLessThan(1e-9);
  });
});

describe("knock-out", () => {
  const windows = casesOf("barrier-window-discrete", /window/);
  test.each(windows)("in a window: $id", async (c) => {
    const { barrier, window_start: from, window_end: until } = c.params;
    const side = c.product.includes("up") ? "above" : "below";
    const conditions = [{ kind: "knock-out", [side]: barrier, from, until }] as const;
    await expectPrice(c, { ...vanilla(c, ["K", barrier]), conditions }, 8 * PER_SPOT * c.params["spot"]);
  });

  const discrete = casesOf("barrier-window-discrete", /discrete/);
  test.each(discrete)("on dates: $id", async (c) => {
    const { barrier, maturity, n_monitoring: count } = c.params;
    const side = c.product.includes("up") ? "above" : "below";
    const conditions = [{ kind: "knock-out", [side]: barrier, at: dates(maturity, count) }] as const;
    const points = [{ at: "K" }, { at: barrier, align: "midway" }] as const;
    await expectPrice(c, { ...vanilla(c, points), conditions }, 20 * PER_SPOT * c.params["spot"]);
  });

  test("a barrier that moves in time, exactly one whose problem has a closed form", async () => {
    // With S·e^(−gt) for S, a barrier H·e^(gt) is fixed: a down-and-out call of drift r − g, discounted by r.
    const growth = 0.03;
    const problem = (n: number): AnyProblem => ({
      ...blackScholes,
      axes: axis(n, { points: ["K", 90], to: 400 }),
      terminal: "max(S - K, 0)",
      conditions: [{ kind: "knock-out", below: `90*exp(${growth}*t)` }],
      steps: n,
    });
    const fixed = (n: number): AnyProblem => ({
      ...blackScholes,
      axes: axis(n, { from: 90, to: 400 }),
      equation: ({ S, r, sigma }) => ({ SS: 0.5 * sigma * sigma * S * S, S: (r - 0.03) * S, V: -r }),
      terminal: `max(S*exp(${growth}) - K, 0)`,
      boundaries: { S: { low: { kind: "dirichlet", value: 0 } } },
    });
    const exact = (await solveOne({ ...fixed(1600), steps: 800 }, device)).at(110).value;
    // The barrier moves across the mesh, so that it is met to a node's width: first order.
    const { order } = await orderTable("moving barrier", [100, 200, 400, 800], async (n) =>
      Math.abs((await solveOne(problem(n), device)).at(110).value - exact),
    );
    expect(order).toBeGreaterThanOrEqual(0.8);
  });

  test("pays its value: a one-touch, at the discounted probability", async () => {
    const problem: AnyProblem = {
      ...blackScholes,
      axes: axis(800, { points: [90, "K"] }),
      terminal: 0,
      conditions: [{ kind: "knock-out", below: 90, value: 10 }],
    };
    // Reiner and Rubinstein (1991): K·((H/S)^(μ+λ)·N(z) + (H/S)^(μ−λ)·N(z − 2λσ√T)), paid at the touch.
    const { r, sigma, T } = market;
    const mu = (r - 0.5 * sigma ** 2) / sigma ** 2;
    const lambda = Math.sqrt(mu ** 2 + (2 * r) / sigma ** 2);
    const H = 90;
    const S = 100;
    const z = Math.log(H / S) / (sigma * Math.sqrt(T)) + lambda * sigma * Math.sqrt(T);
    const touch =
      10 *
      ((H / S) ** (mu + lambda) * hostGpu.normalCdf(z) +
        (H / S) ** (mu - lambda) * hostGpu.normalCdf(z - 2 * lambda * sigma * Math.sqrt(T)));
    expect((await solveOne(problem, device)).at(S).value).toBeCloseTo(touch, 3);
  });
});

describe("exercise at all times", () => {
  test("the perpetual put: its value and its boundary", async () => {
    // McKean (1965): S* = K·β/(β − 1), V = (K − S*)(S/S*)^β, β = −2r/σ².
    const { K, r, sigma } = market;
    const beta = (-2 * r) / sigma ** 2;
    const edge = (K * beta) / (beta - 1);
    const problem: AnyProblem = {
      ...blackScholes,
      axes: { S: { from: 20, to: 20_000, nodes: 601, coordinate: "log", points: ["K"], width: 0.3 } },
      terminal: "max(K - S, 0)",
      expiry: 150,
      steps: 600,
      conditions: [{ kind: "exercise", payoff: "max(K - S, 0)" }],
    };
    const solution = await solveOne(problem, device);
    expect(solution.at(100).value).toBeCloseTo((K - edge) * (K / edge) ** beta, 2);
    expect(solution.exerciseBoundary!.levels[0]).toBeCloseTo(edge, 1);
  });

  test("the boundary of a put, in order of time, converges", async () => {
    const boundary = async (n: number): Promise<(t: number) => number> => {
      const problem = { ...blackScholes, axes: axis(n), terminal: "max(K - S, 0)", steps: n } as const;
      const { exerciseBoundary } = await solveOne(
        { ...problem, conditions: [{ kind: "exercise", payoff: "max(K - S, 0)" }] },
        device,
      );
      const { times, levels } = exerciseBoundary!;
      return (t) => {
        const i = times.findIndex((time) => time > t) - 1;
        return levels[i] + ((levels[i + 1] - levels[i]) * (t - times[i])) / (times[i + 1] - times[i]);
      };
    };
    const fine = await boundary(1600);
    const times = [0, 0.2, 0.4, 0.6, 0.8];
    expect(times.map(fine)).toEqual(times.map(fine).toSorted((a, b) => a - b));
    const { order, errors } = await orderTable("boundary of an American put", [100, 200, 400, 800], async (n) => {
      const coarse = await boundary(n);
      return times.reduce((sum, t) => sum + Math.abs(coarse(t) - fine(t)), 0) / times.length;
    });
    expect(order).toBeGreaterThanOrEqual(0.9);
    expect(errors[3]).toBeLessThan(0.05);
  });

  test("a call's region is at the high end, whatever the method", async () => {
    const values: number[] = [];
    for (const method of ["penalty", "brennan-schwartz", "operator-splitting"] as const) {
      const problem: AnyProblem = {
        axes: axis(400),
        parameters: { K: 100, r: 0.03, q: 0.08, sigma: 0.25 },
        expiry: 1,
        equation: ({ S, r, q, sigma }) => ({ SS: 0.5 * sigma * sigma * S * S, S: (r - q) * S, V: -r }),
        terminal: "max(S - K, 0)",
        conditions: [{ kind: "exercise", payoff: "max(S - K, 0)", method }],
        steps: 400,
      };
      const solution = await solveOne(problem, device);
      values.push(solution.at(100).value);
      const { levels } = solution.exerciseBoundary!;
      expect(levels[0]).toBeGreaterThan(115);
      expect(levels[levels.length - 1]).toBeGreaterThan(100 - 1e-6);
      expect(solution.nodes[0]).toBe(0);
    }
    expect(values[0]).toBeCloseTo(values[1], 8);
    expect(values[2]).toBeCloseTo(values[0], 2);
  });

  test("penalty finds regions that are not at an end: a straddle exercised on both sides, above its European value", async () => {
    const problem: AnyProblem = {
      ...blackScholes,
      parameters: { K: 100, r: 0.08, sigma: 0.2 },
      equation: ({ S, r, sigma }) => ({ SS: 0.5 * sigma * sigma * S * S, S: -0.02 * S, V: -r }),
      axes: axis(400),
      terminal: "abs(S - K)",
      conditions: [{ kind: "exercise", payoff: "abs(S - K)" }],
    };
    const { nodes, values } = await solveOne(problem, device);
    const exercised = [...nodes].map((S, i) => values[i] - Math.abs(S - 100) < 1e-12 * Math.abs(S - 100));
    const first = exercised.indexOf(false);
    const last = exercised.lastIndexOf(false);
    expect(first).toBeGreaterThan(0);
    expect(last).toBeLessThan(nodes.length - 1);
    expect(exercised.slice(first, last + 1).every((yes) => !yes)).toBe(true);
    expect(values.every((value, i) => value >= Math.abs(nodes[i] - 100))).toBe(true);
  });

  test("not inside a knock-out", async () => {
    const problem: AnyProblem = {
      ...blackScholes,
      axes: axis(200, { points: [80, "K"] }),
      terminal: "max(K - S, 0)",
      conditions: [
        { kind: "exercise", payoff: "max(K - S, 0)" },
        { kind: "knock-out", below: 80 },
      ],
    };
    const { nodes, values } = await solveOne(problem, device);
    expect([...values].filter((_, i) => nodes[i] <= 80).every((value) => value === 0)).toBe(true);
    // The put is exercised at 81 at the lowest, before it is knocked out. Hence it is worth as much as without a
    // barrier: QuantLib 1.29's QdFpAmericanEngine. h is 2, and the error h² times gamma (0.02), about.
    expect(Math.abs(values[nodes.indexOf(100)] - 6.0903706)).toBeLessThan(0.02);
    const alive = [...nodes.keys()].filter((i) => nodes[i] > 80);
    expect(alive.length).toBeGreaterThan(100);
    for (const i of alive) expect(values[i]).toBeGreaterThanOrEqual(Math.max(100 - nodes[i], 0) - 1e-9);
  });
});
