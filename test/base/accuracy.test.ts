/** The errors that accuracies allow. */
import { expect, test } from "vitest";
import { allowedError } from "../../src/base/accuracy.ts";

test("a part of a result's size, whatever its sign, and at least what is allowed of any", () => {
  for (const size of [-50, 50]) {
    expect(allowedError({ relative: 0.01 }, size)).toBeCloseTo(0.5, 15);
    expect(allowedError({ relative: 0.01, absolute: 0.2 }, size)).toBeCloseTo(0.5, 15);
    expect(allowedError({ relative: 0.01, absolute: 2 }, size)).toBe(2);
    expect(allowedError({ absolute: 2 }, size)).toBe(2);
  }
});
