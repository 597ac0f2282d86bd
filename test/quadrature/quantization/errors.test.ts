/** Bad input: an error that names the place, what was expected and what was got. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createCpuDevice } from "../../../src/device/cpu/index.ts";
import { NotPositiveDefiniteError, ShapeError, SpecError } from "../../../src/base/errors.ts";
import { fn } from "../../../src/kernel/index.ts";
import {
  autoregressiveChain,
  binPlan,
  gaussianQuantizer,
  meanRevertingFactors,
  NearestSearch,
  normalQuantizer,
  optimalNormalLine,
  optimalStopping,
  QuantizationTree,
  sampleQuantizer,
  steppedChain,
  stepFunctionParams,
  swingOption,
  wholeSwings,
} from "../../../src/quadrature/quantization/index.ts";

const device = createCpuDevice({ threads: 1 });
const chain = meanRevertingFactors({ times: [0, 1, 2], meanReversion: [0] });
let tree: QuantizationTree;
beforeAll(async () => void (tree = await QuantizationTree.create(device, { chain, size: 3 })));
afterAll(() => {
  tree[Symbol.dispose]();
  expect(device.liveBuffers).toBe(0);
  device[Symbol.dispose]();
});

const nan = fn({
  params: stepFunctionParams,
  body({ state, normals }) {
    state[0] = Math.sqrt(normals[0]);
  },
});

const two = { times: [0, 1], meanReversion: [1, 2] };
const payoff = (): number => 1;

test.each([
  ["size", () => optimalNormalLine(0), SpecError, /optimalNormalLine: size: got 0, expected a whole number from 1/],
  ["dimension", () => normalQuantizer({ size: 5, dimension: 11 }), SpecError, /dimension: got 11, .* to 10/],
  ["misspelt", () => normalQuantizer({ size: 5, dimensions: 2 } as never), SpecError, /dimensions: unknown/],
  ["misspelt tree", () => QuantizationTree.create(device, { chain, sizes: 3 } as never), SpecError, /sizes: unknown/],
  ["no payoff", () => optimalStopping(tree, {} as never), SpecError, /payoff: got nothing, expected a function/],
  ["no payoff of a swing", () => swingOption(tree, { global: [0, 1] } as never), SpecError, /payoff: got nothing/],
  ["misspelt rate", () => optimalStopping(tree, { payoff, rates: 0.1 } as never), SpecError, /rates: unknown/],
  ["no bounds", () => swingOption(tree, { payoff } as never), SpecError, /global: got nothing, expected a list/],
  ["misspelt bounds", () => swingOption(tree, { payoff, golbal: [0, 1] } as never), SpecError, /golbal: unknown/],
  ["samples", () => normalQuantizer({ size: 50, dimension: 3, samples: 3 }), SpecError, /samples: got 3, .* from 50/],
  [
    "rows",
    () => NearestSearch.create(device, { points: Float64Array.of(1, 2, 3), dimension: 2 }),
    ShapeError,
    /rows of 2/,
  ],
  [
    "finite",
    () => NearestSearch.create(device, { points: Float64Array.of(1, NaN), dimension: 2 }),
    SpecError,
    /points\[0, 1\]: got NaN/,
  ],
  ["bins", () => binPlan(new Float64Array(8), 4), SpecError, /got 4, expected 1 to 3.*kd-tree/],
  [
    "method",
    () => NearestSearch.create(device, { points: new Float64Array(2), dimension: 2, method: "x" as never }),
    SpecError,
    /got "x", expected "bins"/,
  ],
  [
    "too few samples",
    () => sampleQuantizer({ device, samples: new Float64Array(2), dimension: 1, size: 3 }),
    SpecError,
    /size: got 3, expected 1 to 2/,
  ],
  [
    "asymmetric",
    () => gaussianQuantizer(optimalNormalLine(2), { covariance: [[1, 2]] }),
    ShapeError,
    /covariance\[0\]: got 2 numbers, expected 1/,
  ],
  [
    "of another dimension",
    () =>
      gaussianQuantizer(optimalNormalLine(2), {
        covariance: [
          [1, 0],
          [0, 1],
        ],
      }),
    ShapeError,
    /expected 1 as the quantizer/,
  ],
  [
    "not a covariance, by little",
    async () =>
      gaussianQuantizer(await normalQuantizer({ size: 4, dimension: 2, samples: 100 }), {
        covariance: [
          [1, 1.005],
          [1.005, 1],
        ],
        root: "symmetric",
      }),
    NotPositiveDefiniteError,
    /positive/,
  ],
  [
    "first time",
    () => meanRevertingFactors({ times: [1, 2], meanReversion: [1] }),
    SpecError,
    /times\[0\]: got 1, expected 0/,
  ],
  [
    "times",
    () => meanRevertingFactors({ times: [0, 2, 2], meanReversion: [1] }),
    SpecError,
    /times\[2\]: got 2, expected more than 2/,
  ],
  ["no times", () => meanRevertingFactors({ times: [0], meanReversion: [1] }), SpecError, /at least one time after/],
  [
    "speed",
    () => meanRevertingFactors({ times: [0, 1], meanReversion: [-1] }),
    SpecError,
    /meanReversion\[0\]: got -1/,
  ],
  [
    "correlation",
    () =>
      meanRevertingFactors({
        ...two,
        correlation: [
          [1, 0.5],
          [0.4, 1],
        ],
      }),
    SpecError,
    /correlation\[1\]\[0\]: got 0.4, expected 0.5/,
  ],
  [
    "correlation of rank one",
    () =>
      meanRevertingFactors({
        ...two,
        correlation: [
          [1, 1],
          [1, 1],
        ],
      }),
    NotPositiveDefiniteError,
    /positive definite/,
  ],
  [
    "matrices",
    () => autoregressiveChain({ times: [0, 1, 2, 3], transitions: [[[1]], [[1]]], noiseCovariances: [[[1]]] }),
    ShapeError,
    /transitions: got 2, expected 1 for all steps or 3/,
  ],
  ["initial", () => steppedChain({ times: [0, 1], initial: [NaN], step: nan }), SpecError, /initial\[0\]: got NaN/],
  [
    "step",
    () => QuantizationTree.create(device, { chain: steppedChain({ times: [0, 1], initial: [0], step: nan }), size: 2 }),
    SpecError,
    /step: got NaN in state\[0\] of path \d+ at layer 1/,
  ],
  ["no size", () => QuantizationTree.create(device, { chain }), SpecError, /got no size/],
  [
    "exact in the plane",
    () => QuantizationTree.create(device, { chain: meanRevertingFactors(two), size: 3, transitions: "exact" }),
    SpecError,
    /"exact" are for .* one dimension; take "paths"/,
  ],
  [
    "layers of a stepped chain",
    () =>
      QuantizationTree.create(device, {
        chain: steppedChain({ times: [0, 1], initial: [0], step: nan }),
        size: 2,
        transitions: "layers",
      }),
    SpecError,
    /need the law of each layer/,
  ],
  [
    "transitions",
    () => QuantizationTree.create(device, { chain, size: 3, transitions: "x" as never }),
    SpecError,
    /got "x"/,
  ],
  [
    "quantizer",
    () => QuantizationTree.create(device, { chain: meanRevertingFactors(two), quantizer: optimalNormalLine(3) }),
    ShapeError,
    /got 1 dimensions, expected 2/,
  ],
  ["paths", () => QuantizationTree.create(device, { chain, size: 3, paths: 0.5 }), SpecError, /paths: got 0.5/],
  ["layer", () => tree.transitions(2), SpecError, /layer: got 2, .* from 0 to 1/],
  ["payoff", () => optimalStopping(tree, { payoff: () => NaN }), SpecError, /payoff at time 0, state \[0\]: got NaN/],
  [
    "payoff at the end",
    () => optimalStopping(tree, { payoff: () => -Infinity }),
    SpecError,
    /last time, point 0: got -Infinity/,
  ],
  [
    "discount factors",
    () => optimalStopping(tree, { payoff, discountFactors: [1, 2] }),
    ShapeError,
    /got 2, expected 3/,
  ],
  [
    "a discount factor",
    () => optimalStopping(tree, { payoff, discountFactors: [1, 0, 1] }),
    SpecError,
    /discountFactors\[1\]: got 0/,
  ],
  ["rate", () => optimalStopping(tree, { payoff, rate: NaN }), SpecError, /rate: got NaN/],
  ["too much", () => swingOption(tree, { payoff, global: [4, 5] }), SpecError, /global: got \[4, 5\].*at most 3/],
  ["bounds crossed", () => swingOption(tree, { payoff, global: [2, 1] }), SpecError, /global: got \[2, 1\]/],
  [
    "local bounds",
    () => swingOption(tree, { payoff, local: [1, 1], global: [0, 1] }),
    SpecError,
    /local: got \[1, 1\]/,
  ],
  [
    "swing payoff",
    () => swingOption(tree, { payoff: () => -Infinity, global: [0, 1] }),
    SpecError,
    /payoff: got -Infinity/,
  ],
] as const)("%s", async (_, run, kind, message) => {
  const failure = await failureOf(run);
  expect(failure).toBeInstanceOf(kind);
  expect((failure as Error).message).toMatch(message);
});

async function failureOf(run: () => unknown): Promise<unknown> {
  try {
    return await run();
  } catch (error) {
    return error;
  }
}

describe("buffers", () => {
  test("too short, of another element, of a search that is disposed", async () => {
    const search = await NearestSearch.create(device, { points: new Float64Array(2), dimension: 2 });
    using queries = device.createBuffer("f64", 4);
    using nearest = device.createBuffer("i32", 2);
    expect(() => search.run({ queries, nearest, count: 3 })).toThrow(/queries: got 4 elements of f64 .* at least 6/);
    expect(() => search.run({ queries: nearest, nearest, count: 1 })).toThrow(/got 2 elements of i32/);
    search[Symbol.dispose]();
    expect(() => search.run({ queries, nearest, count: 1 })).toThrow(/disposed/);
  });
});

test("a swing that asks for more than its dates is an entry's error", async () => {
  const payoffs = new Float64Array(tree.offsets.at(-1)!).fill(1);
  const isDate = Array.from({ length: tree.offsets.length - 1 }, () => true);
  const swings = [2, isDate.length, isDate.length + 1].map((most) => ({ payoff: payoffs, least: 0, most, rate: 0 }));
  const { status, error } = await wholeSwings(tree, swings, isDate);
  expect(status).toEqual(["ok", "ok", "error"]);
  expect(error[2]?.message).toContain(`0 ≤ least ≤ most ≤ ${isDate.length}`);
});
