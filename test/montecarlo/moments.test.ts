/** Moments of groups of samples, merged, against those of all samples at once. */
import { expect, test } from "vitest";
import { Moments } from "../../src/montecarlo/moments.ts";
import { random } from "../service/runs/killed.ts";

const sum = (values: readonly number[]): number => values.reduce((total, one) => total + one, 0);
const mean = (values: readonly number[]): number => sum(values) / values.length;
const products = (a: readonly number[], b: readonly number[]): number =>
  sum(a.map((x, i) => (x - mean(a)) * (b[i] - mean(b))));

test("merged groups of any sizes have the moments of all their samples", () => {
  const next = random(11);
  const moments = new Moments(1, 1, 5);
  const [ys, xs]: [number[], number[]] = [[], []];
  for (const count of [3, 1, 20, 7]) {
    const y = Array.from({ length: count }, () => 5 + next() + ys.length / 10);
    const x = y.map((value) => 0.3 * value + 2 * next() - ys.length / 20);
    moments.merge([mean(y), products(y, y), mean(x), products(x, x), products(x, y)], 0, 1, count);
    ys.push(...y);
    xs.push(...x);
    const expected = [mean(ys), products(ys, ys), mean(xs), products(xs, xs), products(xs, ys)];
    expect([...moments.counts]).toEqual([ys.length]);
    expected.forEach((value, k) => expect(moments.values[k]).toBeCloseTo(value, 10));
  }
});
