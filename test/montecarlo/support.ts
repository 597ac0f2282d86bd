/** Cases of test/fixtures/reference, and how close a sampled value has to be. */
import { expect } from "vitest";
import type { Estimates, Sampling } from "../../src/montecarlo/index.ts";
import { readFixture } from "../support/fixtures.ts";

export interface Case {
  readonly id: string;
  readonly product: string;
  // Each family has its own fields.
  readonly params: any;
  readonly expected: { readonly price: number; readonly [name: string]: number };
}

export const casesOf = (family: string): readonly Case[] =>
  (readFixture(`reference/${family}.json`) as { readonly cases: readonly Case[] }).cases;

/** `count` dates, equally far apart, up to `last`. */
export const equalDates = (count: number, last: number): number[] =>
  Array.from({ length: count }, (_, k) => (last * (k + 1)) / count);

/**
 * Within three standard errors, and a bias that is known. The scatter of Sobol' scramblings is Student's, with 31
 * degrees of freedom: there 3.26 have the probability of three.
 */
export function expectWithin(estimate: Estimates & { readonly sampling?: Sampling }, expected: number, bias = 0): void {
  const { value, standardError, sampling } = estimate;
  expect(standardError[0]).toBeGreaterThan(0);
  const excess = Math.max(Math.abs(value[0] - expected) - bias, 0) / standardError[0];
  const most = sampling === "sobol" ? 3.26 : 3;
  expect(excess).toBeLessThan(most);
}
