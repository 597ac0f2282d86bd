/** Convertible bonds against the reference cases, through the book. */
import { afterAll, expect, test } from "vitest";
import { parseBook } from "../../../src/book/index.ts";
import { createCpuDevice } from "../../../src/device/cpu/index.ts";
import { priceBook } from "../../../src/pricing/index.ts";
import { bookOf, convertibleCases } from "./reference.ts";

const device = createCpuDevice({ threads: 1 });
afterAll(() => {
  expect(device.liveBuffers).toBe(0);
  device[Symbol.dispose]();
});

test.each(convertibleCases.map((one) => [one.id, one] as const))("%s", async (_, one) => {
  const { results } = await priceBook(parseBook(bookOf(one)), { device });
  const { abs, rel } = one.tolerance;
  results.forEach((result, i) => {
    if (result.status === "error") throw new Error(result.error.message);
    const expected = one.expected.prices[i];
    const error = Math.abs(result.value - expected);
    expect(error, `${one.params.spots[i]}: ${result.value}`).toBeLessThanOrEqual(abs + rel * expected);
    expect(error).toBeLessThanOrEqual(result.errorEstimate + abs);
  });
});
