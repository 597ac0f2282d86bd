/** Solutions of which only the nodes about a point are read. */
import { afterAll, describe, expect, test } from "vitest";
import { createCpuDevice } from "../../../../src/device/cpu/index.ts";
import { solve } from "../../../../src/pde/fdm/index.ts";

const device = createCpuDevice({ threads: 1 });
afterAll(() => {
  expect(device.liveBuffers).toBe(0);
  device[Symbol.dispose]();
});

const POINTS = [
  { S: 100, v: 0.0625 },
  { S: 51, v: 0 },
  { S: 163, v: 0.21 },
];

describe.each([undefined, "both"] as const)("extrapolated: %s", (extrapolate) => {
  const heston = {
    axes: {
      S: { from: "K*exp(-0.68)", to: "K*exp(0.5)", coordinate: "log", points: ["K"], nodes: 61 },
      v: { from: 0, to: 0.21, nodes: 31 },
    },
    parameters: { K: [100, 100, 99], rho: [-0.9, 0.3, 0] },
    equation: { SS: "0.5*v*S^2", Sv: "0.3*rho*v*S", vv: "0.045*v", S: "0.025*S", v: "1.5*(0.04 - v)", V: -0.025 },
    terminal: "max(K - S, 0)",
    expiry: 1,
    steps: 20,
    conditions: [{ kind: "exercise", payoff: "max(K - S, 0)" }],
    ...(extrapolate === undefined ? { errorEstimate: true } : { extrapolate }),
  } as const;

  test.each(POINTS)("S = $S, v = $v gives what the whole solution gives there", async (at) => {
    const whole = await solve(heston, { device });
    const part = await solve({ ...heston, at }, { device });
    for (const [l, entry] of part.entries.entries()) {
      const other = whole.entries[l];
      expect(entry.at(at)).toEqual(other.at(at));
      const { S, v } = entry.nodes;
      const [first, line] = [other.nodes.S.indexOf(S[0]), other.nodes.v.indexOf(v[0])];
      entry.values.forEach((value, i) => {
        const here = (line + Math.floor(i / S.length)) * other.nodes.S.length + first + (i % S.length);
        expect(Math.abs(value - other.values[here])).toBeLessThan(1e-12);
        expect(entry.exerciseRegion![i]).toBe(other.exerciseRegion![here]);
      });
    }
    expect(() => part.entries[0].at({ S: 75, v: 0.1 })).toThrow(/leave at out of the problem/);
  });

  test("values at several points have the bits of those at each", async () => {
    const { entries } = await solve(heston, { device });
    const spots = [100, 51, 163, 99.9, 99.9];
    const variances = [0.0625, 0, 0.21, 0.04, 0.05];
    for (const entry of entries) {
      const { values, corrections, errorEstimates } = entry.valuesAt({
        S: Float64Array.from(spots),
        v: Float64Array.from(variances),
      });
      spots.forEach((S, k) => {
        const alone = entry.at({ S, v: variances[k] });
        expect(values[k]).toBe(alone.value);
        expect(errorEstimates[k]).toBe(alone.errorEstimate);
        expect(corrections.map((one) => one[k])).toEqual(alone.corrections.map(({ value }) => value));
      });
      expect(() => entry.valuesAt({ S: [100, 1000], v: [0.1, 0.1] })).toThrow(/at\.S: 1000 is outside the axis/);
    }
  });
});

test("one axis, and a point for each entry", async () => {
  const problem = {
    axes: { S: { from: 0, to: 400, points: ["K"] } },
    parameters: { K: [90, 110], S0: [95, 105] },
    equation: { SS: "0.02*S^2" },
    terminal: "max(K - S, 0)",
    expiry: 1,
    errorEstimate: true,
  } as const;
  const whole = await solve(problem, { device });
  const part = await solve({ ...problem, at: { S: "S0" } }, { device });
  for (const [l, S] of problem.parameters.S0.entries()) expect(part.entries[l].at(S)).toEqual(whole.entries[l].at(S));
});

test("a point outside the axes fails its entry, and one that is incomplete the problem", async () => {
  const problem = {
    axes: { X: { from: 0, to: 1 }, Y: { from: 0, to: 1 } },
    parameters: { x: [0.5, 2] },
    equation: { XX: 1 },
    terminal: "X",
    expiry: 1,
    steps: 4,
  } as const;
  const { entries } = await solve({ ...problem, at: { X: "x", Y: 0.5 } }, { device });
  expect(entries[0].at({ X: 0.5, Y: 0.5 }).value).toBeCloseTo(0.5, 10);
  expect(entries[1].error?.message).toBe("at.X: 2 is outside the axis, 0 to 1");
  const incomplete = { ...problem, at: { X: 0.5 } } as never;
  await expect(solve(incomplete, { device })).rejects.toThrow(/at\.Y: got nothing, expected a number or a formula/);
});
