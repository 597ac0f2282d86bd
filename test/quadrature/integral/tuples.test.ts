/** Numbers of tuples against a map of their texts. */
import { expect, it } from "vitest";
import { TupleNumbers } from "../../../src/quadrature/integral/tuples.ts";

it("numbers tuples in the order in which they come, equal ones alike, through several sizes of its table", () => {
  const numbers = new TupleNumbers(3);
  const known = new Map<string, number>();
  const values = [0, -0, Number.NaN, 1, -1, 0.1, 1e-300, 1e300, Number.POSITIVE_INFINITY, ...Array(20).keys()];
  for (let i = 0; i < 20_000; i++) {
    const tuple = [i % 7, i % 11, i % 13].map((k) => values[(k * k + i) % values.length]);
    const key = tuple.join();
    expect(numbers.find(tuple)).toBe(known.get(key) ?? -1);
    if (!known.has(key)) known.set(key, known.size);
    expect(numbers.add(tuple)).toBe(known.get(key));
  }
  expect(numbers.size).toBe(known.size);
  expect(known.size).toBeGreaterThan(1000);
});
