/** Published and recomputed prices in two and three factors, through the book at the default accuracy. */
import { afterAll, expect, test } from "vitest";
import { priceBook, readBook } from "../../../src/index.ts";
import { createCpuDevice } from "../../../src/device/cpu/index.ts";
import { referenceTrades } from "./reference.ts";
import { dealt, everything } from "../../support/extent.ts";

const device = createCpuDevice({ threads: 2 });
afterAll(() => {
  expect(device.liveBuffers).toBe(0);
  device[Symbol.dispose]();
});

/** Of three axes, which take seconds: one of each kind. */
const ON_THREE_AXES = ["HYB-O-04", "MUL-O-15", "MUL-O-19"];

/**
 * Feller's condition is violated by far (2κθ/σ² = 0.08) for ten years: V is singular at v = 0, and converges slowly.
 * Its method by default is the Fourier integral.
 */
const SINGULAR = ["HES-O-07/0"];

/** A correlation of 0.999 takes ten seconds. */
const SLOW = "MUL-O-14";

const cases = referenceTrades().filter(({ id, axes }) => (axes === 2 ? id !== SLOW : ON_THREE_AXES.includes(id)));

/** By case: the error beside its estimate, relative to spot. */
const covered: boolean[] = [];

// `solve` has the others, in test/pde/fdm/axes/references.
test.for(dealt(cases, 0, 2))("$id by finite differences", async ({ id, book, expected, spot, uncertainty }) => {
  const { results } = await priceBook(readBook(book), { device, method: "adi", greeks: "none" });
  const [result] = results;
  if (result.status === "error") throw new Error(result.error.message);
  const error = Math.abs(result.value - expected);
  covered.push(error <= result.errorEstimate + uncertainty);
  expect(result.method).toBe("adi");
  expect(error / spot).toBeLessThan((SINGULAR.includes(id) ? 2e-4 : 1e-4) + uncertainty / spot);
});

test("error estimates hold for nine cases of ten", () => {
  expect(covered.length).toBeGreaterThan(everything ? 45 : 22);
  expect(covered.filter(Boolean).length / covered.length).toBeGreaterThan(0.9);
});

test.for(cases.filter(({ id, book }) => /HES-O-0[1-7]/.test(id) && book.trades.length === 1))(
  "$id by its closed form",
  async ({ book, expected, spot }) => {
    const { results } = await priceBook(readBook(book), { device });
    const [result] = results;
    if (result.status === "error") throw new Error(result.error.message);
    expect(result.method).toBe("heston");
    expect(Math.abs(result.value - expected)).toBeLessThan(1e-11 * spot);
    expect(Math.abs(result.value - expected)).toBeLessThan(result.errorEstimate + 1e-13);
  },
);
