/** Correlated normals and the Brownian bridge: covariances by hand and by numbers, on every device. */
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { NotPositiveDefiniteError } from "../../../src/base/errors.ts";
import {
  BrownianBridge,
  bridgePath,
  bridgePlan,
  CorrelatedNormals,
  RandomGenerator,
  randomNumbers,
  randomSpec,
} from "../../../src/numerics/random/index.ts";
import { disposeAll, openTestDevices } from "../../support/devices.ts";

const devices = await openTestDevices();
afterAll(() => disposeAll(devices));
const cpu = devices[0].device!;
const COVARIANCE = [
  [4, 1, -0.5],
  [1, 1, 0.2],
  [-0.5, 0.2, 2],
];

describe("correlated normals", () => {
  test("are L·z of the generator's own numbers, L by hand", async () => {
    const of = { generator: "philox", seed: 8 } as const;
    using normals = await CorrelatedNormals.create(cpu, {
      ...of,
      covariance: [
        [4, 2],
        [2, 5],
      ],
    });
    const found = await normals.generate({ count: 100, offset: 3 });
    const z = await randomNumbers({
      device: cpu,
      ...of,
      distribution: "normal",
      streams: 2,
      order: "interleaved",
      count: 100,
      offset: 3,
    });
    for (let row = 0; row < 100; row++) {
      expect(found[2 * row]).toBe(2 * z[2 * row]); // L = [[2, 0], [1, 2]]
      expect(found[2 * row + 1]).toBe(z[2 * row] + 2 * z[2 * row + 1]);
    }
  });

  test("have their covariance, to four standard errors", async () => {
    const count = 200_000;
    using normals = await CorrelatedNormals.create(cpu, { generator: "xorwow", seed: 8, covariance: COVARIANCE });
    const x = await normals.generate({ count });
    for (let i = 0; i < 3; i++)
      for (let j = 0; j <= i; j++) {
        let sum = 0;
        for (let row = 0; row < count; row++) sum += x[3 * row + i] * x[3 * row + j];
        const error = Math.sqrt((COVARIANCE[i][i] * COVARIANCE[j][j] + COVARIANCE[i][j] ** 2) / count);
        expect(Math.abs(sum / count - COVARIANCE[i][j])).toBeLessThan(4 * error);
      }
  });

  test("an indefinite matrix, one that is not square or not symmetric", async () => {
    const create = (covariance: number[][]): Promise<unknown> =>
      CorrelatedNormals.create(cpu, { generator: "philox", seed: 1, covariance });
    await expect(
      create([
        [1, 2],
        [2, 1],
      ]),
    ).rejects.toThrow(NotPositiveDefiniteError);
    await expect(
      create([
        [1, 0.5],
        [0.4, 1],
      ]),
    ).rejects.toThrow(/covariance\[1\]\[0\]: got 0.4, expected 0.5/);
    await expect(create([[1, 0.5], [0.5]])).rejects.toThrow(/covariance\[1\]: got 1 numbers, expected 2/);
    await expect(create([])).rejects.toThrow(/no rows/);
    expect(cpu.liveBuffers).toBe(0);
  });
});

describe("the Brownian bridge", () => {
  const times = [0.1, 0.25, 0.7, 1, 1.5, 2, 3];

  test("its rows of weights give the covariance min(s, t), exactly but for rounding", () => {
    for (const some of [
      times,
      times.slice(0, 1),
      times.slice(0, 2),
      Array.from({ length: 64 }, (_, i) => (i + 1) / 12),
    ]) {
      const { places, weights } = bridgePlan(some);
      const steps = some.length;
      // Column i of the matrix that makes paths of normals: the path of the i-th unit vector.
      const columns = some.map((_, i) => {
        const normals = new Float64Array(steps);
        normals[i] = 1;
        const path = new Float64Array(steps);
        bridgePath({ bridge: { steps, places, weights }, normals, path, start: 0, stride: 1 });
        return path;
      });
      for (let s = 0; s < steps; s++)
        for (let t = 0; t < steps; t++) {
          const covariance = columns.reduce((sum, column) => sum + column[s] * column[t], 0);
          expect(covariance).toBeCloseTo(Math.min(some[s], some[t]), 13);
        }
      expect(columns[0][steps - 1]).toBe(Math.sqrt(some[steps - 1]));
    }
  });

  test("times that do not increase", async () => {
    expect(() => bridgePlan([])).toThrow(/got none/);
    expect(() => bridgePlan([0, 1])).toThrow(/times\[0\]: got 0/);
    expect(() => bridgePlan([1, 1])).toThrow(/times\[1\]: got 1/);
    for (const none of [Number.NaN, Number.POSITIVE_INFINITY])
      expect(() => bridgePlan([1, none])).toThrow(/times\[1\]/);
    await expect(BrownianBridge.create(cpu, { times, factors: 0 })).rejects.toThrow(/factors: got 0/);
  });
});

describe.each(devices)("$label", ({ device, missing }) => {
  afterEach(() => expect(device?.liveBuffers ?? 0).toBe(0));

  test("correlated rows and bridges of two factors are the CPU's", async (context) => {
    if (device === undefined) return context.skip(missing);
    const precision = device.precisions.includes("f64") ? "f64" : "f32";
    const run = async (on: typeof device): Promise<readonly number[][]> => {
      const of = { generator: "sobol", seed: 5, precision } as const;
      using normals = await CorrelatedNormals.create(on, { ...of, covariance: COVARIANCE });
      const correlated = await normals.generate({ count: 301 });
      const spec = randomSpec({ ...of, distribution: "normal", streams: 8, order: "interleaved" });
      using points = await RandomGenerator.create(on, spec);
      using bridge = await BrownianBridge.create(on, { times: [0.5, 1, 2, 3], factors: 2, precision });
      using numbers = on.createBuffer(precision, 8 * 301);
      using paths = on.createBuffer(precision, 8 * 301);
      points.fill(numbers, { count: 301 });
      bridge.run({ normals: numbers, paths, count: 301 });
      return [Array.from(correlated), Array.from(await on.read(paths))];
    };
    const [found, expected] = [await run(device), await run(cpu)];
    // WGSL may divide to 2.5 ulp and contract.
    const allowed = device.backend === "webgpu" ? 1e-5 : 0;
    found.forEach((list, k) =>
      list.forEach((x, i) => expect(Math.abs(x - expected[k][i])).toBeLessThanOrEqual(allowed)),
    );
  });
});
