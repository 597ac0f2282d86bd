/**
 * Expressions for the numbers of an equation, and the parameters that tell problems with the same expressions apart.
 */
import { keyOf, memoize } from "../../base/memoize.ts";
import { formula, liftFormula, codeKeyOf, type UserFunctions } from "../../kernel/index.ts";
import type { PiecewiseConstant } from "../../market/index.ts";

/**
 * A number that may depend on the state of an equation (time and axes): a function of the state, the name of a variable
 * of it, or a constant.
 */
export type Expression = Applied | string | number;

/** The values of the time t and of the axes, by name. */
type State = Readonly<Record<string, number>>;

/** A function of expressions. On the host it is called with a state; kernels have the functions that it is made of. */
type Applied = (state: State) => number;

type Numbers = (...values: number[]) => number;

/** The function and the expressions that each applied one is made of. */
const parts = new WeakMap<Applied, { readonly f: Numbers; readonly of: readonly Expression[] }>();

/** Returns the value of an expression in a state. */
export const evaluate = (one: Expression, state: State): number =>
  typeof one === "function" ? one(state) : typeof one === "string" ? state[one] : one;

/**
 * Returns the expression f(of…), where f is a function in the kernel language of numbers. f must not capture variables
 * of the surrounding code.
 */
export function apply<A extends number[]>(
  f: (...values: A) => number,
  ...of: { readonly [K in keyof A]: Expression }
): Expression {
  const call = f as Numbers;
  const applied: Applied = (state) => call(...of.map((one) => evaluate(one, state)));
  parts.set(applied, { f: call, of });
  return applied;
}

const shapeOfFormula = memoize((text: string, names: readonly string[]) => liftFormula(formula(text, names))!, 256);

/** Returns the expression of a user's formula, whose variables are replaced by expressions by name. */
export function applyFormula(text: string, by: Readonly<Record<string, Expression>>): Expression {
  const { call, values } = shapeOfFormula(text, Object.keys(by));
  return apply(call as Numbers, ...Object.values(by), ...values);
}

/** Returns the sum of two expressions. */
export const plus = (one: Expression, other: Expression): Expression => apply((a, b) => a + b, one, other);

/** Returns the product of two expressions. */
export const times = (one: Expression, other: Expression): Expression => apply((a, b) => a * b, one, other);

/** Returns the value at t of a piecewise constant function, as an expression that holds up to time `until`. */
export function piecewise(curve: PiecewiseConstant, until: number): Expression {
  const pieces = piecesOf(curve, until);
  return pieces
    .slice(0, -1)
    .reduceRight(
      (rest: Expression, { to, value }) => apply((t, end, one, other) => (t < end ? one : other), "t", to, value, rest),
      pieces[pieces.length - 1].value,
    );
}

/** Returns the integral of a piecewise constant function from t to time `until`, as an expression. */
export const integralOf = (curve: PiecewiseConstant, until: number): Expression =>
  piecesOf(curve, until)
    .map(({ from, to, value }) =>
      apply((t, start, end, one) => one * Math.max(end - Math.max(t, start), 0), "t", from, to, value),
    )
    .reduce(plus);

interface Piece {
  readonly from: number;
  readonly to: number;
  readonly value: number;
}

/** The pieces of a curve from 0 to a time; equal neighbours are one. */
function piecesOf({ times, values }: PiecewiseConstant, until: number): Piece[] {
  const pieces: Piece[] = [];
  for (let i = 0; i < values.length; i++) {
    const from = i === 0 ? 0 : times[i - 1];
    if (i > 0 && from >= until) break;
    const to = Math.min(i < times.length ? times[i] : until, until);
    const last = pieces.at(-1);
    if (last !== undefined && last.value === values[i]) pieces[pieces.length - 1] = { ...last, to };
    else pieces.push({ from, to, value: values[i] });
  }
  return pieces;
}

/**
 * A problem whose numbers have been replaced by parameters. Problems with equal keys differ only in `columns`, so they
 * can be solved together.
 */
export interface ProblemShape<P> {
  readonly key: string;
  /** The problem, with parameters in the place of numbers, and expressions that call `functions` by name. */
  readonly problem: P;
  /** The functions that expressions apply, by name. */
  readonly functions: UserFunctions;
  /** The values of the parameters, which are named p0, p1, …. */
  readonly columns: readonly number[];
}

/** The fields of a problem whose numbers are no columns, since kernels and meshes are made for them. */
const COUNTS = ["nodes", "steps", "level", "initialLevel", "rannacherSteps"];
/** More dates are numbers of the problem: each parameter is one more of every function. */
const MANY_DATES = 30;

/** Returns a problem with its numbers replaced by parameters. */
export function shapeOfProblem<P>(given: P): ProblemShape<P> {
  const columns: number[] = [];
  const functions = new Map<string, { readonly name: string; readonly f: Numbers }>();
  const written = new Map<Applied, string>();
  const column = (value: number): string => `p${columns.push(value) - 1}`;
  const text = (one: Expression): string => {
    if (typeof one !== "function") return typeof one === "number" ? column(one) : one;
    const { f, of } = parts.get(one)!;
    const shape = "kind" in f ? codeKeyOf(f as ReturnType<typeof formula>) : String(f);
    const known = functions.get(shape) ?? { name: `f${functions.size}`, f };
    functions.set(shape, known);
    const call = written.get(one) ?? `${known.name}(${of.map(text).join(", ")})`;
    written.set(one, call);
    return call;
  };
  const without = (part: unknown, field: string): unknown => {
    if (typeof part === "function" || typeof part === "number")
      return COUNTS.includes(field) ? part : text(part as Expression);
    if (Array.isArray(part))
      return field === "at" && part.length > MANY_DATES ? part : part.map((one) => without(one, field));
    if (typeof part !== "object" || part === null) return part;
    return Object.fromEntries(Object.entries(part).map(([name, one]) => [name, without(one, name)]));
  };
  const problem = without(given, "") as P;
  return {
    key: keyOf([problem, [...functions.keys()], columns.length]),
    problem,
    functions: Object.fromEntries([...functions.values()].map(({ name, f }) => [name, f])),
    columns,
  };
}
