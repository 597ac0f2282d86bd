import { SpecError } from "../../../base/errors.ts";
import { type AxisMesh, axisMesh, type MeshDescription } from "../mesh/axis-mesh.ts";
import { stencilStart } from "../read/point-reader.ts";
import type { Pace } from "../../../device/index.ts";
import { keyOf } from "../../../base/memoize.ts";
import { checkParameters, entryError, type ParameterValues } from "../problem/settings.ts";
import type { FullGridModel } from "../model/full-grid.ts";
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
 * Returns the numbers that a problem's functions take: parameters, literals and dates. Value k of instance l is at
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

/** The meshes of an entry at a level, and the nodes at which its solution will be read. */
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

/**
 * A plan to solve entries at one level. `entries` are their indices in the batch. Entries with the same time program
 * are in one group, which is launched together.
 */
export interface LevelPlan {
  readonly entries: readonly number[];
  readonly groups: readonly { readonly program: TimeProgram; readonly members: readonly Member[] }[];
}

/** An instance of a plan; `at` is its index among the plan's entries. */
export interface Member {
  readonly at: number;
  readonly instance: PlannedInstance;
}

/** Returns the plan to solve entries of a batch at a level. @throws the signal's reason */
export async function planOf(
  { batch, program, companions, steps }: FullGridModel,
  prepared: PreparedEntries,
  pace: Pace,
  { mesh, halfSteps }: Level,
  entries: readonly number[],
): Promise<LevelPlan> {
  const { errorEstimate, extrapolate } = companions;
  const halved = errorEstimate || extrapolate === "time" || extrapolate === "both";
  const programFor = programsOf({
    ...program,
    steps: halved ? steps / 2 : steps,
    refinement: halved && !halfSteps ? 2 : 1,
  });
  const groups = new Map<string, { program: TimeProgram; members: Member[] }>();
  for (const [at, index] of entries.entries()) {
    await pace.turn();
    const { timeline } = prepared.of(index);
    const own = programFor(timeline);
    const instance = { entry: batch.entries[index], timeline, grid: prepared.gridOf(index, mesh) };
    const member = { at, instance };
    const group = groups.get(own.key);
    if (group === undefined) groups.set(own.key, { program: own, members: [member] });
    else group.members.push(member);
    pace.expect(own.words.length / 2);
  }
  return { entries, groups: [...groups.values()] };
}

/**
 * Solves members that share a time program, launch by launch. `sizeOf` returns how many of the remaining members the
 * next launch takes. `put` receives each result with the member's index among the plan's entries.
 */
export async function solveMembers<R>(
  members: readonly Member[],
  sizeOf: (count: number) => number,
  launch: (instances: readonly PlannedInstance[]) => Promise<readonly R[]>,
  put: (at: number, result: R) => void,
): Promise<void> {
  for (let first = 0, end = 0; first < members.length; first = end) {
    end = first + sizeOf(members.length - first);
    const part = members.slice(first, end);
    const results = await launch(part.map(({ instance }) => instance));
    results.forEach((result, i) => put(part[i].at, result));
  }
}

/** The dates and meshes of an entry, shared by all entries with the same numbers in them. */
interface Prepared {
  readonly timeline: Timeline;
  readonly descriptions: readonly MeshDescription[];
  readonly point: readonly number[] | undefined;
  /** The grids by level. */
  readonly grids: Grid[];
}

/**
 * The entries of a batch, each prepared once for all levels. Entries with the same ends and points of an axis share its
 * mesh.
 */
export class PreparedEntries {
  readonly #model: FullGridModel;
  readonly #prepared: Prepared[] = [];
  readonly #meshes = new Map<string, AxisMesh>();
  /** The entry that was prepared last. */
  #last: { readonly entry: ParameterValues; readonly prepared: Prepared } | undefined;

  constructor(model: FullGridModel) {
    this.#model = model;
  }

  /**
   * Returns the error for which entry `index` cannot be solved at one of the `levels`: in its parameters, its axes'
   * ends, its dates or its size. It is undefined if the entry can be solved.
   */
  check(
    index: number,
    levels: readonly Level[],
    checkSize: (counts: readonly number[]) => void,
  ): SpecError | undefined {
    return entryError(() => {
      checkParameters(this.#model.batch, index);
      checkSize(this.of(index).descriptions.map(({ nodes }) => nodes));
      for (const { mesh } of levels) this.gridOf(index, mesh);
    });
  }

  /** Returns a prepared entry. @throws SpecError */
  of(index: number): Prepared {
    return (this.#prepared[index] ??= this.#prepare(this.#model.batch.entries[index]));
  }

  /** Returns the grid of an entry at a level. @throws SpecError a mesh that cannot be made, a point outside the axes */
  gridOf(index: number, level: 0 | 1): Grid {
    const { grids, descriptions, point } = this.of(index);
    let grid = grids[level];
    if (grid === undefined) {
      const meshes = descriptions.map((description) => this.#meshOf(description, level));
      const window = point === undefined ? wholeWindow(meshes) : windowAbout(meshes, point, this.#model.names);
      grid = grids[level] = { meshes, window };
    }
    return grid;
  }

  #prepare(entry: ParameterValues): Prepared {
    const { timelineOf, meshesOf, pointOf, gridParameters } = this.#model;
    const last = this.#last;
    if (last !== undefined && gridParameters.every((k) => last.entry[k] === entry[k])) return last.prepared;
    const prepared = {
      timeline: timelineOf(entry),
      descriptions: meshesOf(entry),
      point: pointOf?.(entry),
      grids: [],
    };
    this.#last = { entry, prepared };
    return prepared;
  }

  #meshOf(description: MeshDescription, level: 0 | 1): AxisMesh {
    const { from, to, width, points, nodes, coordinate, density } = description;
    const places = points.map(({ at, align, concentrate }) => `${at} ${align} ${concentrate}`).join();
    const key = `${level} ${nodes} ${coordinate} ${density} ${from} ${to} ${width} ${places}`;
    let mesh = this.#meshes.get(key);
    if (mesh === undefined) this.#meshes.set(key, (mesh = axisMesh(description, level)));
    return mesh;
  }
}

/** Entries with the same dates share a program object; those with other dates may still have an equal one. */
function programsOf(spec: ProgramSpec): (timeline: Timeline) => TimeProgram {
  const own = new Map<string, TimeProgram>();
  const known = new Map<Timeline, TimeProgram>();
  const make = (timeline: Timeline): TimeProgram => {
    // Of one segment a program has places only, no times.
    const key = timeline.dates.length === 2 ? `${timeline.events.join(";")} ${timeline.regions[0]}` : keyOf(timeline);
    let program = own.get(key);
    if (program === undefined) own.set(key, (program = timeProgram(spec, timeline)));
    return program;
  };
  return (timeline) => {
    let program = known.get(timeline);
    if (program === undefined) known.set(timeline, (program = make(timeline)));
    return program;
  };
}
