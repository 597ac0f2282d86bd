import {
  aliveBetween,
  crossingPrice,
  deviationOf,
  deviationOver,
  driftOver,
  isMonitored,
  isPast,
  type KnockOut,
  type MonitoredLevel,
  allBarriers,
  type OneFactorProblem,
  SAME_DATE,
  totalVariance,
} from "../problem/one-factor.ts";
import type { DiscreteDividend } from "../../../market/index.ts";
import {
  jumpsOf,
  proportionalDividendFactor,
  lowestOf,
  LOWEST_FRACTION,
  pinnedPrices,
  MESH_DEVIATIONS,
  priceAtDistance,
  type DomainInputs,
  domainInputsOf,
  weightedMeanSpot,
  limitedEnds,
} from "./domain.ts";
import type { PinnedMeshSpec } from "./pinned-mesh.ts";

/**
 * A dividend is large beyond this part of the lowest kink or spot, or beyond as many standard deviations of the life.
 */
const LARGE_PART = 0.15;
const LARGE_DEVIATIONS = 2;
/** And all of them together beyond this part. */
const LARGE_TOTAL = 0.5;
/** Half-width of a dense part of the mesh, in units of the distance over which the solution bends there. */
const DENSITY = 0.6;
/**
 * Bends narrower than this part of the life's standard deviation are not told from kinks, and those of that smallest
 * deviation.
 */
const MIN_PART_OF_DEVIATION = 1e-3;
/**
 * However soon a date is, a bend within as much of the life's standard deviations is near: today's value is read from
 * nodes on both sides of the spot.
 */
const NEAR = 0.1;
/** A bend needs no dense part of its own where another one is at most this many times as coarse. */
const COVERED = 1.5;

/**
 * A price at which the solution has a kink or a smoothed kink just before a date, and the distance over which it is
 * smoothed.
 */
interface Bend {
  /** The price. */
  readonly at: number;
  /** The distance, as a price difference. */
  readonly width: number;
}

/**
 * Tells whether a dividend moves the kinks of the solution so far that the mesh needs more than one dense region. Just
 * before a dividend V(S) equals V after it at max(S·(1 − β) − α, 0), with α in cash and β the proportional part. Its
 * kinks are at (K + α)/(1 − β), and another one is at α/(1 − β), below which the spot falls to zero.
 */
export function hasLargeDividends(problem: OneFactorProblem): boolean {
  const { dividends, spots, payoff } = problem;
  if (dividends.length === 0) return false;
  const min = Math.min(lowestOf(spots), lowestOf(payoff.kinks));
  let largest = 0;
  let total = 0;
  for (const { cash, proportional } of dividends) {
    const part = cash / min + proportional;
    largest = Math.max(largest, part);
    total += part;
  }
  return total > LARGE_TOTAL || largest > Math.min(LARGE_PART, LARGE_DEVIATIONS * Math.sqrt(totalVariance(problem)));
}

/**
 * Returns the mesh specification of a problem with large dividends: dense about every kink or curved region of the
 * solution that the spot may reach. `count` is the number of nodes.
 */
export function dividendMeshSpec(problem: OneFactorProblem, count: number): PinnedMeshSpec {
  const { payoff, spots, american, exerciseTimes = [] } = problem;
  const extent = domainInputsOf(problem);
  const { deviation, linear } = extent;
  const { bends, sharp } = bendsOf(problem, payoff.kinks);
  // The boundary of early exercise is about the strike whatever becomes of the spot.
  const early = american || exerciseTimes.length > 0 ? payoff.kinks.map((at) => smooth(at, deviation)) : [];
  const centres = distinct([...bends, ...early, ...readings(problem)]);
  const points = [...centres.map(({ at }) => at), ...spots];
  const drift = Math.abs(extent.drift);
  // Where drift outweighs diffusion the scheme's own diffusion spreads things further than the volatility does.
  const margin = Math.exp(drift > 2 * deviation ? 2 * drift : drift);
  const reach = Math.exp(MESH_DEVIATIONS * deviation);
  let min = Math.max(Math.min(...points, minReached(problem)), LOWEST_FRACTION * Math.min(...payoff.kinks, ...spots));
  let max = Math.max(...points) * margin;
  if (!payoff.straight) {
    min = Math.min(min, weightedMeanSpot(problem, deviation, -1));
    max = Math.max(max, weightedMeanSpot(problem, deviation, 1));
  }
  const highest = priceAtDistance(problem, max, reach);
  const ends = linear
    ? { lowest: 0, highest }
    : limitedEnds(problem, deviation, { lowest: priceAtDistance(problem, min / margin, 1 / reach), highest });
  const jumps = jumpsOf(problem).filter((price) => price > ends.lowest && price < ends.highest);
  const pins = pinnedPrices(problem, [], payoff.kinks, [], jumps, count);
  return {
    count,
    coordinate: linear ? "linear" : "log",
    ...ends,
    centres: linear ? centres : centres.map(({ at, width }) => ({ at, width: width / at })),
    pins,
    kinkPins: pins,
    optionalPins: sharp.filter((price) => !pins.includes(price)),
    zero: !linear,
  };
}

/**
 * The prices at which the solution has a kink, sharp or smoothed, at any date, found backward from expiry over every
 * dividend. They start as `kinks` of the payoff and as the prices below which a dividend takes the spot to zero. Drift
 * moves them, and diffusion smooths them; those of barriers (`levels`) stay sharp. Only those are returned that the
 * spot may reach before diffusion has smoothed them away. `sharp` are the ones that need a node.
 */
function bendsOf(
  problem: OneFactorProblem,
  kinks: readonly number[],
  levels: readonly number[] = [],
): { readonly bends: readonly Bend[]; readonly sharp: readonly number[] } {
  const { dividends, expiry } = problem;
  const deviation = deviationOf(problem);
  const bends: Bend[] = [];
  const sharp: number[] = [];
  const reach = reachOf(problem);
  const held = levels.map((at) => ({ at, width: 0 }));
  let going: readonly Bend[] = kinks.map((at) => ({ at, width: 0 }));
  for (let i = dividends.length; i >= 0; i--) {
    const from = i === 0 ? 0 : dividends[i - 1].time;
    const to = i === dividends.length ? expiry : dividends[i].time;
    const deviationAt = deviationOver(problem, from, to);
    const drift = driftOver(problem, from, to);
    const [lowest, highest] = reach[i];
    going = distinct([...going, ...held]).flatMap(({ at, width: before }) => {
      if (at < lowest - 3 * before || at > highest + 3 * before) return [];
      const spread = at * deviationAt(at);
      const width = Math.hypot(before, spread);
      const moved = Math.max(0, at * Math.abs(drift) - 2 * width);
      bends.push({ at, width: DENSITY * Math.max(width + moved, MIN_PART_OF_DEVIATION * deviation * at) });
      if (before < 0.5 * width) sharp.push(at);
      return [{ at: at * Math.exp(-drift), width: width * Math.exp(-drift) }];
    });
    if (i > 0) going = beforeDividend(going, dividends[i - 1]);
  }
  return { bends, sharp };
}

function beforeDividend(bends: readonly Bend[], { cash, proportional }: DiscreteDividend): readonly Bend[] {
  const keep = 1 - proportional;
  if (keep <= 0) return [];
  const before = bends.map(({ at, width }) => ({ at: (at + cash) / keep, width: width / keep }));
  return cash > 0 ? [...before, { at: cash / keep, width: 0 }] : before;
}

/**
 * The lowest and the highest spot that may be reached just before each dividend, and at expiry, `MESH_DEVIATIONS`
 * standard deviations down and up: those of the life in proportion to the square root of time.
 */
function reachOf(problem: OneFactorProblem): readonly (readonly [lowest: number, highest: number])[] {
  const { spots, expiry } = problem;
  const variance = totalVariance(problem);
  const ends = ([Math.min, Math.max] as const).map((end, i) => {
    const spot = end(...spots);
    const factor = Math.exp((i === 0 ? -1 : 1) * MESH_DEVIATIONS * Math.sqrt(variance));
    return { spot, moves: Math.log(priceAtDistance(problem, spot, factor) / spot) };
  });
  const part = (time: number): number => Math.max(NEAR, Math.sqrt(varianceUntil(problem, time) / variance));
  // Moved first and paid then: what a dividend leaves moves less.
  const at = (carried: (spot: number) => number, time: number): readonly [number, number] => {
    const [low, high] = ends.map(({ spot, moves }) => carried(spot * Math.exp(moves * part(time))));
    return [low, high];
  };
  const carriers = carriersOf(problem);
  return carriers.map(({ before }, i) => at(before, problem.dividends[i]?.time ?? expiry));
}

/** A part of ∫ σ² dt over the life: that until a time, as large a part of it as at today's spot. */
function varianceUntil(problem: OneFactorProblem, time: number): number {
  const until = (end: number): number => deviationOver(problem, 0, end)(problem.spots[0]) ** 2;
  if (problem.diffusion.kind === "deterministic") return until(time);
  if (problem.diffusion.kind === "local") return (totalVariance(problem) * time) / problem.expiry;
  return (totalVariance(problem) * until(time)) / until(problem.expiry) || 0;
}

/**
 * The lowest price to which dividends take the spots that volatility has taken down: what moves a little as a part of
 * 100 moves much as a part of what is left.
 */
function minReached(problem: OneFactorProblem): number {
  return Math.min(
    ...reachOf(problem)
      .slice(1)
      .map(([lowest]) => lowest),
  );
}

interface Carrier {
  /**
   * Maps a spot of today to the spot just before a dividend, or at expiry, were there no volatility; `after`: to the
   * one just after it.
   */
  before(spot: number): number;
  after(spot: number): number;
}

/**
 * The carriers of each dividend, and of expiry: R·max(S − A, 0) with the growth R and what has been paid A, as worth
 * today. Nothing is left where a dividend takes all.
 */
function carriersOf(problem: OneFactorProblem): readonly Carrier[] {
  const { dividends, expiry } = problem;
  let [growth, paid, from] = [1, 0, 0];
  return [...dividends, { time: expiry, cash: 0, proportional: 0 }].map(({ time, cash, proportional }) => {
    growth *= Math.exp(driftOver(problem, from, time));
    from = time;
    const before = carrier(growth, paid);
    growth *= 1 - proportional;
    if (growth > 0) paid += cash / growth;
    return { before, after: carrier(growth, paid) };
  });
}

const carrier =
  (growth: number, paid: number) =>
  (spot: number): number =>
    growth * Math.max(spot - paid, 0);

/**
 * The prices at which the solution is read, each with a width: the requested spots, and the prices to which dividends
 * take them. The latter are omitted where the solution is linear from there to zero.
 */
function readings(problem: OneFactorProblem): readonly Bend[] {
  const { spots, payoff } = problem;
  const deviation = deviationOf(problem);
  const min = LOWEST_FRACTION * Math.min(...payoff.kinks, ...spots);
  const after = carriersOf(problem).flatMap((one) => spots.map(one.after));
  return [...spots, ...after.filter((price) => price > min)].map((at) => smooth(at, deviation));
}

const smooth = (at: number, deviation: number): Bend => ({ at, width: DENSITY * deviation * at });

/** The kinks that are not within the dense region about a narrower one, narrowest first. */
function distinct(bends: readonly Bend[]): readonly Bend[] {
  const kept: Bend[] = [];
  for (const bend of bends.toSorted((a, b) => a.width - b.width)) {
    const max = (COVERED * bend.width) ** 2;
    if (!kept.some(({ at, width }) => (at - bend.at) ** 2 + width * width <= max)) kept.push(bend);
  }
  return kept;
}

/**
 * Half-width of the dense parts of the mesh, in standard deviations of the life; and in those between two dates of
 * monitoring.
 */
const LEVEL_DENSITY = 0.9;
const DENSITY_OF_DATES = 3;
/** A level below this part of the spot is no node of a mesh that goes to zero. */
const NEXT_TO_ZERO = 1e-6;
/** Thinner layers, in standard deviations, are those of problems that are all but deterministic, too. */
const MIN_LAYER = 0.02;

/**
 * Returns the mesh specification of a problem with barriers: dense about the barriers and the kinks of the payoff, with
 * a node on every barrier and, where there is room, on every kink. The mesh ends at a barrier that is monitored
 * continuously for the whole life, unless another problem that lives beyond it is solved on the same mesh, or a
 * dividend may take the spot across it. `count` is the number of nodes.
 */
export function barrierMeshSpec(problem: OneFactorProblem, count: number): PinnedMeshSpec {
  const extent = domainInputsOf(problem);
  const { deviation, linear, cash } = extent;
  const drift = Math.abs(extent.drift);
  const { lowest, highest, cutBelow } = ends(problem, extent);
  const within = (price: number): boolean => price > lowest && price < highest;
  // Nothing is told between a level next to zero and zero itself (`nodeOfLevel`).
  const min = NEXT_TO_ZERO * lowestOf(problem.spots);
  const barriers = allBarriers(problem).filter(({ level }) => level > min && level >= lowest && level <= highest);
  const kinks = problem.payoff.kinks.filter(within);
  const base = LEVEL_DENSITY * deviation + Math.max(0, drift - 2 * deviation);
  // Where drift runs into a barrier the value changes over σ²/2μ, however long it lives.
  const layer = Math.max((deviation * deviation) / drift, MIN_LAYER * deviation);
  const levels = barriers.map(({ level }) => level);
  const isLarge = hasLargeDividends(problem);
  const { bends, sharp } = isLarge
    ? bendsOf(problem, kinks, levels)
    : { bends: kinks.map((at) => ({ at, width: at * base + cash })), sharp: kinks };
  const aboutLevels = barriers.map((barrier) => ({
    at: barrier.level,
    width: barrier.level * Math.min(LEVEL_DENSITY * deviation, layer, widthOfDates(barrier, problem, deviation)),
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
    kinkPins: pins.filter((price) => !levels.includes(price)),
    optionalPins: [...kinks, ...sharp, ...crossed].filter(
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
  { deviation, drift: signed, linear, cash }: DomainInputs,
): { lowest: number; highest: number; cutBelow: boolean } {
  const { barriers = [], expiry } = problem;
  const drift = Math.abs(signed);
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
  const reach = Math.exp(MESH_DEVIATIONS * deviation);
  // Where dividends may take the spot there may be barriers, too.
  const lowest = Math.max(proportionalDividendFactor(problem) * min - cash, LOWEST_FRACTION * min);
  let low = linear ? 0 : priceAtDistance(problem, lowest / margin, 1 / reach);
  let high = priceAtDistance(problem, (max + cash) * margin, reach);
  if (!problem.payoff.straight) {
    low = Math.min(low, weightedMeanSpot(problem, deviation, -1) / reach);
    high = Math.max(high, priceAtDistance(problem, weightedMeanSpot(problem, deviation, 1), reach));
  }
  if (!linear) ({ lowest: low, highest: high } = limitedEnds(problem, deviation, { lowest: low, highest: high }));
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
    allBarriers(problem)
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
