/** Variance as a function of time: what time grids, domains and means over a part of a life are made from. */
import { liftFormula } from "../../../kernel/index.ts";
import {
  type DiffusionOverLife,
  type Diffusion,
  jumpsBetween,
  MIN_JUMP_IN_TIME,
  volatilitiesAt,
  volatilityAt,
} from "./diffusion.ts";
import { LruCache, memoizeBy } from "../../../base/memoize.ts";
import { cellAt } from "../../../base/search.ts";
import { integratedVariance, rowRootMeanSquare, rowVolatility } from "../../../market/index.ts";

/** The variance of ln S at today's spot, on consecutive pieces of the life. */
interface VarianceProfile {
  /** The ends of the pieces in years: today, then the end of each piece; the last one is expiry. */
  readonly times: readonly number[];
  /** ∫ σ² dt over each piece. */
  readonly variances: readonly number[];
  /** The times at which a formula jumps, however little: steps that it changes in would not see by how much. */
  readonly jumps: readonly number[];
}

/** The number of pieces of the life of a surface, whose own dates end pieces too. */
const PIECES = 32;
/** Pieces of a formula's life are a day long, so that no event is missed, unless these are more or fewer. */
const DAYS = 365;
const MIN_PIECES = 128;
const MAX_PIECES = 1024;
/** Where in a piece of a formula's life it is looked at: not at midnight, when events begin and end. */
const TIME_OF_DAY = 0.382;
/** The largest difference of a piece's variance from that of a linear σ, over the variance of the life. */
const MAX_MISFIT = 1e-6;
const MAX_HALVINGS = 6;
/** A part of the life before and after a date in which a formula is looked at, since it may jump there. */
const BESIDE = 1e-7;

type InTime = Exclude<Diffusion, { kind: "local" }>;

/** What is known of a volatility, by all else that it depends on; trades share it. A pure function's memory. */
const profilesOf = memoizeBy((_volatility: object) => new LruCache<string, VarianceProfile>(MAX_OF_A_VOLATILITY));
const looksOf = memoizeBy((_volatility: object) => new LruCache<string, Looks>(MAX_OF_A_VOLATILITY));
const MAX_OF_A_VOLATILITY = 2048;

/** Returns the variance of a problem as a function of time; undefined where σ does not depend on time. */
export function varianceProfile({ diffusion, spots: [spot], expiry }: DiffusionOverLife): VarianceProfile | undefined {
  if (diffusion.kind === "local") return undefined;
  if (diffusion.kind === "deterministic" && !(diffusion.sigma.times[0] < expiry)) return undefined;
  if (diffusion.kind === "surface" && diffusion.surface.times.length === 1) return undefined;
  const source = diffusion.kind === "surface" ? diffusion.surface : diffusion.sigma;
  const key = `${spot} ${expiry} ${"shift" in diffusion ? diffusion.shift : 0} ${"start" in diffusion ? diffusion.start : 0}`;
  return profilesOf(source).getOrMake(key, () => makeProfile(diffusion, spot, expiry));
}

function makeProfile(diffusion: InTime, spot: number, expiry: number): VarianceProfile {
  const sigma = (time: number): number => volatilityAt(diffusion, spot, time);
  if (diffusion.kind === "deterministic") {
    const times = [0, ...inside(diffusion.sigma.times, expiry), expiry];
    return { times, variances: times.slice(1).map((end, i) => sigma(end) ** 2 * (end - times[i])), jumps: [] };
  }
  if (diffusion.kind === "formula") return profileOfFormula(diffusion, spot, expiry);
  const times = increasing([...equidistant(PIECES, expiry), ...inside(diffusion.surface.times, expiry)]);
  const values = times.map(sigma);
  const variances = times.slice(1).map((end, i) => meanSquare(values[i], values[i + 1]) * (end - times[i]));
  return { times, variances, jumps: [] };
}

/** The mean of the square of a linear function between its values at two ends. */
const meanSquare = (a: number, b: number): number => (a * a + a * b + b * b) / 3;

const increasing = (times: readonly number[]): readonly number[] =>
  times.toSorted((a, b) => a - b).filter((time, i, all) => i === 0 || time > all[i - 1]);

type OfFormula = Extract<Diffusion, { kind: "formula" }>;

/** Integrates σ² by Simpson's rule. Pieces are halved where σ is not nearly linear, so that spikes are resolved. */
function profileOfFormula(diffusion: OfFormula, spot: number, expiry: number): VarianceProfile {
  const key = `${spot} ${expiry} ${diffusion.start ?? 0}`;
  const looked = looksOf(diffusion.sigma).getOrMake(key, () => lookAt({ ...diffusion, shift: 0 }, spot, expiry));
  const shifted = (value: number): number => Math.max(value + diffusion.shift, 0);
  const values = looked.values.map(shifted);
  const middles = looked.middles.map(shifted);
  const ofLine = (i: number): number => meanSquare(values[i], values[i + 1]) * (looked.times[i + 1] - looked.times[i]);
  const allowed = MAX_MISFIT * middles.reduce((sum, _, i) => sum + ofLine(i), 0);
  const times = [looked.times[0]];
  const variances: number[] = [];
  const add = (from: number, a: number, m: number, to: number, b: number, halvings: number): void => {
    const variance = ((a * a + 4 * m * m + b * b) / 6) * (to - from);
    if (halvings > 0 && Math.abs(variance - meanSquare(a, b) * (to - from)) > allowed) {
      const middle = 0.5 * (from + to);
      add(from, a, volatilityAt(diffusion, spot, 0.5 * (from + middle)), middle, m, halvings - 1);
      add(middle, m, volatilityAt(diffusion, spot, 0.5 * (middle + to)), to, b, halvings - 1);
      return;
    }
    times.push(to);
    variances.push(variance);
  };
  middles.forEach((m, i) => add(looked.times[i], values[i], m, looked.times[i + 1], values[i + 1], MAX_HALVINGS));
  return { times, variances, jumps: looked.jumps };
}

/** A formula's σ at a spot, before anything is added to it. */
interface Looks {
  readonly times: readonly number[];
  readonly values: Float64Array;
  /** Half-way between two times. */
  readonly middles: Float64Array;
  readonly jumps: readonly number[];
}

/**
 * Looks at a formula today, daily, at expiry, before and after each number that it has, which may be the date of an
 * event, before and after each jump, and half-way between.
 */
function lookAt(diffusion: OfFormula, spot: number, expiry: number): Looks {
  const sigma = (time: number): number => volatilityAt(diffusion, spot, time);
  const sigmas = (times: readonly number[]): Float64Array => volatilitiesAt(diffusion, spot, Float64Array.from(times));
  const days = Math.min(Math.max(Math.ceil(DAYS * expiry), MIN_PIECES), MAX_PIECES);
  const written = (liftFormula(diffusion.sigma)?.values ?? []).map((literal) => literal - (diffusion.start ?? 0));
  const daily = Array.from({ length: days }, (_, i) => ((i + TIME_OF_DAY) / days) * expiry);
  const beside = inside(written, expiry).flatMap((time) => around(time, expiry));
  let times = increasing([0, ...daily, expiry, ...beside]);
  let values = sigmas(times);
  const jumps = inside(jumpsBetween(sigma, times, MIN_JUMP_IN_TIME, values), expiry);
  if (jumps.length > 0) {
    times = increasing([...times, ...jumps.flatMap((time) => [time, time * (1 + Number.EPSILON)])]);
    values = sigmas(times);
  }
  return { times, values, middles: sigmas(times.slice(1).map((end, i) => 0.5 * (times[i] + end))), jumps };
}

const around = (time: number, expiry: number): readonly number[] =>
  [time - BESIDE * expiry, time + BESIDE * expiry].map((moment) => Math.min(Math.max(moment, 0), expiry));

const inside = (times: readonly number[], expiry: number): readonly number[] =>
  times.filter((time) => time > 0 && time < expiry);

const equidistant = (pieces: number, expiry: number): readonly number[] =>
  Array.from({ length: pieces + 1 }, (_, i) => (i === pieces ? expiry : (i / pieces) * expiry));

/**
 * A time change that is the mean of calendar time and variance, both scaled to 1 at expiry. It goes from 0 today to 1
 * at expiry. Equal steps of it are small in both, so that an event of days has steps of its own, and so has a long
 * quiet time.
 */
export class VarianceTime {
  readonly times: readonly number[];
  readonly #shown: readonly number[];

  constructor({ times, variances }: VarianceProfile) {
    const variance = variances.reduce((sum, one) => sum + one, 0);
    const expiry = times[times.length - 1];
    let sum = 0;
    this.times = times;
    this.#shown = [0, ...variances.map((_, i) => (sum += variances[i] / variance) / 2 + times[i + 1] / (2 * expiry))];
    (this.#shown as number[])[variances.length] = 1;
  }

  /** Returns the changed time at a calendar time. */
  at(time: number): number {
    return interpolated(this.times, this.#shown, time);
  }

  /** Returns the calendar time at which the changed time has the value `shown`. */
  timeOf(shown: number): number {
    return interpolated(this.#shown, this.times, shown);
  }

  /** Returns the number of years in which the changed time increases by 1 at the speed that it has at `shown`. */
  yearsAt(shown: number): number {
    const i = cellAt(this.#shown, shown);
    return (this.times[i + 1] - this.times[i]) / (this.#shown[i + 1] - this.#shown[i]);
  }
}

function interpolated(from: readonly number[], to: readonly number[], x: number): number {
  const i = cellAt(from, x);
  return to[i] + ((x - from[i]) / (from[i + 1] - from[i])) * (to[i + 1] - to[i]);
}

/** Returns the clock of a profile with some variance. */
const clockOf = memoizeBy((profile: VarianceProfile) => new VarianceTime(profile));

/** The ratio of σ² at two times beyond which time steps follow the variance. */
const UNEVEN = 4;
/** A part of the clock that is too short for the σ² in it to count. */
const SHORT = 0.01;

/**
 * Returns the time change in which the time steps of a problem are equal; undefined where σ² varies so little that
 * equal steps of calendar time suffice, which trades of one expiry can share.
 */
export function varianceTimeOf(problem: DiffusionOverLife): VarianceTime | undefined {
  const profile = varianceProfile(problem);
  if (profile === undefined) return undefined;
  const { times, variances } = profile;
  if (!variances.some((variance) => variance > 0)) return undefined;
  const clock = clockOf(profile);
  let [smallest, largest] = [Number.POSITIVE_INFINITY, 0];
  let from = 0;
  let sum = 0;
  variances.forEach((variance, i) => {
    sum += variance;
    const years = times[i + 1] - times[from];
    if (clock.at(times[i + 1]) - clock.at(times[from]) < SHORT) return;
    smallest = Math.min(smallest, sum / years);
    largest = Math.max(largest, sum / years);
    [from, sum] = [i + 1, 0];
  });
  return largest > UNEVEN * smallest ? clock : undefined;
}

/**
 * Returns the times at which a formula jumps, or σ² changes by a factor of more than `UNEVEN` or less than 1/`UNEVEN`.
 */
export function regimeChanges(problem: DiffusionOverLife): readonly number[] {
  const profile = varianceProfile(problem);
  if (profile === undefined) return [];
  const { times, variances, jumps } = profile;
  const changes = [...jumps];
  let before: number | undefined;
  let end = 0;
  variances.forEach((variance, i) => {
    const years = times[i + 1] - times[i];
    // A piece that is no longer than a jump is the jump.
    if (years <= 4 * BESIDE * times[times.length - 1]) return;
    const here = variance / years;
    const isChange = before !== undefined && (here > UNEVEN * before || before > UNEVEN * here);
    if (isChange && !jumps.some((jump) => jump >= end && jump <= times[i])) changes.push(0.5 * (end + times[i]));
    before = here;
    end = times[i + 1];
  });
  return changes;
}

/**
 * Returns the root mean square of σ between two times as a function of the spot. A formula is evaluated at times
 * between which its variance at today's spot increases by equal parts.
 */
export function volatilityOver(problem: DiffusionOverLife, from: number, to: number): (spot: number) => number {
  const { diffusion } = problem;
  switch (diffusion.kind) {
    case "local":
      return (spot) => volatilityAt(diffusion, spot, from);
    case "deterministic": {
      const variance = integratedVariance(diffusion.sigma, to) - integratedVariance(diffusion.sigma, from);
      const sigma = Math.sqrt(Math.max(variance, 0) / (to - from));
      return () => sigma;
    }
    case "surface": {
      const row = rowRootMeanSquare(diffusion.surface, from, to, diffusion.shift);
      return (spot) => Math.max(rowVolatility(diffusion.surface, row, spot), 0);
    }
    case "formula":
      return ofFormula(problem, diffusion, from, to);
    default:
      return diffusion satisfies never;
  }
}

/** The number of times at which a formula is looked at. */
const LOOKS = 8;

function ofFormula(
  problem: DiffusionOverLife,
  diffusion: Extract<Diffusion, { kind: "formula" }>,
  from: number,
  to: number,
): (spot: number) => number {
  const looks = momentsOf(problem, from, to);
  const years = looks.reduce((sum, look) => sum + look.years, 0);
  return (spot) => {
    let variance = 0;
    for (const look of looks) variance += volatilityAt(diffusion, spot, look.time) ** 2 * look.years;
    return Math.sqrt(variance / years);
  };
}

/** A time at which a formula is looked at, and the years for which it stands. */
interface Look {
  readonly time: number;
  readonly years: number;
}

function momentsOf(problem: DiffusionOverLife, from: number, to: number): readonly Look[] {
  const profile = varianceProfile(problem);
  const parts = Array.from({ length: LOOKS }, (_, i) => (i + 0.5) / LOOKS);
  const hasVariance = profile?.variances.some((variance) => variance > 0) === true;
  if (!hasVariance) return parts.map((part) => ({ time: from + part * (to - from), years: (to - from) / LOOKS }));
  const clock = clockOf(profile);
  const [first, last] = [clock.at(from), clock.at(to)];
  return parts.map((part) => {
    const shown = first + part * (last - first);
    return { time: clock.timeOf(shown), years: (clock.yearsAt(shown) * (last - first)) / LOOKS };
  });
}
