/** Uniforms: what their formulas promise at the ends. Normals: moments, χ² and Kolmogorov–Smirnov; tails. */
import { afterAll, describe, expect, test } from "vitest";
import { createCpuDevice } from "../../../src/device/cpu/index.ts";
import { fn, real } from "../../../src/kernel/index.ts";
import {
  boxMuller,
  mrg32k3aUniform,
  mrg32k3aUniform53,
  normal32,
  randomNumbers,
  uniform24,
  uniform32,
  uniform48,
  uniform53,
} from "../../../src/numerics/random/index.ts";

const device = createCpuDevice({ threads: 1 });
afterAll(() => device[Symbol.dispose]());
const ONES = 0xffffffff;
/** Tested by itself, in test/kernel/math.test.ts. */
const normalCdf = fn({ params: [real], body: ([x], gpu) => gpu.normalCdf(x) });
const inverseNormalCdf = fn({ params: [real], body: ([p], gpu) => gpu.inverseNormalCdf(p) });

describe("uniforms", () => {
  test("are never 0 or 1, and symmetric about ½", () => {
    const ends: readonly (readonly [number, number])[] = [
      [uniform24(0), uniform24(ONES)],
      [uniform32(0), uniform32(ONES)],
      [uniform48(0, 0), uniform48(0xffff, ONES)],
      [uniform53(0, 0), uniform53(ONES, ONES)],
      [mrg32k3aUniform(1), mrg32k3aUniform(4294967087)],
    ];
    for (const [low, high] of ends) {
      expect(low).toBeGreaterThan(0);
      expect(high).toBe(1 - low);
      expect(high).toBeLessThan(1);
    }
    expect([uniform24(0), uniform24(ONES)].map(Math.fround)).toEqual([2 ** -24, 1 - 2 ** -24]);
  });

  test("are the numbers of their formulas, in exact arithmetic", () => {
    for (const word of [0, 1, 255, 256, 0x7fffffff, 0x80000000, 0xdeadbeef, ONES]) {
      const other = (word ^ 0x5bd1e995) >>> 0;
      expect(uniform24(word) * 2 ** 24).toBe(2 * Math.floor(word / 512) + 1);
      expect(uniform32(word) * 2 ** 33).toBe(2 * word + 1);
      const k = (BigInt(word >>> 5) << 26n) | BigInt((other >>> 6) | 1);
      expect(uniform53(word, other) * 2 ** 53).toBe(Number(k));
      const half = 2n * ((BigInt(word & 0xffff) << 32n) | BigInt(other)) + 1n;
      expect(uniform48(word & 0xffff, other) * 2 ** 49).toBe(Number(half));
    }
  });

  test("MRG32k3a with 53 bits wraps at 1, and gives 2⁻⁵³ for 0", () => {
    expect(mrg32k3aUniform53(4294967087, 4294967087)).toBeLessThan(1e-7);
    // u₁ + u₂·2⁻²⁴ rounds to 1 exactly for some pair near the wrap; whatever the pair, the result is inside.
    for (let k = 0; k < 2000; k++) {
      const u = mrg32k3aUniform53(4294967087 - (k % 3), 16777216 + k - 1000);
      expect(u > 0 && u < 1).toBe(true);
    }
  });

  test.each(["drand48", "mrg32k3a", "xorwow", "philox", "sobol"] as const)(
    "of %s: mean ½, variance 1/12",
    async (generator) => {
      const count = 400_000;
      for (const precision of ["f64", "f32"] as const) {
        const u = await randomNumbers({ device, generator, seed: 11, precision, count });
        const { mean, variance } = momentsOf(u);
        expect(Math.abs(mean - 0.5)).toBeLessThan(4 * Math.sqrt(1 / 12 / count));
        expect(Math.abs(variance - 1 / 12)).toBeLessThan(4 * Math.sqrt(1 / 180 / count));
        expect(u.every((x) => x > 0 && x < 1)).toBe(true);
      }
    },
  );
});

function momentsOf(x: ArrayLike<number>): Record<"mean" | "variance" | "skewness" | "kurtosis", number> {
  const n = x.length;
  let [mean, second, third, fourth] = [0, 0, 0, 0];
  for (let i = 0; i < n; i++) mean += x[i] / n;
  for (let i = 0; i < n; i++) {
    const d = x[i] - mean;
    second += d ** 2 / n;
    third += d ** 3 / n;
    fourth += d ** 4 / n;
  }
  return { mean, variance: second, skewness: third / second ** 1.5, kurtosis: fourth / second ** 2 };
}

const KINDS = [
  ["drand48", "inverse", "f64"],
  ["mrg32k3a", "inverse", "f64"],
  ["xorwow", "inverse", "f64"],
  ["philox", "inverse", "f64"],
  ["philox", "inverse", "f32"],
  ["mrg32k3a", "inverse", "f32"],
  ["drand48", "box-muller", "f64"],
  ["mrg32k3a", "box-muller", "f64"],
  ["xorwow", "box-muller", "f32"],
  ["philox", "box-muller", "f64"],
] as const;

describe.each(KINDS)("normal numbers of %s by %s in %s", (generator, method, precision) => {
  const count = 200_000;
  const numbers = randomNumbers({ device, generator, method, precision, seed: 3, distribution: "normal", count });

  test("moments, to four standard errors", async () => {
    const { mean, variance, skewness, kurtosis } = momentsOf(await numbers);
    expect(Math.abs(mean)).toBeLessThan(4 / Math.sqrt(count));
    expect(Math.abs(variance - 1)).toBeLessThan(4 * Math.sqrt(2 / count));
    expect(Math.abs(skewness)).toBeLessThan(4 * Math.sqrt(6 / count));
    expect(Math.abs(kurtosis - 3)).toBeLessThan(4 * Math.sqrt(24 / count));
  });

  test("Kolmogorov–Smirnov: √n·D below 1.95, which 0.1 % exceed", async () => {
    const sorted = Float64Array.from(await numbers).sort();
    let distance = 0;
    sorted.forEach((x, i) => {
      const p = normalCdf(x);
      distance = Math.max(distance, p - i / count, (i + 1) / count - p);
    });
    expect(Math.sqrt(count) * distance).toBeLessThan(1.95);
  });

  test("χ² of 100 equal bins, to four standard deviations; neighbours uncorrelated", async () => {
    const x = await numbers;
    const counts = new Float64Array(100);
    for (const one of x) counts[Math.min(99, Math.floor(100 * normalCdf(one)))]++;
    const chi = counts.reduce((sum, one) => sum + (one - count / 100) ** 2 / (count / 100), 0);
    expect(Math.abs(chi - 99)).toBeLessThan(4 * Math.sqrt(2 * 99));
    for (const lag of [1, 2, 3]) {
      let sum = 0;
      for (let i = lag; i < count; i++) sum += x[i] * x[i - lag];
      expect(Math.abs(sum)).toBeLessThan(4 * Math.sqrt(count));
    }
  });
});

test("Box and Muller's pair on its circle", () => {
  for (const [u, v] of [
    [0.1, 0.2],
    [0.9, 0.7],
    [1e-12, 0.5],
  ]) {
    const { a, b } = boxMuller(u, v);
    expect(a ** 2 + b ** 2).toBeCloseTo(-2 * Math.log(u), 12);
    expect(Math.atan2(b, a) / (2 * Math.PI)).toBeCloseTo(v > 0.5 ? v - 1 : v, 12);
  }
});

test("normal numbers of f32 are the quantiles of their words", async () => {
  const settings = { generator: "philox", seed: 3, count: 100_000 } as const;
  const words = await randomNumbers({ device, ...settings, distribution: "bits" });
  const numbers = await randomNumbers({ device, ...settings, distribution: "normal", bits: 32, precision: "f32" });
  const errors = Array.from(words, (word, i) => {
    const exact = inverseNormalCdf((Math.min(word, 2 ** 32 - 1 - word) + 0.5) * 2 ** -32);
    return Math.abs(Math.abs(numbers[i]) + exact) / Math.max(1, -exact);
  });
  // 4.4 units of 2⁻²³ at most, and the rounding of p.
  expect(Math.max(...errors.slice(0, 50_000), ...errors.slice(50_000))).toBeLessThan(6e-7);
  expect(numbers.every((x, i) => (words[i] < 2 ** 31 ? x <= 0 : x >= 0))).toBe(true);
});

test("normal numbers of 32 bits reach ±6.34 and are antisymmetric", () => {
  expect(normal32(0)).toBe(-normal32(ONES));
  expect(normal32(0)).toBeCloseTo(-6.337957, 5); // Φ⁻¹(2⁻³³)
  expect(normal32(0x80000000)).toBe(-normal32(0x7fffffff));
});
