import type { Resolution } from "../fdm/index.ts";
import type { Precision } from "../kernel/index.ts";
import type { ErrorModel } from "./error-model.ts";
import type { Observed } from "./resolution.ts";

/** An extrapolated value, with what is known of its error. */
export interface Assessed {
  readonly value: number;
  readonly size: Resolution;
  readonly observed: Observed;
  /** Whether exercise is optimal at once: the value is the payoff. */
  readonly exercised: boolean;
  /** Whether drift dominates diffusion: the scheme is of first order there, and nothing is extrapolated. */
  readonly driftDominated: boolean;
}

/** The least that an error estimate is, relative to spot: what is left of reading between nodes, and of the mesh's ends. */
const FLOOR = 5e-9;
/** And of the first resolution alone that drift does not dominate, whose solutions far from the strike have little to tell each other. */
const FIRST_FLOOR = 2e-7;

/**
 * Rounding, in the currency. In f32 it is what limits the accuracy; the figures are those that hold on the reference cases.
 */
export function roundingError(precision: Precision, spot: number, value: number): number {
  return precision === "f32" ? 3e-6 * spot + 8e-6 * Math.abs(value) : 1e-12 * (spot + Math.abs(value));
}

/**
 * What is left of the error after extrapolation, in the currency.
 *
 * With one resolution alone it is a part of the leading errors that extrapolation took away, which the kind of the product says (`ErrorModel`), and more where
 * the meshes are too coarse to say. With a resolution `before` that was half as fine or less it is the move from there to here, were the error to
 * fall as h^2.5 only; and no less than some of the first. The noise of an exercise boundary is independent of either.
 *
 * Verified: test/pricing/accuracy.test.ts on reference cases, test/pricing/honesty.test.ts on random American options.
 */
export function errorEstimate(
  now: Assessed,
  before: Assessed | undefined,
  errorModel: ErrorModel,
  spot: number,
): number {
  return ofScheme(now, before, errorModel, spot) + BEYOND_SPOT * Math.max(Math.abs(now.value) - spot, 0);
}

/** A value above the spot, of a strike far above it, has errors in proportion: all others are parts of the spot. */
const BEYOND_SPOT = 1e-6;

function ofScheme(now: Assessed, before: Assessed | undefined, errorModel: ErrorModel, spot: number): number {
  const { inSpace, inTime, total, noise } = now.observed;
  if (now.exercised) return (1e-8 + noise) * spot;
  if (now.driftDominated) return (9 * total + LAYER * noise + 1e-5) * spot;
  const coarse = Math.max(1, 113 / now.size.nodes) ** 2;
  // Finer in time than the first, less of the leading error is left than the part that holds there.
  const finer = before === undefined ? 1 : (before.size.steps / now.size.steps) ** (errorModel.time.order - 2);
  // Where drift dominates on the coarse mesh there is no expansion in h² to assess by.
  const sure = now.observed.drift > 1 ? 1 : errorModel.space.sure * coarse;
  const left =
    sure * inSpace + errorModel.time.sure * finer * inTime + Math.min(total, (total * total) / errorModel.beyond);
  if (before === undefined || before.driftDominated) return (Math.hypot(left, noise) + FIRST_FLOOR) * spot;
  if (refinement(now, before) < MIN_REFINEMENT) return (Math.hypot(left, noise) + FLOOR) * spot;
  // Two solutions may agree by chance, all the more where their errors are not smooth.
  const moved = Math.abs(now.value - before.value) / (refinement(now, before) ** 2.5 - 1);
  return Math.hypot(Math.max((errorModel.min * left + FLOOR) * spot, moved), noise * spot);
}

/**
 * Where drift dominates, cells are wider than the layer in which early exercise is decided: ½·J·h², all of it, may be
 * missed.
 */
const LAYER = 9;

/** Two resolutions that are too near each other agree by chance. */
const MIN_REFINEMENT = 1.9;

function refinement({ size }: Assessed, before: Assessed): number {
  return Math.min(size.nodes / before.size.nodes, size.steps / before.size.steps);
}
