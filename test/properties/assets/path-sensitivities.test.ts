/** Error estimates of sensitivities along paths, out of sample, against quadrature and closed forms. */
import { afterAll, expect, test } from "vitest";
import { createCpuDevice } from "../../../src/device/cpu/index.ts";
import { counted } from "../../support/extent.ts";
import { checkSensitivities, excessOf } from "../../../tools/properties/assets/sensitivities.ts";

const device = createCpuDevice({ threads: 1 });
afterAll(() => device[Symbol.dispose]());

test.for([
  ["paths, averages", 25, 400],
  ["paths, lookbacks", 25, 400],
  ["paths, two assets", 6, 100],
  ["paths, a barrier", 8, 100],
] as const)("%s: estimates hold", async ([only, some, many]) => {
  const count = counted("FEYNKAC_TRADES_ON_PATHS", some, many);
  const checked = await checkSensitivities({ device, count, seed: 4242, only });
  expect(checked.filter((one) => excessOf(one) > 3)).toEqual([]);
  expect(checked.filter((one) => excessOf(one) > 1).length).toBeLessThanOrEqual(0.02 * checked.length);
  // A bound that says nothing would pass, too.
  const sharp = checked.filter(({ exact, estimate }) => estimate !== null && estimate < 0.1 * Math.abs(exact) + 1e-4);
  expect(sharp.length).toBeGreaterThan(0.4 * checked.length);
});
