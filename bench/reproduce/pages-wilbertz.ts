import type { Device } from "../../src/device/index.ts";
import {
  gaussianSwings,
  meanRevertingFactors,
  NearestSearch,
  normalQuantizer,
  QuantizationTree,
  swingOption,
  TransitionCounter,
} from "../../src/quadrature/quantization/index.ts";
import { RandomGenerator, randomSpec } from "../../src/numerics/random/index.ts";
import { allCores, openCores, openGpus } from "./devices.ts";
import { estimatePi } from "./pi.ts";
import type { Reproduction, ReproduceOptions, ReproductionContext } from "../../src/cli/reproduction.ts";

/** The values of Table 2: means and standard deviations of 500 estimates of π. */
const TABLE_2 = [
  { generator: "drand48", name: "drand48", mean: "3.14159", deviation: 5.2585e-5 },
  { generator: "mrg32k3a", name: "MRG32k3a", mean: "3.141594", deviation: 5.20932e-5 },
  { generator: "xorwow", name: "CURAND", mean: "3.141592", deviation: 5.03272e-5 },
] as const;
const PRINTED_POINTS = 1e9;

/** The numbers of points in a layer, with the times in seconds that the paper reports for Algorithm II on a GTX 480. */
const SIZES = [
  { size: 100, printed: 0.11 },
  { size: 250, printed: 0.3 },
  { size: 500, printed: 0.63 },
] as const;
const DAYS = 365;
/** The time in seconds that the paper reports for one core of a Core i7 with N = 100. */
const CORE_I7 = 30;

/** The model of section 3. The paper does not give all parameters, so those of a gas price are used. */
const MODEL = { alpha: [0.21, 5.4], sigma: [0.36, 1.11], rho: -0.11, spot: 20, least: 60, most: 120 } as const;

/** The number of queries in one kernel launch. */
const LAUNCH = 2 ** 20;

async function seconds(run: () => Promise<void> | void): Promise<number> {
  const start = performance.now();
  await run();
  return (performance.now() - start) / 1e3;
}

const row = (cells: readonly (string | number)[]): string => cells.map((one) => String(one).padStart(14)).join("");

async function table2(
  device: Device,
  { points, repeats }: ReproduceOptions,
  { signal, say }: ReproductionContext,
): Promise<void> {
  say(`Table 2: π from ${points.toLocaleString("en")} points, ${repeats} times; printed for 10⁹ points, 500 times`);
  say(row(["generator", "mean", "printed", "deviation", "in theory", "printed", "theory, 10⁹", "s a time"]));
  const binomial = (count: number): number => Math.sqrt((Math.PI * (4 - Math.PI)) / count);
  for (const { generator, name, mean, deviation } of TABLE_2) {
    let estimates: readonly number[] = [];
    const time = await seconds(async () => {
      estimates = await estimatePi(device, generator, points, repeats, signal);
    });
    const average = estimates.reduce((sum, one) => sum + one, 0) / repeats;
    const spread = Math.sqrt(estimates.reduce((sum, one) => sum + (one - average) ** 2, 0) / (repeats - 1));
    const found = [average.toFixed(6), mean, spread.toExponential(3), binomial(points).toExponential(3)];
    const theory = binomial(PRINTED_POINTS).toExponential(3);
    say(row([name, ...found, deviation.toExponential(3), theory, (time / repeats).toFixed(3)]));
  }
  say("The printed deviations fit 10⁹ points, which are 2·10⁹ numbers; the text says 10⁹ numbers, whose deviation is");
  say(`${binomial(PRINTED_POINTS / 2).toExponential(3)}. cuRAND's generator of that time is XORWOW.`);
  say("");
}

/** Reproduces Table 3: nearest neighbours of normally distributed points in the plane. */
async function table3(
  device: Device,
  { paths, precision }: ReproduceOptions,
  { signal, say }: ReproductionContext,
): Promise<void> {
  const total = paths * DAYS;
  say(`Table 3: ${total.toLocaleString("en")} nearest neighbours in the plane, seconds without random numbers`);
  say(row(["N", "bins", "kd-tree", "brute-force"]));
  const real = precision === "f32" ? "f32" : "f64";
  using queries = device.createBuffer(real, 2 * LAUNCH);
  using nearest = device.createBuffer("i32", LAUNCH);
  const spec = randomSpec({ generator: "philox", seed: 1, distribution: "normal", bits: 32, precision: real });
  using random = await RandomGenerator.create(device, spec);
  for (const { size } of SIZES) {
    const { points } = await normalQuantizer({ size, dimension: 2 });
    const cells: string[] = [];
    for (const method of ["bins", "kd-tree", "brute-force"] as const) {
      using search = await NearestSearch.create(device, { points, dimension: 2, method, precision: real });
      let time = 0;
      for (let done = 0; done < total; done += LAUNCH) {
        signal.throwIfAborted();
        const count = Math.min(LAUNCH, total - done);
        random.fill(queries, { count: 2 * count, offset: 2 * done });
        await device.finish();
        time += await seconds(async () => {
          search.run({ queries, nearest, count });
          await device.finish();
        });
      }
      cells.push(time.toFixed(4));
    }
    say(row([size, ...cells]));
  }
  say("");
}

const chain = (days: number) =>
  meanRevertingFactors({
    times: Array.from({ length: days }, (_, k) => k / DAYS),
    meanReversion: MODEL.alpha,
    correlation: [
      [1, MODEL.rho],
      [MODEL.rho, 1],
    ],
  });

/** Reproduces Tables 5 and 6: random numbers, nearest-neighbour search and counters for a whole quantization tree. */
async function tables5And6(
  device: Device,
  { paths, precision }: ReproduceOptions,
  { signal, say }: ReproductionContext,
): Promise<void> {
  say(`Tables 5 and 6: the whole tree, ${paths.toLocaleString("en")} paths, ${DAYS} days, seconds`);
  say(row(["N", "Algorithm II", "GTX 480", "Algorithm III"]));
  for (const { size, printed } of SIZES) {
    const cells: string[] = [];
    for (const transitions of ["paths", "layers"] as const) {
      signal.throwIfAborted();
      const settings = { chain: chain(DAYS + 1), size, paths, transitions, precision };
      using counter = await TransitionCounter.create(device, settings);
      const once = async (): Promise<void> => {
        counter.run();
        await device.finish();
      };
      // The first run loads the kernels.
      await once();
      cells.push((await seconds(once)).toFixed(4));
    }
    say(row([size, cells[0], paths === 100_000 ? printed.toFixed(2) : "-", cells[1]]));
  }
  say(`The paper's Core i7 took ${CORE_I7} s on one core for N = 100.`);
  say("");
}

/**
 * Prices a swing option with daily exercise dates over a year on a quantization tree by Pagès and Wilbertz' Algorithm
 * II. `size` is the number of points of the grid on each date.
 */
export async function swingOfYear(
  device: Device,
  size: number,
  { paths, precision }: Pick<ReproduceOptions, "paths" | "precision">,
): Promise<number> {
  const [a, b] = MODEL.sigma;
  using tree = await QuantizationTree.create(device, { chain: chain(DAYS), size, paths, precision });
  const growth = ([x, y]: Float64Array): number => Math.exp(a * x + b * y);
  const means = await tree.means(growth);
  // The tree's own mean of the spot is the forward.
  const payoff = (state: Float64Array, _t: number, k: number): number => MODEL.spot * (growth(state) / means[k] - 1);
  return (await swingOption(tree, { payoff, global: [MODEL.least, MODEL.most] })).value;
}

/**
 * Prices the swing option of `swingOfYear` accurately, by convolution on grids of the factors, extrapolated from two
 * spacings.
 */
export async function convergedSwingOfYear(
  device: Device,
  { precision }: Pick<ReproduceOptions, "precision">,
): Promise<number> {
  const amounts = Array.from({ length: DAYS }, () => MODEL.spot);
  const swings = [{ slopes: amounts, fixed: amounts, least: MODEL.least, most: MODEL.most }];
  const settings = { chain: chain(DAYS), sigma: MODEL.sigma, startsAtOnce: true, precision };
  const valueAt = async (spacing: number) => (await gaussianSwings({ device, ...settings, spacing }, swings)).value[0];
  const [coarse, fine] = [await valueAt(0.5), await valueAt(0.5 / Math.SQRT2)];
  // Errors are of fourth order.
  return fine + (fine - coarse) / 3;
}

async function swing(device: Device, options: ReproduceOptions, { signal, say }: ReproductionContext): Promise<void> {
  say(`The swing option: ${MODEL.least} to ${MODEL.most} units on ${DAYS} days, at the money, from model to price`);
  say(row(["N", "value", "seconds"]));
  for (const { size } of SIZES) {
    signal.throwIfAborted();
    let value = Number.NaN;
    const time = await seconds(async () => {
      value = await swingOfYear(device, size, options);
    });
    say(row([size, value.toFixed(3), time.toFixed(2)]));
  }
  signal.throwIfAborted();
  let limit = Number.NaN;
  const time = await seconds(async () => {
    limit = await convergedSwingOfYear(device, options);
  });
  say(row(["converged", limit.toFixed(3), time.toFixed(2)]));
  say(
    "Trees forget where in a cell a path was, the more the shorter the steps: they approach the converged value from",
  );
  say("above, slowly. It comes from grids of the factors (docs/quantization.md), and changes by 0.1 % on finer ones.");
  say(`α = ${MODEL.alpha.join(", ")}, σ = ${MODEL.sigma.join(", ")}, ρ = ${MODEL.rho}, spot and strike ${MODEL.spot}.`);
  say("");
}

async function run(context: ReproductionContext): Promise<void> {
  const { options, say } = context;
  const gpus = await openGpus(options);
  const isCpu = options.backend === "auto" || options.backend === "cpu";
  const devices = [
    ...(isCpu ? [await openCores(allCores(options) ?? options.threads ?? 1, options)] : []),
    ...gpus.devices,
  ];
  try {
    for (const device of devices) {
      say("");
      say(`${device.name}, ${options.precision}`);
      say("");
      await table2(device, options, context);
      await table3(device, options, context);
      await tables5And6(device, options, context);
      await swing(device, options, context);
    }
  } finally {
    for (const device of devices) device[Symbol.dispose]();
  }
  for (const reason of gpus.missing) say(`No GPU: ${reason}`);
}

/** The reproduction of Pagès and Wilbertz' quantization trees on GPUs. */
export const pagesWilbertz: Reproduction & { run: typeof run } = {
  name: "pages-wilbertz",
  title: "random numbers, nearest neighbours, quantization trees and a swing option, beside the printed tables",
  source:
    "G. Pagès, B. Wilbertz, GPGPUs in computational finance: " +
    "massive parallel computing for American style options (2012)",
  run,
};
