import { fn, real } from "../../../kernel/index.ts";
import type { Grid, Resolution } from "../mesh/grid.ts";
import type { ErrorModel } from "./error-model.ts";
import { power } from "../../../base/elementary.ts";
import { integrate } from "../../../market/index.ts";
import { isKnockedIn, type OneFactorProblem, totalDrift, totalVariance } from "../problem/one-factor.ts";
import { cellOf, nodeAt } from "../mesh/mesh.ts";

/** The value of a problem at one spot, and the errors observed there at the current resolution. */
export class Assessment {
  /** The extrapolated value, in the currency. */
  value = 0;
  /** The size of the value, or the sum of the sizes of both values whose difference it is, in the currency. */
  magnitude = 0;
  /** True where immediate exercise is optimal, so that the value is the payoff. */
  exercised = false;
  /** The leading errors in space, in time and together, relative to the spot (`LeadingErrors`). */
  inSpace = 0;
  inTime = 0;
  total = 0;
  /** The noise of the exercise boundary, relative to the spot. */
  noise = 0;
  /** The ratio of drift to diffusion on the coarse mesh. */
  drift = 0;
  /** The value at the previous resolution and its error estimate there, in the currency. */
  valueBefore = 0;
  estimateBefore = 0;
  /** True where a value has moved beyond the previous estimate, so that its error does not fall as smooth errors do. */
  irregular = false;

  /**
   * Records the leading errors from the values on a fine and a coarse mesh. A value on the fine mesh with the coarse
   * time steps (`between`) separates the error in time from the error in space. `noise` is in the currency, and `drift`
   * is the ratio of drift to diffusion on the fine mesh. `nearby` is the size in the currency that the leading error in
   * space has near the spot, for it may vanish at the spot alone; it counts where diffusion outweighs drift on both
   * meshes.
   */
  observe(spot: number, { fine, coarse, between, noise, drift, nearby = 0 }: Observation): void {
    const leading = (a: number, b: number): number => Math.abs(a - b) / (3 * spot);
    this.noise = noise / spot;
    this.drift = 2 * drift;
    const least = this.drift > 1 ? 0 : nearby / spot;
    const inSpace = (a: number, b: number): number => Math.max(leading(a, b), least);
    if (between === undefined) {
      // Not told apart, either may be all of it.
      this.inSpace = this.inTime = this.total = inSpace(fine, coarse);
      return;
    }
    this.inSpace = inSpace(between, coarse);
    this.inTime = leading(fine, between);
    this.total = this.inSpace + this.inTime;
  }

  /** Records that the value is exact. */
  observeNothing(): void {
    this.inSpace = this.inTime = this.total = this.noise = this.drift = 0;
  }
}

/** The values from which `Assessment.observe` computes the errors. */
export interface Observation extends Readonly<Record<"fine" | "coarse" | "noise" | "drift", number>> {
  readonly nearby?: number;
  readonly between: number | undefined;
}

/** A resolution at which a problem was solved. */
interface Attempt extends Resolution {
  /** True where drift dominates diffusion: the scheme is of first order then, and values are not extrapolated. */
  driftDominated: boolean;
}

/** The current resolution of a problem and the previous one, which is undefined at the first resolution. */
export interface Attempts {
  now: Attempt;
  before: Attempt | undefined;
}

/**
 * The least that an error estimate is, relative to spot: what is left of reading between nodes, and of the mesh's ends.
 */
const FLOOR = 5e-9;
/**
 * The least error estimate of the first resolution alone, with 113 nodes or more, where drift does not dominate: far
 * from the strike its solutions have little to tell each other. It grows as h² on fewer nodes.
 */
const FIRST_FLOOR = 2e-7;

/**
 * Estimates the error that remains in an extrapolated value, in the currency.
 *
 * After a single resolution the estimate is a fraction of the leading errors that extrapolation removed. The
 * `ErrorModel` of the product gives the fraction, and coarse meshes increase it. After two resolutions, one at least
 * twice as fine as the other, the estimate is the change between them for an error that falls as h^2.5, but at least a
 * fraction of the single-resolution estimate. It is the whole change once a value has moved beyond the estimate before
 * it. The noise of an exercise boundary is added independently.
 *
 * Verified: test/pricing/accuracy.test.ts on reference cases, test/pricing/honesty.test.ts on random American options.
 */
export function errorEstimate(of: Assessment, attempts: Attempts, model: ErrorModel, spot: number): number {
  return ofScheme(of, attempts, model, spot) + BEYOND_SPOT * Math.max(Math.abs(of.value) - spot, 0);
}

/** A value above the spot, of a strike far above it, has errors in proportion: all others are relative to spot. */
const BEYOND_SPOT = 1e-6;

function ofScheme(of: Assessment, { now, before }: Attempts, model: ErrorModel, spot: number): number {
  const { inSpace, inTime, total, noise } = of;
  if (of.exercised) return (1e-8 + noise) * spot;
  if (now.driftDominated) return (9 * total + LAYER * noise + 1e-5) * spot;
  const coarse = Math.max(1, 113 / now.nodes) ** 2;
  // Finer in time than the first, less of the leading error is left than the part that holds there.
  const finer = before === undefined ? 1 : power(before.steps / now.steps, model.time.order - 2);
  // Where drift dominates on the coarse mesh there is no expansion in h² to assess by.
  const certain = of.drift > 1 ? 1 : model.space.certain * coarse;
  const left =
    certain * inSpace + model.time.certain * finer * inTime + Math.min(total, (total * total) / model.beyond);
  if (before === undefined || before.driftDominated) return (Math.hypot(left, noise) + FIRST_FLOOR * coarse) * spot;
  const refinement = Math.min(now.nodes / before.nodes, now.steps / before.steps);
  const change = Math.abs(of.value - of.valueBefore);
  const moved = of.irregular ? change : change / (refinement * refinement * Math.sqrt(refinement) - 1);
  if (refinement < MIN_REFINEMENT) {
    const own = (Math.hypot(left, noise) + FLOOR) * spot;
    // A value beyond its estimate from the one before says that less of the leading errors is removed than holds.
    return change > of.estimateBefore ? Math.max(own, moved) : own;
  }
  // Two solutions may agree by chance, all the more where their errors are not smooth.
  return Math.hypot(Math.max((model.min * left + FLOOR) * spot, moved), noise * spot);
}

/**
 * The multiple of the noise ½·J·h² where drift dominates: cells are wider than the layer in which early exercise is
 * decided, and all of it may be missed.
 */
const LAYER = 9;

/** Two resolutions that are too near each other agree by chance. */
const MIN_REFINEMENT = 1.9;

/** A part of J·h² that holds what else estimates leave uncovered, of 4,000 random options (design/accuracy.md). */
export const BOUNDARY_NOISE = 0.06;

/**
 * The largest error in the value of an American call or put that comes from the exercise boundary lying between two
 * nodes, in the currency, as a function of the spot:
 *
 *   BOUNDARY_NOISE·J·h²·P,   J = 2·|r·φ(B) − (r − q)·B·φ′(B)| / (σ²B²),
 *
 * where P is the probability that the spot reaches B in time. V″ jumps by J at the boundary B. As B moves between nodes
 * h apart, the error oscillates with amplitude of order J·h², which two meshes cannot reveal. B is the approximation of
 * Barone-Adesi and Whaley (1987) for mean coefficients. P assumes a Brownian motion in ln S. It is "none" where early
 * exercise is never optimal, and "unknown" where no formula tells B.
 */
export type BoundaryNoise = "none" | "unknown" | KnownNoise;

interface KnownNoise {
  readonly boundary: number;
  /** The width of the mesh cell that contains it. */
  readonly cell: number;
  /** What is gained a year by exercise there, in the currency. */
  readonly gain: number;
  /** The noise of a spot at the boundary. */
  readonly noise: number;
  /** The drift and the standard deviation of ln S over the life. */
  readonly drift: number;
  readonly deviation: number;
}

/** Returns the noise of the exercise boundary of a problem on a mesh. */
export function boundaryNoise({ problem, mesh }: Pick<Grid, "problem" | "mesh">): BoundaryNoise {
  const { payoff, american, expiry } = problem;
  // A payoff that jumps is exercised at its kink, a node.
  if (!american || payoff.jumps) return "none";
  if (payoff.exerciseSide === "unknown") return "unknown";
  const sign = payoff.exerciseSide === "high" ? 1 : -1;
  const strike = sign > 0 ? payoff.kinks[0] : payoff.exercised(0);
  const rate = integrate(problem.rates, expiry) / expiry;
  const carry = totalDrift(problem) / expiry;
  const variance = totalVariance(problem);
  const boundary = exerciseBoundary({ sign, strike, rate, carry, variance, expiry });
  if (boundary === undefined) return hasTwoBoundaries(sign, rate, rate - carry) ? "unknown" : "none";
  const cell = cellOf(mesh, boundary);
  const h = nodeAt(mesh, cell + 1) - nodeAt(mesh, cell);
  const gain = rate * (boundary - strike) - carry * boundary;
  return {
    boundary,
    cell: Math.abs(h),
    gain,
    noise: (BOUNDARY_NOISE * 2 * Math.abs(gain) * expiry * h * h) / (variance * boundary * boundary),
    drift: carry * expiry - 0.5 * variance,
    deviation: Math.sqrt(variance),
  };
}

/** Returns the noise at a spot, in the currency; 0 where it is unknown. */
export function noiseAt(noise: BoundaryNoise, problem: OneFactorProblem, spot: number): number {
  if (typeof noise === "string") return 0;
  if (isKnockedIn(problem, spot)) return ofAlive(noise, problem, spot);
  // First to a level, and from there to the boundary.
  let max = 0;
  for (const { side, level } of problem.knockIns?.levels ?? [])
    max = Math.max(max, reach(noise, spot, level, side === "up" ? 1 : -1) * ofAlive(noise, problem, level));
  return max;
}

function ofAlive(known: KnownNoise, { payoff }: OneFactorProblem, spot: number): number {
  return known.noise * reach(known, spot, known.boundary, payoff.exerciseSide === "high" ? 1 : -1);
}

/** The probability that the spot comes to a level within the life. */
const reach = ({ drift, deviation }: KnownNoise, spot: number, level: number, side: 1 | -1): number =>
  hitProbability(side * Math.log(level / spot), side * drift, deviation);

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
