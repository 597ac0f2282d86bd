/** Problems that between them make every kind of kernel on two and three axes. */
import type { Device } from "../../../../src/device/index.ts";
import { type AxesSolution, solve } from "../../../../src/pde/fdm/index.ts";
import type { Precision } from "../../../../src/kernel/index.ts";
import type { Problem } from "./problems.ts";

/** The solution of a problem whose axes' names only it knows. */
export async function solveAxes(problem: Problem, device: Device): Promise<AxesSolution> {
  return (await solve(problem, { device })) as unknown as AxesSolution;
}

const put = "max(K - S, 0)";

/** Heston's put on a grid that neither axis of which is a multiple of anything. */
const heston: Problem = {
  axes: {
    S: { from: 0, to: "4*K", nodes: 21, points: ["K"], width: "K/4" },
    v: { from: 0, to: 1, nodes: 13, points: [{ at: 0.05, align: "none" }], width: 0.1 },
  },
  parameters: { K: [90, 100, 110], r: 0.03, kappa: 1.5, theta: 0.04, sigma: 0.5, rho: [-0.7, 0, 0.4] },
  equation: ({ S, v, r, kappa, theta, sigma, rho }) => ({
    SS: 0.5 * v * S * S,
    vS: rho * sigma * v * S,
    vv: 0.5 * sigma * sigma * v,
    S: r * S,
    v: kappa * (theta - v),
    V: -r,
  }),
  terminal: "max(K - S, 0)",
  expiry: 1,
  steps: 6,
};
const basket: Problem = {
  axes: {
    X: { from: 20, to: 400, nodes: 12, coordinate: "log", points: [100] },
    Y: { from: 20, to: 400, nodes: 9, coordinate: "log", points: [100] },
    Z: { from: 0, to: 300, nodes: 11, points: [100] },
  },
  parameters: { K: 100, r: 0.03 },
  equation: ({ X, Y, Z, r }) => ({
    XX: 0.02 * X * X,
    YY: 0.045 * Y * Y,
    ZZ: 0.03 * Z * Z,
    XY: 0.03 * X * Y,
    XZ: -0.01 * X * Z,
    YZ: 0.02 * Y * Z,
    X: r * X,
    Y: r * Y,
    Z: r * Z,
    V: -r,
  }),
  terminal: "max(K - (X + Y + Z)/3, 0)",
  expiry: 1,
  steps: 4,
};

/** So many nodes that the workgroups of a GPU share them, a launch for each phase; too many for the interpreter. */
export const shared: Readonly<Record<string, Problem>> = {
  "two axes, a grid that workgroups share": {
    ...heston,
    axes: { S: { ...heston.axes["S"], nodes: 157 }, v: { ...heston.axes["v"], nodes: 131 } },
    parameters: { ...heston.parameters, K: 100, rho: -0.7 },
    conditions: [
      { kind: "exercise", payoff: put },
      { kind: "jump", at: [0.5], to: "max(S - 3, 0)" },
    ],
    steps: 3,
  },
  "three axes, a grid that workgroups share": {
    ...basket,
    axes: Object.fromEntries(Object.entries(basket.axes).map(([name, axis], k) => [name, { ...axis, nodes: 27 + k }])),
    boundaries: { Z: { high: { kind: "dirichlet", value: 0 } } },
    steps: 2,
  },
};

export const problems: Readonly<Record<string, Problem>> = {
  "two axes, modified Craig–Sneyd": heston,
  "two axes, Hundsdorfer–Verwer": { ...heston, scheme: { kind: "hundsdorfer-verwer" } },
  "two axes, Douglas": { ...heston, scheme: { kind: "douglas" } },
  "two axes, Craig–Sneyd, source and slopes in time": {
    ...heston,
    scheme: { kind: "craig-sneyd", rannacherSteps: 1 },
    equation: ({ t, S, v, r }) => ({
      SS: 0.5 * v * S * S * (1 + 0.2 * t),
      vv: 0.05 * v,
      S: r * S,
      v: 0.04 - v,
      V: -r,
      source: 0.1 * t,
    }),
    boundaries: {
      S: { low: { kind: "dirichlet", value: "K*exp(-r*(1 - t))" }, high: { kind: "neumann", slope: "0.01*t" } },
      v: { high: { kind: "neumann", slope: 0 } },
    },
  },
  "two axes, exercise at all times": { ...heston, conditions: [{ kind: "exercise", payoff: put }] },
  "two axes, exercise, jumps and knock-outs on dates": {
    ...heston,
    scheme: { kind: "modified-craig-sneyd" },
    conditions: [
      { kind: "exercise", payoff: put, at: [0.25, 0.5, 1] },
      { kind: "jump", at: [0.5], to: "max(S - 3, 0)" },
      { kind: "jump", axis: "v", at: [0.5], to: "0.9*v" },
      { kind: "knock-out", axis: "v", above: 0.9, at: [0.75] },
      { kind: "knock-out", where: "S - 300", value: 0.5, from: 0.25, until: 0.75 },
    ],
  },
  "two axes, a barrier and exercise": {
    ...heston,
    conditions: [
      { kind: "exercise", payoff: put },
      { kind: "knock-out", above: "2*K*exp(0.1*t)", value: "0.1*v" },
    ],
  },
  "three axes, Hundsdorfer–Verwer": { ...basket, scheme: { kind: "hundsdorfer-verwer" } },
  "three axes, Douglas, one mixed derivative": {
    ...basket,
    scheme: { kind: "douglas" },
    equation: { XX: "0.02*X^2", YY: "0.045*Y^2", ZZ: "0.03*Z^2", YX: "0.03*X*Y", X: "r*X", Y: "r*Y", V: "-r" },
  },
  "three axes, modified Craig–Sneyd, exercise, a jump along the last": {
    ...basket,
    scheme: { kind: "modified-craig-sneyd" },
    conditions: [
      { kind: "exercise", payoff: "max(K - (X + Y + Z)/3, 0)" },
      { kind: "jump", axis: "Z", at: [0.5], to: "max(Z - 5, 0)" },
      { kind: "jump", axis: "Y", at: [0.5], to: "Y - 5" },
    ],
  },
};

/** As for one axis; sweeps along each axis round once more. */
export const tolerance = { f64: 1e-9, f32x2: 1e-6, f32: 1e-2 } as const;

/** The largest difference of a solution on a device from that in f64 on `reference`, at any node. */
export async function difference(
  name: string,
  device: Device,
  precision: Precision,
  reference: Device,
): Promise<number> {
  const values = async (on: Device, as: Precision): Promise<number[]> => {
    const { entries } = await solveAxes({ ...(problems[name] ?? shared[name]), precision: as }, on);
    return entries.flatMap((entry) => [...entry.values]);
  };
  const [expected, got] = [await values(reference, "f64"), await values(device, precision)];
  if (got.length !== expected.length) throw new Error(`${got.length} numbers, expected ${expected.length}`);
  return expected.reduce((worst, value, i) => Math.max(worst, Math.abs(got[i] - value)), 0);
}
