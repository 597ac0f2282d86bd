/** Barriers on paths: when they are monitored, and how the breaches of several underlyings depend on each other. */
import type { BarrierSettings, BridgeDependence } from "../../../montecarlo/index.ts";
import type { Terms } from "../../terms.ts";

/** An underlying with barriers. */
interface Monitored {
  readonly asset: number;
  /** 1 with upper barriers alone, −1 with lower ones, 0 with both. */
  readonly side: number;
}

/** The settings of `withBarriers` that the barriers of a trade have in common, and that its kernel depends on. */
export type CommonSettings = Required<Pick<BarrierSettings, "monitoring" | "includesStart" | "rebateAt">> & {
  /** True where some underlyings move together, so that their bridges are the same. */
  readonly hasDrivers: boolean;
};

/** Returns what the barriers of a trade have in common. */
export function barrierSettings(terms: Terms): CommonSettings {
  const [{ type, rebate, rebateAt, monitoring }] = terms.barriers;
  const isDiscrete = monitoring.kind === "discrete";
  const paysAtHit = rebateAt === "hit" && rebate !== 0 && type.endsWith("-out");
  return {
    monitoring: isDiscrete ? "dates" : "continuous",
    includesStart: !isDiscrete || monitoring.times.some((time) => time <= 0),
    rebateAt: paysAtHit ? "breach" : "expiry",
    hasDrivers: driversOf(terms).some((driver, asset) => driver !== asset),
  };
}

/** The number of steps to begin with where the bounds of a value depend on them, the most, and those of all paths. */
const FIRST_STEPS = 16;
const MOST_STEPS = 1024;
const ON_ALL_PATHS = 2 ** 26;

/** The power of two by which steps grow. */
export const GROWTH = 2;

/** Returns the most steps of some number of paths whose value lies between bounds. */
export const mostSteps = (paths: number): number => Math.min(Math.max(ON_ALL_PATHS / paths, FIRST_STEPS), MOST_STEPS);

/** Returns the number of steps between dates that the bounds of a value ask for, doubled `fineness` times. */
export const boundedSteps = (terms: Terms, fineness: number, paths: number): number =>
  Math.min(firstSteps(terms) * 2 ** fineness, mostSteps(paths));

/**
 * Returns the number of steps between dates to begin with. Paths leave a value between bounds, which more steps bring
 * together, where bridges of several underlyings depend on each other, or a rebate is paid at a breach within a step.
 */
function firstSteps(terms: Terms): number {
  if (terms.barriers.length === 0) return 1;
  const { monitoring, rebateAt } = barrierSettings(terms);
  if (monitoring === "dates") return 1;
  return rebateAt === "breach" || dependenceOf(terms) !== "independent" ? FIRST_STEPS : 1;
}

function monitoredOf({ assets, barriers }: Terms): readonly Monitored[] {
  return assets.flatMap((_, asset) => {
    const own = barriers.filter((barrier) => barrier.asset === undefined || barrier.asset === asset);
    if (own.length === 0) return [];
    const [up, down] = ["up", "down"].map((side) => own.some(({ type }) => type.startsWith(side)));
    return [{ asset, side: up && down ? 0 : up ? 1 : -1 }];
  });
}

/**
 * Returns the number of each underlying's driver. Those with barriers on the same side have the same one where their
 * correlation is 1 at all times.
 */
export function driversOf(terms: Terms): readonly number[] {
  const { assets, correlations } = terms;
  const monitored = monitoredOf(terms);
  const isConstant = (i: number): boolean => {
    const { volatility } = assets[i];
    return volatility.kind === "deterministic" && volatility.sigma.times.length === 0;
  };
  const sideOf = (i: number): number => monitored.find(({ asset }) => asset === i)?.side ?? 0;
  return assets.map((_, i) => {
    const first = assets.findIndex(
      (_one, j) =>
        j < i &&
        correlations[i][j] === 1 &&
        sideOf(i) !== 0 &&
        sideOf(i) === sideOf(j) &&
        isConstant(i) &&
        isConstant(j),
    );
    return first < 0 ? i : first;
  });
}

/** Returns how the bridges of a trade's underlyings depend on each other, as far as bounds are known. */
export function dependenceOf(terms: Terms): BridgeDependence {
  const { correlations } = terms;
  const monitored = monitoredOf(terms);
  const drivers = driversOf(terms);
  const pairs = monitored.flatMap((a, k) => monitored.slice(k + 1).map((b) => [a, b] as const));
  const between = pairs.filter(([a, b]) => drivers[a.asset] !== drivers[b.asset]);
  if (between.every(([a, b]) => correlations[a.asset][b.asset] === 0)) return "independent";
  // Slepian's inequality is of one barrier for each.
  if (monitored.some(({ side }) => side === 0)) return "any";
  const signs = between.map(([a, b]) => a.side * b.side * correlations[a.asset][b.asset]);
  return signs.every((sign) => sign >= 0) ? "positive" : signs.every((sign) => sign <= 0) ? "negative" : "any";
}
