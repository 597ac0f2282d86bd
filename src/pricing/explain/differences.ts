/** Derivatives as differences of priced trades. */
import type { PricedTrade } from "../../book/index.ts";

/** A value with the sensitivities of which differences are taken. */
export interface Point {
  readonly value: number;
  readonly delta: number;
  readonly theta: number;
}

/** The first differences of value, delta and theta by one input, and the second difference of the value. */
export interface Curvature extends Point {
  /** The second difference of the value. */
  readonly second: number;
}

/** Returns the value, delta and theta of a priced trade. */
export function pointOf({ value, delta, theta }: PricedTrade): Point {
  return { value, delta: delta ?? 0, theta: theta ?? 0 };
}

/** Returns the differences (to − from)/step of value, delta and theta. */
export function slope(from: Point, to: Point, step: number): Point {
  return {
    value: (to.value - from.value) / step,
    delta: (to.delta - from.delta) / step,
    theta: (to.theta - from.theta) / step,
  };
}

/** Returns the central first and second differences about `base`, with `up` and `down` a `step` away. */
export function central(base: Point, [up, down]: readonly [Point, Point], step: number): Curvature {
  return { ...slope(down, up, 2 * step), second: (up.value - 2 * base.value + down.value) / (step * step) };
}

/**
 * Returns the mixed derivative V_σr, from the values with both inputs shifted by the same sign, less the second
 * differences by each input alone. `area` is the product of the two shifts.
 */
export function mixed(
  base: Point,
  v: readonly Point[],
  r: readonly Point[],
  vr: readonly Point[],
  area: number,
): number {
  const sum = (points: readonly Point[]): number => points[0].value + points[1].value;
  return (sum(vr) - sum(v) - sum(r) + 2 * base.value) / (2 * area);
}
