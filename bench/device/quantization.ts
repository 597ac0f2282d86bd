/**
 * Quantization trees on a GPU, as Pagès and Wilbertz time them: 100,000 paths, 365 days, two factors of a gas price.
 * All figures are of the device's own clock, except those "from command to result".
 *
 * npx tsx bench/device/main.ts device-quantization
 */
import { DiscCounter, type PiGenerator } from "../reproduce/pi.ts";
import { compileExact, type Device, openDevice, createBufferOf } from "../../src/device/index.ts";
import { DeviceUnavailableError } from "../../src/base/errors.ts";
import {
  meanRevertingFactors,
  NearestSearch,
  normalQuantizer,
  QuantizationTree,
  type SearchMethod,
  TransitionCounter,
  type TransitionMethod,
} from "../../src/quadrature/quantization/index.ts";
import { rowRanges } from "../../src/quadrature/quantization/tree/quantization-tree.ts";
import { emptyRows, rowMakerOf } from "../../src/quadrature/quantization/tree/rows.ts";
import {
  LAYER_GROUP_SIZE,
  layersKernel,
  gridTransitionCountKernel,
} from "../../src/quadrature/quantization/tree/walk-grid.ts";
import { transitionCountKernel } from "../../src/quadrature/quantization/tree/walk.ts";
import { RandomGenerator, randomSpec, seedWords } from "../../src/numerics/random/index.ts";
import type { Benchmark, Context } from "../harness.ts";
import { floorOn, H200 } from "./h200.ts";
import { type Stopwatch, stopwatch } from "./stopwatch.ts";

const SIZES = [100, 250, 500] as const;
const DAYS = 365;
type Real = "f64" | "f32";

/** Operations that an H200 can issue a second: 32-bit integers, and floating-point numbers without contraction. */
const ISSUED = { integers: 132 * 64 * 1.755e9, f32: 132 * 128 * 1.755e9, f64: 132 * 64 * 1.755e9 } as const;

/**
 * Operations of a path and step in two dimensions. Integers: half a block of Philox, ten rounds of 2 products of 64
 * bits (2 each) and 4 others. Reals: two normal numbers of 50, the step 12, the bin 10, 7 for each of 4 points.
 */
const STEP = { integers: 40, reals: 150 } as const;

/** What the hardware needs at least for the paths: integers and reals side by side, or the counters' bytes. */
const walkFloor = (steps: number, precision: Real, counters: number): number =>
  Math.max((steps * STEP.integers) / ISSUED.integers, (steps * STEP.reals) / ISSUED[precision], clearFloor(counters)) *
  1e3;

/** A word written for each counter, at the speed of copies, in seconds. */
const clearFloor = (counters: number): number => (4 * counters) / H200.copy;

const chainOf = (days: number) =>
  meanRevertingFactors({
    times: Array.from({ length: days + 1 }, (_, k) => k / DAYS),
    meanReversion: [0.21, 5.4],
    correlation: [
      [1, -0.11],
      [-0.11, 1],
    ],
  });

interface Setting {
  readonly watch: Stopwatch;
  readonly context: Context;
  readonly paths: number;
  readonly days: number;
  readonly repetitions: number;
}

const NAMES = { paths: "Algorithm II", layers: "Algorithm III" } as const;

/** The whole job and its parts. */
async function job(
  { watch, context, paths, days, repetitions }: Setting,
  size: number,
  method: Extract<TransitionMethod, "paths" | "layers">,
  precision: Real,
): Promise<void> {
  const { device, how } = watch;
  const chain = chainOf(days);
  const quantizer = await normalQuantizer({ size, dimension: 2 });
  const settings = { chain, quantizer, paths, transitions: method, precision } as const;
  const start = performance.now();
  using first = await QuantizationTree.create(device, settings);
  const compiling = performance.now() - start;
  const again = performance.now();
  using second = await QuantizationTree.create(device, settings);
  const command = performance.now() - again;
  if (second.rows.slots !== first.rows.slots) throw new Error("device-quantization: two runs have different slots");

  using counter = await TransitionCounter.create(device, settings);
  const { plan, counters } = counter;
  using maker = await rowMakerOf(device, rowRanges(plan), precision);
  const { rows, slots } = first.rows;
  const sparse = emptyRows(device, precision, rows, slots);
  const fill = (): void => maker.fill(counters, sparse.columns, sparse.probabilities);
  const measure = (): void => maker.measure(counters);
  const whole = (): void => {
    counter.run();
    measure();
    fill();
  };
  const words = plan.countersLength;
  const steps = paths * days * (method === "layers" ? 2 : 1);
  const paced = walkFloor(steps, precision, words);
  const read = clearFloor(words) * 1e3;
  const row = (what: string, figure: number, floor: number): void =>
    context.report({
      case: `N = ${size}, ${NAMES[method]}, ${what}`,
      device: device.name,
      precision,
      figure,
      unit: "ms",
      ...floorOn(device, floor),
    });
  row(`the whole job; ${how}`, await watch.milliseconds(whole, repetitions), paced + 3 * read);
  row("of it counters to zero, and paths", await watch.milliseconds(() => counter.run(), repetitions), paced + read);
  row("of it sums and lengths of rows", await watch.milliseconds(measure, repetitions), read);
  row("of it probabilities", await watch.milliseconds(fill, repetitions), read);
  row("from command to result, kernels compiled", command, paced + 3 * read);
  row("from command to result, with compilation", compiling, paced + 3 * read);
  for (const buffer of [sparse.columns, sparse.probabilities]) buffer[Symbol.dispose]();
}

/** The paths alone, by each of several kernels, to see which is the best on this device. */
async function walks({ watch, context, paths, days, repetitions }: Setting, size: number): Promise<void> {
  const { device } = watch;
  const precision = "f32";
  const quantizer = await normalQuantizer({ size, dimension: 2 });
  const settings = { chain: chainOf(days), quantizer, paths, transitions: "paths", precision } as const;
  using counter = await TransitionCounter.create(device, settings);
  const { plan, counters } = counter;
  const { dimension, step, searcher, table, sizes, seed } = plan;
  const numbers = {
    parameters: createBufferOf(device, precision, plan.parameters),
    points: createBufferOf(device, precision, plan.points),
    geometry: createBufferOf(device, precision, plan.geometry),
    initial: createBufferOf(device, precision, plan.initial),
    table: createBufferOf(device, "i32", table),
  };
  const common = { ...numbers, counters, ...seedWords(seed), layers: sizes.length, firstPath: 0 };
  const row = async (what: string, work: () => void, times = 1): Promise<void> =>
    context.report({
      case: `N = ${size}, ${what}`,
      device: device.name,
      precision,
      figure: await watch.milliseconds(work, repetitions),
      unit: "ms",
      ...floorOn(device, walkFloor(times * paths * days, precision, 0)),
    });
  const shared = { dimension, size, tableLength: table.length, step, sharesTable: true } as const;
  for (const groupSize of [128, 256, 512]) {
    const nearest = searcher.nearestIn(table);
    const compiled = await compileExact(
      device,
      gridTransitionCountKernel({ ...shared, nearest, groupSize }),
      precision,
    );
    const launch = (): void =>
      device.launch(compiled, { ...common, endPath: paths }, { groups: Math.ceil(paths / groupSize) });
    await row(`Algorithm II, paths alone, grid in workgroup memory, workgroups of ${groupSize}`, launch);
  }
  const walk = transitionCountKernel({ dimension, step, nearest: searcher.nearest, by: "paths", abreast: 1 });
  const compiled = await compileExact(device, walk, precision);
  using layout = createBufferOf(device, "i32", plan.layout);
  await row("Algorithm II, paths alone, grid in device memory", () =>
    device.launch(compiled, { ...common, layout, rounds: 1 }, { items: paths }),
  );
  const pairs = days;
  const parts = Math.max(1, Math.ceil(device.parallelism / LAYER_GROUP_SIZE / pairs));
  const length = Math.ceil(paths / parts);
  const groups = pairs * Math.ceil(paths / length);
  const { parameters, points, geometry } = numbers;
  const layerArgs = {
    ...seedWords(seed),
    pairs,
    paths,
    length,
    parameters,
    points,
    table: numbers.table,
    geometry,
    counters,
  };
  for (const inWorkgroup of ["counters", "table"] as const) {
    if (inWorkgroup === "counters" && 4 * (size * size + 2 * size) + 64 > device.limits.maxWorkgroupBytes) continue;
    const shape = { ...shared, nearest: searcher.nearestIn(table), sharesTable: inWorkgroup === "table" };
    const byLayers = layersKernel({ ...shape, sharesCounters: inWorkgroup === "counters" });
    const compiledLayers = await compileExact(device, byLayers, precision);
    await row(
      `Algorithm III, paths alone, grid and ${inWorkgroup} in workgroup memory`,
      () => device.launch(compiledLayers, layerArgs, { groups }),
      2,
    );
  }
  for (const buffer of Object.values(numbers)) buffer[Symbol.dispose]();
}

/** Their Table 3: nearest neighbours of normal points in the plane. */
async function neighbours({ watch, context, paths, days, repetitions }: Setting, precision: Real): Promise<void> {
  const { device } = watch;
  const count = paths * days;
  const spec = { generator: "philox", seed: 1, distribution: "normal", bits: 32, precision } as const;
  using queries = device.createBuffer(precision, 2 * count);
  using nearest = device.createBuffer("i32", count);
  using random = await RandomGenerator.create(device, randomSpec(spec));
  random.fill(queries, { count: 2 * count });
  const bytes = count * (precision === "f32" ? 12 : 20);
  for (const size of SIZES) {
    const { points } = await normalQuantizer({ size, dimension: 2 });
    for (const method of ["bins", "kd-tree", "brute-force"] as const satisfies readonly SearchMethod[]) {
      using search = await NearestSearch.create(device, { points, dimension: 2, method, precision });
      const work = (): void => search.run({ queries, nearest, count });
      // 7 operations a point by brute force, and 28 for 4 points of a bin.
      const operations = count * (method === "brute-force" ? 7 * size : 28);
      context.report({
        case: `Table 3, N = ${size}, ${count.toLocaleString("en-US")} neighbours, ${method}`,
        device: device.name,
        precision,
        figure: await watch.milliseconds(work, Math.min(repetitions, 5)),
        unit: "ms",
        ...floorOn(device, 1e3 * Math.max(bytes / H200.copy, operations / ISSUED[precision])),
      });
    }
  }
}

/** Instructions of a number, with its conversion, of which each cycle issues 128; see `insideDisc`. */
const PI_OPERATIONS: Readonly<Record<PiGenerator, number>> = { drand48: 14, xorwow: 12, mrg32k3a: 34 };

/** Their Table 2: π from 10⁹ points. */
async function pi({ watch, context, repetitions }: Setting): Promise<void> {
  const { device } = watch;
  const points = context.quick ? 2 ** 20 : 1e9;
  for (const generator of ["drand48", "xorwow", "mrg32k3a"] as const) {
    using counter = await DiscCounter.create(device, generator, points);
    const estimate = (4 * (await counter.inside(0, new AbortController().signal))) / points;
    // Five standard deviations, √(π·(4 − π)/points) each.
    if (!(Math.abs(estimate - Math.PI) < 5 * Math.sqrt((Math.PI * (4 - Math.PI)) / points)))
      throw new Error(`device-quantization: π by ${generator}: ${estimate}`);
    context.report({
      case: `Table 2, π from ${points.toLocaleString("en-US")} points, ${generator}`,
      device: device.name,
      precision: "f32",
      figure: await watch.milliseconds(() => counter.launch(0, 0, counter.items), Math.min(repetitions, 7)),
      unit: "ms",
      error: Math.abs(estimate - Math.PI),
      ...floorOn(device, (2e3 * points * PI_OPERATIONS[generator]) / ISSUED.f32),
    });
  }
}

async function onDevice(device: Device, context: Context): Promise<void> {
  const { quick } = context;
  const setting: Setting = {
    watch: stopwatch(device),
    context,
    paths: quick ? 512 : 100_000,
    days: quick ? 10 : DAYS,
    repetitions: quick ? 1 : 11,
  };
  const sizes = quick ? [100] : SIZES;
  for (const size of sizes) await job(setting, size, "paths", "f32");
  await pi(setting);
  // Through WebGPU each figure takes longer to measure.
  if (device.backend === "webgpu") return;
  for (const size of sizes) await job(setting, size, "layers", "f32");
  await walks(setting, 100);
  await neighbours(setting, "f32");
  if (!device.precisions.includes("f64")) return;
  for (const size of quick ? [100] : [100, 500]) await job(setting, size, "paths", "f64");
}

const runOn =
  (backend: "cuda" | "webgpu") =>
  async (context: Context): Promise<void> => {
    context.note(
      `floors of the paths: ${STEP.integers} integer and ${STEP.reals} real operations a path and day (twice for ` +
        `Algorithm III), side by side; of counters: 4 bytes each at ${H200.copy / 1e12} TB/s, once to clear and twice ` +
        "to read",
    );
    try {
      using device = await openDevice({ backend });
      await onDevice(device, context);
    } catch (error) {
      if (!(error instanceof DeviceUnavailableError)) throw error;
      context.note(`${backend}: ${error.message}`);
    }
  };

const WHAT = "random numbers, nearest neighbours, counts, probabilities, and π";

export const benchmark: Benchmark = {
  name: "device-quantization",
  description: `quantization trees through CUDA: ${WHAT}`,
  run: runOn("cuda"),
};

/** By itself, as each figure takes a second at least. */
export const webgpuBenchmark: Benchmark = {
  name: "device-quantization-webgpu",
  description: `quantization trees through WebGPU: ${WHAT}`,
  run: runOn("webgpu"),
};
