/** Conditions on two and three axes, against closed forms and problems on one axis. */
import { afterAll, describe, expect, test } from "vitest";
import { createCpuDevice } from "../../../../src/device/cpu/index.ts";
import { type Condition, solve } from "../../../../src/pde/fdm/index.ts";
import { dealt } from "../../../support/extent.ts";
import { solveAxes } from "./device-cases.ts";
import type { Problem } from "./problems.ts";

const device = createCpuDevice({ threads: 1 });
afterAll(() => {
  expect(device.liveBuffers).toBe(0);
  device[Symbol.dispose]();
});

/** Two assets that have nothing to do with each other: what depends on one of them is worth what it is on one axis. */
const mesh = { coordinate: "log", from: 25, to: 400, nodes: 81, points: [100], width: 0.4 } as const;
const one: Problem = {
  axes: { S: mesh },
  parameters: { K: 100, r: 0.05, sigma: 0.25 },
  equation: { SS: "0.5*sigma^2*S^2", S: "r*S", V: "-r" },
  // Smooth, for on several axes values that bend are averaged over cells, and on one they are not.
  terminal: "2*K*exp(-S/K)",
  expiry: 1,
  convection: "central",
  steps: 200,
};
const two: Problem = {
  ...one,
  axes: { S: mesh, Y: { from: -1, to: 1, nodes: 15 } },
  equation: { SS: "0.5*sigma^2*S^2", S: "r*S", V: "-r", YY: 0.1, Y: "-Y" },
};
/** The same with the asset on the second axis. */
const turned: Problem = { ...two, axes: { Y: { from: -1, to: 1, nodes: 15 }, S: mesh } };
/** And on the third. */
const third: Problem = {
  ...two,
  axes: { Y: { from: -1, to: 1, nodes: 9 }, Z: { from: 0, to: 1, nodes: 8 }, S: mesh },
  equation: { SS: "0.5*sigma^2*S^2", S: "r*S", V: "-r", YY: 0.1, Y: "-Y", ZZ: "0.2*Z" },
};
/** And between two others. */
const middle: Problem = { ...third, axes: { Y: third.axes["Y"], S: mesh, Z: third.axes["Z"] } };

const cases: Readonly<Record<string, readonly Condition<string>[]>> = {
  "nothing but a payoff": [],
  "exercise on dates": [{ kind: "exercise", payoff: "1.5*max(K - S, 0)", at: [0.25, 0.5, 0.75] }],
  "a cash dividend": [{ kind: "jump", axis: "S", at: [0.4], to: "max(S - 4, 25)" }],
  "a barrier for the whole life": [{ kind: "knock-out", axis: "S", above: 100 }],
  "a barrier in a window": [{ kind: "knock-out", axis: "S", below: 70, value: 5, from: 0.2, until: 0.7 }],
  "barriers on dates": [{ kind: "knock-out", axis: "S", below: 75, above: 120, value: 1, at: [0.3, 0.6] }],
  "exercise after a dividend on the same date": [
    { kind: "jump", axis: "S", at: [0.5], to: "max(S - 4, 25)" },
    { kind: "exercise", payoff: "1.5*max(K - S, 0)", at: [0.5] },
  ],
};

/** On two axes each of them; on three, whose kernels take longest to compile, one or the other. */
const onTwo = [
  ["first", two, { Y: 0.1 }],
  ["second", turned, { Y: -0.4 }],
] as const;
const onThree = [
  ["third", third, { Y: 0.1, Z: 0.3 }],
  ["middle", middle, { Y: 0.1, Z: 0.3 }],
] as const;

describe.each(Object.entries(cases))("%s", (name, conditions) => {
  const hand = Object.keys(cases).indexOf(name);
  test.each([...onTwo, ...dealt(onThree, hand, 2)])(
    "on the %s axis is what it is on one",
    async (_, problem, others) => {
      const alone = (await solve({ ...one, conditions }, { device })).entries[0];
      const { entries } = await solveAxes({ ...problem, conditions }, device);
      for (const S of [85, 97, 110]) {
        const [got, expected] = [entries[0].at({ S, ...others }), alone.at(S)];
        expect(got.value).toBeCloseTo(expected.value, 3);
        expect(got.first["S"]).toBeCloseTo(expected.first, 4);
        expect(Math.abs(got.first["Y"])).toBeLessThan(1e-9);
      }
    },
  );
});

test("exercise at all times, by the same method as on one axis", async () => {
  const conditions = [{ kind: "exercise", payoff: "1.5*max(K - S, 0)", method: "operator-splitting" }] as const;
  const alone = (await solve({ ...one, steps: 400, conditions }, { device })).entries[0];
  const { entries } = await solveAxes({ ...two, steps: 400, conditions }, device);
  for (const S of [80, 90, 100, 115]) expect(entries[0].at({ S, Y: 0.2 }).value).toBeCloseTo(alone.at(S).value, 3);
});

test("the exercise region of a put is where S is below the boundary", async () => {
  const conditions = [{ kind: "exercise", payoff: "max(K - S, 0)" }] as const;
  const put = { terminal: "max(K - S, 0)", conditions };
  const { entries } = await solveAxes({ ...two, ...put }, device);
  const alone = (await solve({ ...one, ...put }, { device })).entries[0];
  const boundary = alone.exerciseBoundary!.levels[0];
  const { S, Y } = entries[0].nodes as Record<"S" | "Y", Float64Array>;
  const region = entries[0].exerciseRegion!;
  expect(region.length).toBe(S.length * Y.length);
  region.forEach((exercised, i) => {
    const spot = S[i % S.length];
    // But for a node to either side, and the deep end, where exercise is certain and both are equal.
    if (spot < 0.97 * boundary) expect(exercised).toBe(1);
    if (spot > 1.03 * boundary && spot < 100) expect(exercised).toBe(0);
  });
  expect((await solveAxes(two, device)).entries[0].exerciseRegion).toBeUndefined();
});

describe("a knock-out by a function of the state", () => {
  /** Two independent Brownian motions, killed on X + Y ≥ 2: along X + Y one motion of twice the variance. */
  const killed: Problem = {
    axes: { X: { from: -5, to: 5, nodes: 121 }, Y: { from: -5, to: 5, nodes: 121 } },
    equation: { XX: 0.5, YY: 0.5 },
    terminal: "1",
    expiry: 1,
    conditions: [{ kind: "knock-out", where: "X + Y - 2" }],
    steps: 100,
  };
  test("is reflected as the reflection principle says", async () => {
    const { entries } = await solveAxes(killed, device);
    const { normalCdf } = (await import("../../../../src/kernel/host-gpu.ts")).hostGpu;
    for (const [X, Y] of [
      [0, 0],
      [0.5, 0.5],
      [-1, 1],
    ]) {
      const survives = 2 * normalCdf((2 - X - Y) / Math.SQRT2) - 1;
      // The edge runs through nodes, in steps of a cell: of first order.
      expect(entries[0].at({ X, Y }).value).toBeCloseTo(survives, 2);
    }
    expect(entries[0].at({ X: 2, Y: 1 }).value).toBeCloseTo(0, 12);
  });
});

test("a payoff of three axes that is a product is the product of three", async () => {
  const axis = (mid: number) => ({ coordinate: "log", from: mid / 6, to: mid * 6, nodes: 61, points: [100] }) as const;
  const product: Problem = {
    axes: { A: axis(100), B: axis(90), C: axis(110) },
    parameters: { r: 0.03 },
    equation: { AA: "0.02*A^2", A: "r*A", BB: "0.045*B^2", B: "r*B", CC: "0.03125*C^2", C: "r*C", V: "-r" },
    terminal: "max(A - 100, 0)*max(B - 100, 0)*max(C - 100, 0)",
    expiry: 1,
    steps: 24,
    extrapolate: "both",
  };
  const { entries } = await solveAxes(product, device);
  const { value, errorEstimate = NaN } = entries[0].at({ A: 100, B: 90, C: 110 });
  // MUL-O-26 of test/fixtures/reference.
  expect(Math.abs(value / 1437.7819166290062 - 1)).toBeLessThan(1e-3);
  expect(errorEstimate).toBeGreaterThan(0);
});

test("jumps beyond the ends of an axis follow the straight line that ends there", async () => {
  const { entries } = await solve(
    {
      axes: { x: { from: 0, to: 1, nodes: 9 }, y: { from: 0, to: 2, nodes: 8 } },
      equation: { xx: 0.01, yy: 0.02 },
      terminal: "2*x + 3*y",
      expiry: 1,
      steps: 8,
      conditions: [
        { kind: "jump", axis: "x", at: [0.5], to: "x - 0.3" },
        { kind: "jump", axis: "y", at: [0.25], to: "y + 0.7" },
      ],
    },
    { device },
  );
  for (const [x, y] of [
    [0.05, 1.9],
    [0.5, 1],
    [0.95, 0.1],
  ])
    expect(entries[0].at({ x, y }).value).toBeCloseTo(2 * (x - 0.3) + 3 * (y + 0.7), 9);
});
