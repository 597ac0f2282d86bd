/** Transition probabilities: three algorithms, every device, quadrature, chains by a step function. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { Device } from "../../../src/device/device.ts";
import { fn } from "../../../src/kernel/index.ts";
import { seedWords } from "../../../src/numerics/random/index.ts";
import {
  autoregressiveChain,
  meanRevertingFactors,
  normalQuantizer,
  optimalNormalLine,
  QuantizationTree,
  type Quantizer,
  stepFunctionParams,
  steppedChain,
  TransitionCounter,
  type TreeSettings,
} from "../../../src/quadrature/quantization/index.ts";
import { createBufferOf } from "../../../src/device/arguments.ts";
import { gridTransitionCountKernel } from "../../../src/quadrature/quantization/tree/walk-grid.ts";
import { disposeAll, openTestDevices } from "../../support/devices.ts";
import { casesOf, distance } from "./support.ts";

const devices = await openTestDevices();
afterAll(() => disposeAll(devices));
const [{ device: one }] = devices as unknown as [{ readonly device: Device }];

const TIMES = [0, 0.1, 0.3, 0.4, 0.8, 1];
const correlation = [
  [1, -0.4],
  [-0.4, 1],
];
const chain = meanRevertingFactors({ times: TIMES, meanReversion: [0.2, 5], correlation });

let plane: Quantizer;
beforeAll(async () => void (plane = await normalQuantizer({ size: 12, dimension: 2 })));

async function counts(device: Device, settings: TreeSettings): Promise<Uint32Array> {
  using counter = await TransitionCounter.create(device, settings);
  counter.run();
  counter.run(); // which begins from zero again
  return await counter.read();
}

test("the walk with the grid in workgroup memory counts as Algorithm I does", async () => {
  const settings = { chain, quantizer: plane, paths: 333, transitions: "serial", seed: 7 } as const;
  using counter = await TransitionCounter.create(one, settings);
  const { plan } = counter;
  const { dimension, step, searcher, table, sizes, seed } = plan;
  const shape = { dimension, step, size: sizes[1], tableLength: table.length, nearest: searcher.nearestIn(table) };
  using points = createBufferOf(one, "f64", plan.points);
  using parameters = createBufferOf(one, "f64", plan.parameters);
  using initial = createBufferOf(one, "f64", plan.initial);
  using geometry = createBufferOf(one, "f64", plan.geometry);
  using lists = createBufferOf(one, "i32", table);
  const numbers = { points, parameters, initial, geometry, table: lists };
  counter.run();
  const expected = await counter.read();
  for (const sharesTable of [true, false]) {
    using counters = one.createBuffer("u32", expected.length);
    const compiled = await one.compile(gridTransitionCountKernel({ ...shape, sharesTable, groupSize: 64 }), {
      precision: "f64",
    });
    const args = { ...numbers, counters, ...seedWords(seed), firstPath: 0, endPath: 333, layers: sizes.length };
    one.launch(compiled, args, { groups: 6 });
    expect(await one.read(counters)).toEqual(expected);
  }
});

test("a tree remembers as much as the product of its transitions says, and more with more points", async () => {
  const times = Array.from({ length: 13 }, (_, k) => k / 12);
  const year = meanRevertingFactors({ times, meanReversion: [0.2], correlation: [[1]] });
  const memories: number[] = [];
  for (const size of [4, 16, 64]) {
    using tree = await QuantizationTree.create(one, { chain: year, size });
    const points = tree.layer(12);
    let ahead = Float64Array.from(points);
    for (let k = 11; k >= 6; k--) {
      const p = await tree.transitions(k);
      ahead = Float64Array.from(points, (_, i) => ahead.reduce((sum, x, j) => sum + p[i * size + j] * x, 0));
    }
    // E[X₁₂ | X₆] = e^(−0.2/2)·X₆.
    const [over, under] = [...tree.layer(6)].reduce(([a, b], x, i) => [a + x * ahead[i], b + x * x], [0, 0]);
    const memory = await tree.memory();
    expect(memory).toBeCloseTo(over / under / Math.exp(-0.1), 10);
    memories.push(memory);
  }
  // What is lost falls faster than the distance of the points, which is a quarter each time.
  expect(1 - memories[1]).toBeLessThan((1 - memories[0]) / 4);
  expect(1 - memories[2]).toBeLessThan((1 - memories[1]) / 4);
  // A year of days in two factors, with few points.
  const days = meanRevertingFactors({
    times: Array.from({ length: 100 }, (_, k) => k / 365),
    meanReversion: [0.2, 5],
    correlation,
  });
  using tree = await QuantizationTree.create(one, { chain: days, quantizer: plane, paths: 5000 });
  expect(await tree.memory()).toBeLessThan(0.2);
  const step = fn({
    params: stepFunctionParams,
    body({ state, normals }) {
      state[0] = state[0] + normals[0];
    },
  });
  const stepped = steppedChain({ times: [0, 1, 2], initial: [0], step });
  using other = await QuantizationTree.create(one, { chain: stepped, size: 2, paths: 500 });
  await expect(other.memory()).rejects.toThrow(/got a stepped chain, expected an autoregressive one/);
});

describe.each(devices)("$label", ({ device, missing }) => {
  afterEach(() => expect(device?.liveBuffers ?? 0).toBe(0));

  test.skipIf(device === undefined).each(["paths", "layers"] as const)(
    "by %s: every path is counted, the same as on one thread",
    async (transitions) => {
      if (device === undefined) throw new Error(missing);
      const precision = device.precisions.includes("f64") ? "f64" : "f32";
      const settings = { chain, quantizer: plane, paths: 3001, transitions, precision, seed: 7 } as const;
      const found = await counts(device, settings);
      const expected = await counts(one, settings);
      expect(found.reduce((sum, n) => sum + n, 0)).toBe(3001 * 5);
      // WGSL leaves divisions and contractions open: there a path on the border of two cells may be in either.
      const moved = found.reduce((sum, n, k) => sum + Math.abs(n - expected[k]), 0);
      if (device.backend === "webgpu") expect(moved).toBeLessThanOrEqual(4);
      else expect(found).toEqual(expected);
    },
  );
});

describe("one thread", () => {
  test.each([1, 2, 3, 5])("d = %i: Algorithms I and II count the same paths", async (d) => {
    const settings = {
      chain: meanRevertingFactors({ times: TIMES, meanReversion: [0, 1, 2, 3, 4].slice(0, d) }),
      quantizer: d === 1 ? optimalNormalLine(9) : d === 2 ? plane : boxOf(d),
      paths: 1000,
      seed: 3,
    };
    const [serial, paths] = [
      await counts(one, { ...settings, transitions: "serial" }),
      await counts(one, { ...settings, transitions: "paths" }),
    ];
    expect(paths).toEqual(serial);
  });

  test("searches count the same", async () => {
    const settings = { chain, quantizer: plane, paths: 5000 };
    const found = await counts(one, settings);
    expect(await counts(one, { ...settings, search: "kd-tree" })).toEqual(found);
    expect(await counts(one, { ...settings, search: "brute-force" })).toEqual(found);
    expect(await counts(one, { ...settings, seed: 2 })).not.toEqual(found);
  });

  test("QNT-O-12: quadrature is exact, frequencies are within five standard errors", async () => {
    const [reference] = casesOf("quantization").filter(({ product }) => product === "quantization_tree_transition_bm");
    const { transition_probabilities: rows } = reference.expected as unknown as {
      transition_probabilities: number[][];
    };
    const brownian = meanRevertingFactors({ times: [0, 1, 2], meanReversion: [0] });
    const quantizer = optimalNormalLine(5);
    for (const transitions of ["exact", "paths", "layers"] as const) {
      const paths = 200_000;
      using tree = await QuantizationTree.create(one, { chain: brownian, quantizer, transitions, paths });
      const found = await tree.transitions(1);
      rows.flat().forEach((p, k) => {
        const error =
          transitions === "exact"
            ? 1e-14
            : 5 * Math.sqrt((p * (1 - p)) / (paths * quantizer.weights[Math.floor(k / 5)]));
        expect(Math.abs(found[k] - p)).toBeLessThan(error + 1e-15);
      });
    }
  });

  test("QNT-O-13: the matrices of proposition 1", () => {
    const [reference] = casesOf("quantization").filter(({ product }) => product === "two_factor_ar1_representation");
    const { alpha1, alpha2, rho, steps_per_year: n } = reference.params as unknown as Record<string, number>;
    const expected = reference.expected as unknown as {
      A_diag: number[];
      T_lower: number[][];
      noise_covariance: number[][];
      stationary_time1_covariance: number[][];
    };
    const found = meanRevertingFactors({
      times: [0, 1 / n, 1],
      meanReversion: [alpha1, alpha2],
      correlation: [
        [1, rho],
        [rho, 1],
      ],
    });
    const [a] = found.transitions;
    expect(distance([a[0], a[3]], expected.A_diag)).toBeLessThan(1e-15);
    expect(distance(found.noise[0], expected.T_lower.flat())).toBeLessThan(1e-15);
    expect(distance(found.covariances[1], expected.noise_covariance.flat())).toBeLessThan(1e-15);
    expect(distance(found.covariances[2], expected.stationary_time1_covariance.flat())).toBeLessThan(1e-15);
  });

  test("a chain by matrices has the covariances of the factors", () => {
    const diagonal = (a: Float64Array): number[][] => [
      [a[0], 0],
      [0, a[3]],
    ];
    const product = ([a, , c, d]: Float64Array): number[][] => [
      [a * a, a * c],
      [a * c, c * c + d * d],
    ];
    const found = autoregressiveChain({
      times: TIMES,
      transitions: chain.transitions.map(diagonal),
      noiseCovariances: chain.noise.map(product),
    });
    found.covariances.forEach((c, k) => expect(distance(c, chain.covariances[k])).toBeLessThan(1e-14));
    found.noise.forEach((t, k) => expect(distance(t, chain.noise[k])).toBeLessThan(1e-14));
  });

  test("rows add up to 1, quadrature keeps the weights of the cells", async () => {
    const line = optimalNormalLine(40);
    const mean = meanRevertingFactors({ times: [0, 1 / 365, 2 / 365, 0.5], meanReversion: [4] });
    using tree = await QuantizationTree.create(one, { chain: mean, quantizer: line });
    for (const k of [1, 2]) {
      const p = await tree.transitions(k);
      const next = new Float64Array(40);
      for (let i = 0; i < 40; i++) {
        expect(Math.abs(p.subarray(40 * i, 40 * i + 40).reduce((sum, x) => sum + x, 0) - 1)).toBeLessThan(1e-14);
        for (let j = 0; j < 40; j++) next[j] += line.weights[i] * p[40 * i + j];
      }
      expect(distance(next, line.weights)).toBeLessThan(1e-14);
    }
    expect(await tree.transitions(0)).toEqual(line.weights);
    expect(
      distance(
        tree.layer(3),
        line.points.map((x) => x * Math.sqrt(mean.covariances[3][0])),
      ),
    ).toBeLessThan(1e-15);
  });

  test("a step function makes the grids and the probabilities of the chain that it writes out", async () => {
    const step = fn({
      params: stepFunctionParams,
      body({ state, normals, parameters }) {
        state[0] = parameters[0] * state[0] + parameters[1] * normals[0];
      },
    });
    const [a, b] = [0.8, 0.5];
    const stepped = steppedChain({ times: [0, 1, 2, 3], initial: [0], step, parameters: [a, b] });
    using tree = await QuantizationTree.create(one, { chain: stepped, size: 5, paths: 200_000 });
    const same = autoregressiveChain({ times: [0, 1, 2, 3], transitions: [[[a]]], noiseCovariances: [[[b * b]]] });
    using exact = await QuantizationTree.create(one, { chain: same, size: 5 });
    // Grids of 500 samples are some percent off, and points are in no order.
    for (const k of [1, 2, 3]) expect(distance(tree.layer(k).toSorted(), exact.layer(k))).toBeLessThan(0.25);
    for (const k of [1, 2, 3]) {
      let weights: Float64Array = Float64Array.of(1);
      for (let l = 0; l < k; l++) {
        const [from, p] = [weights, await tree.transitions(l)];
        weights = new Float64Array(5).map((_, j) => from.reduce((sum, w, i) => sum + w * p[5 * i + j], 0));
      }
      const variance = tree.layer(k).reduce((sum, x, i) => sum + weights[i] * x * x, 0);
      const reached = exact.layer(k).reduce((sum, x, i) => sum + optimalNormalLine(5).weights[i] * x * x, 0);
      expect(Math.abs(variance / reached - 1)).toBeLessThan(0.1);
    }
  });
});

/** A poor quantizer in d dimensions: the corners of a cube. */
function boxOf(d: number): Quantizer {
  const size = 2 ** d;
  const points = new Float64Array(size * d).map((_, k) => ((Math.floor(k / d) >> (k % d)) & 1 ? 0.8 : -0.8));
  const weights = new Float64Array(size).fill(1 / size);
  return { dimension: d, size, points, weights, distortion: NaN, errorEstimate: 0 };
}
