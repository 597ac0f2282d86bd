import { deviationOf, driftOver, type OneFactorProblem, totalDrift, totalVariance } from "../problem/one-factor.ts";
import { integrate } from "../../../market/index.ts";
import { varianceProfile, volatilityOver } from "../problem/variance.ts";
import type { MeshSpec } from "./mesh.ts";

/**
 * The number of standard deviations between the outermost kink and the end of the mesh. Beyond them gamma is below 4e-6
 * of its peak.
 */
export const MESH_DEVIATIONS = 5;
/**
 * Meshes of fewer nodes than those that books are priced on are wrong by more than what they leave out, and reach less
 * far: with three standard deviations on 41 nodes errors of European and Bermudan puts were less by a third to a half,
 * and what is left out is still below 1e-6 of the spot. The same beyond the spot, for early exercise, which five
 * standard deviations off is worth less than 1e-7 of it, and four off 1e-6.
 */
const FULL_REACH_NODES = 57;
const MIN_REACH = 3;
const reachOf = (count: number): number =>
  Math.max(MESH_DEVIATIONS - Math.max(FULL_REACH_NODES - count, 0) / 8, MIN_REACH);

/**
 * Half-width of the dense part of the mesh, in standard deviations; 0.5 … 3 differ little. Wider by the cash dividends,
 * which move the kink, and by a drift that does.
 */
const DENSITY = 0.6;
/**
 * Standard deviations beyond the spot's forward at which the mesh may end where drift brings values in from outside:
 * against strong drift its end row cannot know them (`matrixRow`), and what it makes of them is carried as far inwards.
 */
const INFLOW_REACH = 6;

/** The fraction of the lowest kink or spot below which a mesh need not extend, whatever dividends are paid. */
export const LOWEST_FRACTION = 0.02;

/**
 * The logarithm of the ratio to the spots and kinks beyond which a mesh need not extend. A martingale comes to a
 * multiple of itself with at most its inverse as probability: there a value may be off by the strike, and at zero by
 * the spot.
 */
const FARTHEST = 100;
/** The standard deviation of ln S up to which values on meshes that are cut so are within their error estimates. */
const LARGEST_CUT = 50;

/** The specification of the mesh of a one-factor problem. */
interface Domain extends MeshSpec {
  /** True where the first node is certain to be exercised, because the mesh ends inside the exercise region. */
  readonly firstExercised: boolean;
}

/** The quantities from which the domain of a problem is computed. */
export interface DomainInputs {
  /** The standard deviation and the drift of ln S up to expiry. */
  readonly deviation: number;
  readonly drift: number;
  /** The sum of all cash dividends, undiscounted. */
  readonly cash: number;
  /** True where the coordinate is S, because volatility takes the spot to zero (`reachesZero`). */
  readonly linear: boolean;
}

/** Returns the quantities from which the domain of a problem is computed. */
export function domainInputsOf(problem: OneFactorProblem): DomainInputs {
  const deviation = deviationOf(problem);
  let cash = 0;
  for (const dividend of problem.dividends) cash += dividend.cash;
  return { deviation, drift: totalDrift(problem), cash, linear: reachesZero(problem, deviation) };
}

/**
 * Returns the mesh specification of a problem with `count` nodes; `exercised` is the price of `certainExercise`, if
 * there is one.
 */
export function meshSpecOf(problem: OneFactorProblem, count: number, exercised: number | undefined): Domain {
  const extent = domainInputsOf(problem);
  const { deviation, drift, cash, linear } = extent;
  const kinks = denseAt(problem, deviation);
  const centre = kinks[kinks.length >> 1];
  return {
    count,
    coordinate: linear ? "linear" : "log",
    ...ends(problem, kinks, extent, reachOf(count), exercised),
    kinks,
    pins: jumpsOf(problem).filter((jump) => !kinks.some((kink) => isSamePrice(kink, jump))),
    width:
      (DENSITY * deviation + Math.max(0, Math.abs(drift) - 2 * deviation)) * (linear ? centre : 1) +
      (linear ? cash : cash / centre),
    zero: !linear && cash > 0,
    descending: problem.payoff.exerciseSide === "high",
  };
}

/**
 * A spot whose logarithm moves this many times further down than up to scale with its volatility at the kinks is at
 * zero.
 */
const FALL = 3;

/**
 * Tells whether volatility takes the spot to zero within `MESH_DEVIATIONS` standard deviations, as where σ(S)·S does
 * not vanish like S (CEV with β < 1, a displaced diffusion). S = 0 is then a node of a mesh in S. Otherwise the
 * coordinate is ln S, with as many nodes below the kink as above it, whatever the volatility. A volatility surface is
 * constant below its lowest spot. `deviation` is the standard deviation of ln S at expiry.
 */
function reachesZero(problem: OneFactorProblem, deviation: number): boolean {
  const { diffusion, payoff, spots } = problem;
  if (diffusion.kind === "deterministic" || diffusion.kind === "surface") return false;
  const start = Math.min(lowestOf(payoff.kinks), lowestOf(spots));
  const fall = Math.log(start / priceAtDistance(problem, start, Math.exp(-MESH_DEVIATIONS * deviation)));
  return fall > FALL * MESH_DEVIATIONS * deviation;
}

/** Returns the prices at which σ(S) is discontinuous. */
export const jumpsOf = ({ diffusion }: OneFactorProblem): readonly number[] =>
  diffusion.kind === "local" ? (diffusion.jumps ?? []) : [];

/** The kinks; the spot as well, where a formula may bend as much and no kink is near. */
function denseAt(
  { payoff: { kinks, straight }, spots: [spot] }: OneFactorProblem,
  deviation: number,
): readonly number[] {
  if (straight || kinks.some((kink) => Math.abs(Math.log(kink / spot)) < 3 * deviation)) return kinks;
  return [...kinks, spot].sort((a, b) => a - b);
}

function ends(
  problem: OneFactorProblem,
  kinks: readonly number[],
  { deviation, drift, cash, linear }: DomainInputs,
  deviations: number,
  exercised: number | undefined,
): Pick<Domain, "lowest" | "highest" | "firstExercised"> {
  // Where drift outweighs diffusion the scheme's own diffusion spreads things further than the volatility does.
  const margin = Math.exp(0.5 * deviation + (Math.abs(drift) > 2 * deviation ? 0.5 * Math.abs(drift) : 0));
  const reach = Math.exp(deviations * deviation);
  // Backward in time a kink moves against the drift, and up by the cash dividends; the spot moves with the drift.
  const [forth, back] = [Math.exp(drift), Math.exp(-drift)];
  let lowest = linear ? 0 : priceAtDistance(problem, kinks[0] * Math.min(1, back), 1 / reach);
  let highest = priceAtDistance(problem, (kinks[kinks.length - 1] + cash) * Math.max(1, back), reach);
  // Deep in the money the exercise boundary may lie beyond the spot: so far as the spot may come, it has to be on the
  // mesh.
  const { american, exerciseTimes = [], payoff } = problem;
  const isEarly = american || exerciseTimes.length > 0;
  const early = Math.max(margin, reach);
  const marginBelow = Math.max(
    isEarly && payoff.exerciseSide !== "high" ? early : margin,
    inflowMargin(problem, deviation, -1),
  );
  const marginAbove = Math.max(
    isEarly && payoff.exerciseSide !== "low" ? early : margin,
    inflowMargin(problem, deviation, 1),
  );
  lowest = Math.min(lowest, (lowestOf(problem.spots) * Math.min(1, forth)) / marginBelow);
  highest = Math.max(highest, highestOf(problem.spots) * Math.max(1, forth) * marginAbove);
  if (cash > 0 && !linear) {
    // A dividend bends the solution at its own size, in the one cell above zero: that has to be beyond where the spot
    // comes.
    const spot = lowestOf(problem.spots);
    const left = Math.max(
      proportionalDividendFactor(problem) * spot * Math.min(1, forth) - cash,
      LOWEST_FRACTION * spot,
    );
    lowest = Math.min(lowest, priceAtDistance(problem, left, 1 / reach));
  }
  if (!payoff.straight) {
    // Beyond the kinks the payoff may bend as well: it counts wherever the spot comes.
    lowest = Math.min(lowest, priceAtDistance(problem, weightedMeanSpot(problem, deviation, -1), 1 / reach));
    highest = Math.max(highest, priceAtDistance(problem, weightedMeanSpot(problem, deviation, 1), reach));
  }
  if (!linear) ({ lowest, highest } = limitedEnds(problem, deviation, { lowest, highest }));
  if (exercised === undefined) return { lowest, highest, firstExercised: false };
  if (problem.payoff.exerciseSide === "low")
    return { lowest: Math.max(lowest, exercised), highest, firstExercised: exercised >= lowest };
  return { lowest, highest: Math.min(highest, exercised), firstExercised: exercised <= highest };
}

/**
 * Returns the ends of a mesh in ln S, limited to prices whose squares do not overflow, as they would at a volatility of
 * 800 % over 40 years, and beyond which no value depends on the solution. The ends remain where they are for payoffs
 * that are not straight, because their values may depend on prices at any distance.
 */
export function limitedEnds(
  { spots, payoff: { kinks, straight } }: OneFactorProblem,
  deviation: number,
  { lowest, highest }: Pick<Domain, "lowest" | "highest">,
): Pick<Domain, "lowest" | "highest"> {
  if (!straight || deviation > LARGEST_CUT) return { lowest, highest };
  const prices = [...spots, ...kinks];
  const least = lowestOf(prices) * Math.exp(-FARTHEST);
  const most = highestOf(prices) * Math.exp(FARTHEST);
  // What has overflowed may be no number.
  return { lowest: lowest >= least ? lowest : least, highest: highest <= most ? highest : most };
}

/** Returns the lowest of a list of prices; infinity for an empty list. `Math.min(...prices)` would copy a long list. */
export function lowestOf(prices: readonly number[]): number {
  let lowest = Number.POSITIVE_INFINITY;
  for (const price of prices) if (price < lowest) lowest = price;
  return lowest;
}

function highestOf(spots: readonly number[]): number {
  let highest = spots[0];
  for (const spot of spots) if (spot > highest) highest = spot;
  return highest;
}

/** The number of intervals a pin; where there are fewer, kinks are left to chance. */
const ROOM = 10;
/** Prices nearer to each other than this part of them are one. */
const SAME_PRICE = 1e-7;
const isSamePrice = (a: number, b: number): boolean => Math.abs(a - b) < SAME_PRICE * b;

/**
 * Returns the prices that must be nodes, increasing: `levels` of barriers; `jumps` of σ(S) if there is room; kinks of
 * the payoff at which early exercise ends (a cap, a jump); and the prices from which a dividend takes the spot to a
 * barrier (`crossed`). Where such a price lies between nodes, the maximum of the value is cut off, and the scheme loses
 * one order of accuracy.
 */
export function pinnedPrices(
  { american, exerciseTimes, payoff }: OneFactorProblem,
  levels: readonly number[],
  kinks: readonly number[],
  crossed: readonly number[],
  jumps: readonly number[],
  count: number,
): readonly number[] {
  const pins = levels.filter((level, i) => levels.indexOf(level) === i);
  const isEarly = american || exerciseTimes !== undefined;
  const endsThere = isEarly && (payoff.jumps || payoff.exerciseSide === "unknown");
  for (const price of [...(endsThere ? kinks : []), ...(american ? crossed : []), ...jumps])
    if (!pins.some((pin) => isSamePrice(pin, price)) && (pins.length + 2) * ROOM < count) pins.push(price);
  return pins.sort((a, b) => a - b);
}

/**
 * The factor by which the mesh has to reach further where drift, upwards (1) or downwards, is strong against diffusion
 * over the life, or while σ is low; 1 if it is not. In ln S the end row is right for drift of up to two standard
 * deviations, in S, where nodes far out are nearer to each other and a volatility may fall, for some six times less.
 */
function inflowMargin(problem: OneFactorProblem, deviation: number, sign: 1 | -1): number {
  const { rates, dividendYield, expiry, diffusion } = problem;
  if (rates.times.length === 0 && sign * (rates.values[0] - dividendYield) <= 0) return 1;
  const inflow = integrate(rates, expiry, (rate) => Math.max(0, sign * (rate - dividendYield)));
  const weak = diffusion.kind === "deterministic" ? 1 : Math.min(1 / 3, 1.5 * deviation);
  const isStrong = inflow > deviation * weak || isStrongWhileQuiet(problem, deviation, sign);
  return isStrong ? Math.exp(INFLOW_REACH * deviation) : 1;
}

/** Returns the fraction of the spot that remains after all proportional dividends. */
export function proportionalDividendFactor({ dividends }: OneFactorProblem): number {
  return dividends.reduce((kept, { proportional }) => kept * (1 - proportional), 1);
}

/**
 * Powers of the spot beyond this are not followed: what a payoff is worth that grows as fast is decided where no spot
 * comes.
 */
const MAX_GROWTH = 10;

/**
 * Returns a spot that the mesh must at least reach, below (`sign` = −1) or above (1) today's spots, for a payoff that
 * grows like S^p there. It is the mean spot at expiry under the measure weighted by the payoff, plus or less one
 * standard deviation. Under this measure ln S drifts by (p − ½)·σ²T. The standard deviation is added because the
 * condition at the end of the mesh, ∂²V/∂S² = 0, is inexact there during the whole life.
 */
export function weightedMeanSpot(problem: OneFactorProblem, deviation: number, sign: 1 | -1): number {
  const { spots, payoff } = problem;
  const drifted = sign * Math.max(0, sign * totalDrift(problem));
  const spot = (sign > 0 ? highestOf : lowestOf)(spots) * Math.exp(drifted);
  const far = priceAtDistance(problem, spot, Math.exp(sign * MESH_DEVIATIONS * deviation));
  const power = Math.log2(Math.abs(payoff.value(2 ** sign * far) / payoff.value(far))) * sign;
  const growth = Number.isFinite(power) ? Math.max(-MAX_GROWTH, Math.min(power, MAX_GROWTH)) : 0;
  return spot * Math.exp(sign * deviation * (1 + deviation * Math.max(0, sign * (growth - 0.5))));
}

/**
 * A volatility below this part of the largest ends no mesh: drift may take the spot across prices at which nothing
 * moves at random.
 */
const MIN_OF_LARGEST = 0.25;
/** Further down than by this part of a logarithm there is no need to go. */
const BOTTOM = 40;

/**
 * Returns the price at a distance of `MESH_DEVIATIONS` standard deviations from `start` under a local volatility σ(S,
 * t). It follows dx/dn = √(∫σ² dt) over the life in x = ln S, the inverse of Lamperti's transform; for CEV with β < 1
 * it is far below the lognormal e^{nσ√T}. The distance and its direction are given by `lognormal`, the ratio of that
 * price to `start` for constant σ.
 */
export function priceAtDistance(problem: OneFactorProblem, start: number, lognormal: number): number {
  const { diffusion, expiry } = problem;
  if (diffusion.kind === "deterministic") return start * lognormal;
  const min = MIN_OF_LARGEST * Math.sqrt(totalVariance(problem) / expiry);
  const sigma = volatilityOver(problem, 0, expiry);
  const steps = 8 * MESH_DEVIATIONS;
  const root = ((lognormal > 1 ? 1 : -1) * Math.sqrt(expiry)) / 8;
  // A volatility without bound at zero would take more than a number holds at once.
  const moved = (from: number, part: number, of: number): number =>
    from + Math.max(Math.min(part * root * Math.max(of, min), 2), -2);
  let x = Math.log(start);
  const bottom = x - BOTTOM;
  for (let i = 0; i < steps && x > bottom; i++) x = moved(x, 1, sigma(Math.exp(moved(x, 0.5, sigma(Math.exp(x))))));
  return Math.exp(x);
}

/** Tells whether drift in a direction outweighs diffusion over the time in which σ is below its mean. */
function isStrongWhileQuiet(problem: OneFactorProblem, deviation: number, sign: 1 | -1): boolean {
  let [inflow, own] = [0, 0];
  for (const { drift, variance, years } of phasesOf(problem)) {
    if (variance * problem.expiry >= deviation * deviation * years) continue;
    inflow += Math.max(0, sign * drift);
    own += variance;
  }
  return inflow * inflow > own;
}

/** A part of the life, with its drift ∫ (r − q) dt and its variance ∫ σ² dt. */
export interface LifePhase {
  readonly drift: number;
  readonly variance: number;
}

/**
 * Returns the parts of the life between which σ changes in time, because drift may outweigh diffusion in one of them.
 */
export function phasesOf(problem: OneFactorProblem): readonly (LifePhase & { readonly years: number })[] {
  const profile = varianceProfile(problem);
  if (profile === undefined) return [];
  const { times, variances } = profile;
  return variances.map((variance, i) => ({
    drift: driftOver(problem, times[i], times[i + 1]),
    variance,
    years: times[i + 1] - times[i],
  }));
}
