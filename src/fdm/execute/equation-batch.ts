import type { CompiledKernel, Device } from "../../device/index.ts";
import type { SpecError } from "../../errors.ts";
import type { Precision } from "../../kernel/index.ts";
import { STATUS } from "../operator/status.ts";
import {
  type EquationExecutor,
  type EquationSplit,
  executorFor,
  itemExecutor,
  sharedKernelOf,
} from "./equation-split.ts";
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
import { type ProgramSpec, type TimeProgram, timeProgram, type Timeline } from "../time/timeline.ts";
import { LastUsed } from "../../last-used.ts";
import type { Pace } from "./pace.ts";

/** How finely a batch is solved: all nodes (0) or every second (1), all steps or half of them. */
export interface Level {
  readonly mesh: 0 | 1;
  readonly halfSteps: boolean;
}

/** An instance's solution, with the executor and the program that it was made by. */
export interface Solved extends InstanceResult {
  readonly executor: EquationExecutor;
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

/** Solves all entries of a model, on one mesh and time grid after another; compiled once, for the largest mesh. */
export class BatchSolver {
  private readonly setting: LaunchSetting;
  private readonly meshes = new Map<string, AxisMesh>();

  private constructor(setting: LaunchSetting) {
    this.setting = setting;
  }

  /**
   * `split`: who solves, for tests; see `executorFor`.
   * @throws KernelError | SpecError (too many nodes for the device) | PrecisionError
   */
  static async create(
    device: Device,
    model: Model,
    precision: Precision,
    pace: Pace,
    split?: EquationSplit,
  ): Promise<BatchSolver> {
    const axis = { name: model.axisName, nodes: model.nodes };
    const executor = executorFor(device, model.variant, axis, precision, split);
    const kernel = await device.compile(sharedKernelOf(executor), { precision });
    return new BatchSolver({ device, kernel, executor, model, pace });
  }

  get kernel(): CompiledKernel {
    return this.setting.kernel;
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

  /**
   * In the order of the plan's entries. What a team cannot solve (`teamEquationKernel`) is solved again by items.
   * @throws the signal's reason | SpecError (more nodes than items can have)
   */
  async solve({ entries, groups }: Plan): Promise<Solved[]> {
    const solved = new Array<Solved>(entries.length);
    for (const { program, members } of groups) {
      await solveGroup(this.setting, program, members, solved);
      if (this.setting.executor.split === "item") continue;
      const grown = members.filter(({ at }) => solved[at].status[STATUS.growth] !== 0);
      if (grown.length === 0) continue;
      this.setting.pace.expect((grown.length * program.words.length) / 2);
      await solveGroup(await this.byItems(), program, grown, solved);
    }
    return solved;
  }

  private async byItems(): Promise<LaunchSetting> {
    const { device, model, kernel } = this.setting;
    const axis = { name: model.axisName, nodes: model.nodes };
    const executor = itemExecutor(device, model.variant, axis, kernel.precision);
    const compiled = await device.compile(sharedKernelOf(executor), { precision: kernel.precision });
    return { ...this.setting, executor, kernel: compiled };
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
    const programFor = programsOf(spec);
    for (const [at, index] of entries.entries()) {
      await pace.turn();
      const entry = batch.entries[index];
      const timeline = timelineOf(entry);
      const made = programFor(timeline);
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

/** Solves members of one program, launch after launch, each into its place of `solved`. */
async function solveGroup(
  setting: LaunchSetting,
  program: TimeProgram,
  members: readonly Member[],
  solved: Solved[],
): Promise<void> {
  const nodes = members[0].instance.mesh.values.length;
  for (let first = 0, end = 0; first < members.length; first = end) {
    end = first + instancesPerLaunch(setting, nodes, program, members.length - first);
    const part = members.slice(first, end);
    const results = await launch(
      setting,
      program,
      part.map(({ instance }) => instance),
    );
    results.forEach((result, i) => {
      solved[part[i].at] = { ...result, program, timeline: part[i].instance.timeline, executor: setting.executor };
    });
  }
}

/** Programs that are remembered from one solution to the next: a pure function's memory. */
const MAX_PROGRAMS = 16;
const recent = new LastUsed<string, TimeProgram>(MAX_PROGRAMS);

/** Entries with the same dates share a program object; those with other dates may still have an equal one. */
export function programsOf(spec: ProgramSpec): (timeline: Timeline) => TimeProgram {
  const own = new Map<string, TimeProgram>();
  const specKey = JSON.stringify(spec);
  return (timeline) => {
    // Of one segment a program has places only, no times.
    const key =
      timeline.dates.length === 2 ? `${timeline.events.join(";")} ${timeline.regions[0]}` : JSON.stringify(timeline);
    let program = own.get(key);
    if (program === undefined)
      own.set(key, (program = recent.getOrMake(`${specKey} ${key}`, () => timeProgram(spec, timeline))));
    return program;
  };
}
