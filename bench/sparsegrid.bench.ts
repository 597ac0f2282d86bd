/** The combination technique: the published case, and accuracy for two to six assets. */
import { EXACT, improved, spot, upAndOut } from "./reproduce/gaikwad-toke.ts";
import { type CpuDevice, createCpuDevice } from "../src/device/cpu/index.ts";
import type { SparseEntrySolution } from "../src/pde/sparsegrid/index.ts";
import { type Benchmark, type Context, medianSeconds } from "./harness.ts";

const { signal } = new AbortController();

/** Operations of an iteration of BiCGStab for each unknown: two products with the matrix, and eleven multiply-adds. */
const flopsOf = (neighbours: number): number => 2 * (2 * neighbours) + 22;
/** Words that it reads and writes, all of them in caches. */
const wordsOf = (neighbours: number): number => 2 * (2 * neighbours + 2) + 18;
/** Multiply-adds of doubles that a core makes in a second where loads are the limit: two loads of two each cycle. */
const CYCLES = 3e9;

/** The published case: whole time loops of all grids of a level. */
async function published(device: CpuDevice, level: number, context: Context): Promise<void> {
  let entry: SparseEntrySolution | undefined;
  const seconds = await medianSeconds(context.quick ? 1 : 5, async () => {
    entry = await upAndOut(device, { axes: 3, level }, signal);
  });
  // The residual of the first guess is half of an iteration.
  const work = entry!.grids.reduce(
    (sum, { unknowns, iterations, systems }) => sum + unknowns * (iterations + 0.5 * systems),
    0,
  );
  const words = work * wordsOf(6);
  const floor = words / 4 / CYCLES / device.threads;
  context.note(
    `${(work / 1e6).toFixed(0)} million unknowns × iterations: ${((work * flopsOf(6)) / 1e9).toFixed(1)} Gflop, ` +
      `${((8 * words) / 1e9).toFixed(0)} GB from and to caches; the floor is four words a cycle at 3 GHz`,
  );
  const threads = device.threads === 1 ? "one thread" : `${device.threads} threads`;
  context.report({
    case: `three assets, level ${level}, ${entry!.grids.length} grids, 5,000 steps, ${threads}`,
    device: context.cpu,
    precision: "f64",
    figure: seconds,
    unit: "s",
    floor,
  });
}

/** Means over cells, logarithmic meshes: time and error. */
async function accurate(device: CpuDevice, axes: number, context: Context): Promise<void> {
  const level = [0, 4, 4, 4, 4, 3, 2][axes];
  let entry: SparseEntrySolution | undefined;
  const seconds = await medianSeconds(context.quick ? 1 : 3, async () => {
    entry = await improved(device, axes, level, signal);
  });
  context.report({
    case: `best of ${axes} assets within 1e-3, ${entry!.unknowns.toLocaleString("en")} unknowns, ${device.threads} threads`,
    device: context.cpu,
    precision: "f64",
    figure: seconds,
    unit: "s",
    error: Math.abs(entry!.at(spot(axes)).value - EXACT[axes]),
  });
}

async function run(context: Context): Promise<void> {
  context.note("printed by Gaikwad and Toke (2009), three assets, level 10: 2,553 s in the solver on a GTX 280");
  for (const threads of [1, 2]) {
    using device = createCpuDevice({ threads, share: "always" });
    for (const level of context.quick ? [8] : [8, 10]) await published(device, level, context);
    if (threads === 2)
      for (const axes of context.quick ? [2, 3] : [2, 3, 4, 5, 6]) await accurate(device, axes, context);
  }
}

export const benchmark: Benchmark = {
  name: "sparsegrid",
  description: "the sparse-grid combination technique on the CPU: published grids, accuracy on many assets",
  run,
};
