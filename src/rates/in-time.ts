/** Changes in time of the coefficients of a short rate by formulas: jumps and kinks, and the steps that they need. */
import { formula } from "../kernel/index.ts";
import { remembered } from "../remembered.ts";

/** Formulas drift(r, t) and volatility(r, t), and the rates at which they are looked at. */
export interface FormulasInTime {
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

/** Returns the times between two others at which a formula has a jump or a kink, in increasing order. */
export const breaksInTime = remembered((formulas: FormulasInTime, from: number, to: number): readonly number[] => {
  const count = Math.max(Math.ceil(LOOKS_A_YEAR * (to - from)), 4);
  const distance = (to - from) / count;
  const times = Array.from({ length: count + 1 }, (_, i) => from + i * distance);
  const breaks = functionsOf(formulas).flatMap((f) => {
    const values = times.map(f);
    const least = SMALLEST * Math.max(...values.map(Math.abs));
    return times.slice(1, -1).flatMap((time, i) => {
      const size = Math.abs(values[i + 2] - 2 * values[i + 1] + values[i]);
      const found = size > least ? breakAbout(f, time, distance) : undefined;
      return found === undefined ? [] : [found];
    });
  });
  return [...new Set(breaks)].toSorted((a, b) => a - b);
}, MARKETS);

/** The error of a formula's mean over an interval by steps of the coarsest grid, relative to its largest value. */
const RESOLVED = 0.01;
/** The most doublings of the number of steps. */
const MAX_DOUBLINGS = 6;

/**
 * Returns a number of steps of an interval, `least` or a multiple of it, whose middles give the means of the formulas
 * over it.
 */
export const stepsInTime = remembered((formulas: FormulasInTime, from: number, to: number, least: number): number => {
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
