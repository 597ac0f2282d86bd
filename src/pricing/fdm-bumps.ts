import { type Arena, type OneFactorProblem, shiftedProblem, totalVariance } from "../fdm/index.ts";
import type { Precision } from "../kernel/index.ts";
import { solvingOn, lanesOf, type Pair, pairOn, readOne, readPair, type Solving } from "./fdm-case.ts";

/** The difference of the values under two shifts, over their distance. */
interface Bump {
  /** Those beside the base's. */
  readonly lanes: readonly Solving[];
  read(rounding: number): number;
}

/**
 * Vega and rho, on the meshes of the base case.
 *
 * A European solution is smooth in its parameters: a forward difference with a tiny step serves in f64, and it is extrapolated as the value
 * is. The exercise boundary moves from node to node as they change, which leaves noise of about 1e-6 of spot in the value: there differences
 * are central and wide, and of the fine solution alone, since extrapolation would add to the noise. In f32 they are wide for rounding's sake.
 */
export class Bumps {
  private readonly vega: Bump;
  private readonly rho: Bump;

  constructor(base: Pair, problem: OneFactorProblem, precision: Precision, arena: Arena) {
    const sigma = Math.sqrt(totalVariance(problem) / problem.expiry);
    const early = problem.american || problem.exerciseTimes !== undefined;
    const bump = precision !== "f32" && !early ? smoothBump : noisyBump;
    // A short life is hardly moved by the rates: a wider shift stands out of the noise.
    const root = Math.sqrt(Math.min(problem.expiry, 1));
    const wide = precision === "f32" ? 2.5 : 1;
    const sizes = bump === smoothBump ? [1e-4 * sigma, 1e-6] : [0.02 * wide * sigma, (0.002 * wide) / root];
    this.vega = bump(
      base,
      (sign) => shiftedProblem(problem, { volatility: sign * sizes[0], rate: 0 }),
      sizes[0],
      arena,
    );
    this.rho = bump(base, (sign) => shiftedProblem(problem, { volatility: 0, rate: sign * sizes[1] }), sizes[1], arena);
  }

  get lanes(): readonly Solving[] {
    return [...this.vega.lanes, ...this.rho.lanes];
  }

  read(rounding: number): { readonly vega: number; readonly rho: number } {
    return { vega: this.vega.read(rounding), rho: this.rho.read(rounding) };
  }
}

type Moved = (sign: 1 | -1) => OneFactorProblem;

function smoothBump(base: Pair, moved: Moved, size: number, arena: Arena): Bump {
  const up = pairOn(base.fine.lane.grid, base.coarse.lane.grid, moved(1), arena, base.drift);
  return {
    lanes: lanesOf(up),
    read: (rounding) => (readPair(up, 0, rounding).value - readPair(base, 0, rounding).value) / size,
  };
}

function noisyBump({ fine }: Pair, moved: Moved, size: number, arena: Arena): Bump {
  const [up, down] = ([1, -1] as const).map((sign) => solvingOn(fine.lane.grid, moved(sign), arena));
  return {
    lanes: [up, down],
    read: (rounding) => (readOne(up, rounding).value - readOne(down, rounding).value) / (2 * size),
  };
}
