import {
  aliveBetween,
  isWatched,
  knockedOutBy,
  type KnockOut,
  SAME_DATE,
  type WatchedLevel,
  watchedLevels,
} from "./barriers.ts";
import { bendsOf, distinct, hasLargeDividends, readings } from "./dividend-domain.ts";
import { keptOf, LEAST_PART, pinnedPrices, REACH, reached, weighedSpot } from "./domain.ts";
import type { PinnedMeshSpec } from "./pinned-mesh.ts";
import { type OneFactorProblem, totalDrift, totalVariance } from "./problem.ts";

/** Half-width of the dense parts of the mesh, in standard deviations of the life; and in those between two dates of watching. */
const DENSITY = 0.9;
const DENSITY_OF_DATES = 3;
const LEAST_DEVIATION = 1e-4;
/** Thinner layers, in standard deviations, are those of problems that are all but deterministic, too. */
const LEAST_LAYER = 0.02;

/**
 * Where the nodes of a problem with barriers go: on every barrier and, if they are not in each other's way, on the kinks of the payoff, and dense
 * about both. The mesh ends at a barrier that is watched continuously for the whole life, unless the problem on the other side is solved on it, too,
 * or a dividend may take the spot across it.
 */
export function barrierDomain(problem: OneFactorProblem, count: number): PinnedMeshSpec {
  const deviation = Math.max(Math.sqrt(totalVariance(problem)), LEAST_DEVIATION);
  const linear = problem.diffusion.kind !== "deterministic";
  const cash = problem.dividends.reduce((sum, dividend) => sum + dividend.cash, 0);
  const { lowest, highest, cutBelow } = ends(problem, deviation, linear, cash);
  const within = (price: number): boolean => price > lowest && price < highest;
  const barriers = watchedLevels(problem).filter(({ level }) => level >= lowest && level <= highest);
  const kinks = problem.payoff.kinks.filter(within);
  const spots = problem.spots.filter(within);
  const base = DENSITY * deviation + Math.max(0, Math.abs(totalDrift(problem)) - 2 * deviation);
  // Where drift runs into a barrier the value changes over σ²/2μ, however long it lives.
  const layer = Math.max((deviation * deviation) / Math.abs(totalDrift(problem)), LEAST_LAYER * deviation);
  const levels = barriers.map(({ level }) => level);
  const { bends, sharp } = hasLargeDividends(problem)
    ? bendsOf(problem, kinks, levels)
    : { bends: kinks.map((at) => ({ at, width: at * base + cash })), sharp: kinks };
  const aboutLevels = barriers.map((barrier) => ({
    at: barrier.level,
    width: barrier.level * Math.min(DENSITY * deviation, layer, widthOfDates(barrier, problem, deviation)),
  }));
  const inside = bends.filter(({ at }) => within(at));
  const read = readings(problem).filter(({ at }) => within(at));
  const all = sharp === kinks ? [...inside, ...aboutLevels] : distinct([...inside, ...aboutLevels, ...read]);
  const centres = all.map(({ at, width }) => ({ at, width: linear ? width : width / at }));
  if (centres.length === 0) {
    const at = spots[0] ?? Math.sqrt(Math.max(lowest, 1e-3 * highest) * highest);
    centres.push({ at, width: linear ? base * at : base });
  }
  const crossed = crossings(problem).filter(within);
  const pins = pinnedPrices(problem, levels.filter(within), kinks, crossed, count);
  return {
    count,
    coordinate: linear ? "linear" : "log",
    lowest,
    highest,
    centres,
    pins,
    bends: pins.filter((price) => !levels.includes(price)),
    wishes: [...new Set([...kinks, ...sharp, ...crossed])].filter((price) => within(price) && !pins.includes(price)),
    zero: !linear && cash > 0 && !cutBelow,
  };
}

/**
 * Five standard deviations from every kink and every spot that is alive, with or without the barriers whose other side is solved on the mesh, too; no
 * further than barriers let it come.
 */
function ends(
  problem: OneFactorProblem,
  deviation: number,
  linear: boolean,
  cash: number,
): { lowest: number; highest: number; cutBelow: boolean } {
  const closed = { ...problem, barriers: (problem.barriers ?? []).filter(({ open }) => !open) };
  const alive = problem.spots.filter((spot) => knockedOutBy(closed, spot) === undefined);
  const points = [...problem.payoff.kinks, ...alive];
  const drift = Math.abs(totalDrift(problem));
  // Where drift outweighs diffusion the scheme's own diffusion spreads things further than the volatility does.
  const margin = Math.exp(drift > 2 * deviation ? 1.5 * drift : drift);
  const reach = Math.exp(REACH * deviation);
  const [least, most] = [Math.min(...points), Math.max(...points)];
  // Where dividends may take the spot there may be barriers, too.
  let low = linear ? 0 : Math.max(keptOf(problem) * least - cash, LEAST_PART * least) / (margin * reach);
  let high = reached(problem, (most + cash) * margin, reach);
  if (!problem.payoff.straight) {
    low = Math.min(low, weighedSpot(problem, deviation, -1) / reach);
    high = Math.max(high, reached(problem, weighedSpot(problem, deviation, 1), reach));
  }
  const { down, up } = aliveBetween(problem, 0, problem.expiry);
  const cut = (barrier: KnockOut | undefined): number | undefined =>
    barrier === undefined || barrier.open ? undefined : barrier.level;
  const below = problem.dividends.length === 0 ? cut(down) : undefined;
  const above = cut(up);
  return {
    lowest: below !== undefined && below > low ? below : low,
    highest: above !== undefined && above < high ? above : high,
    cutBelow: below !== undefined && below > low,
  };
}

/** The prices from which a dividend takes the spot to a barrier that is watched then: V bends there just before it, or jumps. */
function crossings(problem: OneFactorProblem): readonly number[] {
  const { dividends, expiry } = problem;
  return dividends.flatMap(({ time, cash, proportional }) => {
    const watched = watchedLevels(problem).filter((level) => isWatched(level, time, expiry));
    return proportional < 1 ? watched.map(({ level }) => (level + cash) / (1 - proportional)) : [];
  });
}

/** The value at a barrier that is watched on dates changes over the distance that the spot moves between two of them. */
function widthOfDates({ times }: WatchedLevel, { expiry }: OneFactorProblem, deviation: number): number {
  if (times === undefined) return Infinity;
  const gaps = times.map((time, i) => time - (i === 0 ? 0 : times[i - 1])).filter((gap) => gap > SAME_DATE * expiry);
  return DENSITY_OF_DATES * deviation * Math.sqrt(Math.min(...gaps, expiry) / expiry);
}
