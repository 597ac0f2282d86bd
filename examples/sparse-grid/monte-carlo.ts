/**
 * Prints errors of sparse grids beside those of Monte Carlo in the same time: up-and-out calls on the best of three to
 * six independent assets, monitored continuously.
 *
 * Times and numbers of paths are those of monte-carlo.json, so that the table is the same wherever it is printed.
 * `monte-carlo.ts measure` measures them again.
 */
import { readFileSync, writeFileSync } from "node:fs";

import { openDevice } from "feynkac/device";
import { basket, geometricBrownian, monteCarlo, withBarriers } from "feynkac/montecarlo";
import { solveOnSparseGrid } from "feynkac/sparsegrid";

using device = await openDevice({ backend: "cpu", threads: 1 });

/** Integrals of products of killed distributions. */
const EXACT: Readonly<Record<number, number>> = { 3: 20.84996803, 4: 24.593101253, 5: 27.563943365, 6: 29.992668236 };
/** Levels that are within 1e-3. */
const LEVEL: Readonly<Record<number, number>> = { 3: 4, 4: 4, 5: 3, 6: 2 };

const best = (names: readonly string[]): string =>
  names.length === 1 ? names[0]! : `max(${names[0]!}, ${best(names.slice(1))})`;

async function onSparseGrid(axes: number): Promise<number> {
  const names = "ABCDEF".slice(0, axes).split("");
  const axis = { from: 45, to: 200, coordinate: "log", points: [100], width: 0.22 } as const;
  const { entries } = await solveOnSparseGrid<string>(
    {
      axes: Object.fromEntries(names.map((name) => [name, axis])),
      equation: Object.fromEntries([
        ...names.map((name) => [name + name, `0.02*${name}^2`]),
        ...names.map((name) => [name, `0.03*${name}`]),
        ["V", -0.03],
      ]) as never,
      terminal: `max(${best(names)} - 100, 0)`,
      boundaries: Object.fromEntries(names.map((name) => [name, { high: { kind: "dirichlet", value: 0 } } as const])),
      expiry: 1,
      level: LEVEL[axes]!,
    },
    { device },
  );
  return entries[0]!.at(Object.fromEntries(names.map((name) => [name, 100]))).value;
}

type Sampling = "philox" | "sobol";

/** One step: the probability that no barrier was breached is exact. */
async function byPaths(axes: number, sampling: Sampling, paths: number): Promise<{ value: number; deviation: number }> {
  const each = <T>(value: T): T[] => Array.from({ length: axes }, () => value);
  const model = geometricBrownian({ spots: each(100), rate: 0.03, volatilities: each(0.2) });
  const call = basket({ payoff: "call", strike: 100, kind: "best-of", weights: each(1) });
  const barriers = [{ type: "up-and-out", level: 200, asset: "each" }] as const;
  const product = withBarriers({ product: call, barriers });
  const { value, standardError } = await monteCarlo({ device, model, product, dates: [1], sampling, paths });
  return { value: value[0]!, deviation: standardError[0]! };
}

interface Kept {
  readonly device: string;
  /** By the number of assets. */
  readonly cases: Record<number, { readonly seconds: number } & Readonly<Record<Sampling, number>>>;
}

async function secondsOf(run: () => Promise<unknown>): Promise<number> {
  await run(); // Compiles.
  const runs: number[] = [];
  while (runs.length < 5) {
    const start = performance.now();
    await run();
    runs.push((performance.now() - start) / 1e3);
  }
  return runs.toSorted((a, b) => a - b)[2]!;
}

/** As many paths as take so long, in steps of 8,192. */
async function pathsIn(seconds: number, axes: number, sampling: Sampling): Promise<number> {
  let paths = 2 ** 17;
  for (let again = 0; again < 2; again++) {
    const taken = await secondsOf(async () => byPaths(axes, sampling, paths));
    paths = 8192 * Math.max(1, Math.round((paths * seconds) / taken / 8192));
  }
  return paths;
}

const file = new URL("monte-carlo.json", import.meta.url);
let kept: Kept;
if (process.argv[2] === "measure") {
  kept = { device: device.name, cases: {} };
  for (const axes of [3, 4, 5, 6]) {
    const seconds = Number((await secondsOf(async () => onSparseGrid(axes))).toPrecision(3));
    const [philox, sobol] = [await pathsIn(seconds, axes, "philox"), await pathsIn(seconds, axes, "sobol")];
    kept.cases[axes] = { seconds, philox, sobol };
  }
  writeFileSync(file, `${JSON.stringify(kept, undefined, 2)}\n`);
} else kept = JSON.parse(readFileSync(file, "utf8")) as Kept;

console.log("| assets | seconds | sparse grids | paths | Monte Carlo | Sobol' points | quasi-Monte Carlo |");
console.log("| --- | --- | --- | --- | --- | --- | --- |");
for (const axes of [3, 4, 5, 6]) {
  const { seconds, philox, sobol } = kept.cases[axes]!;
  const exact = EXACT[axes]!;
  // Difference and standard error together: one run may be near by chance.
  const sampled = async (sampling: Sampling, paths: number): Promise<string> => {
    const { value, deviation } = await byPaths(axes, sampling, paths);
    return (Math.hypot(value - exact, deviation) / exact).toExponential(1);
  };
  const error = (Math.abs((await onSparseGrid(axes)) - exact) / exact).toExponential(1);
  const cells = [axes, seconds, error];
  for (const [sampling, paths] of [
    ["philox", philox],
    ["sobol", sobol],
  ] as const)
    cells.push(paths.toLocaleString("en"), await sampled(sampling, paths));
  console.log(`| ${cells.join(" | ")} |`);
}
