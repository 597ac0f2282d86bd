/** The steps of paths whose scheme is not exact: where they end, and how many there are. */
import { diffusionOf } from "../../trade-problem.ts";
import { type Diffusion, regimeChanges, volatilityAt } from "../../../pde/fdm/index.ts";
import { type Asset, logGrowth, type Terms } from "../../terms.ts";
import { cellAt } from "../../../base/search.ts";

/** The steps of a path. */
export interface Steps {
  /** The times at which steps end, in years. The number of steps between successive dates is always the same. */
  readonly ends: readonly number[];
  /** True for each step of negligible length at whose end dividends are paid. */
  readonly isJump: readonly boolean[];
  /** True for each step at whose end a volatility jumps in time. */
  readonly isBreak: readonly boolean[];
  /**
   * For each step, true where the diffusion is evaluated at its start, false where the diffusion of the step before is
   * kept.
   */
  readonly isFresh: readonly boolean[];
  /** True for each step at whose end products see the spot. */
  readonly isShown: readonly boolean[];
}

/** Years between the ends of the step before a dividend and of the step that pays it. */
const MOMENT = 1e-9;
/** The steps of the coarsest paths over all of a life. */
const FEWEST = 8;
/** Pieces of the clock, by which steps are spaced, where volatility is smooth in time. */
const POINTS = 256;

/** Returns the forward of an asset, without its dividends on dates. */
const growthOf = (terms: Terms, asset: Asset, t: number): number => Math.exp(logGrowth(terms, asset, t));

/**
 * Tells whether paths of these terms are made by `localDiffusions`: with a volatility that depends on the spot, or
 * dividends on dates.
 */
export const usesLocalDiffusions = ({ assets, expiry }: Pick<Terms, "assets" | "expiry">): boolean =>
  assets.some(
    ({ underlying, volatility: { kind } }) =>
      kind === "cev" ||
      kind === "displaced" ||
      kind === "surface" ||
      kind === "local" ||
      (kind === "deterministic" && underlying.dividends.discrete.some(({ time }) => time <= expiry)),
  );

/** Tells whether a scheme has no error in its steps: all volatilities are functions of time. */
export const isExactInSteps = ({ assets }: Pick<Terms, "assets">): boolean =>
  assets.every(({ volatility }) => volatility.kind === "deterministic");

const diffusionAt = ({ underlying, volatility }: Asset, expiry: number): Diffusion =>
  diffusionOf(volatility, underlying.spot, expiry);

/** Returns the volatility per √year of an asset along its forward, as a mean over a life. */
export function volatilityOnForward(terms: Terms, asset: Asset): number {
  const diffusion = diffusionAt(asset, terms.expiry);
  let sum = 0;
  const parts = 16;
  for (let k = 0; k < parts; k++) {
    const t = ((k + 0.5) / parts) * terms.expiry;
    sum += volatilityAt(diffusion, asset.underlying.spot * growthOf(terms, asset, t), t) ** 2 / parts;
  }
  return Math.sqrt(sum);
}

/**
 * A clock by which steps are equal: half of it the share of the variance of ln S along the forward, and half the root
 * of that share, since a smile is steepest at the beginning. Its pieces end where volatility bends or jumps in time, so
 * that an event of days counts in full.
 */
function clockOf(terms: Terms): (t: number) => number {
  const { assets, expiry } = terms;
  const diffusions = assets.map((asset) => diffusionAt(asset, expiry));
  const even = Array.from({ length: POINTS - 1 }, (_, k) => ((k + 1) / POINTS) * expiry);
  const ends = [0, ...inLife([...even, ...knotsOf(terms), ...breaksOf(terms)], expiry), expiry];
  const sums = [0];
  ends.slice(1).forEach((end, k) => {
    const t = 0.5 * (ends[k] + end);
    const squares = assets.map((asset, i) => {
      const sigma = volatilityAt(diffusions[i], asset.underlying.spot * growthOf(terms, asset, t), t);
      return sigma * sigma;
    });
    sums.push(sums[k] + Math.max(...squares, 1e-12) * (end - ends[k]));
  });
  return (t) => {
    const i = cellAt(ends, t);
    const part = Math.min(Math.max((t - ends[i]) / (ends[i + 1] - ends[i]), 0), 1);
    const share = (sums[i] + part * (sums[i + 1] - sums[i])) / sums[ends.length - 1];
    return 0.5 * (share + Math.sqrt(share));
  };
}

/** Times in a life, each once, in order. */
const inLife = (times: readonly number[], expiry: number): readonly number[] =>
  [...new Set(times)].filter((t) => t > 0 && t < expiry).toSorted((a, b) => a - b);

/** The times in a life at which a volatility bends in time. */
const knotsOf = ({ assets, expiry }: Terms): readonly number[] => inLife(assets.flatMap(nodesOf), expiry);

/** The times in a life at which a volatility jumps in time, but for those of surfaces, whose mean steps see. */
const breaksOf = ({ assets, expiry }: Terms): readonly number[] =>
  inLife(
    assets.flatMap((asset) => jumpsInTime(asset, expiry)),
    expiry,
  );

const nodesOf = ({ volatility }: Asset): readonly number[] =>
  volatility.kind === "surface"
    ? volatility.surface.times
    : volatility.kind === "deterministic"
      ? volatility.sigma.times
      : [];

/** The times in a life at which a formula jumps at today's spot, or its regime changes. */
const jumpsInTime = (asset: Asset, expiry: number): readonly number[] =>
  asset.volatility.kind === "local"
    ? regimeChanges({ diffusion: diffusionAt(asset, expiry), spots: [asset.underlying.spot], expiry })
    : [];

/** Tells whether a volatility jumps in the spot, where a scheme has no order to rely on. */
export const mayJumpInSteps = ({ assets, expiry }: Terms): boolean =>
  assets.some((asset) => {
    const diffusion = diffusionAt(asset, expiry);
    const { jumps = [] } = diffusion.kind === "local" || diffusion.kind === "formula" ? diffusion : {};
    return jumps === true || (jumps !== false && jumps.length > 0);
  });

/** The dates of dividends in a life, later than today. */
const dividendsOf = ({ assets, expiry }: Terms): readonly number[] =>
  [...new Set(assets.flatMap(({ underlying }) => underlying.dividends.discrete.map(({ time }) => time)))]
    .filter((time) => time <= expiry)
    .toSorted((a, b) => a - b);

/** The dividends between two dates, the second included. */
const between = (times: readonly number[], from: number, to: number): readonly number[] =>
  times.filter((time) => time > from && time <= to);

/** Returns the number of the coarsest steps between two dates, a power of two. */
export function stepsBetween(terms: Terms, dates: readonly number[]): number {
  const dividends = dividendsOf(terms);
  const breaks = breaksOf(terms);
  const most = Math.max(
    ...dates.map((date, k) => {
      const from = k === 0 ? 0 : dates[k - 1];
      return 2 * between(dividends, from, date).length + between(breaks, from, date).length;
    }),
  );
  const least = isExactInSteps(terms) ? 1 : FEWEST / dates.length;
  return 2 ** Math.ceil(Math.log2(Math.max(least, most + (most > 0 ? 1 : 0), 1)));
}

/** Returns the steps of a path with `count` of them between two dates. */
export function stepsOf(terms: Terms, dates: readonly number[], count: number): Steps {
  const clock = clockOf(terms);
  const dividends = dividendsOf(terms);
  const knots = knotsOf(terms);
  const breaks = breaksOf(terms);
  const ends: number[] = [];
  const isJump: boolean[] = [];
  dates.forEach((date, k) => {
    const from = k === 0 ? 0 : dates[k - 1];
    const pays = between(dividends, from, date);
    const inside = pays.filter((time) => date - time > MOMENT);
    const others = between(breaks, from + MOMENT, date - MOMENT).filter((time) => !isOneOf(pays, time));
    const fixed = [...[...inside, ...others].toSorted((a, b) => a - b), date];
    const free = count - pays.length - fixed.length;
    const points = spread(clock, from, fixed, free, knots);
    for (const point of points) {
      if (isOneOf(pays, point)) {
        const before = ends.length === 0 ? 0 : ends[ends.length - 1];
        ends.push(Math.max(point - MOMENT, 0.5 * (before + point)));
        isJump.push(false);
        isJump.push(true);
      } else isJump.push(false);
      ends.push(point);
    }
  });
  const all = ends.map(() => true);
  return { ends, isJump, isBreak: ends.map((end) => isOneOf(breaks, end)), isFresh: all, isShown: all };
}

const isOneOf = (times: readonly number[], time: number): boolean =>
  times.some((one) => Math.abs(one - time) <= MOMENT);

/**
 * The fixed times and `free` others among them, at equal distances by the clock; the nearest ones are moved to where a
 * volatility bends in time.
 */
function spread(
  clock: (t: number) => number,
  from: number,
  fixed: readonly number[],
  free: number,
  knots: readonly number[],
): readonly number[] {
  const starts = [from, ...fixed.slice(0, -1)];
  const lengths = fixed.map((to, i) => Math.max(clock(to) - clock(starts[i]), 1e-12));
  const counts = fixed.map(() => 0);
  // One after the other to where steps are longest.
  for (let n = 0; n < free; n++) {
    const sizes = lengths.map((length, i) => length / (counts[i] + 1));
    counts[sizes.indexOf(Math.max(...sizes))] += 1;
  }
  return fixed.flatMap((to, i) => {
    const inner = Array.from({ length: counts[i] }, (_, n) => inverse(clock, starts[i], to, (n + 1) / (counts[i] + 1)));
    return [...snapped(inner, starts[i], to, knots), to];
  });
}

/** The time at a share of the clock between two times, by halving. */
function inverse(clock: (t: number) => number, from: number, to: number, share: number): number {
  const target = clock(from) + share * (clock(to) - clock(from));
  let [low, high] = [from, to];
  for (let k = 0; k < 48; k++) {
    const middle = 0.5 * (low + high);
    if (clock(middle) < target) low = middle;
    else high = middle;
  }
  return 0.5 * (low + high);
}

/** Moves the nearest time to each knot that is nearer to it than half of the way to the next one. */
function snapped(times: readonly number[], from: number, to: number, knots: readonly number[]): readonly number[] {
  const moved = [...times];
  const isTaken = times.map(() => false);
  for (const knot of knots) {
    if (knot <= from + MOMENT || knot >= to - MOMENT) continue;
    let best = -1;
    times.forEach((time, i) => {
      if (best < 0 || Math.abs(time - knot) < Math.abs(times[best] - knot)) best = i;
    });
    if (best < 0 || isTaken[best]) continue;
    const [before, after] = [best === 0 ? from : times[best - 1], best === times.length - 1 ? to : times[best + 1]];
    const room = 0.5 * (knot < times[best] ? times[best] - before : after - times[best]);
    if (Math.abs(knot - times[best]) > room) continue;
    moved[best] = knot;
    isTaken[best] = true;
  }
  return moved;
}

/**
 * Returns the same steps with the diffusion evaluated anew only every `frozenSteps` steps, and after each dividend or
 * jump of a volatility in time. With `hides`, products see the spot only at the last step before each new evaluation.
 */
export function withFrozenDiffusion({ ends, isJump, isBreak }: Steps, frozenSteps: number, hides: boolean): Steps {
  const isFresh: boolean[] = [];
  let run = 0;
  isJump.forEach((jump, k) => {
    const starts = k === 0 || jump || isJump[k - 1] || isBreak[k - 1] || run >= frozenSteps;
    run = starts ? 1 : run + 1;
    isFresh.push(starts);
  });
  const isShown = ends.map((_, k) => !hides || k === ends.length - 1 || isFresh[k + 1]);
  return { ends, isJump, isBreak, isFresh, isShown };
}

/**
 * Returns the steps with times as seen some years later. Steps that are over by then have negligible lengths, so that
 * the number of steps stays the same.
 */
export const rollSteps = (steps: Steps, years: number): Steps => ({
  ...steps,
  ends: steps.ends.map((end, k) => Math.max(end - years, (k + 1) * MOMENT)),
});
