/** What is refused, where, and what to do instead. */
import { afterAll, expect, test } from "vitest";
import { createCpuDevice } from "../../../src/device/cpu/index.ts";
import { DisposedError, PrecisionError, ShapeError, SpecError } from "../../../src/base/errors.ts";
import {
  RandomGenerator,
  randomNumbers,
  randomSpec,
  skipAhead,
  sobolTable,
  streamTable,
} from "../../../src/numerics/random/index.ts";

const device = createCpuDevice({ threads: 1 });
afterAll(() => device[Symbol.dispose]());

const REFUSED: readonly (readonly [settings: Record<string, unknown>, message: RegExp])[] = [
  [{ generator: "mersenne" }, /generator: got "mersenne", expected "drand48", /],
  [{ seed: -1 }, /seed: got -1, expected a whole number from 0 to 2⁵³/],
  [{ seed: 1.5 }, /seed: got 1.5, expected a whole number from 0 to 2⁵³ \(a bigint may be larger\)/],
  [{ seed: 2 ** 60 }, /seed: got 1152921504606847000, expected/],
  [{ seed: 2n ** 64n }, /seed: got 18446744073709551616n/],
  [{ seed: undefined }, /seed: got none/],
  [{ generator: "drand48", seed: 2 ** 32 }, /expected a whole number from 0 to 4294967295/],
  [{ generator: "mrg32k3a", seed: [0, 0, 0, 1, 1, 1] }, /a state of zeros/],
  [{ generator: "mrg32k3a", seed: [1, 1, 4294967087, 1, 1, 1] }, /seed\[2\]: got 4294967087, expected .* 4294967086/],
  [{ generator: "xorwow", seed: [0, 0, 0, 0, 0, 7] }, /a state of zeros/],
  [{ generator: "xorwow", seed: [1, 2, 3] }, /got 3 words, expected the 6/],
  [{ distribution: "uniformly" }, /distribution: got "uniformly"/],
  [{ bits: 16 }, /bits: got 16, expected 24, 32 or 53/],
  [{ bits: 24, distribution: "bits" }, /whose words have 32; leave it out/],
  [{ bits: 32, precision: "f32" }, /would round to 1; ask for 24/],
  [{ bits: 53, precision: "f32x2" }, /cannot hold them; ask for 32/],
  [{ generator: "sobol", bits: 53 }, /whose coordinates have 32/],
  [{ generator: "sobol", distribution: "normal", method: "box-muller" }, /use method "inverse"/],
  [{ generator: "sobol", blockLength: 7 }, /leave it out/],
  [
    { generator: "sobol", streams: 21_202 },
    /streams \(dimensions\): got 21202, expected a whole number from 1 to 21,201/,
  ],
  [{ generator: "sobol", streams: 2, firstStream: 21_200 }, /firstStream: got 21200 with 2 dimensions/],
  [{ streams: 0 }, /streams \(streams\): got 0/],
  [{ blockLength: 0 }, /blockLength: got 0/],
  [{ blockLength: 6 }, /a multiple of its 4 words/],
  [{ order: "sorted" }, /order: got "sorted"/],
];

test.each(REFUSED)("%o", (settings, message) => {
  const make = (): unknown => randomSpec({ generator: "philox", seed: 1, ...settings } as never);
  expect(make).toThrow(SpecError);
  expect(make).toThrow(message);
});

test.each([
  { generator: "sobol", streams: 21_201 },
  { generator: "sobol", streams: 2, firstStream: 21_199 },
  { streams: 2 ** 31 },
  { streams: 5, firstStream: 2 ** 31 - 5 },
  { generator: "mrg32k3a", seed: [4294967086, 1, 1, 4294944442, 1, 1] },
  { generator: "drand48", seed: 2 ** 32 - 1 },
])("the last that is allowed: %o", (settings) => {
  expect(() => randomSpec({ generator: "philox", seed: 1, ...settings } as never)).not.toThrow();
});

test.each([
  [{ count: -1 }, /count: got -1/],
  [{ count: 1.5 }, /count: got 1.5/],
  [{ count: 2 ** 31 }, /at most 2³⁰ in a call; make the rest with an offset/],
  [{ count: 1, offset: -1 }, /offset: got -1/],
  [{ count: 1, offset: 2 ** 54 }, /offset: got 18014398509481984, expected a whole number from 0 to 2⁵³/],
] as const)("range %o", async (range, message) => {
  await expect(randomNumbers({ device, generator: "xorwow", seed: 1, ...range })).rejects.toThrow(message);
  expect(device.liveBuffers).toBe(0);
});

test("beyond Sobol's last point, and up to it", async () => {
  const of = { generator: "sobol", seed: 1, offset: 2 ** 32 - 3 } as const;
  await expect(randomNumbers({ device, ...of, count: 4 })).rejects.toThrow(/beyond the 2³² points/);
  expect((await randomNumbers({ device, ...of, count: 3 })).length).toBe(3);
});

test("buffers of another type or too short; a disposed generator; a precision that is not there", async () => {
  using generator = await RandomGenerator.create(device, randomSpec({ generator: "philox", seed: 1, streams: 2 }));
  using singles = device.createBuffer("f32", 10);
  using few = device.createBuffer("f64", 9);
  expect(() => generator.fill(singles, { count: 5 })).toThrow(ShapeError);
  expect(() => generator.fill(few, { count: 5 })).toThrow(/at least 10 \(streams × count\)/);
  generator[Symbol.dispose]();
  expect(() => generator.fill(few, { count: 1 })).toThrow(DisposedError);
  const pairs = randomSpec({ generator: "philox", seed: 1, precision: "f32x2" });
  await expect(RandomGenerator.create(device, pairs)).rejects.toThrow(PrecisionError);
});

test("tables and jumps", async () => {
  await expect(sobolTable({ dimensions: 0 })).rejects.toThrow(/dimensions: got 0/);
  await expect(sobolTable({ dimensions: 1, offset: 2 ** 32 })).rejects.toThrow(/offset/);
  await expect(sobolTable({ dimensions: 1, seed: -1 })).rejects.toThrow(/seed: got -1/);
  expect(() => skipAhead("drand48", [1, 2], 1.5)).toThrow(/steps: got 1.5/);
  expect(() => skipAhead("drand48", [1, 2 ** 16], 1)).toThrow(/seed\[1\]: got 65536/);
  expect(() => streamTable({ generator: "sobol" as never, seed: 1 })).toThrow(/streamTable: .* sobolTable/);
  expect(() => skipAhead("sobol" as never, [1, 2], 1)).toThrow(/skipAhead: .* sobolTable/);
});

test("no numbers", async () => {
  for (const generator of ["philox", "sobol"] as const)
    expect(await randomNumbers({ device, generator, seed: 1, count: 0 })).toEqual(new Float64Array());
});
