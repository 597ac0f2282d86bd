import { type Arena, totalVariance } from "../fdm/index.ts";
import type { Precision } from "../kernel/index.ts";
import { type Case, caseOn, fineOn, lanesOf, readCase, readFine, type Solving } from "./fdm-case.ts";
import { shiftedProblems, type TradeProblems } from "./trade-barriers.ts";

/** The difference of the values under two shifts, over their distance. */
interface Bump {
  /** Those beside the base's. */
  readonly instances: readonly Solving[];
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

  constructor(base: Case, problems: TradeProblems, precision: Precision, arena: Arena) {
    const { problem } = problems;
    const sigma = Math.sqrt(totalVariance(problem) / problem.expiry);
    const early = problem.american || problem.exerciseTimes !== undefined;
    const bump = precision !== "f32" && !early ? smoothBump : noisyBump;
    // A short life is hardly moved by the rates: a wider shift stands out of the noise. Over a long one values bend
    // with them.
    const ofYear = Math.max(0.004 / Math.sqrt(problem.expiry), 0.002);
    const wide = precision === "f32" ? 2.5 : 1;
    // And where volatility is little, no further than a tenth of a standard deviation, of the forward.
    const ofRates = Math.min(ofYear * wide, (0.1 * sigma) / Math.sqrt(problem.expiry));
    const sizes = bump === smoothBump ? [1e-4 * sigma, 1e-6] : [0.02 * wide * sigma, ofRates];
    this.vega = bump(
      base,
      (sign) => shiftedProblems(problems, { volatility: sign * sizes[0], rate: 0 }),
      sizes[0],
      arena,
    );
    this.rho = bump(
      base,
      (sign) => shiftedProblems(problems, { volatility: 0, rate: sign * sizes[1] }),
      sizes[1],
      arena,
    );
  }

  get instances(): readonly Solving[] {
    return [...this.vega.instances, ...this.rho.instances];
  }

  read(rounding: number): { readonly vega: number; readonly rho: number } {
    return { vega: this.vega.read(rounding), rho: this.rho.read(rounding) };
  }
}

type Moved = (sign: 1 | -1) => TradeProblems;

function smoothBump(base: Case, moved: Moved, size: number, arena: Arena): Bump {
  const up = caseOn(base, moved(1), arena);
  return {
    instances: lanesOf(up),
    read: (rounding) => (readCase(up, rounding).value - readCase(base, rounding).value) / size,
  };
}

function noisyBump(base: Case, moved: Moved, size: number, arena: Arena): Bump {
  const [up, down] = ([1, -1] as const).map((sign) => fineOn(base, moved(sign), arena));
  return {
    instances: [...up, ...down],
    read: (rounding) => (readFine(up, rounding).value - readFine(down, rounding).value) / (2 * size),
  };
}
