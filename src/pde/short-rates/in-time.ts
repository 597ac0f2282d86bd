/**
 * Jumps and kinks of the coefficients of a short rate by formulas, in time and in the rate, and the steps they need.
 */
import { formula } from "../../kernel/index.ts";
import { memoize } from "../../base/memoize.ts";

/** Formulas drift(r, t) and volatility(r, t), and the rates at which they are looked at. */
interface FormulasInTime {
  readonly drift: string;
  readonly volatility: string;
  readonly rates: readonly number[];
}

/** Times a year at which formulas are looked at, and the smallest jump or kink, a part of a formula's largest value. */
const LOOKS_A_YEAR = 64;
const SMALLEST = 1e-4;
/** Halvings of the distance of the times at which a second difference is taken: down to a tenth of a second. */
const HALVINGS = 22;
/** Markets and intervals whose answers are kept. */
const MARKETS = 64;
const INTERVALS = 4096;

const functionsOf = ({ drift, volatility, rates }: FormulasInTime): readonly ((t: number) => number)[] =>
  [drift, volatility].flatMap((text) => {
    const f = formula(text, ["r", "t"]);
    return rates.map((rate) => (t: number) => f(rate, t));
  });

/**
 * Returns the time about `middle`, to within `distance`, at which a function has a jump or a kink; undefined where it
 * is smooth. As the distance h of the times in a second difference is halved, the largest of those nearby is divided by
 * 4 where the function is smooth, by 2 at a kink, and stays at a jump.
 */
function breakAbout(f: (t: number) => number, middle: number, distance: number): number | undefined {
  const difference = (t: number, h: number): number => Math.abs(f(t + h) - 2 * f(t) + f(t - h));
  const first = difference(middle, distance);
  let [at, h, size] = [middle, distance, first];
  for (let k = 0; k < HALVINGS; k++) {
    h *= 0.5;
    const near = [at - h, at, at + h];
    const sizes = near.map((t) => difference(t, h));
    size = Math.max(...sizes);
    at = near[sizes.indexOf(size)];
  }
  return size > 0.1 * first * 2 ** -HALVINGS ? at : undefined;
}

/**
 * Returns the numbers between two others at which some function has a jump or a kink; `count` intervals are looked at.
 */
function breaksBetween(
  functions: readonly ((x: number) => number)[],
  from: number,
  to: number,
  count: number,
): readonly number[] {
  const distance = (to - from) / count;
  const points = Array.from({ length: count + 1 }, (_, i) => from + i * distance);
  return functions.flatMap((f) => {
    const values = points.map(f);
    const least = SMALLEST * Math.max(...values.map(Math.abs));
    return points.slice(1, -1).flatMap((point, i) => {
      const size = Math.abs(values[i + 2] - 2 * values[i + 1] + values[i]);
      const found = size > least ? breakAbout(f, point, distance) : undefined;
      return found === undefined ? [] : [found];
    });
  });
}

/** Returns the times between `from` and `to` at which a formula has a jump or a kink, in increasing order. */
export const breaksInTime = memoize((formulas: FormulasInTime, from: number, to: number): readonly number[] => {
  const count = Math.max(Math.ceil(LOOKS_A_YEAR * (to - from)), 4);
  return [...new Set(breaksBetween(functionsOf(formulas), from, to, count))].toSorted((a, b) => a - b);
}, MARKETS);

/** Intervals of a range in which formulas are looked at. */
const LOOKS_IN_RANGE = 128;

/**
 * Tells whether the coefficients of a short rate are so irregular at time t that the mesh error has no order of
 * convergence. This is the case if they have a jump or a kink as functions of the rate between `low` and `high`, or if
 * the volatility is 0 at one of these ends.
 */
export const isRoughInRate = memoize(
  (
    { drift, volatility }: Pick<FormulasInTime, "drift" | "volatility">,
    low: number,
    high: number,
    t: number,
  ): boolean => {
    const functions = [drift, volatility].map((text) => {
      const f = formula(text, ["r", "t"]);
      return (rate: number) => f(rate, t);
    });
    const [, deviation] = functions;
    const middle = Math.abs(deviation(0.5 * (low + high)));
    const vanishes = [low, high].some((end) => !(Math.abs(deviation(end)) > SMALLEST * middle));
    return vanishes || breaksBetween(functions, low, high, LOOKS_IN_RANGE).length > 0;
  },
  MARKETS,
);

/** The error of a formula's mean over an interval by steps of the coarsest grid, relative to its largest value. */
const RESOLVED = 0.01;
/** The most doublings of the number of steps. */
const MAX_DOUBLINGS = 6;

/**
 * Returns the number of time steps for an interval, a multiple of `least`. With this number the midpoint rule gives the
 * means of the formulas over the interval.
 */
export const stepsInTime = memoize((formulas: FormulasInTime, from: number, to: number, least: number): number => {
  const functions = functionsOf(formulas);
  const means = (steps: number): number[] =>
    functions.map((f) => {
      let sum = 0;
      for (let k = 0; k < steps; k++) sum += f(from + ((k + 0.5) / steps) * (to - from)) / steps;
      return sum;
    });
  const sizes = functions.map((f) =>
    Math.max(...[0.1, 0.3, 0.5, 0.7, 0.9].map((p) => Math.abs(f(from + p * (to - from))))),
  );
  const differ = (some: readonly number[], others: readonly number[]): boolean =>
    some.some((mean, i) => Math.abs(mean - others[i]) > RESOLVED * sizes[i]);
  let steps = least;
  for (let k = 0; k < MAX_DOUBLINGS; k++, steps *= 2) {
    const [one, two, four] = [1, 2, 4].map((finer) => means(finer * steps));
    if (!differ(one, two) && !differ(two, four)) break;
  }
  return steps;
}, INTERVALS);
