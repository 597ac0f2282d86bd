/**
 * The inputs of a market, one by one: nodes of curves and term structures, and quotes. They are kept outside of curves
 * and volatilities, because those are plain data that is sent to workers.
 */
import type { MoveLimits } from "../base/differences.ts";
import { memoizeBy } from "../base/memoize.ts";
import type { Credit } from "../pde/convertible/index.ts";
import {
  type DiscreteDividend,
  type ForwardCurve,
  KEY_NAMES,
  KEY_TIMES,
  movedAtKey,
  type PiecewiseConstant,
  valueAt,
  type Volatility,
  zeroCurve,
  type ZeroRate,
} from "../market/index.ts";
import type { LinearCurves } from "./linear-types.ts";
import type { BucketPlace } from "./result-types.ts";

/** One input of a market object T, and how it is moved. */
export interface MovableInput<T> {
  /** The name of the curve that the input belongs to; undefined for one of the object itself. */
  readonly of?: string;
  readonly at: BucketPlace;
  /** The time in years up to which the moved object is the same as before: a trade that ends by then is not moved. */
  readonly from: number;
  /** The largest moves; without limits by default. */
  readonly limits?: MoveLimits;
  /** Returns the object with the input moved by `by`. @throws BookError where quotes have no fit then */
  moved(by: number): T;
}

/** The inputs of objects, or how they are made when somebody asks for them first. */
type InputsOf<T extends object> = WeakMap<T, readonly MovableInput<T>[] | (() => readonly MovableInput<T>[])>;

/** Records how the inputs of an object are made. */
export function rememberInputs<T extends object>(
  inputs: InputsOf<T>,
  object: T,
  make: () => readonly MovableInput<T>[],
): void {
  inputs.set(object, make);
}

/** Returns a copy of an object after recording that it has the same inputs. */
export function sameInputs<T extends object>(inputs: InputsOf<T>, object: T, copy: T): T {
  const known = inputs.get(object);
  if (known !== undefined) inputs.set(copy, known);
  return copy;
}

/** Returns the inputs of an object; undefined for one that has none of its own. */
export function inputsOf<T extends object>(inputs: InputsOf<T>, object: T): readonly MovableInput<T>[] | undefined {
  const known = inputs.get(object);
  if (typeof known !== "function") return known;
  const made = known().map((input) => ({ ...input, moved: once(input.moved) }));
  inputs.set(object, made);
  return made;
}

/** Returns a function of a move that computes each result once. */
export function once<T>(moved: (by: number) => T): (by: number) => T {
  const made = new Map<number, T>();
  return (by) => {
    const known = made.get(by) ?? moved(by);
    made.set(by, known);
    return known;
  };
}

/** The inputs of curves that have nodes, or that were found from quotes. */
export const curveInputs: InputsOf<ForwardCurve> = new WeakMap();
/** The inputs of volatilities that a book writes: nodes of term structures and surfaces. Quotes have `quotedSmile`. */
export const volatilityInputs: InputsOf<Volatility> = new WeakMap();
/** The inputs of functions of time, such as the volatility of a short rate. */
export const functionInputs: InputsOf<PiecewiseConstant> = new WeakMap();
/** The inputs of an issuer's credit. */
export const creditInputs: InputsOf<Credit> = new WeakMap();

/** The dates of dividends as the book writes them. */
export const dividendDates = new WeakMap<DiscreteDividend, string | number>();
/** The inputs of the curves that linear trades share, but for those that were found from quotes. */
export const linearInputs: InputsOf<LinearCurves> = new WeakMap();

/** Returns the inputs of a curve: its nodes or quotes, or key rates if it is one number or comes from a model. */
export const curveInputsOf = (curve: ForwardCurve): readonly MovableInput<ForwardCurve>[] =>
  inputsOf(curveInputs, curve) ?? keyInputs(curve);

const keyInputs = memoizeBy((curve: ForwardCurve): readonly MovableInput<ForwardCurve>[] =>
  KEY_TIMES.map((_, k) => ({
    at: KEY_NAMES[k],
    from: k === 0 ? 0 : KEY_TIMES[k - 1],
    moved: once((by) => movedAtKey(curve, k, by)),
  })),
);

const ANYWHERE: MoveLimits = { up: Number.POSITIVE_INFINITY, down: Number.POSITIVE_INFINITY };

/**
 * Returns the inputs of a piecewise constant function that is not negative: its value between two dates, which is named
 * by the later one.
 */
export function stepInputs(
  { times, values }: PiecewiseConstant,
  places: readonly BucketPlace[],
): readonly MovableInput<PiecewiseConstant>[] {
  return values.map((value, i) => ({
    at: places[i],
    from: i === 0 ? 0 : times[i - 1],
    limits: { ...ANYWHERE, down: value },
    moved: (by) => ({ times, values: values.with(i, value + by) }),
  }));
}

/** Differences below this are rounding, relative to 1. */
const ROUNDING = 1e-13;

/** Returns the time from which on two functions of time differ; infinite if they are the same. */
export function firstDifference(a: PiecewiseConstant, b: PiecewiseConstant): number {
  const times = [...new Set([...a.times, ...b.times, Number.MAX_VALUE])].sort((x, y) => x - y);
  const found = times.findIndex((time) => Math.abs(valueAt(a, time) - valueAt(b, time)) > ROUNDING);
  return found < 0 ? Number.POSITIVE_INFINITY : found === 0 ? 0 : times[found - 1];
}

/** Returns the inputs of a curve of zero rates, which are linear in z·t between nodes. */
export const zeroInputs = (
  nodes: readonly ZeroRate[],
  places: readonly BucketPlace[],
): readonly MovableInput<ForwardCurve>[] =>
  nodes.map(({ time, zero }, i) => ({
    at: places[i],
    from: i === 0 ? 0 : nodes[i - 1].time,
    moved: (by) => zeroCurve(nodes.with(i, { time, zero: zero + by })),
  }));

/** Returns inputs of an object that contains another one, given how it is made from the other. */
export const inputsWithin = <T, U>(inputs: readonly MovableInput<T>[], made: (part: T) => U): MovableInput<U>[] =>
  inputs.map((input) => ({ ...input, moved: (by) => made(input.moved(by)) }));
