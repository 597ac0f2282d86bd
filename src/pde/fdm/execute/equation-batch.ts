import type { CompiledKernel, Device, Pace } from "../../../device/index.ts";
import type { SpecError } from "../../../base/errors.ts";
import type { Precision } from "../../../kernel/index.ts";
import { STATUS } from "../operator/status.ts";
import {
  type EquationExecutor,
  type EquationSplit,
  executorFor,
  itemExecutor,
  sharedKernelOf,
} from "./equation-split.ts";
import { type InstanceResult, instancesPerLaunch, launch, type LaunchSetting } from "./equation-launch.ts";
import type { OneAxisModel } from "../model/full-grid.ts";
import type { TimeProgram } from "../time/timeline.ts";
import { type Level, type Member, type LevelPlan, planOf, PreparedEntries, solveMembers } from "./plan.ts";

/** The solution of an instance, and the executor that produced it. */
export interface Solved extends InstanceResult {
  readonly executor: EquationExecutor;
}

/**
 * A solver of all entries of a model on one axis, at any level of resolution; it is compiled once, for the largest
 * mesh.
 */
export class BatchSolver {
  private readonly setting: LaunchSetting;
  private readonly entries: PreparedEntries;

  private constructor(setting: LaunchSetting) {
    this.setting = setting;
    this.entries = new PreparedEntries(setting.model);
  }

  /**
   * Compiles a solver. Tests may choose the `split` of instances among work items (`executorFor`). @throws KernelError
   * | SpecError (too many nodes for the device) | PrecisionError
   */
  static async create(
    device: Device,
    model: OneAxisModel,
    precision: Precision,
    pace: Pace,
    split?: EquationSplit,
  ): Promise<BatchSolver> {
    const axis = { name: model.names[0], nodes: model.nodes[0] };
    const executor = executorFor(device, model.variant, axis, precision, split);
    const kernel = await device.compile(sharedKernelOf(executor), { precision });
    return new BatchSolver({ device, kernel, executor, model, pace });
  }

  get kernel(): CompiledKernel {
    return this.setting.kernel;
  }

  /** Returns the error for which an entry cannot be solved (`PreparedEntries`); undefined if it can. */
  check(index: number, levels: readonly Level[]): SpecError | undefined {
    return this.entries.check(index, levels, () => undefined);
  }

  /**
   * Solves a plan, and returns the solutions in the order of its entries. Instances that a team of items cannot solve
   * (`equationKernel`) are solved again by single items. @throws the signal's reason | SpecError (more nodes than a
   * single item can have)
   */
  async solve({ entries, groups }: LevelPlan): Promise<Solved[]> {
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
    const axis = { name: model.names[0], nodes: model.nodes[0] };
    const executor = itemExecutor(device, model.variant, axis, kernel.precision);
    const compiled = await device.compile(sharedKernelOf(executor), { precision: kernel.precision });
    return { ...this.setting, executor, kernel: compiled };
  }

  /** Makes the plan of some entries at a level. @throws the signal's reason */
  async plan(level: Level, entries: readonly number[]): Promise<LevelPlan> {
    return planOf(this.setting.model, this.entries, this.setting.pace, level, entries);
  }
}

/** Solves members of one program, launch after launch, each into its place of `solved`. */
async function solveGroup(
  setting: LaunchSetting,
  program: TimeProgram,
  members: readonly Member[],
  solved: Solved[],
): Promise<void> {
  const { executor } = setting;
  const nodes = members[0].instance.grid.meshes[0].values.length;
  await solveMembers(
    members,
    (count) => instancesPerLaunch(setting, nodes, program, count),
    (instances) => launch(setting, program, instances),
    (at, result) => (solved[at] = { ...result, executor }),
  );
}
