/** Problems for every part of the kernel and every shape that it has on GPUs, compared with the CPU in f64. */
import type { Device } from "../../../src/device/index.ts";
import type { Precision } from "../../../src/kernel/index.ts";
import { solveOnSparseGrid } from "../../../src/pde/sparsegrid/index.ts";
import { axesNamed, bestOf, problemOf } from "./support.ts";

const correlated = {
  ...bestOf(2),
  correlations: [
    [1, 0.4],
    [0.4, 1],
  ],
  terminal: "max(110-min(A,B),0)",
};
const bermudan = [
  { kind: "exercise", payoff: "110-min(A,B)", at: [0.5] },
  { kind: "knock-out", axis: "B", below: 55, from: 0.2, until: 0.4 },
] as const;
const american = [{ kind: "exercise", payoff: "110-min(A,B)" }] as const;

/** One asset first: a slow device has only that. */
export const problems = {
  "one asset": { axes: 1, problem: problemOf(bestOf(1), { level: 4 }) },
  "best of three, knocked out": { axes: 3, problem: problemOf(bestOf(3), { level: 2, steps: 10 }) },
  "grids of 1,024 unknowns, cgs": {
    axes: 3,
    problem: problemOf(bestOf(3), { level: 4, steps: 6, solver: { method: "cgs" } }),
  },
  "grids of 2,048 unknowns": { axes: 4, problem: problemOf(bestOf(4), { level: 3, steps: 4 }) },
  "grids of 16,384 unknowns": { axes: 6, problem: problemOf(bestOf(6), { level: 2, steps: 2 }) },
  "a Bermudan right and a window, correlated": {
    axes: 2,
    problem: problemOf(correlated, { conditions: bermudan, level: 2, steps: 10 }),
  },
  "the same by TR-BDF2": {
    axes: 2,
    problem: problemOf(correlated, { conditions: bermudan, level: 2, steps: 10, scheme: { kind: "tr-bdf2" } } as never),
  },
  "exercise at all times": {
    axes: 2,
    problem: problemOf(correlated, { conditions: american, level: 2, steps: 10 }),
  },
} as const;

/** Systems are solved up to this part of their right-hand sides. */
const relative = { f64: 1e-12, f32: 1e-6, f32x2: 1e-10 } as const;

/**
 * For spots of 100. Sums have another order on every device, so that an iteration may stop earlier or later: a few
 * times `relative` a step, and in f32 as much for rounding.
 */
export const tolerance = { f64: 1e-9, f32: 1e-2, f32x2: 1e-6 } as const;

const valueOf = async (name: keyof typeof problems, device: Device, precision: Precision): Promise<number> => {
  const { axes, problem } = problems[name];
  const solver = { ...("solver" in problem ? problem.solver : {}), tolerance: { relative: relative[precision] } };
  const { entries } = await solveOnSparseGrid({ ...problem, solver, precision }, { device });
  return entries[0].at(Object.fromEntries(axesNamed(axes).map((axis) => [axis, 100]))).value;
};

export const difference = async (
  name: keyof typeof problems,
  device: Device,
  precision: Precision,
  cpu: Device,
): Promise<number> => Math.abs((await valueOf(name, device, precision)) - (await valueOf(name, cpu, "f64")));
