/** Binary searches against searches from one end to the other. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { cellAt, firstIndex, firstNotBefore } from "../../src/base/search.ts";

const ascending = fc
  .array(fc.integer({ min: -8, max: 8 }), { minLength: 2, maxLength: 12 })
  .map((values) => values.toSorted((a, b) => a - b));
const place = fc.integer({ min: -20, max: 20 }).map((n) => n / 2);

test("finds the first value that is not before a place, and the cell of the place", () => {
  fc.assert(
    fc.property(ascending, place, (values, x) => {
      const first = values.findIndex((value) => value >= x);
      expect(firstNotBefore(values, x)).toBe(first < 0 ? values.length : first);
      const cell = values.slice(0, -1).findLastIndex((value) => value <= x);
      expect(cellAt(values, x)).toBe(Math.max(cell, 0));
    }),
  );
});

test("looks between the given indices only", () => {
  fc.assert(
    fc.property(fc.nat(20), fc.nat(20), fc.nat(60), (low, length, from) => {
      const high = low + length;
      const asked = (i: number): boolean => {
        expect(i >= low && i < high).toBe(true);
        return i >= from;
      };
      expect(firstIndex(low, high, asked)).toBe(Math.min(Math.max(from, low), high));
    }),
  );
});
