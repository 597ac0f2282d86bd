import {
  type CompiledKernel,
  type Device,
  instancesThatFit,
  type LaunchArguments,
  LaunchBuffers,
  type Pace,
} from "../../../device/index.ts";
import { firstFault, hasFailed, type Status } from "../operator/status.ts";
import { type Grid, packedParameters, type PlannedInstance } from "./plan.ts";
import { hostReal } from "../../../kernel/index.ts";
import type { AxisMesh } from "../mesh/axis-mesh.ts";
import type { AxesVariant, AxisCode } from "../operator/axes-variant.ts";
import type { AxesModel } from "../model/full-grid.ts";
import { EVENT, FACTOR, type TimeProgram, type Timeline } from "../time/timeline.ts";
import type { PassKernels } from "./axes/kernel.ts";
import {
  arraysOf,
  AXES_STATUS,
  AXES_STATUS_WORDS,
  AXIS_ARRAYS,
  EXPONENT_OFFSET,
  LANES,
  PAD,
  PLACES,
  SUMMARY,
  SUMMARY_WORDS,
} from "./axes/place.ts";

/** The results of one launch. */
interface Launched {
  readonly program: TimeProgram;
  readonly instances: readonly PlannedInstance[];
  /** The solutions at the nodes of each window, and with exercise at all times as many flags of exercise. */
  readonly values: Float64Array;
  /** The number of nodes of a window. */
  readonly count: number;
  readonly early: boolean;
  readonly summary: Int32Array;
  /** The status words of all items; undefined where none has found anything. */
  readonly status: Int32Array | undefined;
}

/**
 * The solution of instance `l` of a launch. It reads from the launch's buffers when asked, because a batch may have
 * thousands of instances of which only one number is needed.
 */
export class AxesResult {
  readonly #launched: Launched;
  readonly #l: number;

  constructor(launched: Launched, l: number) {
    this.#launched = launched;
    this.#l = l;
  }

  get program(): TimeProgram {
    return this.#launched.program;
  }

  get timeline(): Timeline {
    return this.#instance.timeline;
  }

  get meshes(): readonly AxisMesh[] {
    return this.#instance.grid.meshes;
  }

  /** The values of each axis at the nodes that were read. */
  get nodes(): readonly Float64Array[] {
    return this.#instance.grid.window.nodes;
  }

  /** The point about which the nodes lie; undefined where all nodes were read. */
  get point(): readonly number[] | undefined {
    return this.#instance.grid.window.point;
  }

  /** The solutions of all instances of the launch. */
  get values(): Float64Array {
    return this.#launched.values;
  }

  /** The index in `values` at which this solution starts: node (i₀, i₁, i₂) is at start + (i₂·m₁ + i₁)·m₀ + i₀. */
  get start(): number {
    const { count, early } = this.#launched;
    return this.#l * (early ? 2 * count : count);
  }

  /** The flags (1) of nodes where immediate exercise is optimal; undefined without exercise at all times. */
  get exercised(): Uint8Array | undefined {
    const { values, count, early } = this.#launched;
    return early ? new Uint8Array(values.subarray(this.start + count, this.start + 2 * count)) : undefined;
  }

  /** An upper bound of |V| at all nodes. */
  get largest(): number {
    const exponent = this.#launched.summary[SUMMARY_WORDS * this.#l + SUMMARY.exponent];
    return exponent === 0 ? 0 : 2 ** (exponent - EXPONENT_OFFSET);
  }

  /** True where there is no solution. */
  get failed(): boolean {
    return this.#launched.status !== undefined && hasFailed(this.status);
  }

  get status(): Status {
    const { status, instances } = this.#launched;
    if (status === undefined) return NOTHING_FOUND;
    const words = status.length / instances.length;
    return statusOf(status.subarray(this.#l * words, (this.#l + 1) * words));
  }

  get #instance(): PlannedInstance {
    return this.#launched.instances[this.#l];
  }
}

/** The status of an instance whose items have found nothing. */
const NOTHING_FOUND: Status = { fault: 0, node: 0, row: 0, growth: false, endless: 0 };

/** The device, the compiled kernels and the model with which instances on several axes are launched. */
export interface AxesSetting {
  readonly device: Device;
  /** The kernel of the whole time loop, with one workgroup for each instance. */
  readonly kernel: CompiledKernel;
  /** Returns the kernels of each phase of the time loop, which are compiled on first use. */
  readonly passes: () => Promise<CompiledPasses>;
  readonly model: AxesModel;
  readonly variant: AxesVariant;
  readonly pace: Pace;
}

/** The compiled kernels of each phase of the time loop. */
export type CompiledPasses = Readonly<Record<keyof PassKernels, readonly CompiledKernel[]>>;

/** Bytes of one launch's buffers; bounds memory whatever the batch. A GPU wants some thousand workgroups at once. */
const LAUNCH_BYTES = { cpu: 2 ** 28, webgpu: 2 ** 28, cuda: 2 ** 31 } as const;

/** The numbers of nodes of each axis, and the strides and sizes of the padded node arrays. */
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

/** Returns the shape of the padded node arrays of a grid with given numbers of nodes. */
export function shapeOfGrid([n0, n1, n2 = 1]: readonly number[]): AxesShape {
  const stride = padded(n0);
  const lines = padded(n1 * n2);
  return { n0, n1, n2, stride, plane: stride * n1, lines, size: stride * lines };
}

/** The number of reals of device memory that an instance needs. */
export const wordsOf = (variant: AxesVariant, { size }: AxesShape): number => arraysOf(variant) * size + PAD;

/** Stages of one axis that a step of two or three costs; a CPU takes neighbouring lines as lanes, and so is quicker. */
const stagesOf = ({ backend }: Device): number => (backend === "cpu" ? 1 : 4);

/** The number of instances with the same program in one launch, limited by memory and by the duration of a launch. */
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
  return Math.min(count, room, Math.max(1, together, Math.floor(pace.share / loop)));
}

/** The number of workgroups that fill a device. */
const workgroupsOf = ({ backend, threads, parallelism }: Device, { groupSize }: AxesVariant): number =>
  backend === "cpu" ? threads : Math.max(1, Math.floor(parallelism / groupSize));

/** Nodes from which on it pays that a launch is a phase only: what a launch costs is then little beside its work. */
const SHARED_NODES = { cpu: 100_000, cuda: 5_000, webgpu: 20_000 } as const;

/**
 * The number of workgroups that share an instance: one for each `groupSize` of its lines, or for each `LANES` of them
 * where several items share a line. It is 1 where the instances alone fill the device, or the grid is small.
 */
export function partsOf({ device, variant }: AxesSetting, shape: AxesShape, instances: number): number {
  const { plane, stride, lines, size, n0, n1, n2 } = shape;
  const few = n0 * n1 * n2 < SHARED_NODES[device.backend];
  if (few || 2 * instances > workgroupsOf(device, variant)) return 1;
  if (variant.runs === undefined) return Math.ceil(Math.max(plane, lines) / variant.groupSize);
  const columns = variant.axes.length > 2 ? Math.max(plane, stride * n2) : stride;
  const tiles = Math.ceil(Math.max(columns, lines) / LANES);
  // More than fit on the device at once gain nothing.
  return Math.min(Math.max(tiles, Math.ceil(size / variant.groupSize)), 4 * workgroupsOf(device, variant));
}

/** The smallest number of rows of a part of a time loop. */
const MIN_ROWS = 4;
/**
 * The most launches of phases that wait on a device at once. CUDA's queue has room for some thousand; a thread that
 * launches more waits for room, and all threads of the context wait with it.
 */
const MAX_WAITING = 400;

/**
 * Launches instances and reads back their solutions; all buffers are disposed, even on failure. @throws the signal's
 * reason
 */
export async function launchAxes(
  setting: AxesSetting,
  program: TimeProgram,
  instances: readonly PlannedInstance[],
): Promise<AxesResult[]> {
  const { device, kernel, model, variant, pace } = setting;
  using buffers = new LaunchBuffers(device);
  const element = hostReal(kernel.precision);
  const shape = shapeOfGrid(instances[0].grid.meshes.map(({ values }) => values.length));
  const { n0, n1, n2 } = shape;
  const nodes = n0 * n1 * n2;
  const [m0, m1, m2 = 1] = instances[0].grid.window.counts;
  const read = m0 * m1 * m2;
  const results = variant.obstacle === undefined ? read : 2 * read;
  const rows = program.words.length / 2;
  const out = buffers.empty(element, results * instances.length);
  const parts = partsOf(setting, shape, instances.length);
  const groups = parts * instances.length;
  const statusWords = AXES_STATUS_WORDS * variant.groupSize * parts;
  const status = buffers.empty("i32", statusWords * instances.length);
  const summary = buffers.empty("i32", SUMMARY_WORDS * instances.length);
  const { table, places } = packedMeshes(variant.axes, shape, instances);
  const args = {
    instances: instances.length,
    parts,
    run: 0,
    ...shape,
    rows,
    dates: instances[0].timeline.dates.length,
    table: buffers.filled(element, table),
    parameters: buffers.filled(element, packedParameters(instances, model.literals)),
    words: buffers.filled("i32", program.words),
    reals: buffers.filled(element, program.reals),
    work: buffers.empty(element, wordsOf(variant, shape) * instances.length + PAD),
    m0,
    m1,
    m2,
    places: buffers.filled("i32", places),
    out,
    status,
    summary,
  };
  const work = stagesOf(device) * instances.length * nodes;
  const passes = parts === 1 ? undefined : await setting.passes();
  let reading: Promise<readonly [Int32Array, Float64Array | Float32Array]> | undefined;
  const most = passes === undefined ? rows : Math.max(MIN_ROWS, Math.floor(MAX_WAITING / passes.advance.length));
  await pace.inParts(device, { rows, fewest: MIN_ROWS, most, work, instances: instances.length }, (first, end) => {
    if (passes === undefined) device.launch(kernel, { ...args, first, end }, { groups });
    else launchPasses(device, passes, program, { ...args, first, end }, groups);
    if (end < rows) return device.finish();
    // What is asked for while the device works finds its memory made when the device is done.
    const words = device.read(summary);
    reading = Promise.all([words, device.read(out)]);
    reading.catch(() => {});
    return words;
  });
  const [summaries, outputs] = await reading!;
  const values = outputs instanceof Float64Array ? outputs : new Float64Array(outputs);
  let anyFound = false;
  for (let at = SUMMARY.found; at < summaries.length; at += SUMMARY_WORDS) anyFound ||= summaries[at] !== 0;
  const launched: Launched = {
    program,
    instances,
    values,
    count: read,
    early: variant.obstacle !== undefined,
    summary: summaries,
    status: anyFound ? await device.read(status) : undefined,
  };
  return instances.map((_, l) => new AxesResult(launched, l));
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

/** The packed meshes, once for all instances on the same; and where each instance's meshes and window start. */
function packedMeshes(
  axes: readonly AxisCode[],
  { n1, n2, stride }: AxesShape,
  instances: readonly PlannedInstance[],
): { readonly table: Float64Array; readonly places: Int32Array } {
  const lengths = [stride, n1, n2];
  const words = AXIS_ARRAYS * (stride + n1 + n2);
  const starts = new Map<Grid, number>();
  const packed: Float64Array[] = [];
  const places = new Int32Array(PLACES * instances.length);
  instances.forEach(({ grid }, l) => {
    let start = starts.get(grid);
    if (start === undefined) {
      starts.set(grid, (start = words * packed.length));
      const own = new Float64Array(words);
      grid.meshes.reduce((at, mesh, k) => {
        own.set(packedMesh(axes[k], lengths[k], mesh), at);
        return at + AXIS_ARRAYS * lengths[k];
      }, 0);
      packed.push(own);
    }
    places[PLACES * l] = start;
    places.set(grid.window.starts, PLACES * l + 1);
  });
  const table = new Float64Array(words * packed.length);
  packed.forEach((own, i) => table.set(own, words * i));
  return { table, places };
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
