/** What a user gets told: where in the problem, what was found, what to do. */
import { afterAll, describe, expect, test } from "vitest";
import { createCpuDevice } from "../../../../src/device/cpu/index.ts";
import { KernelError, SpecError } from "../../../../src/base/errors.ts";
import { type EquationProblem, solve } from "../../../../src/pde/fdm/index.ts";
import { type AnyProblem, axis, blackScholes, solveOne } from "./support.ts";

const device = createCpuDevice({ threads: 1 });
afterAll(() => device[Symbol.dispose]());

const base: AnyProblem = { ...blackScholes, axes: axis(40), terminal: "max(K - S, 0)", steps: 4 };
const refused = async (more: object): Promise<Error> =>
  solve({ ...base, ...more }, { device }).then(
    () => new Error("solved"),
    (error: Error) => error,
  );

describe("a problem that cannot be solved is refused with its place", () => {
  const cases: readonly (readonly [string, object, RegExp])[] = [
    [
      "four axes",
      { axes: { ...base.axes, u: { from: 0, to: 1 }, v: { from: 0, to: 1 }, w: { from: 0, to: 1 } } },
      /^axes: 4 axes \(S, u, v, w\), expected one to three/,
    ],
    ["no axis", { axes: {} }, /^axes: 0 axes, expected one to three/],
    ["from above to", { axes: { S: { from: 4, to: "K/100" } } }, /^axes\.S: from 4 to 1 for K = 100, r = 0\.05/],
    [
      "ln 0",
      { axes: { S: { from: 0, to: 4, coordinate: "log" } } },
      /^axes\.S\.from: got 0, expected a positive number/,
    ],
    [
      "an even number of nodes for two meshes",
      { axes: axis(41), errorEstimate: true },
      /^axes\.S\.nodes: got 42, .*; use 43/,
    ],
    ["few nodes", { axes: axis(3) }, /^axes\.S\.nodes: got 4, expected a whole number from 7/],
    [
      "a point outside",
      { axes: axis(40, { points: ["K", 50, "9*K"] }) },
      /^axes\.S\.points\[2\]: 900 is outside the axis, 0 to 400/,
    ],
    [
      "an unknown alignment",
      { axes: axis(40, { points: [{ at: 1, align: "middle" }] }) },
      /^axes\.S\.points\[0\]\.align: got "middle"/,
    ],
    [
      "a quantity of the state",
      { axes: axis(40, { to: "2*S" }) },
      /^axes\.S\.to: .*S is unknown[^]*the variables are K, r, sigma/,
    ],
    [
      "arrays of two lengths",
      { parameters: { K: [1, 2], r: [1, 2, 3], sigma: 1 } },
      /^parameters\.r: 3 values, others have 2/,
    ],
    ["a parameter that is no number", { parameters: { K: 100, r: NaN, sigma: 1 } }, /^parameters\.r: got NaN/],
    ["a parameter named as the axis", { parameters: { S: 1 } }, /^parameters\.S: the name S is taken by axes\.S/],
    [
      "a coefficient of another name",
      { equation: { SS: 1, v: 2 } },
      /^equation\.v: unknown; the coefficients are SS, S, V, source/,
    ],
    [
      "a function's coefficient of another name",
      { equation: () => ({ ss: 1 }) },
      /^equation\.ss: unknown; the coefficients on the axis S are SS/,
    ],
    [
      "a formula's mistake",
      { equation: { SS: "0.5*sigm^2" } },
      /^equation\.SS at .*errors\.test\.ts:72:30: sigm is unknown/,
    ],
    ["no equation", { equation: 7 }, /^equation: got a number, expected a function/],
    ["a negative life", { expiry: "r - 1" }, /^expiry: -0\.95 for K = 100.*; expected a positive number of years/],
    ["odd steps for two grids", { steps: 5, extrapolate: "time" }, /^steps: got 5, expected an even number.*use 6/],
    ["an unstable θ", { scheme: { kind: "theta", theta: 0.3 } }, /^scheme\.theta: got 0\.3, expected ½ … 1/],
    ["an unknown scheme", { scheme: { kind: "leapfrog" } }, /^scheme\.kind: got "leapfrog", expected implicit-euler/],
    [
      "an unknown boundary",
      { boundaries: { S: { low: { kind: "robin" } } } },
      /^boundaries\.S\.low\.kind: got "robin"/,
    ],
    ["a boundary of no axis", { boundaries: { r: {} } }, /^boundaries\.r: there is no such axis; expected S/],
    ["a jump without dates", { conditions: [{ kind: "jump", to: 1 }] }, /^conditions\[0\]\.at: missing/],
    [
      "a date after expiry",
      { conditions: [{ kind: "jump", at: [0.5, 2], to: "S" }] },
      /^conditions\[0\]\.at\[1\]: 2 is outside the life, 0 to 1/,
    ],
    ["a region without an edge", { conditions: [{ kind: "knock-out" }] }, /^conditions\[0\]: neither below nor above/],
    [
      "exercise twice",
      {
        conditions: [
          { kind: "exercise", payoff: 1 },
          { kind: "exercise", payoff: 2 },
        ],
      },
      /^conditions\[1\]: a second "exercise"/,
    ],
    ["a word that is not known", { step: 10 }, /^step: unknown; expected one of axes, parameters/],
    ["a word of an axis that is not known", { axes: axis(40, { point: [1] }) }, /^axes\.S\.point: unknown/],
    [
      "a word of a condition that is not known",
      { conditions: [{ kind: "jump", at: [1], map: "S" }] },
      /^conditions\[0\]\.map: unknown/,
    ],
    [
      "a window that ends before it starts",
      { conditions: [{ kind: "knock-out", below: 1, from: 0.5, until: 0.2 }] },
      /^conditions\[0\]: from 0\.5 until 0\.2/,
    ],
    [
      "dates and a window",
      { conditions: [{ kind: "knock-out", below: 1, at: [1], from: 0.5 }] },
      /^conditions\[0\]: both dates and a window/,
    ],
    [
      "calls and puts in one batch",
      {
        parameters: { K: 100, r: 0.05, sigma: 0.2, sign: [1, 1, -1] },
        conditions: [{ kind: "exercise", payoff: "sign*(S - K)" }],
      },
      /^conditions\[0\]\.side: the payoff is larger at the high end for entry 0 and at the low end for entry 2/,
    ],
    ["no object for an axis", { axes: { S: 5 } }, /^axes\.S: got a number, expected an object with from and to/],
    ["a number for the points", { axes: axis(40, { points: 100 }) }, /^axes\.S\.points: got a number, expected a list/],
    ["one condition, in no list", { conditions: { kind: "jump" } }, /^conditions: got an object, expected a list/],
    [
      "one date, in no list",
      { conditions: [{ kind: "jump", at: 0.5, to: "S" }] },
      /^conditions\[0\]\.at: got a number, exp/,
    ],
    ["the word alone for a scheme", { scheme: "tr-bdf2" }, /^scheme: got a string, expected an object with its kind/],
    ["a word of a scheme that is not known", { scheme: { kind: "theta", thetta: 1 } }, /^scheme\.thetta: unknown/],
    [
      "an end that is not known",
      { boundaries: { S: { lo: {} } } },
      /^boundaries\.S\.lo: unknown; expected one of low, high/,
    ],
    [
      "a word of an end that is not known",
      { boundaries: { S: { low: { kind: "dirichlet", val: 1 } } } },
      /^boundaries\.S\.low\.val: unknown/,
    ],
    ["no expiry", { expiry: undefined }, /^expiry: got nothing, expected a number or a formula/],
    [
      "a parameter as text",
      { parameters: { K: "100", r: 0, sigma: 0.2 } },
      /^parameters\.K: got a string, expected a number/,
    ],
    [
      "parameters as text",
      { parameters: { K: ["100"], r: 0, sigma: 0.2 } },
      /^parameters\.K: got a string, expected a finite number/,
    ],
    [
      "a function that returns nothing",
      { terminal: () => {} },
      /^terminal at .*errors\.test\.ts:\d+:\d+: returns nothing, expected a number[^]*remedy: return a number/,
    ],
    [
      "a function that returns text",
      { terminal: () => "a" },
      /^terminal.*: returns a string, expected a number[^]*\^[^]*remedy:/,
    ],
    [
      "a function that returns a comparison",
      { terminal: ({ S }: any) => S > 1 },
      /^terminal.*: returns true or false, expected a number[^]*remedy: write condition \? 1 : 0/,
    ],
    [
      "a function of positions",
      { terminal: (S: any) => S },
      /^terminal.*: returns the state as a whole, expected a number[^]*remedy: .*\(\{ S \}\) => …/,
    ],
    [
      "an async function",
      { terminal: async ({ S }: any) => S },
      /^terminal.*: an async function: a kernel does not wait[^]*remedy: leave async out/,
    ],
    [
      "a parameter that is not there",
      { terminal: ({ S, strike }: any) => S - strike },
      /^terminal.*: there is no strike here[^]*there are: t, S, K, r, sigma/,
    ],
    [
      "a regular expression",
      { conditions: [{ kind: "exercise", payoff: ({ S }: any) => (/1/ as any) * S }] },
      /^conditions\[0\]\.payoff.*: a regular expression is not part of the kernel language|object is not part/,
    ],
    ["more nodes than fit", { axes: axis(40_000) }, /^axes\.S\.nodes: 40001, at most \d+ on CPU/],
  ];
  test.each(cases)("%s", async (_, more, message) => {
    const error = await refused(more);
    expect(error.message).toMatch(message);
    expect(error).toBeInstanceOf(
      error.message.includes("remedy:") && !error.message.startsWith("axes") ? KernelError : SpecError,
    );
  });

  test("a function that uses what stands around it: the line, and how to give it", async () => {
    const rate = 0.05;
    const error = await refused({ equation: ({ S }: { S: number }) => ({ SS: S * S, V: -rate }) });
    expect(error).toBeInstanceOf(KernelError);
    expect(error.message).toMatch(
      /^equation, line \d, column \d+ \(solve called at .*errors\.test\.ts:13:3\): rate is not declared[^]*\^[^]*remedy: list it among the parameters, .*\(\{ …, rate \}\)/,
    );
  });
});

test("one bad entry does not end a batch", async () => {
  const problem: AnyProblem = {
    ...base,
    axes: axis(40, { to: "top" }),
    parameters: {
      K: [100, NaN, 100, 100, 100],
      r: 0.05,
      sigma: 0.2,
      T: [1, 1, -1, 1, 1],
      top: [400, 400, 400, -5, 400],
    },
    expiry: "T",
    conditions: [{ kind: "exercise", payoff: "max(S - K, 0)" }],
    errorEstimate: true,
  };
  const { entries } = await solve(problem, { device });
  expect(entries.map(({ error }) => error?.message ?? "")).toEqual([
    "",
    expect.stringMatching(/^parameters\.K\[1\]: got NaN/),
    expect.stringMatching(/^expiry: -1 for K = 100/),
    expect.stringMatching(/^axes\.S: from 0 to -5 for K = 100/),
    "",
  ]);
  expect(() => entries[2].at(100)).toThrow(SpecError);
  expect(entries[4].at(100)).toEqual(entries[0].at(100));
  expect(entries[3].parameters["top"]).toBe(-5);
});

describe("numbers that are not finite are never silent", () => {
  test("a coefficient: its name, place, time, and the entry's parameters; other entries are solved", async () => {
    const problem: EquationProblem<"S", "K" | "x"> = {
      axes: { S: { from: 0, to: 400, nodes: 41 } },
      parameters: { K: 100, x: [0.2, -1, 0.3] },
      equation: ({ S, x }) => ({ SS: 0.5 * Math.sqrt(x) * S * S }),
      terminal: "max(K - S, 0)",
      expiry: 1,
      steps: 4,
    };
    const { entries } = await solve(problem, { device });
    expect(entries.map(({ error }) => error !== undefined)).toEqual([false, true, false]);
    expect(entries[1].error!.message).toMatch(
      /^equation\.SS: NaN at S = \d+, t = 0\.\d+, K = 100, x = -1; expected a finite number/,
    );
    expect(() => entries[1].values).toThrow(SpecError);
    expect(() => entries[1].at(100)).toThrow(/equation\.SS: NaN/);
    expect(entries[2].at(100).value).toBeGreaterThan(entries[0].at(100).value);
  });

  test.each([
    ["ln S at zero", { equation: { SS: "0.01*S^2", S: "log(S)" } }, /^equation\.S: -Infinity at S = 0/],
    ["a terminal value", { terminal: "1/(S - 100)^2*(S - 100)" }, /^terminal: NaN at S = 100, t = 1, K = 100/],
    [
      "a boundary",
      { boundaries: { S: { low: { kind: "dirichlet", value: "log(t - 2)" } } } },
      /^boundaries\.S\.low\.value: NaN at S = 0, t = 0\.\d+, K/,
    ],
    ["a source", { equation: { SS: "S^2", source: "log(-1 - S)" } }, /^equation\.source: NaN at S = \d+, t = /],
    [
      "a boundary's slope",
      { boundaries: { S: { high: { kind: "neumann", slope: "log(t - 2)" } } } },
      /^boundaries\.S\.high\.slope: NaN at S = 400, t = /,
    ],
    [
      "a payoff at all times",
      { conditions: [{ kind: "exercise", payoff: "t < 0.5 ? 0/0 : K - S", side: "low" }] },
      /^conditions\[0\]\.payoff: NaN at S = \d+, t = 0\.\d+, K/,
    ],
    [
      "a payoff on a date",
      { conditions: [{ kind: "exercise", payoff: "sqrt(K - S)", at: [0.25, 0.5], side: "low" }] },
      /^conditions\[0\]\.payoff: NaN at S = 102\.8, t = 0\.5, K/,
    ],
    [
      "where a jump leads",
      { conditions: [{ kind: "jump", to: "log(S - 200)", at: [0.5] }] },
      /^conditions\[0\]\.to: NaN at S = 0, t = 0\.5, K/,
    ],
    [
      "the value of a knock-out",
      { conditions: [{ kind: "knock-out", below: 50, value: "log(S - 60)" }] },
      /^conditions\[0\]\.value: NaN at S = 0, t = /,
    ],
    [
      "the value of a knock-out on a date",
      { conditions: [{ kind: "knock-out", above: 200, value: "1/0", at: [0.5] }] },
      /^conditions\[0\]\.value: Infinity at S = 210\.4, t = 0\.5/,
    ],
    [
      "the edge of a knock-out",
      { conditions: [{ kind: "knock-out", below: "100*log(t - 0.5)" }] },
      /^conditions\[0\]\.below: NaN at S = \d+, t = 0\.\d+, K/,
    ],
    [
      "the edge of a knock-out on a date",
      { conditions: [{ kind: "knock-out", above: "sqrt(-t)", at: [0.5] }] },
      /^conditions\[0\]\.above: NaN at S = \d+, t = 0\.5/,
    ],
    [
      "a solution",
      { equation: { SS: "S^2", V: "10" }, terminal: "1e307" },
      /^solution: not a finite number at S = \d+, t = 0, .*it grows without bound/,
    ],
  ] as const)("%s", async (_, more, message) => {
    const solution = await solveOne({ ...base, ...more }, device);
    expect(solution.error?.message).toMatch(message);
  });

  test("at a time of the coarser solution alone", async () => {
    // Crank–Nicolson looks at the middle of each step: of two steps at 0.25, which none of four does.
    const source = "abs(t - 0.25) < 1e-3 ? 0/0 : 0";
    const scheme = { kind: "crank-nicolson", rannacherSteps: 0 } as const;
    const problem: AnyProblem = { ...base, scheme, equation: { SS: "0.02*S^2", source }, axes: axis(40) };
    expect((await solveOne(problem, device)).error).toBeUndefined();
    const { error } = await solveOne({ ...problem, errorEstimate: true }, device);
    expect(error?.message).toMatch(/^equation\.source: NaN at S = \d+, t = 0\.25/);
  });
});

describe("diffusion", () => {
  const diffusing = (SS: string, more: object = {}): AnyProblem => ({ ...base, equation: { SS, V: "-r" }, ...more });
  test.each([
    ["everywhere", "-0.5*sigma^2*S^2", /^equation\.SS: -3200 at S = 400, t = \d/],
    ["below 90", "S < 90 ? -0.02*S^2 : 0.02*S^2", /^equation\.SS: -154\.1 at S = 87\.78, t = \d/],
    ["for a while", "t > 0.3 && t < 0.55 ? -1 : 1", /^equation\.SS: -1 at S = \d+, t = 0\.[345]\d*, K = 100/],
    ["at one node", "S == 100 ? -1e-6 : 1", /^equation\.SS: -0\.000001 at S = 100, t/],
  ])("negative %s: an error with its place", async (_, SS, message) => {
    for (const convection of ["fitted", "central"] as const)
      for (const scheme of [{ kind: "crank-nicolson" }, { kind: "tr-bdf2" }] as const) {
        const { error } = await solveOne(diffusing(SS, { convection, scheme }), device);
        expect(error?.message).toMatch(message);
        expect(error?.message).toMatch(
          /K = 100, r = 0\.05, sigma = 0\.2; expected a diffusion that is nowhere negative/,
        );
      }
  });
  test("in f32, and with the exercise region at the upper end, too", async () => {
    const problem = diffusing("S < 90 ? -0.02*S^2 : 0.02*S^2", {
      precision: "f32",
      conditions: [{ kind: "exercise", payoff: "max(S - K, 0)" }],
    });
    expect((await solveOne(problem, device)).error?.message).toMatch(/^equation\.SS: -154\.1 at S = 87\.78/);
  });
  test("negative in one entry: the others are solved", async () => {
    const problem = diffusing("sigma*S^2", { parameters: { K: 100, r: 0.05, sigma: [0.02, -0.02, 0.03] } });
    const { entries } = await solve(problem, { device });
    expect(entries.map(({ error }) => error?.message.slice(0, 20))).toEqual([
      undefined,
      "equation.SS: -3200 a",
      undefined,
    ]);
    const alone = await solveOne({ ...problem, parameters: { K: 100, r: 0.05, sigma: 0.03 } }, device);
    expect(entries[2].values).toEqual(alone.values);
  });
  test("zero by rounding, and below zero by it, is zero", async () => {
    // (S − 100)² multiplied out: at 100, and beside it, a few units of 10⁴ to either side.
    const axes = { S: { from: 0, to: 200, nodes: 41, points: ["K"], density: "uniform" } };
    const square = "1e-2*(S*S - 2*K*S + K*K) - 1e-13";
    const { error, values } = await solveOne(diffusing(square, { axes }), device);
    expect(error).toBeUndefined();
    const exact = await solveOne(diffusing("1e-2*(S - K)^2", { axes }), device);
    values.forEach((value, i) => expect(value).toBeCloseTo(exact.values[i], 8));
  });
  test("zero: in a part of the axis V is carried along there, discounted; nowhere any, it is so everywhere", async () => {
    const paid = (S: number): number => Math.exp(-0.05) * Math.max(100 - S, 0);
    const partly = await solveOne(diffusing("S < 60 ? 0 : 0.02*S^2", { steps: 100 }), device);
    expect(partly.error).toBeUndefined();
    expect(partly.warnings).toEqual([]);
    // Rannacher's four half steps of Euler: 4·½·(rΔt/2)²·100 = 1.3e-5.
    for (const S of [0, 20, 40, 50]) expect(partly.at(S, { order: 2 }).value).toBeCloseTo(paid(S), 4);
    const nowhere = await solveOne(diffusing("-0", { steps: 100 }), device);
    expect(nowhere.error).toBeUndefined();
    nowhere.nodes.forEach((S, i) => expect(nowhere.values[i]).toBeCloseTo(paid(S), 4));
  });
});

/** By how much the value falls from a node to the next, at most. */
const largestFall = (values: Float64Array): number =>
  values.reduce((max, value, i) => Math.max(max, i === 0 ? 0 : values[i - 1] - value), 0);

describe("warnings", () => {
  const advection = (convection: "fitted" | "central"): AnyProblem => ({
    ...base,
    axes: axis(100),
    parameters: { K: 100, r: 0.5, sigma: 0.01 },
    terminal: "S > K ? 1 : 0",
    steps: 50,
    convection,
  });
  test("drift that outweighs diffusion: fitted, and monotone", async () => {
    const solution = await solveOne(advection("fitted"), device);
    expect(solution.warnings).toHaveLength(1);
    expect(solution.warnings[0]).toMatch(
      /^equation\.S: drift outweighs diffusion at \d+ of 101 nodes, S from .*diffusion was raised/,
    );
    // The payoff rises with S and so does the solution; an M-matrix keeps that.
    expect(largestFall(solution.values)).toBeLessThan(1e-9);
  });
  test("central: it oscillates, as the warning says it may", async () => {
    const solution = await solveOne(advection("central"), device);
    expect(solution.warnings[0]).toMatch(/may oscillate/);
    expect(largestFall(solution.values)).toBeGreaterThan(1e-2);
  });
  test("none where drift dominates beside S = 0 only", async () => {
    expect((await solveOne({ ...base, axes: axis(200) }, device)).warnings).toEqual([]);
  });
  test("a solution that grows faster than steps follow", async () => {
    const solution = await solveOne({ ...base, equation: { SS: "S^2", V: 10 } }, device);
    expect(solution.warnings.join()).toMatch(/V·Δt ≥ 1; take more steps/);
  });
});
