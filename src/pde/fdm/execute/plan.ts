import { SpecError } from "../../../base/errors.ts";
import { type AxisMesh, axisMesh, type MeshDescription } from "../mesh/axis-mesh.ts";
import type { Kernel } from "../../../kernel/index.ts";
import { stencilStart } from "../read/stencils.ts";
import type { CompiledKernel, LaunchScheduler } from "../../../device/index.ts";
import { keyOf, memoize, memoizeBy } from "../../../base/memoize.ts";
import { checkParameters, entryError, type ParameterValues } from "../problem/settings.ts";
import type { FullGridEquation } from "../model/full-grid.ts";
import { type ProgramSpec, type Timeline, type TimeProgram, timeProgram } from "../time/timeline.ts";

/** A box of a grid's nodes: on each axis it has `counts` nodes from index `starts` on. */
interface NodeWindow {
  readonly starts: readonly number[];
  readonly counts: readonly number[];
  /** The values of each axis at the nodes of the box. */
  readonly nodes: readonly Float64Array[];
  /** The point about which the nodes lie; undefined where the box has all nodes. */
  readonly point: readonly number[] | undefined;
}

/**
 * The nodes of an axis about a point that are read: six for derivatives of fourth order, and on a mesh of half as many
 * intervals those from which values at the finer mesh's six are interpolated.
 */
const ABOUT = 10;

/** The box of all nodes of a grid. */
const wholeWindow = (meshes: readonly AxisMesh[]): NodeWindow => ({
  starts: meshes.map(() => 0),
  counts: meshes.map(({ values }) => values.length),
  nodes: meshes.map(({ values }) => values),
  point: undefined,
});

/**
 * The box of the nodes from which the solution at a point is interpolated. @throws SpecError a point outside the axes
 */
function windowAbout(meshes: readonly AxisMesh[], point: readonly number[], names: readonly string[]): NodeWindow {
  const counts = meshes.map(({ values }) => Math.min(ABOUT, values.length));
  const starts = meshes.map(({ values }, k) => {
    const x = point[k];
    const last = values.length - 1;
    if (!(x >= values[0] && x <= values[last]))
      throw new SpecError(`at.${names[k]}: ${x} is outside the axis, ${values[0]} to ${values[last]}`);
    return stencilStart(values, x, counts[k]);
  });
  const nodes = meshes.map(({ values }, k) => values.subarray(starts[k], starts[k] + counts[k]));
  return { starts, counts, nodes, point };
}

/**
 * Returns the arguments of a problem's functions: parameters, literals and dates. Value k of instance l is at
 * [k·instances + l].
 */
export function packedParameters(
  instances: readonly Pick<PlannedInstance, "entry" | "timeline">[],
  literals: readonly number[],
): Float64Array {
  const pitch = instances.length;
  const [{ entry, timeline }] = instances;
  const parameters = new Float64Array((entry.length + literals.length + timeline.dates.length) * pitch);
  instances.forEach(({ entry, timeline: { dates } }, l) => {
    [...entry, ...literals, ...dates].forEach((value, k) => (parameters[k * pitch + l] = value));
  });
  return parameters;
}

/**
 * A level of resolution at which a batch is solved: all nodes (0) or every second one (1), and all time steps or half
 * of them.
 */
export interface Level {
  readonly mesh: 0 | 1;
  readonly halfSteps: boolean;
}

/** The meshes of an entry of a batch at a level of resolution, and the nodes at which the solution will be read. */
export interface Grid {
  readonly meshes: readonly AxisMesh[];
  readonly window: NodeWindow;
}

/** One entry of a batch to be solved on one grid. */
export interface PlannedInstance {
  readonly entry: ParameterValues;
  readonly timeline: Timeline;
  readonly grid: Grid;
}

/** The solution of an instance at the nodes that were read, ascending on each axis. */
export interface GridSolution {
  readonly program: TimeProgram;
  readonly timeline: Timeline;
  readonly meshes: readonly AxisMesh[];
  /** The values of each axis at these nodes, and the point about which they lie; undefined where all were read. */
  readonly nodes: readonly Float64Array[];
  readonly point: readonly number[] | undefined;
  /** Node (i₀, i₁, i₂) is at start + (i₂·m₁ + i₁)·m₀ + i₀ of `values`, which a launch's instances may share. */
  readonly values: Float64Array;
  readonly start: number;
  /** The largest |V| at all nodes, or an upper bound of it. */
  readonly largest: number;
  /** True where there is no solution. */
  readonly failed: boolean;
  /** Returns the kernel that has solved it, with the model's own functions, for messages. */
  readonly source: () => Kernel;
}

/** A launcher of planned instances on a device. S is the type of a solution. */
export interface Launcher<S> {
  readonly kernel: CompiledKernel;
  /** @throws SpecError a grid that the device has no memory for */
  readonly checkSize?: (counts: readonly number[]) => void;
  /**
   * Returns the number of instances of the next launch out of `count` instances, which have equal numbers of nodes on
   * each axis and the same program.
   */
  readonly sizeOf: (nodes: readonly number[], program: TimeProgram, count: number) => number;
  /** Launches instances of one program and reads back their solutions. @throws the signal's reason */
  readonly launch: (program: TimeProgram, instances: readonly PlannedInstance[]) => Promise<readonly S[]>;
}

/** Solves instances of one program, launch by launch. @throws the signal's reason */
export async function solveInstances<S>(
  { sizeOf, launch }: Launcher<S>,
  program: TimeProgram,
  instances: readonly PlannedInstance[],
): Promise<S[]> {
  const nodes = instances[0].grid.meshes.map(({ values }) => values.length);
  const solved: S[] = [];
  while (solved.length < instances.length) {
    const end = solved.length + sizeOf(nodes, program, instances.length - solved.length);
    solved.push(...(await launch(program, instances.slice(solved.length, end))));
  }
  return solved;
}

/** A plan to solve entries at one level, whose instances of one time program are launched together. */
interface LevelPlan {
  readonly entries: number;
  /** The programs, with the numbers of their instances among the plan's entries. */
  readonly groups: readonly { program: TimeProgram; members: number[]; instances: PlannedInstance[] }[];
}

/**
 * The solutions of a batch. `errors` has an item for each entry, undefined where it could be solved; `good` has the
 * indices of these entries. `solved[level][i]` is the solution of entry `good[i]`.
 */
interface SolvedLevels<S> {
  readonly errors: readonly (SpecError | undefined)[];
  readonly good: readonly number[];
  readonly solved: readonly (readonly S[])[];
}

/** The dates and meshes of an entry, shared by all entries with the same numbers in them. */
interface Prepared {
  readonly timeline: Timeline;
  readonly descriptions: readonly MeshDescription[];
  readonly point: readonly number[] | undefined;
  /** The grids by level. */
  readonly grids: Grid[];
}

/** A solver of all entries of an equation on full grids, at any level of resolution. */
export class LevelSolver<S> {
  readonly #model: FullGridEquation;
  readonly #launcher: Launcher<S>;
  readonly #pace: LaunchScheduler;
  readonly #prepared: Prepared[] = [];
  /** Meshes, which entries with the same ends and points of an axis share. */
  readonly #meshOf = memoize(axisMesh, Infinity);
  /** The entry that was prepared last. */
  #last: { readonly entry: ParameterValues; readonly prepared: Prepared } | undefined;

  constructor(model: FullGridEquation, launcher: Launcher<S>, pace: LaunchScheduler) {
    this.#model = model;
    this.#launcher = launcher;
    this.#pace = pace;
  }

  get kernel(): CompiledKernel {
    return this.#launcher.kernel;
  }

  /**
   * Solves each valid entry of the batch on all `levels`. @throws SpecError the first entry's error if no entry is
   * valid | the signal's reason
   */
  async solveLevels(levels: readonly Level[]): Promise<SolvedLevels<S>> {
    const errors: (SpecError | undefined)[] = [];
    for (const index of this.#model.batch.entries.keys()) {
      await this.#pace.yieldIfDue();
      errors.push(this.#check(index, levels));
    }
    const good = [...errors.keys()].filter((index) => errors[index] === undefined);
    // Nothing to solve is no result: a lone problem that makes no sense is refused.
    if (good.length === 0) throw errors[0]!;
    const plans: LevelPlan[] = [];
    for (const level of levels) plans.push(await this.plan(level, good));
    const solved: (readonly S[])[] = [];
    for (const plan of plans) solved.push(await this.solve(plan));
    return { errors, good, solved };
  }

  /** Makes the plan of some entries at a level. @throws the signal's reason */
  async plan({ mesh, halfSteps }: Level, entries: readonly number[]): Promise<LevelPlan> {
    const { batch, program, companions, steps } = this.#model;
    const { errorEstimate, extrapolate } = companions;
    const halved = errorEstimate || extrapolate === "time" || extrapolate === "both";
    const programFor = programsOf({
      ...program,
      steps: halved ? steps / 2 : steps,
      refinement: halved && !halfSteps ? 2 : 1,
    });
    const groups = new Map<string, LevelPlan["groups"][number]>();
    for (const [at, index] of entries.entries()) {
      await this.#pace.yieldIfDue();
      const { timeline } = this.#of(index);
      const own = programFor(timeline);
      let group = groups.get(own.key);
      if (group === undefined) groups.set(own.key, (group = { program: own, members: [], instances: [] }));
      group.members.push(at);
      group.instances.push({ entry: batch.entries[index], timeline, grid: this.#gridOf(index, mesh) });
      this.#pace.expect(own.words.length / 2);
    }
    return { entries: entries.length, groups: [...groups.values()] };
  }

  /** Solves a plan, and returns the solutions in the order of its entries. @throws the signal's reason */
  async solve({ entries, groups }: LevelPlan): Promise<S[]> {
    const solved = new Array<S>(entries);
    for (const { program, members, instances } of groups) {
      const results = await solveInstances(this.#launcher, program, instances);
      results.forEach((result, i) => (solved[members[i]] = result));
    }
    return solved;
  }

  /**
   * Returns the error for which entry `index` cannot be solved at one of the `levels`: in its parameters, its axes'
   * ends, its dates or its size. It is undefined if the entry can be solved.
   */
  #check(index: number, levels: readonly Level[]): SpecError | undefined {
    return entryError(() => {
      checkParameters(this.#model.batch, index);
      this.#launcher.checkSize?.(this.#of(index).descriptions.map(({ nodes }) => nodes));
      for (const { mesh } of levels) this.#gridOf(index, mesh);
    });
  }

  #of(index: number): Prepared {
    return (this.#prepared[index] ??= this.#prepare(this.#model.batch.entries[index]));
  }

  /** Returns the grid of an entry at a level. @throws SpecError a mesh that cannot be made, a point outside the axes */
  #gridOf(index: number, level: 0 | 1): Grid {
    const { grids, descriptions, point } = this.#of(index);
    if (grids[level] === undefined) {
      const meshes = descriptions.map((description) => this.#meshOf(description, level));
      const window = point === undefined ? wholeWindow(meshes) : windowAbout(meshes, point, this.#model.names);
      grids[level] = { meshes, window };
    }
    return grids[level];
  }

  #prepare(entry: ParameterValues): Prepared {
    const { timelineOf, meshesOf, pointOf, gridParameters } = this.#model;
    const last = this.#last;
    if (last !== undefined && gridParameters.every((k) => last.entry[k] === entry[k])) return last.prepared;
    const timeline = timelineOf(entry);
    const prepared = { timeline, descriptions: meshesOf(entry), point: pointOf?.(entry), grids: [] };
    this.#last = { entry, prepared };
    return prepared;
  }
}

/** Entries with the same dates share a program object; those with other dates may still have an equal one. */
function programsOf(spec: ProgramSpec): (timeline: Timeline) => TimeProgram {
  const own = memoize(
    (timeline: Timeline) => timeProgram(spec, timeline),
    Infinity,
    // Of one segment a program has places only, no times.
    (timeline) =>
      timeline.dates.length === 2 ? `${timeline.events.join(";")} ${timeline.regions[0]}` : keyOf(timeline),
  );
  return memoizeBy(own);
}
