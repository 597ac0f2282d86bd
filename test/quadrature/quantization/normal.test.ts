/** Quantizers of normal laws: reference values, exact optima, stationarity, limits, samples, images, the cache. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { createCpuDevice } from "../../../src/device/cpu/index.ts";
import {
  gaussianQuantizer,
  normalQuantizer,
  optimalNormalLine,
  quantizedMean,
  type Quantizer,
  sampleQuantizer,
} from "../../../src/quadrature/quantization/index.ts";
import { planeCells, PlaneScratch } from "../../../src/quadrature/quantization/normal/plane-cells.ts";
import { randomGuess } from "../../../src/quadrature/quantization/normal/guess.ts";
import { planeSizes } from "../../../src/quadrature/quantization/normal/plane-ladder.ts";
import { halfGradientOf } from "../../../src/quadrature/quantization/normal/plane.ts";
import { casesOf, distance, normals } from "./support.ts";

const device = createCpuDevice({ threads: 2 });
const cache = mkdtempSync(join(tmpdir(), "feynkac-quantizers-"));
beforeAll(() => void vi.stubEnv("FEYNKAC_CACHE", cache));
afterAll(() => {
  expect(device.liveBuffers).toBe(0);
  device[Symbol.dispose]();
  vi.unstubAllEnvs();
  rmSync(cache, { recursive: true });
});

const radii = (rows: readonly (readonly number[])[]): number[] =>
  rows.map(([x, y]) => Math.hypot(x, y)).sort((a, b) => a - b);
const rowsOf = ({ points, dimension, size }: Quantizer): number[][] =>
  Array.from({ length: size }, (_, i) => [...points.subarray(i * dimension, (i + 1) * dimension)]);

describe("on the line", () => {
  const cases = casesOf("quantization").filter(({ product }) => product === "optimal_quantizer_normal_1d");
  test.each(cases.map((one) => [one.id, one] as const))("%s: points, weights and distortion", (_, one) => {
    const { N } = one.params as unknown as { N: number };
    const { grid, weights, distortion } = one.expected as unknown as {
      grid: number[];
      weights: number[];
      distortion: number;
    };
    const { abs, rel } = one.tolerance;
    const found = optimalNormalLine(N);
    expect(distance(found.points, grid)).toBeLessThanOrEqual(abs);
    expect(distance(found.weights, weights)).toBeLessThanOrEqual(abs);
    expect(Math.abs(found.distortion / distortion - 1)).toBeLessThanOrEqual(rel);
  });

  test("there are such cases", () => expect(cases.length).toBeGreaterThan(5));

  test.each([1, 2, 3, 50, 501, 5000, 20_000])("N = %i: D = 1 − Σ wᵢ·xᵢ², which holds at a stationary point", (N) => {
    const found = optimalNormalLine(N);
    const variance = quantizedMean(found, ([x]) => x * x);
    expect(Math.abs(1 - variance - found.distortion)).toBeLessThan(1e-12);
    expect(Math.abs(found.weights.reduce((sum, w) => sum + w, 0) - 1)).toBeLessThan(1e-13);
  });

  test("N²·D tends to √3·π/2, Zador's limit, from below", () => {
    const [coarse, fine] = [100, 1000].map(
      (N) => (N * N * optimalNormalLine(N).distortion) / ((Math.sqrt(3) * Math.PI) / 2),
    );
    expect(coarse).toBeLessThan(fine);
    expect(fine).toBeLessThan(1);
    expect(1 - fine).toBeLessThan(0.003);
  });
});

describe("in the plane", () => {
  const cases = casesOf("quantization").filter(({ product }) => product === "optimal_quantizer_normal_2d");
  test.each(cases.map((one) => [one.id, one] as const))("%s: distortion and radii", async (_, one) => {
    const { N } = one.params as unknown as { N: number };
    const expected = one.expected as unknown as { distortion: number; radii: number[] };
    const { abs, rel } = one.tolerance;
    const found = await normalQuantizer({ size: N, dimension: 2 });
    expect(Math.abs(found.distortion - expected.distortion)).toBeLessThanOrEqual(abs + rel * expected.distortion);
    expect(
      distance(
        radii(rowsOf(found)),
        expected.radii.toSorted((a, b) => a - b),
      ),
    ).toBeLessThanOrEqual(abs + rel * 2);
  });

  test("there are such cases", () => expect(cases.length).toBe(4));

  test("every shipped size is stationary to rounding, its weights add up to 1, and distortions fall", async () => {
    let before = Infinity;
    for (const size of planeSizes().filter((N) => N <= 100 || N === 500)) {
      const found = await normalQuantizer({ size, dimension: 2 });
      expect(found.size).toBe(size);
      const cells = planeCells(found.points, new PlaneScratch());
      expect(Math.max(...halfGradientOf(found.points, cells).map(Math.abs))).toBeLessThan(1e-12);
      expect(Math.abs(found.weights.reduce((sum, w) => sum + w, 0) - 1)).toBeLessThan(1e-13);
      expect(found.distortion).toBeLessThan(before);
      before = found.distortion;
    }
  });

  // Zador's limit of N·D is 8π·5/(18√3) = 4.0307, with hexagonal cells (Fejes Tóth); it is approached from below.
  test.each([
    [100, 0.95, 0.9585],
    [500, 0.985, 0.991],
  ])("N = %i: N·D is near Zador's limit", async (size, least, most) => {
    const { distortion } = await normalQuantizer({ size, dimension: 2 });
    const share = (size * distortion) / ((8 * Math.PI * 5) / (18 * Math.sqrt(3)));
    expect(share).toBeGreaterThan(least);
    expect(share).toBeLessThan(most);
  });

  test("masses, means and distortion of cells: quadrature along edges against 400,000 samples", () => {
    const points = randomGuess(20, 2, 5, 5);
    const { weights, firstMoments, distortion } = planeCells(points, new PlaneScratch());
    const count = 400_000;
    const samples = normals(2 * count);
    const found = { weights: new Float64Array(20), first: new Float64Array(40), distortion: 0 };
    for (let k = 0; k < count; k++) {
      const [x, y] = samples.subarray(2 * k, 2 * k + 2);
      let [best, least] = [0, Infinity];
      for (let i = 0; i < 20; i++) {
        const squared = (x - points[2 * i]) ** 2 + (y - points[2 * i + 1]) ** 2;
        if (squared < least) [best, least] = [i, squared];
      }
      found.weights[best] += 1 / count;
      found.first[2 * best] += x / count;
      found.first[2 * best + 1] += y / count;
      found.distortion += least / count;
    }
    // Four standard errors of frequencies of up to ¼.
    expect(distance(found.weights, weights)).toBeLessThan(0.002);
    expect(distance(found.first, firstMoments)).toBeLessThan(0.003);
    expect(Math.abs(found.distortion - distortion)).toBeLessThan(0.003);
  });

  test("a size that is not shipped is made, and cached", async () => {
    const found = await normalQuantizer({ size: 105, dimension: 2 });
    const [below, above] = [
      await normalQuantizer({ size: 100, dimension: 2 }),
      await normalQuantizer({ size: 110, dimension: 2 }),
    ];
    expect(found.distortion).toBeLessThan(below.distortion);
    expect(found.distortion).toBeGreaterThan(above.distortion);
    const name = readdirSync(cache).find((file) => file.startsWith("normal-2-105-"))!;
    expect(await normalQuantizer({ size: 105, dimension: 2 })).toEqual(found);
    // What is read is the file, and a damaged one is made again.
    const path = join(cache, name);
    const stored = JSON.parse(readFileSync(path, "utf8")) as { distortion: number };
    writeFileSync(path, JSON.stringify({ ...stored, distortion: 42 }));
    expect((await normalQuantizer({ size: 105, dimension: 2 })).distortion).toBe(42);
    writeFileSync(path, JSON.stringify(stored).slice(0, 100));
    expect((await normalQuantizer({ size: 105, dimension: 2 })).distortion).toBe(found.distortion);
  });
});

describe("in more dimensions", () => {
  // The optimum of N ≤ d + 1 points is that of fewer dimensions in a subspace: 1 − 2/π for two, 0.9257041 − 2 for
  // three.
  test.each([
    [3, 2, 3 - 2 / Math.PI],
    [4, 3, 2.9257041341297065],
  ])("d = %i, N = %i: within two error estimates of the optimum", async (dimension, size, expected) => {
    const found = await normalQuantizer({ size, dimension, device, samples: 2 ** 15 });
    expect(Math.abs(found.distortion - expected)).toBeLessThan(2 * found.errorEstimate);
    expect(found.errorEstimate).toBeLessThan(1.96 * 0.02);
    expect(await normalQuantizer({ size, dimension, device, samples: 2 ** 15 })).toEqual(found);
  });

  test("better than the product of quantizers on the line", async () => {
    const { distortion, errorEstimate } = await normalQuantizer({ size: 27, dimension: 3, device, samples: 2 ** 14 });
    expect(distortion + 2 * errorEstimate).toBeLessThan(3 * optimalNormalLine(3).distortion);
  });

  test("the same points on any number of threads", async () => {
    using other = createCpuDevice({ threads: 3, share: "always" });
    const settings = { size: 5, dimension: 3, samples: 2 ** 12, cache: false };
    const found = await normalQuantizer({ ...settings, device });
    expect(await normalQuantizer({ ...settings, device: other })).toEqual(found);
    expect((await normalQuantizer({ ...settings, device, seed: 2 })).points).not.toEqual(found.points);
  });
});

describe("of samples", () => {
  test("of normal numbers on the line: near the optimum", async () => {
    const found = await sampleQuantizer({ device, samples: normals(50_000), dimension: 1, size: 4, iterations: 200 });
    expect(distance(found.points.toSorted(), optimalNormalLine(4).points)).toBeLessThan(0.03);
    expect(Math.abs(found.distortion - optimalNormalLine(4).distortion)).toBeLessThan(2 * found.errorEstimate);
  });

  test("each point is the mean of its samples, in any unit", async () => {
    for (const unit of [1e-6, 1, 1e6]) {
      const samples = normals(2000).map((x) => unit * (x + 10));
      const { points } = await sampleQuantizer({ device, samples, dimension: 2, size: 8, iterations: 300 });
      const sums = new Float64Array(16);
      const counts = new Float64Array(8);
      for (let k = 0; k < samples.length; k += 2) {
        const of = (i: number): number => (samples[k] - points[2 * i]) ** 2 + (samples[k + 1] - points[2 * i + 1]) ** 2;
        const nearest = Array.from(counts, (_, i) => i).reduce((best, i) => (of(i) < of(best) ? i : best));
        counts[nearest]++;
        sums[2 * nearest] += samples[k];
        sums[2 * nearest + 1] += samples[k + 1];
      }
      expect(
        distance(
          points,
          sums.map((sum, k) => sum / counts[k >> 1]),
        ) / unit,
      ).toBeLessThan(1e-4);
    }
  });

  test("samples that coincide", async () => {
    const found = await sampleQuantizer({ device, samples: new Float64Array(10).fill(3), dimension: 1, size: 2 });
    expect(found.distortion).toBe(0);
    expect(found.weights.reduce((sum, w) => sum + w, 0)).toBe(1);
  });
});

describe("images", () => {
  const covariance = [
    [4, 1.2],
    [1.2, 1],
  ];
  test.each(["cholesky", "symmetric"] as const)("%s root: mean, and covariance less the error's", async (root) => {
    const quantizer = await normalQuantizer({ size: 100, dimension: 2 });
    const image = gaussianQuantizer(quantizer, { mean: [1, -2], covariance, root });
    const mean = [0, 1].map((a) => quantizedMean(image, (x) => x[a]));
    expect(distance(mean, [1, -2])).toBeLessThan(1e-12);
    // E|X − X̂|² = E|X − m|² − E|X̂ − m|² if the quantizer is stationary.
    const variance = quantizedMean(image, ([x, y]) => (x - 1) ** 2 + (y + 2) ** 2);
    expect(Math.abs(5 - variance - image.distortion)).toBeLessThan(1e-12);
  });

  test("a singular covariance has a symmetric root and no Cholesky factor", () => {
    const moments = { covariance: [[0]] };
    expect([...gaussianQuantizer(optimalNormalLine(2), { ...moments, root: "symmetric" }).points]).toEqual([0, 0]);
    expect(() => gaussianQuantizer(optimalNormalLine(2), moments)).toThrow(/positive definite/);
  });
});
