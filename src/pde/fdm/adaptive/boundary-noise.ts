import { fn, real } from "../../../kernel/index.ts";
import { integrate } from "../../../market/index.ts";
import { isKnockedIn } from "../problem/barriers.ts";
import type { Grid } from "../mesh/grid.ts";
import { cellOf, nodeAt } from "../mesh/mesh.ts";
import { type OneFactorProblem, totalDrift, totalVariance } from "../problem/one-factor.ts";

/** A part of J·h² that holds what else estimates leave uncovered, of 4,000 random options (design/accuracy.md). */
const NOISE = 0.06;

/** The kinds of rows: without noise, with noise that a formula tells, and with noise that none tells. */
const KIND = { none: 0, known: 1, unknown: 2 } as const;

/**
 * The largest error in the value of an American call or put that comes from the exercise boundary lying between two
 * nodes, in the currency, as a function of the spot:
 *
 *   NOISE·J·h²·P,   J = 2·|r·φ(B) − (r − q)·B·φ′(B)| / (σ²B²), P the probability that the spot reaches B in time.
 *
 * V″ jumps by J at the boundary B. As B moves between nodes h apart, the error oscillates with amplitude of order J·h²,
 * which two meshes cannot reveal. B is the approximation of Barone-Adesi and Whaley (1987) for mean coefficients. P
 * assumes a Brownian motion in ln S. The noise is zero where early exercise is never optimal.
 */
export class BoundaryNoise {
  readonly #kind: Uint8Array;
  readonly #boundary: Float64Array;
  /** The noise of a spot at the boundary. */
  readonly #noise: Float64Array;
  /** The drift of ln S over the life. */
  readonly #drift: Float64Array;
  readonly #deviation: Float64Array;

  constructor(rows: number) {
    this.#kind = new Uint8Array(rows);
    this.#boundary = new Float64Array(rows);
    this.#noise = new Float64Array(rows);
    this.#drift = new Float64Array(rows);
    this.#deviation = new Float64Array(rows);
  }

  /** Stores the quantities of problem `row` that depend on its mesh. */
  set(row: number, { problem, mesh }: Pick<Grid, "problem" | "mesh">): void {
    const { payoff, american, expiry } = problem;
    this.#kind[row] = KIND.none;
    // A payoff that jumps is exercised at its kink, a node.
    if (!american || payoff.jumps) return;
    if (payoff.exerciseSide === "unknown") {
      this.#kind[row] = KIND.unknown;
      return;
    }
    const sign = payoff.exerciseSide === "high" ? 1 : -1;
    const strike = sign > 0 ? payoff.kinks[0] : payoff.exercised(0);
    const rate = integrate(problem.rates, expiry) / expiry;
    const carry = totalDrift(problem) / expiry;
    const variance = totalVariance(problem);
    const boundary = exerciseBoundary({ sign, strike, rate, carry, variance, expiry });
    if (boundary === undefined) {
      if (hasTwoBoundaries(sign, rate, rate - carry)) this.#kind[row] = KIND.unknown;
      return;
    }
    const cell = cellOf(mesh, boundary);
    const h = nodeAt(mesh, cell + 1) - nodeAt(mesh, cell);
    const gain = rate * (boundary - strike) - carry * boundary;
    this.#kind[row] = KIND.known;
    this.#boundary[row] = boundary;
    this.#noise[row] = (NOISE * 2 * Math.abs(gain) * expiry * h * h) / (variance * boundary * boundary);
    this.#drift[row] = carry * expiry - 0.5 * variance;
    this.#deviation[row] = Math.sqrt(variance);
  }

  /** Tells whether there is no formula for the exercise boundary of problem `row`. */
  isUnknown(row: number): boolean {
    return this.#kind[row] === KIND.unknown;
  }

  /** The noise of problem `row` at a spot, in the currency; 0 where it is unknown. */
  at(row: number, problem: OneFactorProblem, spot: number): number {
    if (this.#kind[row] !== KIND.known) return 0;
    if (isKnockedIn(problem, spot)) return this.#ofAlive(row, problem, spot);
    // First to a level, and from there to the boundary.
    let max = 0;
    for (const { side, level } of problem.knockIns?.levels ?? [])
      max = Math.max(max, this.#reach(row, spot, level, side === "up" ? 1 : -1) * this.#ofAlive(row, problem, level));
    return max;
  }

  #ofAlive(row: number, { payoff }: OneFactorProblem, spot: number): number {
    const side = payoff.exerciseSide === "high" ? 1 : -1;
    return this.#noise[row] * this.#reach(row, spot, this.#boundary[row], side);
  }

  /** The probability that the spot comes to a level within the life. */
  #reach(row: number, spot: number, level: number, side: 1 | -1): number {
    return hitProbability(side * Math.log(level / spot), side * this.#drift[row], this.#deviation[row]);
  }
}

interface Terms {
  /** +1 for a call, −1 for a put. */
  readonly sign: 1 | -1;
  readonly strike: number;
  readonly rate: number;
  /** r − q. */
  readonly carry: number;
  /** The variance of the whole life. */
  readonly variance: number;
  readonly expiry: number;
}

/**
 * Tells whether exercise may be optimal between two boundaries: of a put where q < r < 0, of a call where r < q < 0.
 */
const hasTwoBoundaries = (sign: 1 | -1, rate: number, dividendYield: number): boolean =>
  sign < 0 ? dividendYield < rate && rate < 0 : rate < dividendYield && dividendYield < 0;

/**
 * The spot at which exercise begins to be optimal today, B = B∞ + (K − B∞)·e^{hT}, with B∞ that of the perpetual option
 * (Barone-Adesi & Whaley 1987, the start of their iteration); undefined where it never is.
 */
function exerciseBoundary({ sign, strike, rate, carry, variance, expiry }: Terms): number | undefined {
  const worthwhile = sign > 0 ? rate - carry : rate;
  if (!(worthwhile > 0)) return undefined;
  const perYear = variance / expiry;
  const n = (2 * carry) / perYear - 1;
  const beta = 0.5 * (-n + sign * Math.sqrt(n * n + (8 * rate) / perYear));
  const perpetual = (strike * beta) / (beta - 1);
  if (!(sign * (perpetual - strike) > 0)) return undefined;
  const decay = (-(sign * carry * expiry + 2 * Math.sqrt(variance)) * strike) / (sign * (perpetual - strike));
  return perpetual + (strike - perpetual) * Math.exp(Math.min(decay, 0));
}

/** P(min over [0, 1] of d + drift·t + deviation·W(t) ≤ 0). */
const hitProbability = fn({
  name: "hitProbability",
  params: [real, real, real],
  body([distance, drift, deviation], gpu) {
    if (distance <= 0) return 1;
    const reflected = Math.exp(Math.min((-2 * drift * distance) / (deviation * deviation), 50));
    const probability =
      gpu.normalCdf((-distance - drift) / deviation) + reflected * gpu.normalCdf((-distance + drift) / deviation);
    return Math.min(probability, 1);
  },
});
