/** Error estimates of trades on two assets, out of sample. `main.ts` does the same for more of them, and on three. */
import { afterAll, expect, test } from "vitest";
import { createCpuDevice } from "../../../src/device/cpu/index.ts";
import { counted, everything } from "../../support/extent.ts";
import { FAMILIES } from "../../../tools/properties/assets/families.ts";
import { checkFamily, coverageOf, ratioOf } from "../../../tools/properties/assets/price.ts";
import { checkSensitivities, excessOf } from "../../../tools/properties/assets/sensitivities.ts";

const device = createCpuDevice({ threads: 1 });
afterAll(() => device[Symbol.dispose]());

/** Barriers on dates before early exercise converge slowly, and are left to the command. */
const QUICK = ["two assets, European", "two assets, a barrier", "two assets, a barrier each"];

test.for(FAMILIES.filter(({ name }) => QUICK.includes(name)))("$name: estimates hold", async (family) => {
  const checked = await checkFamily(family, { device, count: counted("FEYNKAC_TRADES_OF_ASSETS", 6, 25), seed: 4242 });
  const { covered, failures, n } = coverageOf(checked);
  expect(failures).toBe(0);
  expect(checked.filter((one) => ratioOf(one) > 3)).toEqual([]);
  expect(covered / n).toBeGreaterThanOrEqual(0.96);
});

test("estimates hold with a barrier on many dates", async () => {
  const family = FAMILIES.find(({ name }) => name === "two assets, a barrier on many dates")!;
  const checked = await checkFamily(family, { device, count: 3, seed: 4242 });
  expect(checked.map(({ error, warnings }) => ({ error, warnings }))).toEqual(
    checked.map(() => ({ error: undefined, warnings: [] })),
  );
  expect(checked.filter((one) => ratioOf(one) > 1)).toEqual([]);
});

/** `main.ts` has more of them, and those of early exercise. */
test("error estimates of sensitivities hold, against quadrature and closed forms", async () => {
  const checked = [
    ...(await checkSensitivities({ device, count: everything ? 20 : 10, seed: 4242, only: "Heston" })),
    ...(await checkSensitivities({
      device,
      count: everything ? 6 : 3,
      seed: 4242,
      only: "two assets, European",
    })),
  ];
  const beyond = checked.filter((one) => excessOf(one) > 1);
  expect(checked.filter((one) => excessOf(one) > 3)).toEqual([]);
  expect(beyond.length).toBeLessThanOrEqual(0.03 * checked.length);
  // A bound that says nothing would pass, too.
  const sharp = checked.filter(({ exact, estimate }) => estimate !== null && estimate < 0.1 * Math.abs(exact) + 1e-4);
  expect(sharp.length).toBeGreaterThan(0.7 * checked.length);
});
