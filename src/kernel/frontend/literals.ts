/** Literals that have become run-time values, and what takes their place while a function is lowered. */
import type { FunctionSpec } from "../language.ts";
import type { Value } from "./context.ts";
import type { Draft, FunctionLiterals } from "./draft.ts";

/**
 * The literals that stay constants, because arithmetic is often written with them and back ends have faster code for
 * them. Literals without a normal f32 value stay constants, too.
 */
const PLAIN = [0, 0.5, 1, 2];
const MIN_NORMAL = 2 ** -126;

/**
 * Tells whether a literal may become a run-time value, so that functions that differ only in it share one compilation.
 */
export function isLiftable(value: number): boolean {
  const size = Math.abs(value);
  return size >= MIN_NORMAL && Math.fround(size) < Number.POSITIVE_INFINITY && !PLAIN.includes(size);
}

/** The literals of a function that become run-time values, in the order of their first use. */
export class LiftedLiteralTable {
  /** The index of each literal in `values`, by its position in the source and its value. */
  readonly numbers = new Map<string, number>();
  readonly values: number[] = [];

  /**
   * Returns the index of the run-time value for a literal, which is added if it is new. Undefined if the literal stays
   * a constant.
   */
  take(start: number, value: number): number | undefined {
    if (!isLiftable(value)) return undefined;
    const key = placeOf(start, value);
    let at = this.numbers.get(key);
    if (at === undefined) {
      this.numbers.set(key, (at = this.values.length));
      this.values.push(value);
    }
    return at;
  }
}

/**
 * Returns the key of a literal: its position and value. Code that is lowered more than once may fold the same position
 * to several values.
 */
const placeOf = (start: number, value: number): string => `${start} ${value}`;

/**
 * Returns the run-time values of a called function's lifted literals, which are the last of its arguments `args`.
 * Undefined if the function has no lifted literals.
 */
export function literalArguments({ lifted }: FunctionSpec, args: readonly Value[]): FunctionLiterals | undefined {
  if (lifted === undefined) return undefined;
  const { places } = lifted;
  const first = args.length - places.size;
  return {
    valueOf(_literal, start, value) {
      const at = places.get(placeOf(start, value));
      const arg = at === undefined ? undefined : args[first + at];
      return arg?.kind === "scalar" ? arg.draft : undefined;
    },
  };
}

/**
 * Returns the expression for the run-time value of a constant that comes from a lifted literal; undefined for any other
 * expression.
 */
export function liftedValueOf(draft: Draft): Draft | undefined {
  if (draft.kind !== "const" || draft.origin === undefined || typeof draft.value !== "number") return undefined;
  const { literals, start } = draft.origin;
  return literals.valueOf(draft, start, draft.value);
}
