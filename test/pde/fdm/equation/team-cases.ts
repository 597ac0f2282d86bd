/** Equations by teams of work items against the same by one item an instance: values, exercise boundaries, status. */
import { type Device, LaunchScheduler } from "../../../../src/device/index.ts";
import {
  axisSolver,
  type EquationSplit,
  type InstanceResult,
} from "../../../../src/pde/fdm/execute/equation-launch.ts";
import { compileOneAxisEquation } from "../../../../src/pde/fdm/model/full-grid.ts";
import type { Precision } from "../../../../src/kernel/index.ts";
import { problems as deviceProblems, put } from "./device-cases.ts";
import { type AnyProblem, axis } from "./support.ts";

export type TeamSplit = Exclude<EquationSplit, "item">;
export const TEAMS: readonly TeamSplit[] = ["subgroup", "workgroup"];

const american = { kind: "exercise", payoff: "max(K - S, 0)", method: "brennan-schwartz" } as const;

/** Those that between them make every kind of kernel, and what teams do otherwise than items. */
export const problems: Readonly<Record<string, AnyProblem>> = {
  ...deviceProblems,
  "an American call by Brennan and Schwartz, from high to low, ln S": {
    ...put,
    axes: axis(40, { from: 20, coordinate: "log" }),
    terminal: "max(S - K, 0)",
    equation: ({ S, r, sigma }) => ({ SS: 0.5 * sigma * sigma * S * S, S: -0.05 * S, V: -r }),
    conditions: [{ kind: "exercise", payoff: "max(S - K, 0)", method: "brennan-schwartz" }],
  },
  "Brennan and Schwartz where the region is in the middle": {
    ...put,
    terminal: "max(20 - abs(S - K), 0)",
    conditions: [{ ...american, payoff: "max(20 - abs(S - K), 0)", side: "low" }],
  },
  "Brennan and Schwartz beyond a knock-out": {
    ...put,
    conditions: [american, { kind: "knock-out", below: "0.6*K*exp(-0.1*t)", value: 3 }],
  },
  "a payoff in time, TR-BDF2, Neumann and Dirichlet ends": {
    ...put,
    scheme: { kind: "tr-bdf2" },
    boundaries: { S: { low: { kind: "neumann", slope: "-1 + 0.1*t" }, high: { kind: "dirichlet", value: 0 } } },
    conditions: [{ ...american, payoff: "max(K*exp(0.02*t) - S, 0)" }],
  },
  "the penalty method, Dirichlet ends, a source": {
    ...put,
    equation: ({ S, r, sigma }) => ({ SS: 0.5 * sigma * sigma * S * S, S: r * S, V: -r, source: -0.5 }),
    boundaries: { S: { low: { kind: "dirichlet", value: "K" }, high: { kind: "dirichlet", value: 0 } } },
    conditions: [{ kind: "exercise", payoff: "max(K - S, 0)" }],
  },
  "a loop in the equation": {
    ...put,
    equation: ({ S, r, sigma }) => {
      let power = 1.0;
      for (let rest = S; rest > 1; rest *= 0.5) power += 0.01;
      return { SS: 0.5 * sigma * sigma * S * S * power, S: r * S, V: -r };
    },
  },
};

/** An American put on so many nodes. */
export const ofSize = (nodes: number, steps: number): AnyProblem => ({
  ...problems["Brennan and Schwartz"],
  axes: axis(nodes - 1),
  steps,
});

/** Every entry of a problem by one split. */
export async function solved(
  problem: AnyProblem,
  device: Device,
  precision: Precision,
  split: EquationSplit,
  pace = new LaunchScheduler(device, {}),
): Promise<InstanceResult[]> {
  const model = compileOneAxisEquation(problem);
  const solver = await axisSolver(device, model, precision, pace, split);
  const plan = await solver.plan({ mesh: 0, halfSteps: false }, [...model.batch.entries.keys()]);
  return solver.solve(plan);
}

/** Whether a device can be asked for a split at all. */
export const isOffered = ({ limits }: Device, split: TeamSplit): boolean =>
  limits.maxGroupSize >= 64 && (split === "workgroup" || limits.subgroupSize === 32);

/** The largest difference between two solutions of the same entries, of values and of exercise boundaries. */
export function apart(
  one: readonly InstanceResult[],
  other: readonly InstanceResult[],
): { values: number; boundary: number } {
  const largest = (a: Float64Array, b: Float64Array): number =>
    a.reduce((max, x, i) => {
      const distance = Number.isNaN(x) && Number.isNaN(b[i]) ? 0 : Math.abs(x - b[i]);
      return Number.isNaN(distance) ? Infinity : Math.max(max, distance);
    }, 0);
  const over = (key: "values" | "boundary"): number =>
    Math.max(...one.map((each, l) => largest(each[key], other[l][key])));
  return { values: over("values"), boundary: over("boundary") };
}

/**
 * Rounding of values up to 120: 5e-13 and 3e-4 are the most seen. The vertex of a parabola, which an exercise boundary
 * is, magnifies it to 3e-11; in f32 a boundary that passes a node moves by up to a cell.
 */
export const tolerance = {
  f64: { values: 1e-11, boundary: 1e-9 },
  f32x2: { values: 1e-8, boundary: 1e-6 },
  f32: { values: 5e-3, boundary: 5 },
} as const;
