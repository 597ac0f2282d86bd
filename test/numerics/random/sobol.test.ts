/** Sobol' points against scipy's in all dimensions; what scrambling keeps, and what it makes uniform. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createCpuDevice } from "../../../src/device/cpu/index.ts";
import { owenScramble, randomNumbers, sobolNext, sobolStart, sobolTable } from "../../../src/numerics/random/index.ts";
import { readFixture } from "../../support/fixtures.ts";

interface Fixture {
  readonly dimensions: readonly number[];
  readonly points: readonly { readonly index: number; readonly digest: number; readonly words: readonly number[] }[];
}
const fixture = readFixture("random/sobol.json") as Fixture;

const device = createCpuDevice({ threads: 1 });
afterAll(() => device[Symbol.dispose]());

describe("in 21,201 dimensions", () => {
  let table: Uint32Array = new Uint32Array();
  beforeAll(async () => void (table = await sobolTable({ dimensions: 21_201 })));

  test.each(fixture.points)("point $index is scipy's", ({ index, digest, words }) => {
    table[0] = index;
    const found = Array.from({ length: 21_201 }, (_, d) => sobolStart({ table, stream: d, part: 0 }).word);
    expect(fixture.dimensions.map((d) => found[d])).toEqual(words);
    expect(found.reduce((sum, word) => (Math.imul(sum, 31) + word) >>> 0, 0)).toBe(digest);
  });

  test("stepping is starting later, up to the last index", () => {
    for (const d of [0, 1, 500, 21_200])
      for (const first of [0, 1022, 2 ** 32 - 3]) {
        table[0] = first;
        table[1] = 1;
        let state = sobolStart({ table, stream: d, part: 0 });
        for (let part = 1; part < 3; part++) {
          state = sobolNext({ state, table });
          expect(state).toEqual(sobolStart({ table, stream: d, part }));
        }
      }
  });
});

test.each([1, 2, 3])(
  "the first 2¹⁰ points have one in each of 2¹⁰ slices of every dimension, scrambled (%i) or not",
  async (seed) => {
    for (const scramble of ["none", "owen"] as const) {
      const [streams, count] = [50, 1024];
      const u = await randomNumbers({ device, generator: "sobol", scramble, seed, streams, count });
      for (let d = 0; d < streams; d++) {
        const slices = new Set(Array.from(u.subarray(d * count, (d + 1) * count), (x) => Math.floor(x * count)));
        expect(slices.size).toBe(count);
      }
    }
  },
);

test("scrambled points remain a (0, 10, 2)-net in the first two dimensions", async () => {
  const count = 1024;
  const u = await randomNumbers({ device, generator: "sobol", seed: 12, streams: 2, count });
  for (let bits = 0; bits <= 10; bits++) {
    const [across, along] = [2 ** bits, 2 ** (10 - bits)];
    const boxes = new Set(
      Array.from({ length: count }, (_, i) => Math.floor(u[i] * across) * along + Math.floor(u[count + i] * along)),
    );
    expect(boxes.size).toBe(count);
  }
});

describe("Owen's scrambling", () => {
  const words = Array.from({ length: 500 }, (_, i) => Math.imul(i + 1, 0x9e3779b1) >>> 0);

  test("keeps how many leading bits two words share", () => {
    for (const seed of [0, 1, 0xdeadbeef, 0xffffffff])
      for (let i = 1; i < words.length; i++) {
        const before = Math.clz32(words[i] ^ words[i - 1]);
        expect(Math.clz32(owenScramble(words[i], seed) ^ owenScramble(words[i - 1], seed))).toBe(before);
      }
  });

  test("flips each bit for half of the seeds, whatever the word: 20,000 seeds, five standard deviations", () => {
    const seeds = Array.from({ length: 20_000 }, (_, i) => Math.imul(i + 1, 0x85ebca6b) ^ 0x1234567);
    for (const word of [0, 0xffffffff, 0x12345678, 0x80000000]) {
      const counts = new Float64Array(32);
      for (const seed of seeds) {
        const flips = owenScramble(word, seed >>> 0) ^ word;
        for (let bit = 0; bit < 32; bit++) counts[bit] += (flips >>> bit) & 1;
      }
      for (const one of counts) expect(Math.abs(one - 10_000)).toBeLessThan(5 * Math.sqrt(5000));
    }
  });

  test("makes the error of a smooth integral fall faster than N⁻¹, where random points reach N^(−½)", async () => {
    // ∫ Π (1 + (x − ½)/(d + 1)) = 1 over four dimensions, root mean square over 64 seeds.
    const errorOf = async (generator: "sobol" | "philox", count: number): Promise<number> => {
      let sum = 0;
      for (let seed = 0; seed < 64; seed++) {
        const u = await randomNumbers({ device, generator, seed, streams: 4, count, order: "interleaved" });
        let mean = 0;
        for (let i = 0; i < count; i++) {
          let product = 1;
          for (let d = 0; d < 4; d++) product *= 1 + (u[4 * i + d] - 0.5) / (d + 1);
          mean += product / count;
        }
        sum += (mean - 1) ** 2 / 64;
      }
      return Math.sqrt(sum);
    };
    const order = async (generator: "sobol" | "philox"): Promise<number> =>
      Math.log2((await errorOf(generator, 64)) / (await errorOf(generator, 1024))) / 4;
    expect(await order("sobol")).toBeGreaterThan(1.2);
    expect(await order("philox")).toBeLessThan(0.7);
  });
});
