/** Orders of convergence of the alternating-direction schemes, in time and in space, and their stability. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createCpuDevice } from "../../../../src/device/cpu/index.ts";
import type { SchemeChoice } from "../../../../src/pde/fdm/index.ts";
import { dealt, everything } from "../../../support/extent.ts";
import { solveAxes } from "./device-cases.ts";
import { heston, type HestonModel, type Problem } from "./problems.ts";

const device = createCpuDevice({ threads: 1 });
afterAll(() => {
  expect(device.liveBuffers).toBe(0);
  device[Symbol.dispose]();
});

const valuesOf = async (problem: Problem): Promise<Float64Array> =>
  (await solveAxes(problem, device)).entries[0].values;

function largest(a: Float64Array, b: (i: number) => number): number {
  return a.reduce((most, value, i) => Math.max(most, Math.abs(value - b(i))), 0);
}

function ordersOf(name: string, errors: readonly number[]): number {
  const order = Math.log2(errors[0] / errors[errors.length - 1]) / (errors.length - 1);
  console.log(`${name.padEnd(52)} ${errors.map((e) => e.toExponential(1)).join("  ")}   order ${order.toFixed(2)}`);
  return order;
}

/** A model with constant coefficients and every derivative, whose solution for smooth values is smooth. */
function smooth(axes: 2 | 3, scheme: SchemeChoice, steps: number): Problem {
  const axis = { from: -1, to: 1, nodes: axes === 2 ? 17 : 9 } as const;
  const terminal = axes === 2 ? "cos(X)*sin(Y + 1)" : "cos(X)*sin(Y + 1)*cos(Z)";
  // What does not fit together at expiry would be of first order, whatever the scheme.
  const held = { kind: "dirichlet", value: terminal } as const;
  return {
    axes: axes === 2 ? { X: axis, Y: axis } : { X: axis, Y: axis, Z: axis },
    parameters: { a: 0.4, b: 0.3, c: 0.35 },
    equation:
      axes === 2
        ? { XX: "a", YY: "b", XY: "0.5", X: "0.3", Y: "-0.2", V: "-0.05", source: "X*Y" }
        : { XX: "a", YY: "b", ZZ: "c", XY: "0.4", XZ: "0.3", YZ: "0.25", X: "0.3", Y: "-0.2", Z: "0.1", V: "-0.05" },
    terminal,
    expiry: 1,
    boundaries: Object.fromEntries(
      (axes === 2 ? ["X", "Y"] : ["X", "Y", "Z"]).map((name) => [name, { low: held, high: held }]),
    ),
    scheme,
    steps,
  };
}

// A kernel on three axes is compiled for 12 s when it has run for a while; what it gives stands in references.test.ts.
const AXES: readonly (2 | 3)[] = everything ? [2, 3] : [2];
describe.each(AXES)("on %d axes, in time, smooth values and mixed derivatives", (axes) => {
  const schemes: readonly (readonly [SchemeChoice, number])[] = [
    [{ kind: "douglas", rannacherSteps: 0 }, 1],
    [{ kind: "craig-sneyd", rannacherSteps: 0 }, 2],
    [{ kind: "modified-craig-sneyd", rannacherSteps: 0 }, 2],
    [{ kind: "modified-craig-sneyd", theta: 0.5, rannacherSteps: 0 }, 2],
    [{ kind: "hundsdorfer-verwer", rannacherSteps: 0 }, 2],
    [{ kind: "hundsdorfer-verwer", theta: 0.3, rannacherSteps: 0 }, 2],
  ];
  const most = everything ? 256 : 128;
  let exact: Float64Array;
  beforeAll(async () => {
    exact = await valuesOf(smooth(axes, { kind: "hundsdorfer-verwer", rannacherSteps: 0 }, 8 * most));
  }, 300_000);
  test.each(schemes)("%j is of order %d", { timeout: 300_000 }, async (scheme, order) => {
    const errors: number[] = [];
    for (const steps of [most / 4, most / 2, most])
      errors.push(largest(await valuesOf(smooth(axes, scheme, steps)), (i) => exact[i]));
    const found = ordersOf(`${axes} axes, ${JSON.stringify(scheme)}`, errors);
    expect(found).toBeGreaterThan(order - 0.25);
    expect(found).toBeLessThan(order + 0.6);
  });
});

test("coefficients and boundaries in time keep second order", async () => {
  // V = e^{t}·(X² + Y² + X·Y) + …: chosen so that its source is exact.
  const problem = (steps: number): Problem => ({
    axes: { X: { from: -1, to: 1, nodes: 21 }, Y: { from: -1, to: 1, nodes: 21 } },
    equation: {
      XX: "1 + t",
      YY: "1 + 0.5*t",
      XY: "0.5*t",
      source: "-exp(t)*(X^2 + Y^2 + X*Y + 2*(1 + t) + 2*(1 + 0.5*t) + 0.5*t)",
    },
    terminal: "exp(1)*(X^2 + Y^2 + X*Y)",
    expiry: 1,
    boundaries: {
      X: {
        low: { kind: "dirichlet", value: "exp(t)*(X^2 + Y^2 + X*Y)" },
        high: { kind: "dirichlet", value: "exp(t)*(X^2 + Y^2 + X*Y)" },
      },
      Y: {
        low: { kind: "dirichlet", value: "exp(t)*(X^2 + Y^2 + X*Y)" },
        high: { kind: "dirichlet", value: "exp(t)*(X^2 + Y^2 + X*Y)" },
      },
    },
    scheme: { kind: "hundsdorfer-verwer", rannacherSteps: 0 },
    steps,
  });
  const errors: number[] = [];
  for (const steps of [8, 16, 32, 64]) {
    const { entries } = await solveAxes(problem(steps), device);
    const { X, Y } = entries[0].nodes as Record<"X" | "Y", Float64Array>;
    const exact = (i: number): number => {
      const [x, y] = [X[i % X.length], Y[Math.floor(i / X.length)]];
      return x * x + y * y + x * y;
    };
    errors.push(largest(entries[0].values, exact));
  }
  expect(ordersOf("a manufactured solution in time", errors)).toBeGreaterThan(1.7);
  expect(errors[errors.length - 1]).toBeLessThan(2e-3);
});

/** The sets of In 't Hout & Foulon (2010), table 1; the third violates Feller's condition with 2κη/σ² = 0.5. */
const SETS: readonly (HestonModel & { readonly name: string; readonly expiry: number })[] = [
  { name: "1", kappa: 1.5, theta: 0.04, sigma: 0.3, rho: -0.9, rate: 0.025, dividend_yield: 0, expiry: 1 },
  { name: "2", kappa: 3, theta: 0.12, sigma: 0.04, rho: 0.6, rate: 0.01, dividend_yield: 0.04, expiry: 1 },
  { name: "3", kappa: 0.6067, theta: 0.0707, sigma: 0.2928, rho: -0.7571, rate: 0.03, dividend_yield: 0, expiry: 3 },
  { name: "4", kappa: 2.5, theta: 0.06, sigma: 0.5, rho: -0.1, rate: 0.0507, dividend_yield: 0.0469, expiry: 0.25 },
  { name: "Feller violated", kappa: 1, theta: 0.04, sigma: 0.4, rho: -0.9, rate: 0.03, dividend_yield: 0, expiry: 2 },
].map((set) => ({ ...set, spot: 100, v0: set.theta }));

describe("Heston's model, calls, in time", () => {
  const kinds = ["craig-sneyd", "modified-craig-sneyd", "hundsdorfer-verwer"] as const;
  // Each set by one scheme, and each scheme on one set or two.
  const all = SETS.flatMap((set, k) => kinds.map((_, j) => [set.name, kinds[(j + k) % 3], set] as const));
  test.each(dealt(all, 0, 3))(
    "set %s, %s: second order after damping, and stable for large steps",
    async (name, kind, set) => {
      const problem = (steps: number): Problem => ({
        ...heston(set, 100, { payoff: "max(S - K, 0)", expiry: set.expiry }, { nodes: [61, 31], steps }),
        scheme: { kind },
      });
      const exact = await valuesOf(problem(512));
      const errors: number[] = [];
      for (const steps of [16, 32, 64]) errors.push(largest(await valuesOf(problem(steps)), (i) => exact[i]));
      const order = ordersOf(`set ${name}, ${kind}`, errors);
      expect(order).toBeGreaterThan(1.5);
      expect(largest(await valuesOf(problem(4)), (i) => exact[i])).toBeLessThan(10);
    },
  );
});

test("in space: second order for payoffs that bend across both axes, averaged over cells", async () => {
  // max(S1 − S2, 0) of two assets: Margrabe (1978) in closed form is in references.test.ts; here the order.
  const problem = (nodes: number): Problem => ({
    axes: {
      X: { from: -1.5, to: 1.5, nodes },
      Y: { from: -1.5, to: 1.5, nodes },
    },
    equation: { XX: 0.045, YY: 0.045, XY: 0.03, X: -0.045, Y: -0.045 },
    terminal: "max(exp(X) - exp(Y), 0)",
    expiry: 1,
    steps: 64,
  });
  const at = [0.013, -0.027] as const;
  const valueOf = async (nodes: number): Promise<number> =>
    (await solveAxes(problem(nodes), device)).entries[0].at({ X: at[0], Y: at[1] }).value;
  // σ² = 0.09 + 0.09 − 0.06; N(d) by its series is exact enough here, and the finest grid is not needed.
  const sigma = Math.sqrt(0.12);
  const [f, g] = at.map((x) => Math.exp(x));
  const { normalCdf } = (await import("../../../../src/kernel/host-gpu.ts")).hostGpu;
  const d = Math.log(f / g) / sigma + 0.5 * sigma;
  const exact = f * normalCdf(d) - g * normalCdf(d - sigma);
  const errors: number[] = [];
  for (const nodes of [31, 61, 121]) errors.push(Math.abs((await valueOf(nodes)) - exact));
  expect(ordersOf("max(S1 − S2, 0), on a mesh that no kink is aligned with", errors)).toBeGreaterThan(1.7);
});

test("slopes at the ends of all three axes add up", async () => {
  // V = (1 − t)·Σ cₖ + Σ sₖ·xₖ + ½·Σ cₖ·xₖ² solves V_t + Σ V_kk = 0 exactly, on any mesh.
  const [slopes, curvatures] = [
    [0.3, -0.7, 1.1],
    [0.5, 0.2, -0.4],
  ];
  const names = ["X", "Y", "Z"] as const;
  const unit = { from: 0, to: 1, nodes: 9 };
  const square = names.map((name, k) => `${slopes[k]}*${name} + ${0.5 * curvatures[k]}*${name}^2`).join(" + ");
  const { entries } = await solveAxes(
    {
      axes: { X: unit, Y: unit, Z: unit },
      equation: { XX: 1, YY: 1, ZZ: 1 },
      terminal: square,
      expiry: 1,
      boundaries: Object.fromEntries(
        names.map((name, k) => [
          name,
          {
            low: { kind: "neumann", slope: slopes[k] },
            high: { kind: "neumann", slope: slopes[k] + curvatures[k] },
          },
        ]),
      ),
      steps: 10,
    },
    device,
  );
  const at = { X: 0.4, Y: 0.8, Z: 0.2 };
  const expected = names.reduce(
    (sum, name, k) => sum + curvatures[k] + slopes[k] * at[name] + 0.5 * curvatures[k] * at[name] ** 2,
    0,
  );
  expect(entries[0].at(at).value).toBeCloseTo(expected, 3);
});
