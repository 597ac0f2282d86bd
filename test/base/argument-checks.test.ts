/** Checks of arguments at the ends of what is allowed. */
import { expect, test } from "vitest";
import { SpecError } from "../../src/base/errors.ts";
import { checkWholeNumber } from "../../src/base/argument-checks.ts";

test("whole numbers from the least to the greatest are allowed, and no others", () => {
  const isAllowed = (value: number): boolean => {
    try {
      checkWholeNumber("count", value, 1, 4);
      return true;
    } catch (error) {
      expect(error).toBeInstanceOf(SpecError);
      expect((error as Error).message).toBe(`count: got ${value}, expected a whole number from 1 to 4`);
      return false;
    }
  };
  const values = [-1, 0, 0.5, 1, 2, 3.5, 4, 4.5, 5, Number.NaN, Number.POSITIVE_INFINITY];
  expect(values.filter(isAllowed)).toEqual([1, 2, 4]);
});
