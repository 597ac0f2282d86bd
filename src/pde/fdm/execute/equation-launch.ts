import {
  type CompiledKernel,
  type Device,
  maxInstancesPerLaunch,
  TemporaryBuffers,
  type LaunchScheduler,
  privateSizes,
} from "../../../device/index.ts";
import { SpecError } from "../../../base/errors.ts";
import { hostRealType, type Kernel, type Precision, memoizeByCode } from "../../../kernel/index.ts";
import { NOWHERE } from "../conditions/dates.ts";
import { hasFailed, STATUS, STATUS_INTEGERS, statusOf } from "../operator/status.ts";
import { type EquationVariant, keptArrayCount, privateArrayCount } from "../operator/equation-row.ts";
import type { OneAxisEquation } from "../model/full-grid.ts";
import { PROGRAM_BITS, type TimeProgram } from "../time/timeline.ts";
import { equationKernel } from "./equation/kernel.ts";
import { equationBytes } from "./equation/memory.ts";
import {
  type GridSolution,
  type Launcher,
  LevelSolver,
  packedParameters,
  type PlannedInstance,
  solveInstances,
} from "./plan.ts";
import { fittingCapacity, launchSize, preferredSplits, type Split, teamOf } from "./split.ts";
import type { Team } from "./team/team.ts";

/**
 * The division of a launch's instances among work items for equations on one axis: each instance is solved by one item,
 * a subgroup, or a workgroup.
 */
export type EquationSplit = Exclude<Split, "half-subgroup">;

/**
 * The executor of an equation: which work items solve an instance, and the number of nodes for which its kernel is
 * made.
 */
interface EquationExecutor {
  readonly split: EquationSplit;
  /** The variant of the kernel, with its `capacity` of nodes. */
  readonly variant: EquationVariant;
}

type Uncapped = Omit<EquationVariant, "capacity">;

/**
 * Returns the executor of an equation on a device, for meshes of up to `nodes` nodes. It is the first of these that
 * fits into the device's workgroup memory:
 *
 *   subgroup    on GPUs whose subgroups have 32 lanes, up to 544 nodes
 *   workgroup   on GPUs, up to 576 nodes; not in f32x2, which takes minutes to compile
 *   item        otherwise: on CPUs and software adapters (`preferredSplits`), for more nodes, and with `convection:
 *               "central"`, whose rows may have negative entries (`equationKernel`)
 *
 * Tests may choose the `split`.
 * @throws SpecError (too many nodes for the device)
 */
export function executorFor(
  device: Device,
  variant: Uncapped,
  axis: { readonly name: string; readonly nodes: number },
  precision: Precision,
  split?: EquationSplit,
): EquationExecutor {
  const splits = split === undefined ? preferredSplits(device) : [split];
  for (const each of splits) {
    if (each !== "subgroup" && each !== "workgroup") continue;
    if (!variant.fitted || (each === "workgroup" && precision === "f32x2" && split === undefined)) continue;
    const bytesOf = (team: Team, size: number): number =>
      equationBytes(team, { ...variant, capacity: size }, precision);
    const capacity = fittingCapacity(device, axis.nodes, each, bytesOf);
    if (capacity !== undefined) return { split: each, variant: { ...variant, capacity } };
  }
  if (split !== undefined && split !== "item")
    throw new SpecError(`axes.${axis.name}.nodes: ${axis.nodes}, or the device, is not for the split ${split}`);
  return itemExecutor(device, variant, axis, precision);
}

/** Node capacities that kernels of items are compiled for: few, since each is a compilation. */
const ITEM_CAPACITIES = [65, 129, 257, 513, 1025, 2049];

/** Returns the executor with one work item for each instance. @throws SpecError too many nodes for the device */
function itemExecutor(
  device: Device,
  variant: Uncapped,
  { name, nodes }: { readonly name: string; readonly nodes: number },
  precision: Precision,
): EquationExecutor {
  const bytes = privateArrayCount({ ...variant, capacity: nodes }) * (precision === "f64" ? 8 : 4);
  const capacities = privateSizes(device, ITEM_CAPACITIES, bytes, 64);
  const capacity = capacities.find((size) => size >= nodes);
  if (capacity === undefined)
    throw new SpecError(
      `axes.${name}.nodes: ${nodes}, at most ${capacities.at(-1)} on ${device.name} in ${precision} ` +
        "with these conditions",
    );
  return { split: "item", variant: { ...variant, capacity } };
}

/** Returns the kernel of an executor. */
const kernelOf = ({ split, variant }: EquationExecutor): Kernel => equationKernel(variant, teamOf(split));

/** Returns the kernel of an executor; executors whose kernels lower to the same code share one. */
const sharedKernelOf = memoizeByCode(kernelOf);

/** The solution of an instance on one axis. */
export interface InstanceResult extends GridSolution {
  /** The exercise boundary at the times of the program's `records`; NaN where no node is exercised. */
  readonly boundary: Float64Array;
  /** The status of the instance (`STATUS`), with node indices for ascending nodes. */
  readonly status: Int32Array;
  readonly executor: EquationExecutor;
}

/**
 * The number of instances that the CPU computes side by side, or two or four times as many in f32: fewer take as long.
 */
const CPU_INSTANCES = 8;
/** The smallest number of rows of a part of a time loop. */
const MIN_ROWS = 32;

/** The device, the compiled kernel and the model with which instances are launched. */
interface LaunchSetting {
  readonly device: Device;
  readonly kernel: CompiledKernel;
  /** The executor from which the kernel was made. */
  readonly executor: EquationExecutor;
  readonly model: OneAxisEquation;
  readonly pace: LaunchScheduler;
  readonly source: () => Kernel;
}

const rowsOf = ({ words }: TimeProgram): number => words.length / 2;

/**
 * The number of instances of the next launch, out of `count` with the same number of nodes and the same program. It is
 * limited by memory and by the duration of a launch.
 */
function instancesPerLaunch(
  { device, kernel, executor, model, pace }: LaunchSetting,
  nodes: number,
  program: TimeProgram,
  count: number,
): number {
  const fitting = (arrays: number): number => {
    const words = arrays * nodes + program.records.length + 64;
    return maxInstancesPerLaunch(device, words * (kernel.precision === "f32" ? 4 : 8));
  };
  const together =
    device.backend === "cpu" ? 2 * CPU_INSTANCES : Math.ceil(device.parallelism / (teamOf(executor.split)?.items ?? 1));
  const shared = Math.floor(pace.share / (nodes * rowsOf(program)) / together) * together;
  const instances = Math.min(count, fitting(3), Math.max(shared, together));
  return isSplit(instances, nodes, program, pace)
    ? Math.min(instances, fitting(3 + keptArrayCount(model.variant)))
    : instances;
}

const workOf = (instances: number, nodes: number): number =>
  Math.ceil(instances / CPU_INSTANCES) * CPU_INSTANCES * nodes;

/** Tells whether a time loop is run a part at a time. */
const isSplit = (instances: number, nodes: number, program: TimeProgram, pace: LaunchScheduler): boolean =>
  workOf(instances, nodes) * rowsOf(program) > 1.5 * pace.share && rowsOf(program) > MIN_ROWS;

/**
 * Launches instances and reads back their solutions; all buffers are disposed, even on failure. @throws the signal's
 * reason, between launches
 */
async function launch(
  { device, kernel, executor, model: { descending, variant, literals }, pace, source }: LaunchSetting,
  program: TimeProgram,
  instances: readonly PlannedInstance[],
): Promise<InstanceResult[]> {
  using buffers = new TemporaryBuffers(device);
  const element = hostRealType(kernel.precision);
  const nodes = instances[0].grid.meshes[0].values.length;
  const dates = instances[0].timeline.dates.length;
  const pitch = instances.length;
  const out = buffers.empty(element, (nodes + program.records.length) * pitch);
  const status = buffers.empty("i32", STATUS_INTEGERS * pitch);
  const rows = rowsOf(program);
  const work = workOf(instances.length, nodes);
  const split = isSplit(instances.length, nodes, program, pace);
  const state = buffers.empty(element, split ? keptArrayCount(variant) * nodes * pitch : 1);
  const args = {
    instances: instances.length,
    pitch,
    nodes,
    rows,
    dates,
    table: buffers.filled(element, packedMeshes(instances, descending)),
    parameters: buffers.filled(element, packedParameters(instances, literals)),
    words: buffers.filled("i32", program.words),
    reals: buffers.filled(element, program.reals),
    out,
    status,
    state,
  };
  const parts = { rows, fewest: split ? MIN_ROWS : rows, work, instances: instances.length };
  await pace.inParts(device, parts, (first, end) => {
    const recorded = recordedBefore(program, first);
    device.launch(kernel, { ...args, first, end, recorded }, launchSize(executor.split, instances.length));
  });
  const [values, words] = [await device.read(out), await device.read(status)];
  return instances.map((instance, l) => ({
    ...resultOf(program, instance, values, words, l, pitch, descending),
    source,
    executor,
  }));
}

/** Values of the exercise boundary that rows before `row` have recorded. */
function recordedBefore({ words }: TimeProgram, row: number): number {
  let count = 0;
  for (let k = 0; k < row; k++) if ((words[2 * k] & PROGRAM_BITS.STEP_END) !== 0) count++;
  return count;
}

/**
 * S of each node, then the steps of the coordinate, which are differences in f64: in f32 they would be rounded away.
 */
function packedMeshes(instances: readonly PlannedInstance[], descending: boolean): Float64Array {
  const pitch = instances.length;
  const count = instances[0].grid.meshes[0].values.length;
  const table = new Float64Array(2 * count * pitch);
  instances.forEach(({ grid }, l) => {
    const [{ values, coordinates }] = grid.meshes;
    for (let i = 0; i < count; i++) {
      const [here, next] = descending ? [count - 1 - i, count - 2 - i] : [i, i + 1];
      table[i * pitch + l] = values[here];
      if (i + 1 < count) table[(count + i) * pitch + l] = coordinates[next] - coordinates[here];
    }
  });
  return table;
}

function resultOf(
  program: TimeProgram,
  { timeline, grid: { meshes, window } }: PlannedInstance,
  out: Float64Array | Float32Array,
  words: Int32Array,
  l: number,
  pitch: number,
  descending: boolean,
): Omit<InstanceResult, "source" | "executor"> {
  const count = meshes[0].values.length;
  const all = new Float64Array(count);
  let largest = 0;
  for (let i = 0; i < count; i++) {
    const value = out[i * pitch + l];
    all[descending ? count - 1 - i : i] = value;
    largest = Math.max(largest, Math.abs(value));
  }
  const boundary = new Float64Array(out.length / pitch - count);
  for (let k = 0; k < boundary.length; k++) {
    const level = out[(count + k) * pitch + l];
    boundary[k] = level < 0.5 * NOWHERE ? NaN : level;
  }
  const status = new Int32Array(STATUS_INTEGERS);
  for (let k = 0; k < STATUS_INTEGERS; k++) status[k] = words[k * pitch + l];
  if (descending) {
    const { node, limitedLow, limitedHigh } = STATUS;
    const [at, low, high] = [status[node], status[limitedLow], status[limitedHigh]].map((i) => count - 1 - i);
    [status[node], status[limitedLow], status[limitedHigh]] = [at, high, low];
  }
  const {
    nodes,
    point,
    starts: [start],
  } = window;
  const failed = hasFailed(statusOf(status));
  return { program, timeline, meshes, nodes, point, values: all, start, largest, boundary, status, failed };
}

/**
 * Compiles a solver of all entries of an equation on one axis, for the largest mesh. Tests may choose the `split` of
 * instances among work items (`executorFor`). Instances that a team of items cannot solve (`equationKernel`) are solved
 * again by single items. @throws KernelError | SpecError (too many nodes for the device) | PrecisionError
 */
export async function axisSolver(
  device: Device,
  model: OneAxisEquation,
  precision: Precision,
  pace: LaunchScheduler,
  split?: EquationSplit,
): Promise<LevelSolver<InstanceResult>> {
  const axis = { name: model.names[0], nodes: model.nodes[0] };
  const settingOf = async (executor: EquationExecutor): Promise<LaunchSetting> => {
    const kernel = await device.compile(sharedKernelOf(executor), { precision });
    return { device, kernel, executor, model, pace, source: () => kernelOf(executor) };
  };
  const launcherOf = (setting: LaunchSetting): Launcher<InstanceResult> => ({
    kernel: setting.kernel,
    sizeOf: ([nodes], program, count) => instancesPerLaunch(setting, nodes, program, count),
    launch: async (program, instances) => {
      const solved = await launch(setting, program, instances);
      const grown = [...solved.keys()].filter((l) => solved[l].status[STATUS.growth] !== 0);
      if (setting.executor.split === "item" || grown.length === 0) return solved;
      pace.expect(grown.length * rowsOf(program));
      const byItems = launcherOf(await settingOf(itemExecutor(device, model.variant, axis, precision)));
      const again = await solveInstances(
        byItems,
        program,
        grown.map((l) => instances[l]),
      );
      grown.forEach((l, i) => (solved[l] = again[i]));
      return solved;
    },
  });
  const setting = await settingOf(executorFor(device, model.variant, axis, precision, split));
  return new LevelSolver(model, launcherOf(setting), pace);
}
