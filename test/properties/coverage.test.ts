/**
 * Error estimates cover the errors of random trades, by references that share no code with the library: some trades of
 * families in which estimates did not. `tools/coverage` does so for all families (docs/accuracy.md).
 */
import { afterAll, describe, expect, it } from "vitest";
import { createCpuDevice } from "../../src/device/cpu/index.ts";
import { FAMILIES } from "../../tools/coverage/families/all.ts";
import { drawCases, multipleOf, priceCases } from "../../tools/coverage/price.ts";
import { FARTHEST, WITHIN } from "../../tools/coverage/report.ts";
import { counted } from "../support/extent.ts";

const TRADES = counted("FEYNKAC_COVERAGE_TRADES", 12, 100);

const device = createCpuDevice({ threads: 1 });
afterAll(() => device[Symbol.dispose]());

const NAMES = [
  "volatility varying in time, European",
  "volatility varying in time, exercise on dates",
  "mean reversion, European and exercise on dates",
  "mean reversion, swings by convolution",
  "Hull and White, callable and puttable bonds",
];

describe.each(NAMES)("%s", (name) => {
  it("has values within their estimates", { timeout: 300_000 }, async () => {
    const family = FAMILIES.find((one) => one.name === name)!;
    const outcomes = await priceCases(device, drawCases(family, { seed: 1, from: 0, to: TRADES }));
    const multiples = outcomes.map(multipleOf);
    expect(Math.max(...multiples)).toBeLessThanOrEqual(FARTHEST);
    // Of few trades one may be beyond.
    expect(multiples.filter((multiple) => multiple > 1).length).toBeLessThanOrEqual(Math.max(1, (1 - WITHIN) * TRADES));
  });
});

it("a put far out of the money under mean reversion is not sent too far by importance sampling", async () => {
  const family = FAMILIES.find(({ name }) => name === NAMES[2])!;
  // Trade 10 was worth 0.0055 ± 0.0105 instead of 2.400.
  const [outcome] = await priceCases(device, drawCases(family, { seed: 1, from: 10, to: 11 }));
  expect(outcome.method).toBe("montecarlo");
  expect(Math.abs(outcome.value / outcome.reference.value - 1)).toBeLessThan(0.01);
});
