/**
 * Sparse grids on a GPU: the published case of 85 grids and 5,000 steps by every shape of its kernel, and accuracy for
 * two to six assets.
 *
 * npx tsx bench/device/main.ts device-sparsegrid
 */
import { availableParallelism } from "node:os";
import { EXACT, improved, improvedProblem, publishedProblem, spot, upAndOut } from "../reproduce/gaikwad-toke.ts";
import { createCpuDevice } from "../../src/device/cpu/index.ts";
import { type Device, devices, openDevice, LaunchScheduler } from "../../src/device/index.ts";
import { DeviceUnavailableError } from "../../src/base/errors.ts";
import { combinationGrids } from "../../src/pde/sparsegrid/combination.ts";
import { GridSolver } from "../../src/pde/sparsegrid/grids.ts";
import { solveOnSparseGrid, type SparseGridProblem } from "../../src/pde/sparsegrid/index.ts";
import { compileSparseGridEquation } from "../../src/pde/sparsegrid/problem/model.ts";
import { SolvedGrids } from "../../src/pde/sparsegrid/solved-grids.ts";
import { type GridShape } from "../../src/pde/sparsegrid/shapes.ts";
import { combinedValue } from "../../src/pde/sparsegrid/solution.ts";
import { type Context, median, medianSeconds, type Benchmark, type Report } from "../harness.ts";
import { floorOn } from "./h200.ts";

const { signal } = new AbortController();

/** Bytes of workgroup memory that a multiprocessor of an H200 reads in a second: 128 a cycle. */
const SHARED_READS = 128 * 1.755e9;

/** Adds up what launches take, until the host knows that they are complete. */
class StoppedPace extends LaunchScheduler {
  milliseconds = 0;

  override measured(work: number, returned: number, complete: number): void {
    this.milliseconds += complete;
    super.measured(work, returned, complete);
  }
}

interface Timed {
  /** Launches of the second solution on, median and minimum. */
  readonly seconds: number;
  readonly min: number;
  readonly value: number;
  readonly shape: GridShape;
  /** Unknowns × products with the matrix, of the grid that has most. */
  readonly products: number;
  readonly iterations: number;
}

/** Launches alone, in a shape of our choice. */
async function launches(
  device: Device,
  problem: SparseGridProblem<string>,
  repetitions: number,
  shape?: GridShape,
): Promise<Timed> {
  const model = compileSparseGridEquation(problem);
  const [entry] = model.batch.entries;
  const members = [{ index: 0, timeline: model.timelineOf(entry) }];
  const grids = combinationGrids(model.combination);
  const pace = new StoppedPace(device, {});
  const solver = new GridSolver(device, model, "f64", pace, shape);
  const times: number[] = [];
  let runs = new SolvedGrids([solver], model, members, pace, new Error("here"));
  for (let i = 0; i <= repetitions; i++) {
    runs = new SolvedGrids([solver], model, members, pace, new Error("here"));
    pace.milliseconds = 0;
    await runs.solve(grids, "all");
    const { error } = runs.outcome(0);
    if (error !== undefined) throw error;
    if (i > 0) times.push(pace.milliseconds / 1e3);
  }
  const found = runs.combined(grids, 0, "all");
  const point = Object.values(spot(model.names.length));
  const all = found.map(({ grid: { values, report } }) => ({ unknowns: values.length, ...report }));
  return {
    seconds: median(times),
    min: Math.min(...times),
    value: combinedValue(
      found,
      point,
      point.map(() => 0),
      4,
      () => 0,
    ),
    shape: found[0].grid.program.shape,
    products: Math.max(...all.map(({ unknowns, iterations, systems }) => unknowns * (2 * iterations + systems))),
    iterations: Math.max(...all.map(({ iterations, systems }) => iterations / systems)),
  };
}

const textOf = ({ groupSize, shuffles, residentRows }: GridShape): string =>
  `${groupSize} items, ${residentRows > 0 ? `${residentRows} rows each in registers` : "rows in memory"}${
    shuffles ? "" : ", sums as a tree"
  }`;

const shapesOf = (resident: readonly (readonly [items: number, rows: number])[]): readonly GridShape[] =>
  resident.map(([groupSize, residentRows]) => ({ groupSize, shuffles: true, residentRows }));

/** The published case: the whole call, the launches alone, and every shape of the kernel. */
async function published(device: Device, context: Context): Promise<void> {
  const level = context.quick ? 4 : 10;
  const given = { axes: 3, level };
  const name = `three assets, level ${level}, 5,000 steps`;
  const common = { device: device.name, precision: "f64", unit: "s" } as const;
  const cores = availableParallelism();
  using cpu = createCpuDevice({ threads: cores, share: "always" });
  let reference = 0;
  const peer = await medianSeconds(context.quick ? 1 : 3, async () => {
    reference = (await upAndOut(cpu, given, signal)).at(spot(3)).value;
  });
  const peers = { peers: { [`f64 on ${context.cpu}`]: peer } };
  const start = performance.now();
  await upAndOut(device, given, signal);
  const first = (performance.now() - start) / 1e3;
  context.report({ ...common, case: `${name}, the first call, with its compilation`, figure: first, ...peers });
  let value = 0;
  const second = await medianSeconds(context.quick ? 1 : 5, async () => {
    value = (await upAndOut(device, given, signal)).at(spot(3)).value;
  });
  const error = { error: Math.abs(value - reference) };
  context.report({ ...common, case: `${name}, a later call`, figure: second, ...error, ...peers });
  const shapes = [
    ...shapesOf([
      [256, 3],
      [384, 2],
      [768, 1],
      [256, 0],
      [512, 0],
      [1024, 0],
    ]),
    { groupSize: 256, shuffles: false, residentRows: 0 },
  ];
  for (const shape of context.quick ? shapes.slice(0, 1) : shapes) {
    const timed = await launches(device, publishedProblem(given), context.quick ? 1 : 5, shape);
    const floor = (8 * 6 * timed.products) / SHARED_READS;
    reported(
      context,
      { ...common, case: `${name}, launches: ${textOf(shape)}`, ...floorOn(device, floor) },
      timed,
      reference,
    );
  }
}

function reported(context: Context, report: Omit<Report, "figure">, timed: Timed, reference: number): void {
  const { seconds, min, value, iterations } = timed;
  context.report({ ...report, figure: seconds, error: Math.abs(value - reference) });
  context.note(
    `${report.case}: min ${(1e3 * min).toPrecision(3)} ms, up to ${iterations.toFixed(2)} iterations a step`,
  );
}

/** Means over cells, logarithmic meshes: time and error; for most assets other sizes of workgroups. */
async function accurate(device: Device, axes: number, context: Context): Promise<void> {
  const level = [0, 4, 4, 4, 4, 3, 2][axes];
  const name = `best of ${axes} assets within 1e-3`;
  const common = { device: device.name, precision: "f64", unit: "s" } as const;
  const start = performance.now();
  let entry = await improved(device, axes, level, signal);
  const first = (performance.now() - start) / 1e3;
  const seconds = await medianSeconds(context.quick ? 1 : 3, async () => {
    entry = await improved(device, axes, level, signal);
  });
  const { value } = entry.at(spot(axes));
  const error = Math.abs(value - EXACT[axes]);
  const verdict = error <= 1e-3 * EXACT[axes] ? "" : ": MISSED";
  context.report({
    ...common,
    case: `${name}${verdict}, ${entry.unknowns.toLocaleString("en")} unknowns, a later call`,
    figure: seconds,
    error,
  });
  context.note(
    `${name}: the first call, with its compilation, ${first.toFixed(2)} s; relative error ${(error / EXACT[axes]).toExponential(1)}`,
  );
  if (axes < 6 || context.quick) return;
  for (const shape of shapesOf([
    [256, 0],
    [512, 0],
    [1024, 0],
  ])) {
    const timed = await launches(device, improvedProblem(axes, level), 3, shape);
    reported(context, { ...common, case: `${name}, launches: ${textOf(shape)}` }, timed, value);
  }
}

/** Level 12 on one GPU and on all of the machine: the same bits. */
async function several(context: Context): Promise<void> {
  const found = await devices("cuda");
  if (found.length < 2) return context.note("several GPUs: the machine has one");
  const problem = publishedProblem({ axes: 3, level: 12 });
  const opened = await Promise.all(found.map(async ({ index }) => openDevice({ backend: "cuda", device: index })));
  const timed = async (on: readonly Device[]): Promise<readonly [value: number, seconds: number]> => {
    let value = 0;
    const seconds = await medianSeconds(3, async () => {
      value = (await solveOnSparseGrid<string>(problem, { devices: on })).entries[0].at(spot(3)).value;
    });
    return [value, seconds];
  };
  await timed(opened);
  const [[alone, one], [together, all]] = [await timed(opened.slice(0, 1)), await timed(opened)];
  if (alone !== together) throw new Error(`several GPUs: ${together}, one: ${alone}`);
  context.report({
    case: `three assets, level 12, 5,000 steps, ${found.length} GPUs, the same bits`,
    device: opened[0].name,
    precision: "f64",
    figure: all,
    unit: "s",
    floor: one / found.length,
    peers: { "one of them": one },
  });
  for (const device of opened) device[Symbol.dispose]();
}

async function run(context: Context): Promise<void> {
  context.note("printed by Gaikwad and Toke (2009), three assets, level 10: 2,553 s in the solver on a GTX 280");
  context.note(
    "launches: until the host knows that they are complete; floor: what rows of the grid with most work read of",
  );
  context.note(
    "their neighbours, at the speed of one multiprocessor's workgroup memory. Errors: against the CPU, or exact",
  );
  try {
    using device = await openDevice({ backend: "cuda" });
    await published(device, context);
    for (const axes of context.quick ? [2, 3] : [2, 3, 4, 5, 6]) await accurate(device, axes, context);
    if (!context.quick) await several(context);
  } catch (error) {
    if (!(error instanceof DeviceUnavailableError)) throw error;
    context.note(`cuda: ${error.message}`);
  }
}

export const benchmark: Benchmark = {
  name: "device-sparsegrid",
  description: "the sparse-grid combination technique on a GPU: the published grids, accuracy on many assets",
  run,
};
