/**
 * Slopes from derivatives of the scheme beside differences of solutions of the same scheme, with inputs moved so little
 * that no node begins or ends to be exercised: every kind of exercise, event and volatility, in every direction.
 */
import { afterAll, describe, expect, it } from "vitest";
import type { Device } from "../../../src/device/index.ts";
import { createCpuDevice } from "../../../src/device/cpu/index.ts";
import { formula, type Precision } from "../../../src/kernel/index.ts";
import { constant, localSurface, type PiecewiseConstant } from "../../../src/market/index.ts";
import { digitalPayoff, vanillaPayoff } from "../../../src/market/products/index.ts";
import {
  Arena,
  BatchSolver,
  type Diffusion,
  grids,
  instance,
  InstancePool,
  type KnockOut,
  type OneFactorProblem,
  type ProblemDifference,
  type Resolution,
  shiftedProblem,
  Slopes,
} from "../../../src/pde/fdm/index.ts";
import { Random } from "../../../tools/properties/random.ts";
import { counted } from "../../support/extent.ts";
import { PlainDevice } from "../../support/plain-device.ts";

const cpu = createCpuDevice({ threads: 1 });
afterAll(() => cpu[Symbol.dispose]());

const SMALL: Resolution = { nodes: 57, steps: 16 };

const pieces = (random: Random, low: number, high: number): PiecewiseConstant => ({
  times: [0.15 + 0.2 * random.next(), 0.5 + 0.2 * random.next()],
  values: [0, 1, 2].map(() => low + (high - low) * random.next()),
});

function diffusionOf(random: Random): Diffusion {
  const sigma = 0.15 + 0.2 * random.next();
  switch (random.integer(6)) {
    case 0:
      return { kind: "deterministic", sigma: pieces(random, 0.15, 0.35) };
    case 1:
      return { kind: "local", sigma: (spot) => sigma + 0.1 * Math.exp(-spot / 100), shift: 0 };
    case 2:
      return { kind: "formula", sigma: formula(`${sigma} + 0.1*exp(-S/100) + 0.05*t`, ["S", "t"]), shift: 0 };
    case 3: {
      const rows = [0, 1].map(() => [0.3, 0.27, 0.25, 0.24].map((one) => one * (0.8 + 0.4 * random.next())));
      return { kind: "surface", surface: localSurface([0.2, 0.8], [70, 90, 110, 140], rows), shift: 0 };
    }
    default:
      return { kind: "deterministic", sigma: constant(sigma) };
  }
}

/** A problem of one of every kind of exercise, with none, one or both of dividends and knock-outs. */
function randomProblem(random: Random): OneFactorProblem {
  const sign = random.integer(2) === 0 ? "put" : "call";
  const strike = 85 + 30 * random.next();
  const dates = [0.2, 0.45, 0.7];
  const exercise = random.integer(4);
  const sides = (["up", "down"] as const).filter(() => random.integer(3) === 0);
  const barriers = sides.map((side): KnockOut => {
    const rebateAt = random.integer(2) === 0 ? "hit" : "expiry";
    const level = side === "up" ? 115 + 20 * random.next() : 70 + 15 * random.next();
    const times = random.integer(3) === 0 ? dates : undefined;
    return { side, level, from: 0, to: 0.9, times, rebate: 3 * random.next(), rebateAt, open: false };
  });
  return {
    spots: [100],
    expiry: 0.9,
    payoff: random.integer(8) === 0 ? digitalPayoff(sign, strike, 5) : vanillaPayoff(sign, strike),
    american: exercise > 1,
    ...(exercise === 1 ? { exerciseTimes: dates } : {}),
    rates: random.integer(2) === 0 ? constant(0.06 * random.next()) : pieces(random, -0.01, 0.06),
    dividendYield: 0.05 * random.next(),
    dividends:
      random.integer(2) === 0 ? [] : [0.2, 0.6].map((time) => ({ time, cash: 2 * random.next(), proportional: 0.01 })),
    diffusion: diffusionOf(random),
    ...(barriers.length === 0 ? {} : { barriers }),
  };
}

/** What is moved, how far differences of solutions move it, and how. */
const INPUTS: readonly (readonly [
  name: string,
  size: number,
  moved: (problem: OneFactorProblem, by: number) => OneFactorProblem | undefined,
])[] = [
  ["volatility", 1e-6, (problem, volatility) => shiftedProblem(problem, { volatility, rate: 0 })],
  ["rate", 1e-6, (problem, rate) => shiftedProblem(problem, { volatility: 0, rate })],
  ["yield", 1e-6, (problem, by) => ({ ...problem, dividendYield: problem.dividendYield + by })],
  ...[0, 1, 2].map((at) => {
    const moved = (problem: OneFactorProblem, by: number) =>
      problem.rates.values.length === 1 ? undefined : { ...problem, rates: withMoved(problem.rates, at, by) };
    return [`rate ${at}`, 1e-6, moved] as const;
  }),
  ...[0, 1, 2].map((at) => {
    const moved = ({ diffusion, ...problem }: OneFactorProblem, by: number): OneFactorProblem | undefined =>
      diffusion.kind !== "deterministic" || diffusion.sigma.values.length === 1
        ? undefined
        : { ...problem, diffusion: { ...diffusion, sigma: withMoved(diffusion.sigma, at, by) } };
    return [`volatility ${at}`, 1e-6, moved] as const;
  }),
  [
    "cash",
    1e-5,
    (problem, by) =>
      problem.dividends.length === 0 || problem.barriers !== undefined
        ? undefined
        : {
            ...problem,
            dividends: problem.dividends.map((one, i) => (i === 1 ? { ...one, cash: one.cash + by } : one)),
          },
  ],
];

const withMoved = ({ times, values }: PiecewiseConstant, at: number, by: number): PiecewiseConstant => ({
  times,
  values: values.map((value, i) => (i === at ? value + by : value)),
});

/** The slopes of a problem on a pair of meshes, by derivatives and by moves. */
async function slopesOf(device: Device, problem: OneFactorProblem, size = SMALL, precision: Precision = "f64") {
  using solver = new BatchSolver(device, precision);
  const pool = new InstancePool();
  const arena = new Arena();
  const batch = { pool, arena, goal: { accuracy: 1e-5, rounding: precision === "f64" ? 1e-12 : 2e-6 } };
  for (const grid of grids(problem, size, arena)) pool.add(instance(grid, problem, arena, "window"), 0);
  const inputs = INPUTS.filter(([, , moved]) => moved(problem, 0) !== undefined);
  const between = (up: OneFactorProblem, down: OneFactorProblem, apart: number) => {
    const differences = [up, down].map((one): ProblemDifference => ({ problem: one, subtracted: undefined }));
    return { up: differences[0], down: differences[1], apart };
  };
  const directions = inputs.map(([, by, moved]) => between(moved(problem, by)!, moved(problem, -by)!, 2 * by));
  const difference = { problem, subtracted: undefined };
  const [derivatives, moves] = [false, true].map(
    (isMoved) => new Slopes(batch, 0, difference, directions, { moves: isMoved, tellsErrors: true }),
  );
  await pool.solve(solver, pool.count, undefined);
  return inputs.map(([name], k) => ({ name, derivative: derivatives.slope(k), difference: moves.slope(k) }));
}

/** The slopes that are apart by more than rounding of values, to some 1e-13 of the spot, leaves of differences. */
function apart(slopes: Awaited<ReturnType<typeof slopesOf>>, name: string): readonly string[] {
  return slopes
    .filter(({ derivative, difference }) => !(Math.abs(derivative - difference) < 3e-5))
    .map((one) => `${name}, ${one.name}: ${one.derivative} and ${one.difference}`);
}

describe("derivatives of a scheme are differences of its solutions", () => {
  it("for random problems", { timeout: 300_000 }, async () => {
    const random = new Random(4711);
    const count = counted("FEYNKAC_SLOPES", 30, 400);
    const found: (readonly string[])[] = [];
    for (let k = 0; k < count; k++) {
      const slopes = apart(await slopesOf(cpu, randomProblem(random)), `problem ${k}`);
      if (slopes.length > 0) found.push(slopes);
    }
    // Of many a node begins or ends to be exercised within the move.
    if (found.length > 0.01 * count) expect(found).toEqual([]);
  });

  it("where layers are not kept in an item's own memory, for it is too little", async () => {
    const problem = { ...randomProblem(new Random(1)), american: true, rates: constant(0.03) };
    expect(apart(await slopesOf(cpu, problem, { nodes: 513, steps: 320 }), "513 nodes")).toEqual([]);
  });

  it("in plain JavaScript", async () => {
    const random = new Random(99);
    for (let k = 0; k < 6; k++)
      expect(apart(await slopesOf(new PlainDevice(), randomProblem(random)), `problem ${k}`)).toEqual([]);
  });

  it("in f32, as far as it tells", async () => {
    const problem: OneFactorProblem = { ...randomProblem(new Random(5)), american: true };
    const [f64, f32] = [await slopesOf(cpu, problem), await slopesOf(cpu, problem, SMALL, "f32")];
    for (const [k, { derivative }] of f64.entries())
      expect(Math.abs(f32[k].derivative - derivative)).toBeLessThan(2e-2);
  });

  it("in every part of the rates: they add up to rho", async () => {
    const problem = { ...randomProblem(new Random(8)), rates: pieces(new Random(8), 0.01, 0.05) };
    const slopes = new Map((await slopesOf(cpu, problem)).map(({ name, derivative }) => [name, derivative]));
    const parts = [0, 1, 2].map((at) => slopes.get(`rate ${at}`)!);
    expect(parts[0] + parts[1] + parts[2]).toBeCloseTo(slopes.get("rate")!, 5);
    for (const part of parts) expect(Math.abs(part)).toBeGreaterThan(1e-3);
  });
});

it("refuses moves of what has no derivative", async () => {
  const surface = localSurface([0.5], [80, 120], [[0.3, 0.25]]);
  const problem: OneFactorProblem = {
    ...randomProblem(new Random(3)),
    diffusion: { kind: "surface", surface, shift: 0 },
  };
  using solver = new BatchSolver(cpu, "f64");
  const pool = new InstancePool();
  const arena = new Arena();
  for (const grid of grids(problem, SMALL, arena)) pool.add(instance(grid, problem, arena, "window"), 0);
  const other = localSurface([0.5], [80, 120], [[0.31, 0.25]]);
  const moved: OneFactorProblem = { ...problem, diffusion: { kind: "surface", surface: other, shift: 0 } };
  const [up, down] = [moved, problem].map((one) => ({ problem: one, subtracted: undefined }));
  const batch = { pool, arena, goal: { accuracy: 1e-5, rounding: 1e-12 } };
  const slopes = new Slopes(batch, 0, down, [{ up, down, apart: 0.01 }], { moves: false, tellsErrors: false });
  await pool.solve(solver, pool.count, undefined);
  expect(() => slopes.slope(0)).toThrow("no derivative by what has moved");
});
