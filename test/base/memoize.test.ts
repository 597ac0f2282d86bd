import { expect, test } from "vitest";
import { keyOf, memoize } from "../../src/base/memoize.ts";

test("makes a result once for equal arguments, and again for others", () => {
  let made = 0;
  const of = memoize((_what: unknown) => ++made, 8);
  const f = (): number => 1;
  const values = [{ a: 1 }, { a: "1" }, { a: f }, { a: (): number => 1 }, [1], ["a", "b"], ["ab"], -0, 0, undefined];
  expect(values.map((value) => of(value))).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  expect([of([1]), of(-0), of({ a: 1 })]).toEqual([5, 8, 11]); // the first is no longer among the last eight
});

test("keys tell values apart that JSON does not", () => {
  expect(keyOf({ a: f, b: [Number.NaN] })).toBe(keyOf({ a: f, b: [Number.NaN] }));
  expect(keyOf([Number.NaN])).not.toBe(keyOf([null]));
  expect(keyOf(new Float64Array(2))).not.toBe(keyOf(new Float64Array(2)));
  expect(keyOf(["1 number 2\n10 number 3"])).not.toBe(keyOf([2, 3]));
});

const f = (): number => 1;
