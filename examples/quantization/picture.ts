/**
 * Draws convergence.svg and prints its numbers: errors of swing and American prices by the number of points N and of
 * paths M, and the time of quantization beside that of Longstaff and Schwartz's regression.
 *
 * The times are those of seconds.json, so that the picture is the same wherever it is drawn. `picture.ts measure`
 * measures them again.
 */
import { readFileSync, writeFileSync } from "node:fs";

import { type Device, openDevice } from "feynkac/device";
import { blackScholes, european, longstaffSchwartz } from "feynkac/montecarlo";
import { meanRevertingFactors, optimalStopping, QuantizationTree, swingOption } from "feynkac/quantization";
import { type Curve, figure } from "../plot.ts";

using device = await openDevice({ backend: "cpu", threads: 1 });
const months = Array.from({ length: 12 }, (_, k) => k / 12);
const SIZES = [25, 50, 100, 200, 400];

/** A call at the money on a spot of 20 with a flat forward curve. The tree's own mean of the spot is made 20. */
async function swing(settings: {
  readonly meanReversion: readonly number[];
  readonly sigma: readonly number[];
  readonly rho: number;
  readonly units: readonly [number, number];
  readonly size: number;
  readonly paths: number;
  readonly on: Device;
}): Promise<number> {
  const { meanReversion, sigma, rho, units, size, paths, on } = settings;
  const correlation = meanReversion.map((_, i) => meanReversion.map((_one, j) => (i === j ? 1 : rho)));
  const chain = meanRevertingFactors({ times: months, meanReversion, correlation });
  using tree = await QuantizationTree.create(on, { chain, size, paths });
  const growth = (x: Float64Array): number => Math.exp(sigma.reduce((sum, one, i) => sum + one * x[i]!, 0));
  const means = await tree.means(growth);
  const { value } = await swingOption(tree, {
    payoff: (x, _t, k) => (20 * growth(x)) / means[k]! - 20,
    global: units,
  });
  return value;
}

const ONE = { meanReversion: [4], sigma: [0.7], rho: 0, units: [3, 6] as const, exact: 15.514780083325826 };
const TWO = {
  meanReversion: [0.21, 5.4],
  sigma: [0.36, 1.11],
  rho: -0.11,
  units: [2, 5] as const,
  exact: 23.978966225080992,
};

/** Longstaff and Schwartz's put: a spot of 36, a strike of 40, 50 dates in a year. */
const PUT = 4.477811111140544;
async function put(size: number): Promise<number> {
  const times = Array.from({ length: 51 }, (_, k) => k / 50);
  const chain = meanRevertingFactors({ times, meanReversion: [0] });
  using tree = await QuantizationTree.create(device, { chain, size });
  const spot = (w: number, t: number): number => 36 * Math.exp((0.06 - 0.02) * t + 0.2 * w);
  const payoff = ([w]: Float64Array, t: number): number => Math.max(40 - spot(w!, t), 0);
  return (await optimalStopping(tree, { payoff, rate: 0.06, exercise: (_t, k) => k > 0 })).value;
}

const dates = Array.from({ length: 50 }, (_, k) => (k + 1) / 50);
async function regression(paths: number): Promise<{ readonly value: number; readonly standardError: number }> {
  const model = blackScholes({ spot: 36, rate: 0.06, volatility: 0.2 });
  const product = european({ payoff: "put", strike: 40 });
  const found = await longstaffSchwartz({ device, model, product, dates, regressionPaths: paths / 4, paths });
  return { value: found.value[0]!, standardError: found.standardError[0]! };
}

/** Seconds of a case, by its label. */
interface Times {
  readonly device: string;
  readonly seconds: Record<string, number>;
}

const kept = new URL("seconds.json", import.meta.url);
const measures = process.argv[2] === "measure";
const times: Times = measures
  ? { device: device.name, seconds: {} }
  : (JSON.parse(readFileSync(kept, "utf8")) as Times);

async function timed<T>(label: string, run: () => Promise<T>): Promise<readonly [T, number]> {
  // The first run compiles.
  let result = await run();
  if (measures) {
    const runs: number[] = [];
    while (runs.length < 5) {
      const start = performance.now();
      result = await run();
      runs.push((performance.now() - start) / 1e3);
    }
    times.seconds[label] = Number(runs.toSorted((a, b) => a - b)[2]!.toPrecision(3));
  }
  return [result, times.seconds[label]!];
}

const relative = (value: number, exact: number): number => Math.abs(value / exact - 1);
const say = (...cells: readonly (string | number)[]): void => console.log(cells.join("\t"));
const log = (points: readonly (readonly [number, number])[]): (readonly [number, number])[] =>
  points.map(([x, y]) => [Math.log10(x), Math.log10(y)]);

say("swing, one factor", "N", "error");
const one: [number, number][] = [];
const two: [number, number][] = [];
const american: [number, number][] = [];
for (const size of SIZES) {
  one.push([size, relative(await swing({ ...ONE, size, paths: 1, on: device }), ONE.exact)]);
  two.push([size, relative(await swing({ ...TWO, size, paths: 1_600_000, on: device }), TWO.exact)]);
  american.push([size, relative(await put(size), PUT)]);
  say(size, one.at(-1)![1].toExponential(1), two.at(-1)![1].toExponential(1), american.at(-1)![1].toExponential(1));
}
say("swing, two factors, N = 200", "M", "error");
const byPaths: [number, number][] = [];
for (const paths of [100, 400, 1_600, 6_250, 25_000, 100_000, 400_000, 1_600_000]) {
  byPaths.push([paths, relative(await swing({ ...TWO, size: 200, paths, on: device }), TWO.exact)]);
  say(paths, byPaths.at(-1)![1].toExponential(1));
}
say("put of 50 dates", "seconds", "error");
const trees: [number, number][] = [];
for (const size of [25, 50, 100, 200]) {
  const label = `N = ${size}`;
  const [value, seconds] = await timed(label, async () => {
    const [coarse, fine] = [await put(size / 2 + 0.5 * (size % 2)), await put(size)];
    const ratio = (size / (size / 2 + 0.5 * (size % 2))) ** 2;
    return (ratio * fine - coarse) / (ratio - 1);
  });
  trees.push([seconds, relative(value, PUT)]);
  say(label, seconds.toFixed(3), trees.at(-1)![1].toExponential(1));
}
const paths: [number, number][] = [];
for (const count of [2 ** 14, 2 ** 16, 2 ** 18, 2 ** 20]) {
  const label = `M = ${count}`;
  const [{ value, standardError }, seconds] = await timed(label, async () => regression(count));
  // Bias and standard error together: one run may be near by chance.
  paths.push([seconds, Math.hypot(value - PUT, standardError) / PUT]);
  say(label, seconds.toFixed(3), paths.at(-1)![1].toExponential(1));
}

if (measures) writeFileSync(kept, `${JSON.stringify(times, undefined, 2)}\n`);

const power = (tick: number): string => (10 ** tick).toExponential(1).replace(".0e", "e").replace("e+", "e");
const number = (tick: number): string => String(Math.round(10 ** tick));
const y = { label: "relative error", format: power };
const bySize: Curve[] = [
  { label: "swing, one factor", points: log(one) },
  { label: "swing, two factors", points: log(two) },
  { label: "put of 50 dates", points: log(american) },
];
writeFileSync(
  new URL("convergence.svg", import.meta.url),
  figure("Errors of quantization trees by points, paths and time", [
    { title: "By points", x: { label: "points N", format: number }, y, curves: bySize },
    {
      title: "Two factors, N = 200",
      x: { label: "paths M", format: power },
      y,
      curves: [{ label: "swing", points: log(byPaths) }],
    },
    {
      title: "Put of 50 dates",
      x: { label: "seconds", format: power },
      y,
      curves: [
        { label: "quantization", points: log(trees) },
        { label: "regression", points: log(paths) },
      ],
    },
  ]),
);
