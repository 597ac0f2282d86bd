/** f64 asked of a device that only emulates it: f32x2, or an error where results have the same bits everywhere. */
import { describe, expect, test } from "vitest";
import type { Precision } from "../../src/kernel/index.ts";
import {
  Cholesky,
  choleskySpec,
  DeviceArray,
  Matmul,
  matmulSpec,
  SparseOperator,
} from "../../src/numerics/linalg/index.ts";
import { csrMatrix } from "../../src/numerics/linalg/index.ts";
import { blackScholes, european, longstaffSchwartz, monteCarlo } from "../../src/montecarlo/index.ts";
import {
  gaussianSwings,
  meanRevertingFactors,
  QuantizationTree,
  sampleQuantizer,
} from "../../src/quadrature/quantization/index.ts";
import { BrownianBridge, CorrelatedNormals, randomNumbers } from "../../src/numerics/random/index.ts";
import { PrecisionError } from "../../src/base/errors.ts";
import { PlainDevice } from "../support/plain-device.ts";

/** A device as WebGPU is: f32, and f32x2 once it has been asked for. */
class Emulating extends PlainDevice {
  override precisions: readonly Precision[] = ["f32"];
  async enableEmulatedDouble(): Promise<void> {
    this.precisions = ["f32", "f32x2"];
  }
}

const one = csrMatrix({ rows: 1, columns: 1, starts: [0, 1], column: [0], values: [2] });

describe("f32x2", () => {
  test.each<[string, (device: Emulating) => Promise<Precision>]>([
    ["an array", async (device) => (await DeviceArray.create(device, [2])).precision],
    ["Cholesky", async (device) => (await Cholesky.create(device, choleskySpec({ size: 2 }))).spec.precision],
    [
      "a product",
      async (device) => (await Matmul.create(device, matmulSpec({ rows: 1, inner: 1, columns: 1 }))).spec.precision,
    ],
    ["a sparse matrix", async (device) => (await SparseOperator.create(device, one)).precision],
  ])("%s", async (_, precisionOn) => {
    expect(await precisionOn(new Emulating())).toBe("f32x2");
  });
});

describe("an error", () => {
  const model = blackScholes({ spot: 100, volatility: 0.2 });
  const paths = { model, product: european({ payoff: "call", strike: 100 }), dates: [1], paths: 256 };
  const chain = meanRevertingFactors({ times: [0, 0.5, 1], meanReversion: [1] });
  const swing = { slopes: [1, 1, 1], fixed: [0, 0, 0], least: 0, most: 1 };
  test.each<[string, (device: Emulating) => Promise<unknown>]>([
    ["random numbers", (device) => randomNumbers({ device, generator: "philox", seed: 1, count: 2 })],
    [
      "correlated numbers",
      (device) => CorrelatedNormals.create(device, { generator: "philox", covariance: [[1]], seed: 1 }),
    ],
    ["a Brownian bridge", (device) => BrownianBridge.create(device, { times: [1] })],
    ["Monte Carlo", (device) => monteCarlo({ device, ...paths })],
    ["regression", (device) => longstaffSchwartz({ device, ...paths, dates: [0.5, 1] })],
    ["a quantizer", (device) => sampleQuantizer({ device, samples: Float64Array.of(0, 1), dimension: 1, size: 1 })],
    ["a tree", (device) => QuantizationTree.create(device, { chain, size: 4 })],
    ["swings", (device) => gaussianSwings({ device, chain, sigma: [1], startsAtOnce: true, spacing: 0.5 }, [swing])],
  ])("%s", async (_, call) => {
    await expect(call(new Emulating())).rejects.toThrow(PrecisionError);
    await expect(call(new Emulating())).rejects.toThrow(/got f64, which .* only emulates.*ask for precision "f32"/);
  });
});
