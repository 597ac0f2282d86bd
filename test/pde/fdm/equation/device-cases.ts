/** Problems that between them make every kind of equation kernel, and how far two devices are apart on them. */
import type { Device } from "../../../../src/device/index.ts";
import { solve } from "../../../../src/pde/fdm/index.ts";
import type { Precision } from "../../../../src/kernel/index.ts";
import { type AnyProblem, axis, blackScholes } from "./support.ts";

/** Intervals and one. */
const NODES = 41;

export const batch = {
  K: [90, 100, 110, 120, 105],
  r: [0.05, 0.01, 0.08, 0.02, 0.03],
  sigma: [0.2, 0.3, 0.15, 0.4, 0.25],
};
export const put: AnyProblem = {
  ...blackScholes,
  parameters: batch,
  axes: axis(40),
  terminal: "max(K - S, 0)",
  steps: 8,
};
const exercise = { kind: "exercise", payoff: "max(K - S, 0)" } as const;

export const problems: Readonly<Record<string, AnyProblem>> = {
  "Crank–Nicolson, linear ends": put,
  "TR-BDF2, ln S, Neumann ends": {
    ...put,
    axes: axis(40, { from: 20, coordinate: "log" }),
    scheme: { kind: "tr-bdf2" },
    boundaries: { S: { low: { kind: "neumann", slope: -1 }, high: { kind: "neumann", slope: 0 } } },
  },
  "coefficients, source and ends in time": {
    ...put,
    equation: ({ t, S, r, sigma }) => ({
      SS: 0.5 * (sigma * (1 + 0.5 * t)) ** 2 * S * S,
      S: r * S,
      V: -r,
      source: 0.1 * t,
    }),
    boundaries: { S: { low: { kind: "dirichlet", value: "K*exp(-r*(1 - t))" }, high: { kind: "zero-curvature" } } },
  },
  penalty: { ...put, conditions: [exercise] },
  "Brennan and Schwartz": { ...put, conditions: [{ ...exercise, method: "brennan-schwartz" }] },
  "operator splitting, TR-BDF2": {
    ...put,
    scheme: { kind: "tr-bdf2" },
    conditions: [{ ...exercise, method: "operator-splitting" }],
  },
  "exercise on dates, a jump, knock-outs on a date and in a window": {
    ...put,
    conditions: [
      { ...exercise, at: [0.25, 0.5, 1] },
      { kind: "jump", at: [0.5], to: "max(S - 3, 0)" },
      { kind: "knock-out", above: "1.5*K", at: [0.75] },
      { kind: "knock-out", below: "0.5*K", value: 1, from: 0.25, until: 0.75 },
    ],
  },
  "penalty, TR-BDF2, a jump at expiry, a barrier in time": {
    ...put,
    scheme: { kind: "tr-bdf2" },
    conditions: [
      exercise,
      { kind: "jump", at: [1, 0.5], to: "max(S - 3, 0)" },
      { kind: "knock-out", above: "1.7*K*exp(0.1*t)", value: 0.5 },
    ],
  },
};

/** Everything a solution has, in one array. */
async function numbersOf(problem: AnyProblem, device: Device, precision: Precision): Promise<number[]> {
  const { entries } = await solve({ ...problem, precision }, { device });
  return entries.flatMap(({ values, exerciseBoundary }) => [
    ...values,
    ...(exerciseBoundary?.levels ?? []).map((level) => (Number.isNaN(level) ? -1 : level)),
  ]);
}

/**
 * f64: the same operations but for contraction (CUDA). f32: values up to 120, of which rounding leaves 1e-4, and where
 * an exercise boundary passes a node to a cell's width, which the boundary is allowed.
 */
export const tolerance = { f64: 1e-9, f32x2: 1e-7, f32: 5e-3 } as const;

/**
 * How far a solution is from the one in f64 on `reference`: the largest difference of values; of the exercise boundary,
 * unless in f32.
 */
export async function difference(
  name: string,
  device: Device,
  precision: Precision,
  reference: Device,
): Promise<{ readonly worst: number; readonly boundary: number }> {
  const [expected, got] = [
    await numbersOf(problems[name], reference, "f64"),
    await numbersOf(problems[name], device, precision),
  ];
  if (got.length !== expected.length) throw new Error(`${got.length} numbers, expected ${expected.length}`);
  const perEntry = expected.length / batch.K.length;
  let [worst, boundary] = [0, 0];
  expected.forEach((value, i) => {
    const apart = Math.abs(got[i] - value);
    if (i % perEntry < NODES) worst = Math.max(worst, apart);
    else boundary = Math.max(boundary, apart);
  });
  return { worst, boundary };
}
