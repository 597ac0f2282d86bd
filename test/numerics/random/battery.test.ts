/** Every generator passes the battery, in one stream and across streams; each test of it finds a planted bad one. */
import { afterAll, describe, expect, test } from "vitest";
import { createCpuDevice } from "../../../src/device/cpu/index.ts";
import { randomNumbers, type WordSettings } from "../../../src/numerics/random/index.ts";
import { BATTERY } from "./battery.ts";

const COUNT = 2 ** 19;
const device = createCpuDevice({ threads: 1 });
afterAll(() => device[Symbol.dispose]());

/** |z| of a random sequence beyond this has a probability of 1e-6; seeds are fixed. */
const PASSES = 5;
const FAILS = 10;

const scores = (words: Uint32Array): Record<string, number> =>
  Object.fromEntries(Object.entries(BATTERY).map(([name, run]) => [name, run(words)]));

const words = (settings: object): Promise<Uint32Array> =>
  randomNumbers({ ...({ seed: 2026, distribution: "bits", ...settings } as unknown as WordSettings), device });

describe.each(["drand48", "mrg32k3a", "xorwow", "philox"] as const)("%s", (generator) => {
  test.each([
    ["one stream", { count: COUNT }],
    ["4,096 streams, interleaved", { streams: 4096, order: "interleaved", count: COUNT / 4096 }],
    ["far away", { count: COUNT, offset: 10n ** 12n }],
  ] as const)("%s", async (_, range) => {
    const failed = Object.entries(scores(await words({ generator, ...range }))).filter(
      ([, z]) => !(Math.abs(z) < PASSES),
    );
    expect(failed).toEqual([]);
  });
});

/** Bad generators, and what finds them. */
const PLANTED: Readonly<Record<string, { readonly words: () => Uint32Array | Promise<Uint32Array>; found: string[] }>> =
  {
    "RANDU (its planes in three dimensions)": {
      words: () =>
        recurrence(
          1,
          (x) => Math.imul(x, 65539) & 0x7fffffff,
          (x) => (x << 1) >>> 0,
        ),
      found: ["frequency of low bits", "serial, triples", "matrix rank"],
    },
    "a Weyl sequence": {
      words: () => Uint32Array.from({ length: COUNT }, (_, i) => Math.imul(i, 0x9e3779b9)),
      found: ["serial, pairs", "gap", "birthday spacings"],
    },
    "xorshift32 (linear over GF(2))": {
      words: () =>
        recurrence(2463534242, (word) => {
          let x = word ^ (word << 13);
          x ^= x >>> 17;
          return x ^ (x << 5);
        }),
      found: ["matrix rank"],
    },
    "words that favour one half by two per cent": {
      words: async () => {
        const [u, v] = [
          await words({ generator: "philox", count: COUNT }),
          await words({ generator: "philox", seed: 1, count: COUNT }),
        ];
        return u.map((word, i) => (v[i] < 2 ** 32 / 25 ? word | 0x80000000 : word));
      },
      found: ["frequency"],
    },
    "streams of drand48 that are 2³² apart": {
      words: () =>
        words({ generator: "drand48", blockLength: 2 ** 32, streams: 4096, order: "interleaved", count: COUNT / 4096 }),
      found: ["serial, pairs"],
    },
  };

function recurrence(seed: number, next: (x: number) => number, word = (x: number): number => x): Uint32Array {
  let state = seed;
  return Uint32Array.from({ length: COUNT }, () => word((state = next(state))));
}

describe("planted generators fail", () => {
  test.each(Object.entries(PLANTED))("%s", async (_, { words: make, found }) => {
    const failed = Object.entries(scores(await make())).filter(([, z]) => !(Math.abs(z) < FAILS));
    expect(failed.map(([name]) => name)).toEqual(expect.arrayContaining(found));
  });

  test("every test of the battery finds one", () => {
    const finding = new Set(Object.values(PLANTED).flatMap(({ found }) => found));
    expect(Object.keys(BATTERY).filter((name) => !finding.has(name))).toEqual([]);
  });
});
