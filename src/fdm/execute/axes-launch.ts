import {
  type CompiledKernel,
  type Device,
  instancesThatFit,
  type LaunchArguments,
  LaunchBuffers,
  type Pace,
} from "../../device/index.ts";
import { firstFault, type Status } from "../operator/status.ts";
import { packedParameters } from "./packed-parameters.ts";
import { hostReal } from "../../kernel/index.ts";
import type { AxisMesh } from "../mesh/axis-mesh.ts";
import type { AxesVariant, AxisCode } from "../operator/axes-variant.ts";
import type { AxesModel } from "../problem/full-grid.ts";
import { EVENT, FACTOR, type TimeProgram } from "../time/timeline.ts";
import type { PassKernels } from "./axes/kernel.ts";
import { arraysOf, AXIS_ARRAYS } from "./axes/place.ts";
import { AXES_STATUS, AXES_STATUS_WORDS, LANES, PAD } from "./axes/records.ts";
import type { PlannedInstance } from "./plan.ts";

/** The result of an instance. Node (i₀, i₁, i₂) is at index (i₂·n₁ + i₁)·n₀ + i₀. */
export interface AxesResult {
  readonly meshes: readonly AxisMesh[];
  readonly values: Float64Array;
  /** Flags of the nodes where immediate exercise is optimal (1); undefined without exercise at all times. */
  readonly exercised: Uint8Array | undefined;
  readonly status: Status;
}

/** The device, compiled kernel, model and pacing of a launch on several axes. */
export interface AxesSetting {
  readonly device: Device;
  /** The kernel of the whole time loop, one workgroup an instance. */
  readonly kernel: CompiledKernel;
  /** Returns the kernels of each phase, compiled on first use. */
  readonly passes: () => Promise<CompiledPasses>;
  readonly model: AxesModel;
  readonly variant: AxesVariant;
  readonly pace: Pace;
}

/** The compiled kernels of each phase of a time step. */
export type CompiledPasses = Readonly<Record<keyof PassKernels, readonly CompiledKernel[]>>;

/** Bytes of one launch's buffers; bounds memory whatever the batch. A GPU wants some thousand workgroups at once. */
const LAUNCH_BYTES = { cpu: 2 ** 28, webgpu: 2 ** 28, cuda: 2 ** 31 } as const;

/** The numbers of nodes of each axis and of the padded arrays. */
export interface AxesShape {
  readonly n0: number;
  readonly n1: number;
  readonly n2: number;
  readonly stride: number;
  readonly plane: number;
  readonly lines: number;
  readonly size: number;
}

/** Not a multiple of 4·`PAD`, for which the nodes of a line along another axis would share few sets of a cache. */
function padded(count: number): number {
  const tiles = Math.ceil(count / PAD);
  return (tiles % 4 === 0 ? tiles + 1 : tiles) * PAD;
}

/** The padded array shape of a grid with the given numbers of nodes. */
export function shapeOfGrid([n0, n1, n2 = 1]: readonly number[]): AxesShape {
  const stride = padded(n0);
  const lines = padded(n1 * n2);
  return { n0, n1, n2, stride, plane: stride * n1, lines, size: stride * lines };
}

/** The number of words of device memory that an instance takes. */
export const wordsOf = (variant: AxesVariant, { size }: AxesShape): number => arraysOf(variant) * size + PAD;

/** Stages of one axis that a step of two or three costs; a CPU takes neighbouring lines as lanes, and so is quicker. */
const stagesOf = ({ backend }: Device): number => (backend === "cpu" ? 1 : 4);

/** The number of instances with the same program in one launch, limited by memory and by the launch's duration. */
export function instancesPerLaunch(
  { kernel, variant, device, pace }: AxesSetting,
  shape: AxesShape,
  program: TimeProgram,
  count: number,
): number {
  const bytes = wordsOf(variant, shape) * (kernel.precision === "f32" ? 4 : 8);
  const room = instancesThatFit(device, bytes, LAUNCH_BYTES[device.backend]);
  const loop = (stagesOf(device) * shape.n0 * shape.n1 * shape.n2 * program.words.length) / 2;
  // Fewer would leave a part of the device idle.
  const together = workgroupsOf(device, variant);
  return Math.min(count, room, Math.max(together, Math.floor(pace.share / loop)));
}

/** The number of workgroups that fill a device. */
const workgroupsOf = ({ backend, threads, parallelism }: Device, { groupSize }: AxesVariant): number =>
  backend === "cpu" ? threads : Math.max(1, Math.floor(parallelism / groupSize));

/** Nodes from which on it pays that a launch is a phase only: what a launch costs is then little beside its work. */
const SHARED_NODES = { cpu: 100_000, cuda: 20_000, webgpu: 20_000 } as const;

/**
 * The number of workgroups that share an instance: one for each `groupSize` of its lines, or `LANES` with runs; 1 where
 * the instances fill the device or the grid is small.
 */
export function partsOf({ device, variant }: AxesSetting, shape: AxesShape, instances: number): number {
  const { plane, stride, lines, n0, n1, n2 } = shape;
  const few = n0 * n1 * n2 < SHARED_NODES[device.backend];
  if (few || 2 * instances > workgroupsOf(device, variant)) return 1;
  if (variant.runs === undefined) return Math.ceil(Math.max(plane, lines) / variant.groupSize);
  // More than fit on the device at once gain nothing.
  const tiles = Math.ceil(Math.max(plane, stride * n2, lines) / LANES);
  return Math.min(tiles, 4 * workgroupsOf(device, variant));
}

/** The smallest number of rows of a part of a time loop. */
const MIN_ROWS = 4;

/** Packs, launches and reads back instances, and disposes all buffers even on failure. @throws the signal's reason */
export async function launchAxes(
  setting: AxesSetting,
  program: TimeProgram,
  instances: readonly PlannedInstance[],
): Promise<AxesResult[]> {
  const { device, kernel, model, variant, pace } = setting;
  using buffers = new LaunchBuffers(device);
  const element = hostReal(kernel.precision);
  const shape = shapeOfGrid(instances[0].meshes.map(({ values }) => values.length));
  const { n0, n1, n2 } = shape;
  const nodes = n0 * n1 * n2;
  const results = variant.obstacle === undefined ? nodes : 2 * nodes;
  const rows = program.words.length / 2;
  const out = buffers.empty(element, results * instances.length);
  const parts = partsOf(setting, shape, instances.length);
  const groups = parts * instances.length;
  const statusWords = AXES_STATUS_WORDS * variant.groupSize * parts;
  const status = buffers.empty("i32", statusWords * instances.length);
  const args = {
    instances: instances.length,
    parts,
    run: 0,
    ...shape,
    rows,
    dates: instances[0].timeline.dates.length,
    table: buffers.filled(element, packedMeshes(variant.axes, shape, instances)),
    parameters: buffers.filled(element, packedParameters(instances, model.literals)),
    words: buffers.filled("i32", program.words),
    reals: buffers.filled(element, program.reals),
    work: buffers.empty(element, wordsOf(variant, shape) * instances.length + PAD),
    out,
    status,
  };
  const work = stagesOf(device) * instances.length * nodes;
  const passes = parts === 1 ? undefined : await setting.passes();
  let reading: Promise<readonly [Int32Array, Float64Array | Float32Array]> | undefined;
  await pace.inParts(device, { rows, fewest: MIN_ROWS, work, instances: instances.length }, (first, end) => {
    if (passes === undefined) device.launch(kernel, { ...args, first, end }, { groups });
    else launchPasses(device, passes, program, { ...args, first, end }, groups);
    if (end < rows) return device.finish();
    // What is asked for while the device works finds its memory made when the device is done.
    const words = device.read(status);
    reading = Promise.all([words, device.read(out)]);
    reading.catch(() => {});
    return words;
  });
  const [words, read] = await reading!;
  const values = read instanceof Float64Array ? read : new Float64Array(read);
  return instances.map(({ meshes }, l): AxesResult => {
    const own = values.subarray(l * results, (l + 1) * results);
    return {
      meshes,
      values: own.subarray(0, nodes),
      exercised: results === nodes ? undefined : new Uint8Array(own.subarray(nodes)),
      status: statusOf(words.subarray(l * statusWords, (l + 1) * statusWords)),
    };
  });
}

/** A launch for each phase of rows `first` … `end` − 1 of the program. */
function launchPasses(
  device: Device,
  passes: CompiledPasses,
  { words }: TimeProgram,
  args: LaunchArguments & { readonly first: number; readonly end: number; readonly rows: number },
  groups: number,
): void {
  const launch = (kernels: readonly CompiledKernel[], run: number): void => {
    for (const kernel of kernels) device.launch(kernel, { ...args, run }, { groups });
  };
  if (args.first === 0) launch(passes.begin, 0);
  for (let run = args.first; run < args.end; run++) {
    const flags = words[2 * run];
    if ((flags & EVENT) !== 0) launch(passes.event, run);
    else {
      if ((flags & FACTOR) !== 0) launch(passes.factor, run);
      launch(passes.advance, run);
    }
  }
  if (args.end === args.rows) launch(passes.read, 0);
}

/** Merges the status words of the items of an instance. */
function statusOf(words: Int32Array): Status {
  let growth = false;
  let endless = 0;
  for (let at = 0; at < words.length; at += AXES_STATUS_WORDS) {
    growth ||= words[at + AXES_STATUS.growth] !== 0;
    endless ||= words[at + AXES_STATUS.endless];
  }
  return { ...firstFault(words, AXES_STATUS_WORDS), growth, endless };
}

/** The packed meshes of each instance. Instances on the same mesh of an axis have copies of one packing. */
function packedMeshes(
  axes: readonly AxisCode[],
  { n1, n2, stride }: AxesShape,
  instances: readonly PlannedInstance[],
): Float64Array {
  const lengths = [stride, n1, n2];
  const known = axes.map(() => new Map<AxisMesh, Float64Array>());
  const table = new Float64Array(AXIS_ARRAYS * (stride + n1 + n2) * instances.length);
  let at = 0;
  for (const { meshes } of instances) {
    const start = at;
    meshes.forEach((mesh, k) => {
      let packed = known[k].get(mesh);
      if (packed === undefined) known[k].set(mesh, (packed = packedMesh(axes[k], lengths[k], mesh)));
      table.set(packed, at);
      at += packed.length;
    });
    at = start + AXIS_ARRAYS * (stride + n1 + n2);
  }
  return table;
}

/**
 * The arrays of one axis, of `length` numbers each: the values, the steps to the next node's coordinate, and the
 * weights of ∂/∂x to the next node and to the one before. They are made in f64 here, for differences of rounded
 * coordinates are not those of f32.
 *
 * ∂v/∂x ≈ next·(v₊ − v) + before·(v − v₋) in mixed derivatives: of second order between the ends, one-sided at an end
 * of zero curvature, and 0 at other ends. V is a straight line at a linear end, the same for all values of the other
 * axes: a mixed derivative beside no second derivative is not well posed, and explicit steps of it grow
 * (design/alternating-directions.md).
 */
function packedMesh(
  { first, last: end }: AxisCode,
  length: number,
  { values, coordinates: x }: AxisMesh,
): Float64Array {
  const packed = new Float64Array(AXIS_ARRAYS * length);
  const last = x.length - 1;
  for (let i = 0; i < length; i++) {
    packed[i] = values[Math.min(i, last)];
    packed[length + i] = i < last ? x[i + 1] - x[i] : 1;
  }
  for (let i = 0; i <= last; i++) {
    const down = i > 0 ? x[i] - x[i - 1] : 0;
    const up = i < last ? x[i + 1] - x[i] : 0;
    const isFree = (i === 0 ? first : end).kind === "zero-curvature";
    let [next, before] = [down / (up * (down + up)), up / (down * (down + up))];
    if (i === 0) [next, before] = [isFree ? 1 / up : 0, 0];
    if (i === last) [next, before] = [0, isFree ? 1 / down : 0];
    packed[2 * length + i] = next;
    packed[3 * length + i] = before;
  }
  return packed;
}
