/** Literals that have become run-time values: what stands for them while a function is lowered. */
import type { FunctionSpec } from "../language.ts";
import type { Value } from "./context.ts";
import type { Draft, FunctionLiterals } from "./draft.ts";

/**
 * These stay constants: arithmetic is often written with them, and back ends have quicker code for it. So does what f32
 * has no normal number for.
 */
const PLAIN = [0, 0.5, 1, 2];
const MIN_NORMAL = 2 ** -126;

/** Tells whether a literal may become a run-time value. */
export function isLiftable(value: number): boolean {
  const size = Math.abs(value);
  return size >= MIN_NORMAL && Math.fround(size) < Number.POSITIVE_INFINITY && !PLAIN.includes(size);
}

/** The literals of a function that may become run-time values, in the order of their first use. */
export class LiteralPlaces {
  readonly numbers = new Map<string, number>();
  readonly values: number[] = [];

  /** Returns the index of a literal's run-time value; undefined where it stays a constant. */
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

/** Code that is lowered more than once may fold the same place to several values. */
const placeOf = (start: number, value: number): string => `${start} ${value}`;

/** The literals of a called function as values for its last parameters. */
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

/** Returns the run-time value of a real constant that comes from a lifted literal. */
export function literalOf(draft: Draft): Draft | undefined {
  if (draft.kind !== "const" || draft.origin === undefined || typeof draft.value !== "number") return undefined;
  const { literals, start } = draft.origin;
  return literals.valueOf(draft, start, draft.value);
}
