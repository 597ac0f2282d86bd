import { fn, type Precision, real } from "../../../kernel/index.ts";
import type { ErrorModel } from "./error-model.ts";
import { power } from "../../../base/elementary.ts";
import { integrate } from "../../../market/index.ts";
import { isKnockedIn, type OneFactorProblem, totalDrift, totalVariance } from "../problem/one-factor.ts";
import type { Grid } from "../mesh/grid.ts";
import { cellOf, nodeAt } from "../mesh/mesh.ts";

/**
 * Extrapolated values and their observed errors for a batch of problems, as typed arrays. A row is a problem at its
 * current and its previous resolution. A slot is one spot of a problem: slot = row·spots + spot index. Leading errors
 * are relative to the spot (`Observed`).
 */
export class Assessments {
  /** The number of slots of each problem: today's spot and the further requested spots. */
  readonly spots: number;

  // One entry a row.
  /** The number of mesh nodes of each problem's current resolution. */
  readonly nodes: Int32Array;
  /** The number of time steps of each problem's current resolution. */
  readonly steps: Int32Array;
  /**
   * The flags (1) of problems in which drift dominates diffusion: the scheme is of first order there, and values are
   * not extrapolated.
   */
  readonly driftDominated: Uint8Array;
  /** The number of nodes of the previous resolution; 0 where there is none. */
  readonly nodesBefore: Int32Array;
  /** The number of time steps of the previous resolution. */
  readonly stepsBefore: Int32Array;
  readonly driftDominatedBefore: Uint8Array;

  // One entry a slot.
  /** The extrapolated value of each slot, in the currency. */
  readonly value: Float64Array;
  /** The extrapolated value of each slot at the previous resolution. */
  readonly valueBefore: Float64Array;
  /** The error estimate of each slot at the previous resolution, in the currency. */
  readonly estimateBefore: Float64Array;
  /** 1 where a value has moved beyond the estimate before it: its error does not fall as errors do that are smooth. */
  readonly irregular: Uint8Array;
  /** The size of each slot's value, or the sum of the sizes of both values whose difference it is, in the currency. */
  readonly magnitude: Float64Array;
  /** The leading error in space of each slot, relative to the spot (`Observed`). */
  readonly inSpace: Float64Array;
  /** The leading error in time of each slot, relative to the spot. */
  readonly inTime: Float64Array;
  /** The sum of both, or the leading error of both together where they were not separated. */
  readonly total: Float64Array;
  /** The noise of the exercise boundary at each slot, relative to the spot. */
  readonly noise: Float64Array;
  /** The ratio of drift to diffusion on the coarse mesh at each slot. */
  readonly drift: Float64Array;
  /** The flags (1) of slots at which immediate exercise is optimal, so that the value is the payoff. */
  readonly exercised: Uint8Array;

  constructor(rows: number, spots: number) {
    const slots = rows * spots;
    this.spots = spots;
    this.nodes = new Int32Array(rows);
    this.steps = new Int32Array(rows);
    this.driftDominated = new Uint8Array(rows);
    this.nodesBefore = new Int32Array(rows);
    this.stepsBefore = new Int32Array(rows);
    this.driftDominatedBefore = new Uint8Array(rows);
    this.value = new Float64Array(slots);
    this.valueBefore = new Float64Array(slots);
    this.estimateBefore = new Float64Array(slots);
    this.irregular = new Uint8Array(slots);
    this.magnitude = new Float64Array(slots);
    this.inSpace = new Float64Array(slots);
    this.inTime = new Float64Array(slots);
    this.total = new Float64Array(slots);
    this.noise = new Float64Array(slots);
    this.drift = new Float64Array(slots);
    this.exercised = new Uint8Array(slots);
  }

  /**
   * Records the leading errors at a slot from the values on a fine and a coarse mesh. A value on the fine mesh with the
   * coarse time steps (`between`) separates the error in time from the error in space. `noise` is in the currency, and
   * `drift` is the ratio of drift to diffusion on the fine mesh. `nearby` is the size in the currency that the leading
   * error in space has near the slot, for it may vanish at the slot alone; it counts where diffusion outweighs drift on
   * both meshes.
   */
  observe(
    slot: number,
    spot: number,
    {
      fine,
      coarse,
      between,
      noise,
      drift,
      nearby = 0,
    }: Readonly<Record<"fine" | "coarse" | "noise" | "drift", number>> & {
      readonly nearby?: number;
      readonly between: number | undefined;
    },
  ): void {
    const leading = (a: number, b: number): number => Math.abs(a - b) / (3 * spot);
    this.noise[slot] = noise / spot;
    this.drift[slot] = 2 * drift;
    const least = this.drift[slot] > 1 ? 0 : nearby / spot;
    const inSpace = (a: number, b: number): number => Math.max(leading(a, b), least);
    if (between === undefined) {
      // Not told apart, either may be all of it.
      this.inSpace[slot] = this.inTime[slot] = this.total[slot] = inSpace(fine, coarse);
      return;
    }
    this.inSpace[slot] = inSpace(between, coarse);
    this.inTime[slot] = leading(fine, between);
    this.total[slot] = this.inSpace[slot] + this.inTime[slot];
  }

  /** Records that a slot's value is exact, with no observed error. */
  observeNothing(slot: number): void {
    this.inSpace[slot] = this.inTime[slot] = this.total[slot] = this.noise[slot] = this.drift[slot] = 0;
  }

  /**
   * Stores the values of a problem as those of its previous resolution, with their estimates by spot, and sets its next
   * resolution.
   */
  refine(row: number, nodes: number, steps: number, estimateOf: (spot: number) => number): void {
    for (let k = 0; k < this.spots; k++) {
      const slot = row * this.spots + k;
      if (this.nodesBefore[row] !== 0 && this.#isBeyond(slot)) this.irregular[slot] = 1;
      this.estimateBefore[slot] = estimateOf(k);
    }
    this.nodesBefore[row] = this.nodes[row];
    this.stepsBefore[row] = this.steps[row];
    this.driftDominatedBefore[row] = this.driftDominated[row];
    this.nodes[row] = nodes;
    this.steps[row] = steps;
    const first = row * this.spots;
    this.valueBefore.set(this.value.subarray(first, first + this.spots), first);
  }

  /** Whether a slot's value has moved beyond its estimate at the previous resolution. */
  #isBeyond(slot: number): boolean {
    return Math.abs(this.value[slot] - this.valueBefore[slot]) > this.estimateBefore[slot];
  }

  /**
   * The ratio of a problem's resolution to its previous one, the smaller of the ratios in space and time; 0 at the
   * first resolution.
   */
  refinement(row: number): number {
    if (this.nodesBefore[row] === 0) return 0;
    return Math.min(this.nodes[row] / this.nodesBefore[row], this.steps[row] / this.stepsBefore[row]);
  }
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
 * The estimated rounding error of a value at a spot, in the currency; in f32 it limits the attainable accuracy. Its
 * constants were measured on the reference cases.
 *
 * @param size the size of the value; of a difference the sum of the sizes of both values.
 */
export function roundingError(precision: Precision, spot: number, size: number): number {
  return precision === "f32" ? 3e-6 * spot + 1e-5 * Math.abs(size) : 1e-12 * (spot + Math.abs(size));
}

/**
 * Estimates the error that remains in the extrapolated value of a slot (`Assessments`), in the currency.
 *
 * After a single resolution the estimate is a fraction of the leading errors that extrapolation removed. The
 * `ErrorModel` of the product gives the fraction, and coarse meshes increase it. After two resolutions, one at least
 * twice as fine as the other, the estimate is the change between them for an error that falls as h^2.5, but at least a
 * fraction of the single-resolution estimate; the whole change once a value has moved beyond the estimate before it.
 * The noise of an exercise boundary is added independently.
 *
 * Verified: test/pricing/accuracy.test.ts on reference cases, test/pricing/honesty.test.ts on random American options.
 */
export function errorEstimate(of: Assessments, row: number, slot: number, model: ErrorModel, spot: number): number {
  return ofScheme(of, row, slot, model, spot) + BEYOND_SPOT * Math.max(Math.abs(of.value[slot]) - spot, 0);
}

/** A value above the spot, of a strike far above it, has errors in proportion: all others are relative to spot. */
const BEYOND_SPOT = 1e-6;

function ofScheme(of: Assessments, row: number, slot: number, model: ErrorModel, spot: number): number {
  const [inSpace, inTime, total, noise] = [of.inSpace[slot], of.inTime[slot], of.total[slot], of.noise[slot]];
  if (of.exercised[slot] !== 0) return (1e-8 + noise) * spot;
  if (of.driftDominated[row] !== 0) return (9 * total + LAYER * noise + 1e-5) * spot;
  const isFirst = of.nodesBefore[row] === 0;
  const coarse = Math.max(1, 113 / of.nodes[row]) ** 2;
  // Finer in time than the first, less of the leading error is left than the part that holds there.
  const finer = isFirst ? 1 : power(of.stepsBefore[row] / of.steps[row], model.time.order - 2);
  // Where drift dominates on the coarse mesh there is no expansion in h² to assess by.
  const certain = of.drift[slot] > 1 ? 1 : model.space.certain * coarse;
  const left =
    certain * inSpace + model.time.certain * finer * inTime + Math.min(total, (total * total) / model.beyond);
  if (isFirst || of.driftDominatedBefore[row] !== 0) return (Math.hypot(left, noise) + FIRST_FLOOR * coarse) * spot;
  const refinement = of.refinement(row);
  const change = Math.abs(of.value[slot] - of.valueBefore[slot]);
  const moved = of.irregular[slot] !== 0 ? change : change / (refinement * refinement * Math.sqrt(refinement) - 1);
  if (refinement < MIN_REFINEMENT) {
    const own = (Math.hypot(left, noise) + FLOOR) * spot;
    // A value beyond its estimate from the one before says that less of the leading errors is removed than holds.
    return change > of.estimateBefore[slot] ? Math.max(own, moved) : own;
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
