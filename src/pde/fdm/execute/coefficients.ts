import { integrate, type PiecewiseConstant } from "../../../market/index.ts";
import { putBarriers, putCrossings, putKnockInCrossings, putKnockIns } from "../conditions/barrier-rows.ts";
import type { Arena } from "../mesh/pinned-mesh.ts";
import type { Grid } from "../mesh/grid.ts";
import { volatilitiesAt } from "../problem/diffusion.ts";
import type { OneFactorProblem } from "../problem/one-factor.ts";
import { coefficientReals, type CoefficientSink, CoefficientWriter } from "../operator/coefficients.ts";
import { BARRIERS, DIVIDEND, REFACTOR, type TimeGrid } from "../time/time-grid.ts";
import { barrierReals, CROSSING_REALS, crossInReals, knockInReals } from "../conditions/barrier.ts";

/** Returns the number of coefficients of an instance in the solver's table. `kept` is as in `putCoefficients`. */
export function coefficientCount(
  { factorisations, dividends, barrierDates }: TimeGrid,
  problem: OneFactorProblem,
  kept?: Int32Array,
): number {
  const words = coefficientReals(problem.diffusion.kind === "formula");
  const rates = kept === undefined ? words * factorisations : words - 1 + kept.filter(isFactored).length;
  return rates + dividends * dividendReals(problem) + (barrierDates + 1) * eventReals(problem);
}

const isFactored = (flag: number): boolean => (flag & REFACTOR) !== 0;

/**
 * A problem, possibly with shifted inputs, and the grid on which it is to be solved. Both determine the coefficients of
 * an instance.
 */
export interface InstanceProblem {
  readonly grid: Pick<Grid, "time" | "mesh" | "forward">;
  readonly problem: OneFactorProblem;
}

/**
 * Returns the problem whose equation is discretised on the nodes: in the forward coordinate the one without drift and
 * rates.
 */
export const discretisedProblem = ({ grid, problem }: InstanceProblem): OneFactorProblem =>
  grid.forward?.flat ?? problem;

/**
 * Writes the coefficients of time-homogeneous instances with the same step flags into the solver's table. The table has
 * one instance a column and one coefficient a row; `pitch` is its number of columns. The rows are, in the order of the
 * time steps: h, h·σ², h·(r − q), h·r at each factorisation, the coefficients of each dividend, and those of barriers
 * on each date. `kept` are the flags of a solver that keeps factorisations (`flagsOfKept`): after the first
 * factorisation it needs h alone, or nothing where it reuses one.
 */
export function putCoefficients(
  packed: Float64Array | Float32Array,
  pitch: number,
  instances: readonly InstanceProblem[],
  kept?: Int32Array,
): void {
  // Row by row instances themselves would be far apart in memory; grids of time are few.
  const times = instances.map(({ grid }) => grid.time);
  const problems = instances.map(discretisedProblem);
  const [{ eventful, flags }] = times;
  const isOneTime = times.every((time) => time === times[0]);
  const rows = new CoefficientWriter(packed, pitch);
  const perFactorisation = coefficientReals(problems[0].diffusion.kind === "formula");
  const perEvent = eventReals(problems[0]);
  const perDividend = dividendReals(problems[0]);
  let at = 0; // where the next row begins
  const putEvents = (segmentOf: (time: TimeGrid) => number): void => {
    for (let l = 0; l < instances.length; l++)
      putEvent(rows.from(at + l), problems[l], instances[l].grid, segmentOf(times[l]));
    at += perEvent * pitch;
  };
  // Barriers speak at expiry, too.
  if (perEvent > 0) putEvents(({ dates }) => dates.length - 1);
  const putFactorisations = (next: number): void => {
    const alone = kept !== undefined && next > 0;
    if (alone && isOneTime) packed.fill(times[0].factored[next], at, at + instances.length);
    else
      for (let l = 0; l < instances.length; l++) {
        const h = times[l].factored[next];
        if (alone) packed[at + l] = h;
        else putConstant(rows.from(at + l), problems[l], h);
      }
    at += (alone ? 1 : perFactorisation) * pitch;
  };
  let next = 0;
  for (const i of eventful) {
    const flag = flags[i];
    if (isFactored(flag)) {
      if (kept === undefined || isFactored(kept[i])) putFactorisations(next);
      next += 3;
    }
    if ((flag & DIVIDEND) !== 0) {
      for (let l = 0; l < instances.length; l++) putDividend(rows.from(at + l), problems[l], instances[l].grid, i);
      at += perDividend * pitch;
    }
    if (perEvent > 0 && (flag & BARRIERS) !== 0) putEvents(({ steps }) => steps[i].segment);
  }
}

/**
 * Returns the coefficients of one time-dependent instance, with the exact means of the rates and of σ² over each step.
 * A formula for σ² is evaluated in the middle of the step and multiplied by the ratio of its mean over the step to its
 * value in the middle, both at one price. This is the exact mean if σ² is a product of functions of S and t. Steps run
 * backward in time, so the search in a piecewise constant curve continues from the previous step's interval.
 */
export function datedCoefficients(solved: InstanceProblem, arena: Arena): Float64Array {
  const { grid } = solved;
  const { eventful, flags, factored, dates, steps } = grid.time;
  const problem = discretisedProblem(solved);
  const { rates, diffusion, dividendYield } = problem;
  const packed = arena.take(coefficientCount(grid.time, problem));
  const rows = new CoefficientWriter(packed);
  const hasEvents = eventReals(problem) > 0;
  const meanRate = meansOf(rates, identity);
  const meanVariance = diffusion.kind === "deterministic" ? meansOf(diffusion.sigma, square) : undefined;
  const ofMiddle = diffusion.kind === "formula" ? meansOverMiddle(problem, factored) : undefined;
  if (hasEvents) putEvent(rows, problem, grid, dates.length - 1);
  let next = 0;
  for (const i of eventful) {
    const flag = flags[i];
    if (isFactored(flag)) {
      const h = factored[next];
      const from = factored[next + 1];
      const to = factored[next + 2];
      const rate = h * meanRate(from, to);
      rows.put(h);
      rows.put(h * (meanVariance?.(from, to) ?? ofMiddle?.[next / 3] ?? 1));
      rows.put(rate - h * dividendYield);
      rows.put(rate);
      if (diffusion.kind === "formula") {
        rows.put((diffusion.start ?? 0) + 0.5 * (from + to));
        rows.put(diffusion.shift);
      }
      next += 3;
    }
    if ((flag & DIVIDEND) !== 0) putDividend(rows, problem, grid, i);
    if (hasEvents && (flag & BARRIERS) !== 0) putEvent(rows, problem, grid, steps[i].segment);
  }
  return packed;
}

/** Returns the number of coefficients on a date of a problem with barriers, and at expiry; 0 without barriers. */
export function eventReals({ barriers, knockIns }: OneFactorProblem): number {
  const count = barriers?.length ?? 0;
  return barrierReals(count) + knockInReals(count, knockIns?.levels.length ?? 0);
}

/**
 * Returns the number of coefficients of a dividend: its two amounts, and the coefficients of the barriers across which
 * it may take the spot.
 */
export function dividendReals({ barriers, knockIns }: OneFactorProblem): number {
  const count = barriers?.length ?? 0;
  return 2 + CROSSING_REALS * count + crossInReals(count, knockIns?.levels.length ?? 0);
}

/** Writes the coefficients of the dividend that ends time step i, whose amounts may be other ones than the grid's. */
export function putDividend(
  rows: CoefficientSink,
  problem: OneFactorProblem,
  { mesh, time: { steps, events } }: InstanceProblem["grid"],
  i: number,
): void {
  const { dividend, time } = events[steps[i].segment - 1];
  const paid = problem.dividends.find((one) => one.time === time) ?? dividend!;
  rows.put(1 - paid.proportional);
  rows.put(paid.cash / problem.spots[0]);
  if (problem.knockIns !== undefined) putKnockInCrossings(rows, problem, mesh, paid, time);
  if (problem.barriers !== undefined) putCrossings(rows, problem, mesh, paid, time);
}

/** Writes the coefficients of the barriers at the end of a segment: at expiry, or on a date. */
export function putEvent(
  rows: CoefficientSink,
  problem: OneFactorProblem,
  { mesh, time: { dates } }: InstanceProblem["grid"],
  segment: number,
): void {
  const time = dates[segment];
  const before = dates[segment - 1];
  if (problem.knockIns !== undefined) putKnockIns(rows, problem, mesh, time, before);
  if (problem.barriers !== undefined) putBarriers(rows, problem, mesh, time, before);
}

/** Puts the coefficients of rates and volatility that are the same at all times. */
function putConstant(rows: CoefficientWriter, { rates, diffusion, dividendYield }: OneFactorProblem, h: number): void {
  const rate = h * rates.values[0];
  rows.put(h);
  rows.put(diffusion.kind === "deterministic" ? h * square(diffusion.sigma.values[0]) : h);
  rows.put(rate - h * dividendYield);
  rows.put(rate);
}

/** Gauss and Legendre's rule of three points on (0, 1). */
const GAUSS = [
  [0.5 - 0.5 * Math.sqrt(0.6), 5 / 18],
  [0.5, 8 / 18],
  [0.5 + 0.5 * Math.sqrt(0.6), 5 / 18],
] as const;
/** The parts of a step on each of which the rule is taken: an event of a day may begin within a step. */
const PARTS = 8;
/** Where a step is looked at: in its middle, and at the points of the rule in each part. */
const PLACES = [0.5, ...Array.from({ length: PARTS }, (_, k) => GAUSS.map(([at]) => (k + at) / PARTS)).flat()];

/**
 * Returns, for each factorisation, the ratio of the mean of a formula's σ² over the step to that in its middle, at a
 * kink of the payoff: values at many spots have one ratio.
 */
export function meansOverMiddle(
  { diffusion, payoff, spots }: OneFactorProblem,
  factored: readonly number[],
): Float64Array {
  const [price = spots[0]] = payoff.kinks;
  const ratios = new Float64Array(factored.length / 3);
  const times = new Float64Array(PLACES.length * ratios.length);
  for (let step = 0, at = 0; step < ratios.length; step++) {
    const from = factored[3 * step + 1];
    const years = factored[3 * step + 2] - from;
    for (const place of PLACES) times[at++] = from + place * years;
  }
  const variances = volatilitiesAt(diffusion, price, times).map(square);
  for (let step = 0, at = 0; step < ratios.length; step++) {
    const middle = variances[at++];
    let mean = 0;
    for (let k = 0; k < PARTS; k++) for (const [, weight] of GAUSS) mean += (weight / PARTS) * variances[at++];
    const ratio = mean / middle;
    ratios[step] = Number.isFinite(ratio) ? ratio : 1;
  }
  return ratios;
}

/** Returns x². */
export const square = (x: number): number => x * x;
/** Returns x. */
export const identity = (x: number): number => x;

/**
 * Returns the function for means of g(f) over steps, asked for backward in time: exactly a piece's own value where a
 * step lies in one piece.
 */
export function meansOf(f: PiecewiseConstant, g: (value: number) => number): (from: number, to: number) => number {
  const { times } = f;
  const values = f.values.map(g);
  let piece = times.length;
  return (from, to) => {
    while (piece > 0 && times[piece - 1] >= to) piece--;
    if (piece === 0 || times[piece - 1] <= from) return values[piece];
    return (integrate(f, to, g) - integrate(f, from, g)) / (to - from);
  };
}
