/** f32x2 on WebGPU: uniforms are f64's, bit for bit; quotients and normal numbers to its accuracy. */
import { afterAll, describe, expect, test } from "vitest";
import { type GeneratorName, randomNumbers } from "../../../src/numerics/random/index.ts";
import { disposeAll, openTestDevices } from "../../support/devices.ts";
import { dealt } from "../../support/extent.ts";

const devices = await openTestDevices({ emulatedDouble: true });
afterAll(() => disposeAll(devices));
const cpu = devices[0].device!;
const { device, missing } = devices.find(({ label }) => label === "webgpu")!;

const RANGE = { seed: 20261120, streams: 2, count: 301, offset: 3 } as const;
const NAMES: readonly GeneratorName[] = ["drand48", "mrg32k3a", "xorwow", "philox", "sobol"];

/** The functions are good to 2⁻⁴⁵, which the tails' √(−ln p) takes over. */
const ALLOWED = 2 ** -42;
/** A quotient is good to 15·2⁻⁴⁸, which the quantile of x divides by the density there: an upper tail is 1 − p. */
const fromQuotient = (x: number): number => (15 * 2 ** -48 * Math.sqrt(2 * Math.PI)) / Math.exp(-0.5 * x * x);

/** Of each generator one of the three in `npm test`: quotients are those of MRG32k3a. */
const KINDS = [
  ["uniform", 32],
  ["uniform", 24],
  ["normal", 32],
] as const;

describe.each(NAMES)("%s", (generator) => {
  test.each(dealt(KINDS, NAMES.indexOf(generator) + 2, 3))("%s of %i bits", async (distribution, bits) => {
    if (device === undefined) return expect(missing).not.toBe("");
    const of = { generator, distribution, bits, ...RANGE } as const;
    const found = await randomNumbers({ device, ...of, precision: "f32x2" });
    const expected = await randomNumbers({ ...of, device: cpu });
    const exact = distribution === "uniform" && (generator !== "mrg32k3a" || bits === 24);
    const isQuotient = generator === "mrg32k3a" && bits === 32;
    found.forEach((x, i) => {
      const ofNumber = ALLOWED * Math.max(1, Math.abs(x));
      const inherited = isQuotient && distribution === "normal" ? fromQuotient(x) : 0;
      expect(Math.abs(x - expected[i])).toBeLessThanOrEqual(exact ? 0 : ofNumber + inherited);
    });
  });
});
