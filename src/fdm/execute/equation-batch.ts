import type { CompiledKernel, Device } from "../../device/index.ts";
import { SpecError } from "../../errors.ts";
import type { Kernel, Precision } from "../../kernel/index.ts";
import { equationKernel, sharedEquationKernel } from "./item/equation/kernel.ts";
import { type EquationVariant, privateArrays } from "../operator/equation-variant.ts";
import {
  type Instance,
  type InstanceResult,
  instancesPerLaunch,
  launch,
  type LaunchSetting,
} from "./equation-launch.ts";
import { type AxisMesh, axisMesh, type MeshDescription } from "../mesh/axis-mesh.ts";
import type { Model } from "../problem/model.ts";
import { checkParameters, entryError } from "../problem/quantity.ts";
import { type TimeProgram, timeProgram, type Timeline } from "../time/timeline.ts";
import type { Pace } from "./pace.ts";

/** How finely a batch is solved: all nodes (0) or every second (1), all steps or half of them. */
export interface Level {
  readonly mesh: 0 | 1;
  readonly halfSteps: boolean;
}

/** An instance's solution, with the program it was made by. */
export interface Solved extends InstanceResult {
  readonly program: TimeProgram;
  readonly timeline: Timeline;
}

/**
 * Entries, which are indices into the batch, on one mesh and time grid: those that share a time program are
 * launched together.
 */
export interface Plan {
  readonly entries: readonly number[];
  readonly groups: readonly { readonly program: TimeProgram; readonly members: readonly Member[] }[];
}
interface Member {
  /** In the order of the plan's entries. */
  readonly at: number;
  readonly instance: Instance;
}

/** Node capacities that kernels are compiled for: few, since each is a compilation. */
const CAPACITIES = [65, 129, 257, 513, 1025, 2049];

/** Solves all entries of a model, on one mesh and time grid after another; compiled once, for the largest mesh. */
export class BatchSolver {
  private readonly setting: LaunchSetting;
  private readonly meshes = new Map<string, AxisMesh>();

  private readonly variant: EquationVariant;

  private constructor(setting: LaunchSetting, variant: EquationVariant) {
    this.setting = setting;
    this.variant = variant;
  }

  /** @throws KernelError | SpecError (too many nodes for the device) | PrecisionError */
  static async create(device: Device, model: Model, precision: Precision, pace: Pace): Promise<BatchSolver> {
    const variant = { ...model.variant, capacity: capacityOf(device, model, precision) };
    const kernel = await device.compile(sharedEquationKernel(variant), { precision });
    return new BatchSolver({ device, kernel, model, pace }, variant);
  }

  get kernel(): CompiledKernel {
    return this.setting.kernel;
  }

  /** What is compiled, in this very model's functions: the kernel's own may be those of another model. */
  get source(): Kernel {
    return equationKernel(this.variant);
  }

  /** Why entry `index` cannot be solved at some of `levels`, if so: its parameters, its ends, its dates. */
  check(index: number, levels: readonly Level[]): SpecError | undefined {
    const { batch, meshOf, timelineOf } = this.setting.model;
    return entryError(() => {
      checkParameters(batch, index);
      const entry = batch.entries[index];
      timelineOf(entry);
      for (const { mesh } of levels) this.meshOf(meshOf(entry), mesh);
    });
  }

  /** In the order of the plan's entries. @throws the signal's reason */
  async solve({ entries, groups }: Plan): Promise<Solved[]> {
    const solved = new Array<Solved>(entries.length);
    for (const { program, members } of groups) {
      const nodes = members[0].instance.mesh.values.length;
      for (let first = 0, end = 0; first < members.length; first = end) {
        end = first + instancesPerLaunch(this.setting, nodes, program, members.length - first);
        const part = members.slice(first, end);
        const results = await launch(
          this.setting,
          program,
          part.map(({ instance }) => instance),
        );
        results.forEach((result, i) => {
          solved[part[i].at] = { ...result, program, timeline: part[i].instance.timeline };
        });
      }
    }
    return solved;
  }

  /** @throws the signal's reason */
  async plan(level: Level, entries: readonly number[]): Promise<Plan> {
    const { model, pace } = this.setting;
    const { batch, meshOf, timelineOf, program, accuracy, steps } = model;
    const halved = accuracy.errorEstimate || accuracy.extrapolate === "time" || accuracy.extrapolate === "both";
    const spec = {
      ...program,
      steps: halved ? steps / 2 : steps,
      refinement: halved && !level.halfSteps ? 2 : 1,
    } as const;
    const groups = new Map<string, { program: TimeProgram; members: Member[] }>();
    const programs = new Map<string, TimeProgram>();
    for (const [at, index] of entries.entries()) {
      await pace.turn();
      const entry = batch.entries[index];
      const timeline = timelineOf(entry);
      const made = programOf((of) => timeProgram(spec, of), timeline, programs);
      const instance = { entry, timeline, mesh: this.meshOf(meshOf(entry), level.mesh) };
      const group = groups.get(made.key);
      if (group === undefined) groups.set(made.key, { program: made, members: [{ at, instance }] });
      else group.members.push({ at, instance });
      pace.expect(made.words.length / 2);
    }
    return { entries, groups: [...groups.values()] };
  }

  private meshOf(description: MeshDescription, level: 0 | 1): AxisMesh {
    const { from, to, width, points } = description;
    const key = `${level} ${from} ${to} ${width} ${points.map(({ at }) => at).join()}`;
    let mesh = this.meshes.get(key);
    if (mesh === undefined) this.meshes.set(key, (mesh = axisMesh(description, level)));
    return mesh;
  }
}

/** Entries with the same dates share a program object; those with other dates may still have an equal one. */
export function programOf(
  make: (timeline: Timeline) => TimeProgram,
  timeline: Timeline,
  programs: Map<string, TimeProgram>,
): TimeProgram {
  const key =
    timeline.dates.length === 2 ? `${timeline.events.join(";")} ${timeline.regions[0]}` : JSON.stringify(timeline);
  let program = programs.get(key);
  if (program === undefined) programs.set(key, (program = make(timeline)));
  return program;
}

/** @throws SpecError */
function capacityOf(device: Device, { variant, axisName, nodes }: Model, precision: Precision): number {
  const bytes = privateArrays({ ...variant, capacity: nodes }) * (precision === "f64" ? 8 : 4);
  const max = Math.min(CAPACITIES[CAPACITIES.length - 1], Math.floor((device.limits.maxPrivateBytes - 64) / bytes));
  if (nodes > max)
    throw new SpecError(
      `axes.${axisName}.nodes: ${nodes}, at most ${max} on ${device.name} in ${precision} with these conditions`,
    );
  return Math.min(CAPACITIES.find((size) => size >= nodes) ?? nodes, max);
}
