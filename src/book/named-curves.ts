/** The curves of a book that have names, their forward rates, and the inputs that move them. */
import { type ForwardCurve, zeroCurve } from "../market/index.ts";
import type { IndexName } from "../market/conventions/index.ts";
import { Curve } from "../market/linear/index.ts";
import type { FxMarket } from "./fx.ts";
import { firstDifference, inputsWithin, type MovableInput } from "./market-inputs.ts";
import type { BucketPlace } from "./result-types.ts";

/** The curves of a book by index, with the instruments from which they were found. */
export interface NamedCurves {
  readonly names: readonly string[];
  readonly curves: readonly Curve[];
  /** The names of the instruments at the nodes of each curve; none for a curve that is given. */
  readonly instruments: readonly (readonly string[])[];
  /** The dates of the nodes of each curve that is given, as the book writes them; none for a curve that was found. */
  readonly dates: readonly (readonly (string | number)[])[];
  /**
   * The derivatives of the zero rates at all fitted nodes with respect to all quotes: one row for each node, in the
   * order of the curves and their nodes.
   */
  readonly byQuotes: readonly Float64Array[];
  /** The indices whose rates curves project. */
  readonly indices: readonly (IndexName | undefined)[];
  /** The part of a notional that is left at default, of curves of survival probabilities. */
  readonly recoveries: readonly (number | undefined)[];
  /** The derivatives of the zero rates of each of these curves by its recovery, if its quotes stay. */
  readonly byRecovery: readonly (Float64Array | undefined)[];
  readonly fx: FxMarket;
}

/** Nodes between two of a curve whose forward rate is not constant there, for methods that take constant ones. */
const BETWEEN = 8;

/**
 * Returns a curve as forward rates: exact where ln P is linear between nodes, and otherwise at closer nodes and at
 * further times, which are those of payments.
 */
export function forwardCurveOf(curve: Curve, further: Iterable<number> = []): ForwardCurve {
  const { rule, turns } = curve;
  const given = [...curve.times];
  const last = given[given.length - 1];
  const times = [...given, ...further, ...turns.flatMap(({ from, to }) => [from, to])];
  if (rule !== "log-discount") {
    // The zero rate is constant before the first node where it is linear after it.
    const from = rule === "zero-rate" ? given : [0, ...given];
    from.forEach((start, i) => {
      if (i + 1 === from.length) return;
      const step = (from[i + 1] - start) / BETWEEN;
      for (let k = 1; k < BETWEEN; k++) times.push(start + step * k);
    });
    times.push(Math.max(...times) + 1);
  }
  const distinct = times.filter((time) => time > 0).sort((a, b) => a - b);
  const nodes = distinct.filter((time, i) => i === 0 || time - distinct[i - 1] > 1e-9);
  if (turns.length > 0 && nodes.at(-1)! > last) nodes.push(nodes.at(-1)! + 1);
  return zeroCurve(nodes.map((time) => ({ time, zero: curve.logDiscount(time) / time })));
}

/**
 * Returns the inputs of a named curve: the quotes of all curves that were found with it, or its own zero rates. A quote
 * moves nodes by their derivatives, which are those of curves that are found again.
 */
export function namedCurveInputs(
  { names, curves, instruments, dates, byQuotes }: NamedCurves,
  number: number,
): readonly MovableInput<ForwardCurve>[] {
  if (instruments[number].length === 0)
    return inputsWithin(nodeInputs(curves[number], dates[number]), forwardCurveOf).map((input) => ({
      ...input,
      of: names[number],
    }));
  const curve = curves[number];
  const { times, zeros, rule, turns } = curve;
  const base = forwardCurveOf(curve);
  const movedBy = (slopes: ArrayLike<number>, by: number): ForwardCurve =>
    forwardCurveOf(
      new Curve(
        times,
        Float64Array.from(zeros, (zero, k) => zero + slopes[k] * by),
        rule,
        turns,
      ),
    );
  const input = (at: BucketPlace, of: string, slopes: ArrayLike<number>): MovableInput<ForwardCurve> => ({
    of,
    at,
    from: firstDifference(base, movedBy(slopes, SMALL)),
    moved: (by) => movedBy(slopes, by),
  });
  const isFound = (_: Curve, c: number): boolean => instruments[c].length > 0;
  const before = curves.slice(0, number).filter(isFound);
  const nodesBefore = before.reduce((sum, one) => sum + one.zeros.length, 0);
  let quote = 0;
  return instruments.flatMap((own, c) =>
    own.map((name) => {
      const column = quote++;
      return input(
        name,
        names[c],
        Float64Array.from(zeros, (_, k) => byQuotes[nodesBefore + k][column]),
      );
    }),
  );
}

/** Returns the inputs of a curve that is given: its zero rates. */
export const nodeInputs = (
  { times, zeros, rule, turns }: Curve,
  places: readonly BucketPlace[],
): MovableInput<Curve>[] =>
  Array.from(times, (_, k) => ({
    at: places[k],
    from: k === 0 ? 0 : times[k - 1],
    moved: (by) =>
      new Curve(
        times,
        Float64Array.from(zeros, (zero, i) => (i === k ? zero + by : zero)),
        rule,
        turns,
      ),
  }));

/** A move of a quote that tells from when on a curve depends on it. */
const SMALL = 1e-6;
