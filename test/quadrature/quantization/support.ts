/** Cases of test/fixtures/reference, and numbers that tests draw. */
import { hostNormals } from "../../../src/quadrature/quantization/normal/guess.ts";
import { readFixture } from "../../support/fixtures.ts";

export interface Case {
  readonly id: string;
  readonly product: string;
  readonly params: Record<string, never>;
  readonly expected: Record<string, never>;
  readonly tolerance: { readonly abs: number; readonly rel: number };
}

export const casesOf = (family: string): readonly Case[] =>
  (readFixture(`reference/${family}.json`) as { readonly cases: readonly Case[] }).cases;

/** Standard normal numbers, the same in every run. */
export const normals = (count: number, stream = 1): Float64Array => hostNormals(20261120, stream, count);

/** The largest difference of two lists. */
export const distance = (a: ArrayLike<number>, b: ArrayLike<number>): number =>
  Array.from(a).reduce((most, x, i) => Math.max(most, Math.abs(x - b[i])), a.length === b.length ? 0 : Infinity);

/** From errors of second order in the number of points: sizes n and 2n. */
export const extrapolated = (coarse: number, fine: number): number => (4 * fine - coarse) / 3;
