import {
  type CompiledKernel,
  type Device,
  firstThatFits,
  maxInstancesPerLaunch,
  isGpu,
  type LaunchArguments,
  TemporaryBuffers,
  type LaunchScheduler,
} from "../../../device/index.ts";
import { SpecError } from "../../../base/errors.ts";
import { hostRealType, type Kernel, type Precision } from "../../../kernel/index.ts";
import { firstFault, hasFailed, type Status } from "../operator/status.ts";
import type { AxesVariant, LineDivision } from "../operator/axes-variant.ts";
import type { AxesEquation } from "../model/full-grid.ts";
import { lazily } from "../problem/lowered.ts";
import { PROGRAM_BITS, type TimeProgram } from "../time/timeline.ts";
import { axesKernel, type PhaseKernels, phaseKernels, sharedAxesKernel } from "./axes/kernel.ts";
import {
  AXES_STATUS,
  AXES_STATUS_INTEGERS,
  type AxesShape,
  EXPONENT_OFFSET,
  LINES_PER_TILE,
  packedMeshes,
  PADDING,
  shapeOfGrid,
  SUMMARY,
  SUMMARY_INTEGERS,
  workReals,
} from "./axes/context.ts";
import { type GridSolution, type Launcher, LevelSolver, packedParameters, type PlannedInstance } from "./plan.ts";

/** The results of one launch. */
interface Launched extends Pick<AxesInstanceResult, "program" | "values" | "source"> {
  readonly instances: readonly PlannedInstance[];
  /** The number of nodes of a window. */
  readonly count: number;
  /** True with exercise at all times, whose flags follow the solutions of an instance. */
  readonly early: boolean;
  readonly summary: Int32Array;
  /** The status words of all items; undefined where none has found anything. */
  readonly words: Int32Array | undefined;
}

/** The solution of an instance on several axes. */
export interface AxesInstanceResult extends GridSolution {
  /** The flags of nodes, 1 where immediate exercise is optimal; undefined without exercise at all times. */
  readonly exercised: Uint8Array | undefined;
  readonly status: Status;
}

/**
 * The solution of instance `l` of a launch. It reads from the launch's buffers when asked, because a batch may have
 * thousands of instances of which only one number is needed.
 */
function resultOf(
  { program, values, source, instances, count, early, summary, words }: Launched,
  l: number,
): AxesInstanceResult {
  const { timeline, grid } = instances[l];
  const { nodes, point } = grid.window;
  const start = l * (early ? 2 * count : count);
  return {
    program,
    timeline,
    meshes: grid.meshes,
    nodes,
    point,
    values,
    start,
    source,
    get exercised() {
      return early ? new Uint8Array(values.subarray(start + count, start + 2 * count)) : undefined;
    },
    get largest() {
      const exponent = summary[SUMMARY_INTEGERS * l + SUMMARY.exponent];
      return exponent === 0 ? 0 : 2 ** (exponent - EXPONENT_OFFSET);
    },
    get status() {
      if (words === undefined) return { fault: 0, node: 0, row: 0, growth: false, endless: 0 };
      const each = words.length / instances.length;
      return statusOf(words.subarray(l * each, (l + 1) * each));
    },
    get failed() {
      return words !== undefined && hasFailed(this.status);
    },
  };
}

/** The device, the compiled kernels and the model with which instances on several axes are launched. */
interface AxesSetting {
  readonly device: Device;
  /** The kernel of the whole time loop, with one workgroup for each instance. */
  readonly kernel: CompiledKernel;
  /** Returns the kernels of each phase of the time loop, which are compiled on first use. */
  readonly passes: () => Promise<CompiledPasses>;
  readonly model: AxesEquation;
  readonly variant: AxesVariant;
  readonly pace: LaunchScheduler;
  readonly source: () => Kernel;
}

/** The compiled kernels of each phase of the time loop. */
type CompiledPasses = Readonly<Record<keyof PhaseKernels, readonly CompiledKernel[]>>;

/** Bytes of one launch's buffers; bounds memory whatever the batch. A GPU wants some thousand workgroups at once. */
const LAUNCH_BYTES = { cpu: 2 ** 28, webgpu: 2 ** 28, cuda: 2 ** 31 } as const;

async function compiledPasses(
  variant: AxesVariant,
  compiled: (kernel: Kernel) => Promise<CompiledKernel>,
): Promise<CompiledPasses> {
  const all = async (kernels: readonly Kernel[]): Promise<CompiledKernel[]> => Promise.all(kernels.map(compiled));
  const { begin, factor, advance, event, read } = phaseKernels(variant);
  const hasEvents = variant.pointwise !== undefined || variant.jump !== undefined;
  return {
    begin: await all(begin),
    factor: await all(factor),
    advance: await all(advance),
    event: await all(hasEvents ? event : []),
    read: await all(read),
  };
}

/** Work items that share an instance's lines on a GPU where each works on lines of its own. */
const GPU_GROUP = 128;

/** LineDivision for lines of so many nodes, the first that are enough: fewer nodes an item, or fewer items. */
const LINE_SEGMENTS: readonly LineDivision[] = [
  { count: 8, length: 16 },
  { count: 16, length: 16 },
  { count: 8, length: 32 },
  { count: 16, length: 32 },
];

/** Returns how items share lines of up to so many nodes. */
function sharing(device: Device, nodes: number): Pick<AxesVariant, "groupSize" | "segments"> {
  if (!isGpu(device)) return { groupSize: PADDING, segments: undefined };
  const enough = LINE_SEGMENTS.filter(({ count, length }) => count * length >= nodes);
  const segments = firstThatFits(device, enough, ({ count }) => ({ items: count * LINES_PER_TILE }));
  const groupSize =
    segments === undefined ? Math.min(GPU_GROUP, device.limits.maxGroupSize) : segments.count * LINES_PER_TILE;
  return { groupSize, segments };
}

/** Stages of one axis that a step of two or three costs; a CPU takes neighbouring lines as lanes, and so is quicker. */
const stagesOf = ({ backend }: Device): number => (backend === "cpu" ? 1 : 4);

/** The number of instances with the same program in one launch, limited by memory and by the duration of a launch. */
function instancesPerLaunch(
  { kernel, variant, device, pace }: AxesSetting,
  shape: AxesShape,
  program: TimeProgram,
  count: number,
): number {
  const bytes = workReals(variant, shape) * (kernel.precision === "f32" ? 4 : 8);
  const room = maxInstancesPerLaunch(device, bytes, LAUNCH_BYTES[device.backend]);
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
 * The number of workgroups that share an instance: one for each `groupSize` of its lines, or for each `LINES_PER_TILE`
 * of them where several items share a line. It is 1 where the instances alone fill the device, or the grid is small.
 */
function partsOf({ device, variant }: AxesSetting, shape: AxesShape, instances: number): number {
  const { plane, stride, lines, size, n0, n1, n2 } = shape;
  const few = n0 * n1 * n2 < SHARED_NODES[device.backend];
  if (few || 2 * instances > workgroupsOf(device, variant)) return 1;
  if (variant.segments === undefined) return Math.ceil(Math.max(plane, lines) / variant.groupSize);
  const columns = variant.axes.length > 2 ? Math.max(plane, stride * n2) : stride;
  const tiles = Math.ceil(Math.max(columns, lines) / LINES_PER_TILE);
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
async function launchAxes(
  setting: AxesSetting,
  program: TimeProgram,
  instances: readonly PlannedInstance[],
): Promise<AxesInstanceResult[]> {
  const { device, kernel, model, variant, pace, source } = setting;
  using buffers = new TemporaryBuffers(device);
  const element = hostRealType(kernel.precision);
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
  const statusIntegers = AXES_STATUS_INTEGERS * variant.groupSize * parts;
  const status = buffers.empty("i32", statusIntegers * instances.length);
  const summary = buffers.empty("i32", SUMMARY_INTEGERS * instances.length);
  const { table, offsets } = packedMeshes(variant.axes, shape, instances);
  const args = {
    instances: instances.length,
    parts,
    row: 0,
    ...shape,
    rows,
    dates: instances[0].timeline.dates.length,
    table: buffers.filled(element, table),
    parameters: buffers.filled(element, packedParameters(instances, model.literals)),
    words: buffers.filled("i32", program.words),
    reals: buffers.filled(element, program.reals),
    work: buffers.empty(element, workReals(variant, shape) * instances.length + PADDING),
    m0,
    m1,
    m2,
    offsets: buffers.filled("i32", offsets),
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
  let anyFound = false;
  for (let at = SUMMARY.found; at < summaries.length; at += SUMMARY_INTEGERS) anyFound ||= summaries[at] !== 0;
  const launched: Launched = {
    program,
    values: outputs instanceof Float64Array ? outputs : new Float64Array(outputs),
    source,
    instances,
    count: read,
    early: variant.obstacle !== undefined,
    summary: summaries,
    words: anyFound ? await device.read(status) : undefined,
  };
  return instances.map((_, l) => resultOf(launched, l));
}

/** A launch for each phase of rows `first` … `end` − 1 of the program. */
function launchPasses(
  device: Device,
  passes: CompiledPasses,
  { words }: TimeProgram,
  args: LaunchArguments & { readonly first: number; readonly end: number; readonly rows: number },
  groups: number,
): void {
  const launch = (kernels: readonly CompiledKernel[], row: number): void => {
    for (const kernel of kernels) device.launch(kernel, { ...args, row }, { groups });
  };
  if (args.first === 0) launch(passes.begin, 0);
  for (let row = args.first; row < args.end; row++) {
    const flags = words[2 * row];
    if ((flags & PROGRAM_BITS.EVENT) !== 0) launch(passes.event, row);
    else {
      if ((flags & PROGRAM_BITS.FACTOR) !== 0) launch(passes.factor, row);
      launch(passes.advance, row);
    }
  }
  if (args.end === args.rows) launch(passes.read, 0);
}

/** Merges the status words of the items of an instance. */
function statusOf(words: Int32Array): Status {
  let growth = false;
  let endless = 0;
  for (let at = 0; at < words.length; at += AXES_STATUS_INTEGERS) {
    growth ||= words[at + AXES_STATUS.growth] !== 0;
    endless ||= words[at + AXES_STATUS.endless];
  }
  return { ...firstFault(words, AXES_STATUS_INTEGERS), growth, endless };
}

/**
 * Compiles a solver of all entries of an equation on two or three axes. @throws KernelError | SpecError (too many
 * nodes) | PrecisionError
 */
export async function axesSolver(
  device: Device,
  model: AxesEquation,
  precision: Precision,
  pace: LaunchScheduler,
): Promise<LevelSolver<AxesInstanceResult>> {
  const variant: AxesVariant = { ...model.variant, ...sharing(device, Math.max(...model.nodes)) };
  // On a CPU the items of a group are the lanes of its vectors.
  const vectors = precision === "f32" ? 2 : 4;
  const compiled = async (kernel: Kernel): Promise<CompiledKernel> => device.compile(kernel, { precision, vectors });
  const kernel = await compiled(sharedAxesKernel(variant));
  const passes = lazily(async () => compiledPasses(variant, compiled));
  const setting: AxesSetting = { device, kernel, passes, model, variant, pace, source: () => axesKernel(variant) };
  const checkSize = (counts: readonly number[]): void => {
    const bytes = workReals(variant, shapeOfGrid(counts)) * (kernel.precision === "f32" ? 4 : 8);
    if (bytes > device.limits.maxBufferBytes)
      throw new SpecError(
        `axes: ${counts.join(" × ")} nodes take ${Math.ceil(bytes / 2 ** 20)} MiB on ${device.name}, which has buffers of at most ` +
          `${Math.floor(device.limits.maxBufferBytes / 2 ** 20)} MiB; take fewer nodes on ${model.names.join(", ")}`,
      );
  };
  const launcher: Launcher<AxesInstanceResult> = {
    kernel,
    checkSize,
    sizeOf: (nodes, program, count) => instancesPerLaunch(setting, shapeOfGrid(nodes), program, count),
    launch: (program, instances) => launchAxes(setting, program, instances),
  };
  return new LevelSolver(model, launcher, pace);
}
