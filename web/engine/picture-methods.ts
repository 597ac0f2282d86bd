/** Pictures of the numerical methods themselves. */
import type { Trade } from "../../src/book/index.ts";
import type { Chart } from "../../src/output/charts/index.ts";
import { ratesLessYields, valueAt } from "../../src/market/index.ts";
import { normalQuantizer } from "../../src/quadrature/quantization/index.ts";
import { randomNumbers } from "../../src/numerics/random/index.ts";
import { combinationGrids } from "../../src/pde/sparsegrid/index.ts";
import { timeUnit } from "./pictures.ts";
import type { Pricer } from "./pricer.ts";

const PATHS = 20_000;
const STEPS = 40;
const BINS = 36;

/** Where simulated spots are, over time: 20,000 paths, steps of the logarithm with the volatility of each step. */
export async function pathDensity(trade: Trade, pricer: Pricer): Promise<Chart[]> {
  const { underlying, volatility, expiry } = trade;
  if (volatility.kind !== "deterministic" && volatility.kind !== "heston")
    throw new RangeError("this picture shows volatilities that depend on time alone, and Heston's model");
  const sigma = volatility.kind === "heston" ? Math.sqrt(volatility.theta) : volatility.sigma.values[0];
  const reach = Math.min(Math.max(2.8 * sigma * Math.sqrt(expiry), 0.05), 2);
  const [low, high] = [underlying.spot * Math.exp(-reach), underlying.spot * Math.exp(reach)];
  const spec = { generator: "philox", seed: 1, distribution: "normal", precision: "f32" } as const;
  const normals = await randomNumbers({ device: pricer.device, ...spec, streams: 2 * STEPS, count: PATHS });
  const spots = new Float64Array(PATHS).fill(underlying.spot);
  const variances = new Float64Array(PATHS).fill(volatility.kind === "heston" ? volatility.v0 : 0);
  const counts: number[][] = [];
  const drifts = ratesLessYields(underlying.rates, underlying.dividends);
  const dt = expiry / STEPS;
  for (let step = 0; step < STEPS; step++) {
    const time = (step + 0.5) * dt;
    const drift = valueAt(drifts, time) - underlying.dividends.yield;
    const paid = underlying.dividends.discrete.filter((one) => one.time > step * dt && one.time <= (step + 1) * dt);
    for (let path = 0; path < PATHS; path++) {
      const first = normals[2 * step * PATHS + path];
      const variance = volatility.kind === "heston" ? Math.max(variances[path], 0) : squareAt(volatility.sigma, time);
      spots[path] *= Math.exp((drift - variance / 2) * dt + Math.sqrt(variance * dt) * first);
      for (const { proportional, cash } of paid) spots[path] = Math.max(spots[path] * (1 - proportional) - cash, 0);
      if (volatility.kind !== "heston") continue;
      const { kappa, theta, sigma, rho } = volatility;
      const second = rho * first + Math.sqrt(1 - rho * rho) * normals[(2 * step + 1) * PATHS + path];
      variances[path] += kappa * (theta - variance) * dt + sigma * Math.sqrt(variance * dt) * second;
    }
    counts.push(histogram(spots, low, high));
  }
  return [densityMap(trade, counts, low, high), terminalDensity(trade, counts[STEPS - 1], low, high)];
}

function squareAt(
  sigma: { readonly times: readonly number[]; readonly values: readonly number[] },
  time: number,
): number {
  const at = sigma.times.findIndex((end) => time <= end);
  return sigma.values[at < 0 ? sigma.values.length - 1 : at] ** 2;
}

function histogram(spots: Float64Array, low: number, high: number): number[] {
  const bins = new Array<number>(BINS).fill(0);
  for (const spot of spots) {
    const bin = Math.floor((BINS * (spot - low)) / (high - low));
    if (bin >= 0 && bin < BINS) bins[bin]++;
  }
  return bins.map((count) => (100 * count) / spots.length);
}

const centre = (bin: number, low: number, high: number): number => low + ((bin + 0.5) * (high - low)) / BINS;

function densityMap({ underlying, expiry }: Trade, counts: readonly number[][], low: number, high: number): Chart {
  const { name: time, perYear } = timeUnit(expiry);
  return {
    kind: "contour",
    title: `Density of ${PATHS.toLocaleString("en-US")} simulated paths`,
    x: { label: `${time} from today`, values: counts.map((_, step) => (perYear * (step + 1) * expiry) / STEPS) },
    y: {
      label: `spot of ${underlying.name} (${underlying.currency})`,
      values: Array.from({ length: BINS }, (_, bin) => centre(bin, low, high)),
    },
    values: Array.from({ length: BINS }, (_, bin) => counts.map((row) => row[bin])),
    unit: "% of paths in a cell",
  };
}

function terminalDensity({ underlying }: Trade, last: readonly number[], low: number, high: number): Chart {
  return {
    kind: "plot",
    title: "Where paths end",
    x: { label: `spot of ${underlying.name} at expiry (${underlying.currency})` },
    y: { label: "% of paths" },
    series: [
      { label: "paths", style: "bars", points: last.map((part, bin) => [centre(bin, low, high), part] as const) },
    ],
    marks: [{ x: underlying.spot, label: "today" }],
  };
}

/** The points that stand for a normal law in the plane, with the probability of each one's cell as its size. */
export async function quantizationGrid(): Promise<Chart[]> {
  const size = 300;
  const { points, weights, distortion } = await normalQuantizer({ size, dimension: 2, cache: false });
  return [
    {
      kind: "plot",
      title: `${size} points that stand for two independent normal factors`,
      x: { label: "first factor, standard deviations", domain: [-4, 4] },
      y: { label: "second factor, standard deviations", domain: [-4, 4] },
      series: [
        {
          label: `mean squared distance ${distortion.toPrecision(3)}`,
          style: "dots",
          points: Array.from({ length: size }, (_, i) => [points[2 * i], points[2 * i + 1]] as const),
          weights: [...weights],
        },
      ],
    },
  ];
}

/** The nodes of all grids that a sparse grid combines, beside those of the full grid of the same resolution. */
export async function sparseGridPoints(): Promise<Chart[]> {
  const level = 5;
  const seen = new Map<string, readonly [number, number]>();
  for (const { levels } of combinationGrids({ axes: 2, initialLevel: 1, level })) {
    const [a, b] = levels.map((one) => 2 ** one);
    for (let i = 0; i <= a; i++) for (let j = 0; j <= b; j++) seen.set(`${i / a} ${j / b}`, [i / a, j / b]);
  }
  const full = (2 ** (level + 1) + 1) ** 2;
  return [
    {
      kind: "plot",
      title: `A sparse grid: ${seen.size.toLocaleString("en-US")} points, where the full grid has ${full.toLocaleString("en-US")}`,
      x: { label: "first axis", domain: [-0.02, 1.02] },
      y: { label: "second axis", domain: [-0.02, 1.02] },
      series: [{ label: "points", style: "dots", points: [...seen.values()] }],
    },
  ];
}
