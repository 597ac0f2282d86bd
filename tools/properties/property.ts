import type { Contract, Valued } from "./contract.ts";
import type { Random } from "./random.ts";

/** One statement about values: `excess` is ≈ 0 (its absolute value is given), or ≤ 0 for an inequality. */
export interface Comparison {
  readonly check: string;
  readonly excess: number;
  /** The sum of the error estimates of what was compared, in the currency. */
  readonly estimate: number;
  readonly expected?: number;
}

/** A draw: trades, and what must hold between their values. */
export interface Sample {
  readonly contracts: readonly Contract[];
  compare(values: readonly Valued[]): readonly Comparison[];
}

/** A family of samples. `weight` is its share of the draws. */
export interface Property {
  readonly name: string;
  readonly weight: number;
  /** Returns undefined where a draw does not suit. */
  draw(random: Random): Sample | undefined;
}

/** a = b. `slack`: what an intended small difference may make. */
export function equal(check: string, a: Valued, b: Valued, slack = 0): Comparison {
  return { check, excess: Math.abs(a.value - b.value) - slack, estimate: a.estimate + b.estimate };
}

/** The value is `expected`, known exactly. */
export function exact(check: string, { value, estimate }: Valued, expected: number): Comparison {
  return { check, excess: Math.abs(value - expected), estimate, expected };
}

/** Σ weight·value ≤ bound. */
export function atMost(
  check: string,
  bound: number,
  ...terms: readonly (readonly [weight: number, of: Valued])[]
): Comparison {
  return {
    check,
    excess: terms.reduce((sum, [weight, { value }]) => sum + weight * value, -bound),
    estimate: terms.reduce((sum, [weight, { estimate }]) => sum + Math.abs(weight) * estimate, 0),
  };
}

/** Σ weight·value = total. */
export function sumsTo(
  check: string,
  total: number,
  ...terms: readonly (readonly [weight: number, of: Valued])[]
): Comparison {
  const { excess, estimate } = atMost(check, total, ...terms);
  return { check, excess: Math.abs(excess), estimate };
}
