import {
  aliveBetween,
  crossingPrice,
  deviationOf,
  isMonitored,
  isPast,
  type KnockOut,
  type MonitoredLevel,
  monitoredLevels,
  type OneFactorProblem,
  SAME_DATE,
  totalDrift,
} from "../problem/one-factor.ts";
import { type Bend, bendsOf, distinct, hasLargeDividends, readings } from "./dividend-domain.ts";
import {
  cashOf,
  jumpsOf,
  keptOf,
  MIN_PART,
  lowestOf,
  pinnedPrices,
  REACH,
  reached,
  reachesZero,
  weighedSpot,
  withinFarthest,
} from "./domain.ts";
import type { PinnedMeshSpec } from "./pinned-mesh.ts";

/**
 * Half-width of the dense parts of the mesh, in standard deviations of the life; and in those between two dates of
 * monitoring.
 */
const DENSITY = 0.9;
const DENSITY_OF_DATES = 3;
/** A level below this part of the spot is no node of a mesh that goes to zero. */
const NEXT_TO_ZERO = 1e-6;
/** Thinner layers, in standard deviations, are those of problems that are all but deterministic, too. */
const MIN_LAYER = 0.02;

/**
 * The mesh specification of a problem with barriers: dense about the barriers and the kinks of the payoff, with a node
 * on every barrier and, where there is room, on every kink. The mesh ends at a barrier that is monitored continuously
 * for the whole life, unless another problem that lives beyond it is solved on the same mesh, or a dividend may take
 * the spot across it. `count` is the number of nodes.
 */
export function barrierDomain(problem: OneFactorProblem, count: number): PinnedMeshSpec {
  const deviation = deviationOf(problem);
  const drift = Math.abs(totalDrift(problem));
  const linear = reachesZero(problem, deviation);
  const cash = cashOf(problem);
  const { lowest, highest, cutBelow } = ends(problem, deviation, drift, linear, cash);
  const within = (price: number): boolean => price > lowest && price < highest;
  // Nothing is told between a level next to zero and zero itself (`nodeOfLevel`).
  const min = NEXT_TO_ZERO * lowestOf(problem.spots);
  const barriers = monitoredLevels(problem).filter(({ level }) => level > min && level >= lowest && level <= highest);
  const kinks = problem.payoff.kinks.filter(within);
  const base = DENSITY * deviation + Math.max(0, drift - 2 * deviation);
  // Where drift runs into a barrier the value changes over σ²/2μ, however long it lives.
  const layer = Math.max((deviation * deviation) / drift, MIN_LAYER * deviation);
  const levels = barriers.map(({ level }) => level);
  const isLarge = hasLargeDividends(problem);
  const { bends, sharp } = isLarge
    ? bendsOf(problem, kinks, levels)
    : { bends: kinks.map((at) => ({ at, width: at * base + cash })), sharp: kinks };
  const aboutLevels = barriers.map((barrier) => ({
    at: barrier.level,
    width: barrier.level * Math.min(DENSITY * deviation, layer, widthOfDates(barrier, problem, deviation)),
  }));
  const inside = ({ at }: Bend): boolean => within(at);
  const all = isLarge
    ? distinct([...bends.filter(inside), ...aboutLevels, ...readings(problem).filter(inside)])
    : [...bends, ...aboutLevels];
  const centres = linear ? [...all] : all.map(({ at, width }) => ({ at, width: width / at }));
  if (centres.length === 0) {
    const at = problem.spots.find(within) ?? Math.sqrt(Math.max(lowest, 1e-3 * highest) * highest);
    centres.push({ at, width: linear ? base * at : base });
  }
  const crossed = crossings(problem).filter(within);
  const jumps = jumpsOf(problem).filter(within);
  const pins = pinnedPrices(problem, levels.filter(within), kinks, crossed, jumps, count);
  return {
    count,
    coordinate: linear ? "linear" : "log",
    lowest,
    highest,
    centres,
    pins,
    bends: pins.filter((price) => !levels.includes(price)),
    wishes: [...kinks, ...sharp, ...crossed].filter(
      (price, i, wished) => within(price) && !pins.includes(price) && wished.indexOf(price) === i,
    ),
    zero: !linear && cash > 0 && !cutBelow,
  };
}

/**
 * Five standard deviations from every kink and every spot that is alive, with or without the barriers whose other side
 * is solved on the mesh, too; no further than barriers let it come.
 */
function ends(
  problem: OneFactorProblem,
  deviation: number,
  drift: number,
  linear: boolean,
  cash: number,
): { lowest: number; highest: number; cutBelow: boolean } {
  const { barriers = [], expiry } = problem;
  const isOut = (spot: number): boolean =>
    barriers.some((barrier) => !barrier.open && isPast(barrier, spot) && isMonitored(barrier, 0, expiry));
  let min = Infinity;
  let max = -Infinity;
  const reachTo = (price: number): void => {
    min = Math.min(min, price);
    max = Math.max(max, price);
  };
  problem.payoff.kinks.forEach(reachTo);
  for (const spot of problem.spots) if (!isOut(spot)) reachTo(spot);
  // Where drift outweighs diffusion the scheme's own diffusion spreads things further than the volatility does.
  const margin = Math.exp(drift > 2 * deviation ? 1.5 * drift : drift);
  const reach = Math.exp(REACH * deviation);
  // Where dividends may take the spot there may be barriers, too.
  let low = linear ? 0 : reached(problem, Math.max(keptOf(problem) * min - cash, MIN_PART * min) / margin, 1 / reach);
  let high = reached(problem, (max + cash) * margin, reach);
  if (!problem.payoff.straight) {
    low = Math.min(low, weighedSpot(problem, deviation, -1) / reach);
    high = Math.max(high, reached(problem, weighedSpot(problem, deviation, 1), reach));
  }
  if (!linear) ({ lowest: low, highest: high } = withinFarthest(problem, deviation, { lowest: low, highest: high }));
  const { down, up } = aliveBetween(problem, 0, problem.expiry);
  const cut = (barrier: KnockOut | undefined): number | undefined =>
    barrier === undefined || barrier.open ? undefined : barrier.level;
  const below = problem.dividends.length === 0 ? cut(down) : undefined;
  const above = cut(up);
  const cutBelow = below !== undefined && below > Math.max(low, NEXT_TO_ZERO * lowestOf(problem.spots));
  return {
    lowest: cutBelow ? below : low,
    highest: above !== undefined && above < high ? above : high,
    cutBelow,
  };
}

/**
 * The prices from which a dividend takes the spot to a barrier that is monitored then: V bends there just before it, or
 * jumps.
 */
function crossings(problem: OneFactorProblem): readonly number[] {
  const { dividends, expiry } = problem;
  if (dividends.length === 0) return [];
  return dividends.flatMap((dividend) =>
    monitoredLevels(problem)
      .filter((level) => isMonitored(level, dividend.time, expiry))
      .map((level) => crossingPrice(level, dividend)),
  );
}

/**
 * The value at a barrier that is monitored on dates changes over the distance that the spot moves between two of them.
 */
function widthOfDates({ times }: MonitoredLevel, { expiry }: OneFactorProblem, deviation: number): number {
  if (times === undefined) return Infinity;
  const gaps = times.map((time, i) => time - (i === 0 ? 0 : times[i - 1])).filter((gap) => gap > SAME_DATE * expiry);
  return DENSITY_OF_DATES * deviation * Math.sqrt(Math.min(...gaps, expiry) / expiry);
}
