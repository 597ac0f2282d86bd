import { type CompiledKernel, type Device, instancesThatFit, LaunchBuffers, type Pace } from "../../../device/index.ts";
import { packedParameters, type PlannedInstance } from "./plan.ts";
import { hostReal } from "../../../kernel/index.ts";
import { NOWHERE } from "../conditions/exercise.ts";
import { hasFailed, STATUS, STATUS_WORDS, statusOf } from "../operator/status.ts";
import { keptArrays } from "../operator/equation-row.ts";
import type { AxisMesh } from "../mesh/axis-mesh.ts";
import type { OneAxisModel } from "../model/full-grid.ts";
import { STEP_END, type TimeProgram, type Timeline } from "../time/timeline.ts";
import type { EquationExecutor } from "./equation-split.ts";
import { launchSize, teamOf } from "./split.ts";

/** The solution of an instance on one axis, with nodes ascending. */
export interface InstanceResult {
  readonly program: TimeProgram;
  readonly timeline: Timeline;
  /** The mesh of the only axis. */
  readonly meshes: readonly AxisMesh[];
  /**
   * The nodes that were read. `point` is the point about which they lie, and `values` has the solution there from index
   * `start` on.
   */
  readonly nodes: readonly Float64Array[];
  readonly point: readonly number[] | undefined;
  readonly values: Float64Array;
  readonly start: number;
  /** The largest |V| at all nodes. */
  readonly largest: number;
  /** The exercise boundary at the times of the program's `records`; NaN where no node is exercised. */
  readonly boundary: Float64Array;
  /** The status of the instance (`STATUS`), with node indices for ascending nodes. */
  readonly status: Int32Array;
  /** True where there is no solution. */
  readonly failed: boolean;
}

/**
 * The number of instances that the CPU computes side by side, or two or four times as many in f32: fewer take as long.
 */
const CPU_INSTANCES = 8;
/** The smallest number of rows of a part of a time loop. */
const MIN_ROWS = 32;

/** The device, the compiled kernel and the model with which instances are launched. */
export interface LaunchSetting {
  readonly device: Device;
  readonly kernel: CompiledKernel;
  /** The executor from which the kernel was made. */
  readonly executor: EquationExecutor;
  readonly model: OneAxisModel;
  readonly pace: Pace;
}

const rowsOf = ({ words }: TimeProgram): number => words.length / 2;

/**
 * The number of instances of the next launch, out of `count` with the same number of nodes and the same program. It is
 * limited by memory and by the duration of a launch.
 */
export function instancesPerLaunch(
  { device, kernel, executor, model, pace }: LaunchSetting,
  nodes: number,
  program: TimeProgram,
  count: number,
): number {
  const fitting = (arrays: number): number => {
    const words = arrays * nodes + program.records.length + 64;
    return instancesThatFit(device, words * (kernel.precision === "f32" ? 4 : 8));
  };
  const together =
    device.backend === "cpu" ? 2 * CPU_INSTANCES : Math.ceil(device.parallelism / (teamOf(executor.split)?.items ?? 1));
  const shared = Math.floor(pace.share / (nodes * rowsOf(program)) / together) * together;
  const instances = Math.min(count, fitting(3), Math.max(shared, together));
  return isSplit(instances, nodes, program, pace)
    ? Math.min(instances, fitting(3 + keptArrays(model.variant)))
    : instances;
}

const workOf = (instances: number, nodes: number): number =>
  Math.ceil(instances / CPU_INSTANCES) * CPU_INSTANCES * nodes;

/** Tells whether a time loop is run a part at a time. */
const isSplit = (instances: number, nodes: number, program: TimeProgram, pace: Pace): boolean =>
  workOf(instances, nodes) * rowsOf(program) > 1.5 * pace.share && rowsOf(program) > MIN_ROWS;

/**
 * Launches instances and reads back their solutions; all buffers are disposed, even on failure. @throws the signal's
 * reason, between launches
 */
export async function launch(
  { device, kernel, executor, model: { descending, variant, literals }, pace }: LaunchSetting,
  program: TimeProgram,
  instances: readonly PlannedInstance[],
): Promise<InstanceResult[]> {
  using buffers = new LaunchBuffers(device);
  const element = hostReal(kernel.precision);
  const nodes = instances[0].grid.meshes[0].values.length;
  const dates = instances[0].timeline.dates.length;
  const pitch = instances.length;
  const out = buffers.empty(element, (nodes + program.records.length) * pitch);
  const status = buffers.empty("i32", STATUS_WORDS * pitch);
  const rows = rowsOf(program);
  const work = workOf(instances.length, nodes);
  const split = isSplit(instances.length, nodes, program, pace);
  const state = buffers.empty(element, split ? keptArrays(variant) * nodes * pitch : 1);
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
  return instances.map((instance, l) => laneResult(program, instance, values, words, l, pitch, descending));
}

/** Values of the exercise boundary that rows before `row` have recorded. */
function recordedBefore({ words }: TimeProgram, row: number): number {
  let count = 0;
  for (let k = 0; k < row; k++) if ((words[2 * k] & STEP_END) !== 0) count++;
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

function laneResult(
  program: TimeProgram,
  { timeline, grid: { meshes, window } }: PlannedInstance,
  out: Float64Array | Float32Array,
  words: Int32Array,
  l: number,
  pitch: number,
  descending: boolean,
): InstanceResult {
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
  const status = new Int32Array(STATUS_WORDS);
  for (let k = 0; k < STATUS_WORDS; k++) status[k] = words[k * pitch + l];
  if (descending) {
    const { node, cutLow, cutHigh } = STATUS;
    const [at, low, high] = [status[node], status[cutLow], status[cutHigh]].map((i) => count - 1 - i);
    [status[node], status[cutLow], status[cutHigh]] = [at, high, low];
  }
  const {
    nodes,
    point,
    starts: [start],
  } = window;
  const failed = hasFailed(statusOf(status));
  return { program, timeline, meshes, nodes, point, values: all, start, largest, boundary, status, failed };
}
