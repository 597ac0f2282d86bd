import { type CompiledKernel, type Device, firstThatFits, isGpu, type Pace } from "../../../device/index.ts";
import { SpecError } from "../../../base/errors.ts";
import type { Kernel, Precision } from "../../../kernel/index.ts";
import type { AxesVariant, Runs } from "../operator/axes-variant.ts";
import type { AxesModel } from "../model/full-grid.ts";
import { axesKernel, passKernels, sharedAxesKernel } from "./axes/kernel.ts";
import { LANES, PAD } from "./axes/place.ts";
import {
  type AxesResult,
  type AxesSetting,
  type CompiledPasses,
  instancesPerLaunch,
  launchAxes,
  shapeOfGrid,
  wordsOf,
} from "./axes-launch.ts";
import { type Level, type LevelPlan, planOf, PreparedEntries, solveMembers } from "./plan.ts";

async function compiledPasses(
  variant: AxesVariant,
  compiled: (kernel: Kernel) => Promise<CompiledKernel>,
): Promise<CompiledPasses> {
  const all = async (kernels: readonly Kernel[]): Promise<CompiledKernel[]> => Promise.all(kernels.map(compiled));
  const { begin, factor, advance, event, read } = passKernels(variant);
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

/** Runs for lines of so many nodes, the first that are enough: fewer nodes an item, or fewer items. */
const RUNS: readonly Runs[] = [
  { count: 8, length: 16 },
  { count: 16, length: 16 },
  { count: 8, length: 32 },
  { count: 16, length: 32 },
];

/** Returns how items share lines of up to so many nodes. */
function sharing(device: Device, nodes: number): Pick<AxesVariant, "groupSize" | "runs"> {
  if (!isGpu(device)) return { groupSize: PAD, runs: undefined };
  const enough = RUNS.filter(({ count, length }) => count * length >= nodes);
  const runs = firstThatFits(device, enough, ({ count }) => ({ items: count * LANES }));
  const groupSize = runs === undefined ? Math.min(GPU_GROUP, device.limits.maxGroupSize) : runs.count * LANES;
  return { groupSize, runs };
}

/** A solver of all entries of a model on two or three axes, at any level of resolution. */
export class AxesSolver {
  private readonly setting: AxesSetting;
  private readonly entries: PreparedEntries;

  private constructor(setting: AxesSetting) {
    this.setting = setting;
    this.entries = new PreparedEntries(setting.model);
  }

  /** Compiles a solver. @throws KernelError | SpecError (too many nodes for the device) | PrecisionError */
  static async create(device: Device, model: AxesModel, precision: Precision, pace: Pace): Promise<AxesSolver> {
    const nodes = Math.max(...model.nodes);
    const variant: AxesVariant = { ...model.variant, ...sharing(device, nodes) };
    // On a CPU the items of a group are the lanes of its vectors.
    const vectors = precision === "f32" ? 2 : 4;
    const compiled = async (kernel: Kernel): Promise<CompiledKernel> => device.compile(kernel, { precision, vectors });
    let passes: Promise<CompiledPasses> | undefined;
    return new AxesSolver({
      device,
      kernel: await compiled(sharedAxesKernel(variant)),
      passes: async () => (passes ??= compiledPasses(variant, compiled)),
      model,
      variant,
      pace,
    });
  }

  get kernel(): CompiledKernel {
    return this.setting.kernel;
  }

  /**
   * The kernel with this model's own functions, for messages; the compiled kernel may be shared and have those of
   * another model.
   */
  get source(): Kernel {
    return axesKernel(this.setting.variant);
  }

  /** Returns the error for which an entry cannot be solved (`PreparedEntries`); undefined if it can. */
  check(index: number, levels: readonly Level[]): SpecError | undefined {
    return this.entries.check(index, levels, (counts) => this.checkSize(counts));
  }

  /** Solves a plan, and returns the solutions in the order of its entries. @throws the signal's reason */
  async solve({ entries, groups }: LevelPlan): Promise<AxesResult[]> {
    const { setting } = this;
    const solved = new Array<AxesResult>(entries.length);
    for (const { program, members } of groups) {
      const shape = shapeOfGrid(members[0].instance.grid.meshes.map(({ values }) => values.length));
      await solveMembers(
        members,
        (count) => instancesPerLaunch(setting, shape, program, count),
        (instances) => launchAxes(setting, program, instances),
        (at, result) => (solved[at] = result),
      );
    }
    return solved;
  }

  /** Makes the plan of some entries at a level. @throws the signal's reason */
  async plan(level: Level, entries: readonly number[]): Promise<LevelPlan> {
    return planOf(this.setting.model, this.entries, this.setting.pace, level, entries);
  }

  /** @throws SpecError a grid that the device has no memory for */
  private checkSize(counts: readonly number[]): void {
    const { device, kernel, variant, model } = this.setting;
    const bytes = wordsOf(variant, shapeOfGrid(counts)) * (kernel.precision === "f32" ? 4 : 8);
    if (bytes > device.limits.maxBufferBytes)
      throw new SpecError(
        `axes: ${counts.join(" × ")} nodes take ${Math.ceil(bytes / 2 ** 20)} MiB on ${device.name}, which has buffers of at most ` +
          `${Math.floor(device.limits.maxBufferBytes / 2 ** 20)} MiB; take fewer nodes on ${model.names.join(", ")}`,
      );
  }
}
