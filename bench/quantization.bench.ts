import { type CpuDevice, createCpuDevice } from "../src/device/cpu/index.ts";
import {
  meanRevertingFactors,
  NearestSearch,
  normalQuantizer,
  QuantizationTree,
  type SearchMethod,
  swingOption,
  TransitionCounter,
  type TransitionMethod,
} from "../src/quadrature/quantization/index.ts";
import { RandomGenerator, randomSpec } from "../src/numerics/random/index.ts";
import { type Benchmark, type Context, medianSeconds } from "./harness.ts";

/** Of Pagès and Wilbertz: points of a layer, paths, days; two factors of a gas price. */
const SIZES = [100, 250, 500] as const;
const PATHS = 100_000;
const DAYS = 365;
const FACTORS = {
  times: Array.from({ length: DAYS + 1 }, (_, k) => k / DAYS),
  meanReversion: [0.21, 5.4],
  correlation: [
    [1, -0.11],
    [-0.11, 1],
  ],
};
const PRECISIONS = ["f32", "f64"] as const;
type Real = (typeof PRECISIONS)[number];

const threadsOf = ({ threads }: CpuDevice): string => (threads === 1 ? "one thread" : `${threads} threads`);

/** Their Table 3: nearest neighbours of 36.5 million normal points in the plane, by three methods. */
async function neighbours(device: CpuDevice, size: number, precision: Real, context: Context): Promise<void> {
  const count = context.quick ? 2 ** 18 : 2 ** 22;
  const { points } = await normalQuantizer({ size, dimension: 2 });
  using queries = device.createBuffer(precision, 2 * count);
  using nearest = device.createBuffer("i32", count);
  const spec = { generator: "philox", seed: 1, distribution: "normal", bits: 32, precision } as const;
  using random = await RandomGenerator.create(device, randomSpec(spec));
  random.fill(queries, { count: 2 * count });
  for (const method of ["bins", "kd-tree", "brute-force"] as const satisfies readonly SearchMethod[]) {
    using search = await NearestSearch.create(device, { points, dimension: 2, method, precision });
    const seconds = await medianSeconds(context.quick ? 3 : 7, async () => {
      search.run({ queries, nearest, count });
      await device.finish();
    });
    context.report({
      case: `nearest neighbours, N = ${size}, ${method}, ${threadsOf(device)}`,
      device: context.cpu,
      precision,
      figure: (seconds * PATHS * DAYS) / count,
      unit: "s for 36.5 million",
    });
  }
}

/** Their Tables 5 and 6: random numbers, paths, neighbours and counters of the whole tree. */
async function transitions(device: CpuDevice, size: number, precision: Real, context: Context): Promise<void> {
  const paths = context.quick ? 2 ** 14 : PATHS;
  const chain = meanRevertingFactors(FACTORS);
  const quantizer = await normalQuantizer({ size, dimension: 2 });
  const methods: readonly TransitionMethod[] =
    device.threads === 1 ? ["serial", "paths", "layers"] : ["paths", "layers"];
  for (const method of methods) {
    const walked = method === "serial" ? Math.ceil(paths / 8) : paths;
    const settings = { chain, quantizer, paths: walked, transitions: method, precision };
    using counter = await TransitionCounter.create(device, settings);
    const seconds = await medianSeconds(context.quick ? 2 : 5, async () => {
      counter.run();
      await device.finish();
    });
    const names = { serial: "Algorithm I", paths: "Algorithm II", layers: "Algorithm III", exact: "" };
    context.report({
      case: `transitions, 365 days, N = ${size}, ${names[method]}, ${threadsOf(device)}`,
      device: context.cpu,
      precision,
      figure: (seconds * PATHS) / walked,
      unit: "s for 100,000 paths",
    });
  }
}

/** A swing option of a year of days: from settings to a price, grids loaded. */
async function swing(device: CpuDevice, size: number, context: Context): Promise<void> {
  const chain = meanRevertingFactors({ ...FACTORS, times: FACTORS.times.slice(0, DAYS) });
  const variances = chain.covariances.map(([a, b, , d]) => 0.36 ** 2 * a + 2 * 0.36 * 1.11 * b + 1.11 ** 2 * d);
  const paths = context.quick ? 4096 : PATHS;
  const payoff = ([x, y]: Float64Array, _t: number, k: number): number =>
    20 * Math.exp(0.36 * x + 1.11 * y - 0.5 * variances[k]) - 20;
  let solving = 0;
  const seconds = await medianSeconds(context.quick ? 1 : 3, async () => {
    using tree = await QuantizationTree.create(device, { chain, size, paths });
    const start = performance.now();
    await swingOption(tree, { payoff, global: [60, 120] });
    solving = (performance.now() - start) / 1e3;
  });
  const common = { device: context.cpu, precision: "f64", unit: "s" } as const;
  const what = `swing option, 365 days, 60 to 120 units, N = ${size}, ${threadsOf(device)}`;
  context.report({ ...common, case: what, figure: seconds });
  context.report({ ...common, case: `${what}, of it dynamic programming`, figure: solving });
}

async function grids(context: Context): Promise<void> {
  for (const [dimension, size] of [
    [1, 500],
    [2, 500],
  ] as const) {
    const seconds = await medianSeconds(context.quick ? 3 : 11, () => normalQuantizer({ dimension, size }));
    const where = dimension === 1 ? "by Newton's method" : "of the package";
    context.report({
      case: `quantizer of N(0, I) in ${dimension} dimension${dimension === 1 ? "" : "s"}, N = ${size}, ${where}`,
      device: context.cpu,
      precision: "f64",
      figure: seconds,
      unit: "s",
    });
  }
}

async function run(context: Context): Promise<void> {
  context.note("printed by Pagès and Wilbertz (2012): 30 s of one core of a Core i7 for the tree with N = 100;");
  context.note("a GTX 480 by Algorithm II 0.11, 0.30 and 0.63 s for N = 100, 250 and 500");
  await grids(context);
  for (const threads of context.quick ? [1] : [1, 2]) {
    using device = createCpuDevice({ threads });
    for (const size of context.quick ? [100] : SIZES) {
      for (const precision of PRECISIONS) await neighbours(device, size, precision, context);
      for (const precision of PRECISIONS) await transitions(device, size, precision, context);
    }
    await swing(device, 100, context);
  }
}

export const benchmark: Benchmark = {
  name: "quantization",
  description: "quantization trees on the CPU: nearest neighbours, transition probabilities, swing options",
  run,
};
