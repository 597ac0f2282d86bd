import type { Pace } from "../../device/index.ts";
import type { SpecError } from "../../errors.ts";
import { keyOf } from "../../remembered.ts";
import { type AxisMesh, axisMesh, type MeshDescription } from "../mesh/axis-mesh.ts";
import { checkParameters, entryError, type ParameterValues } from "../problem/quantity.ts";
import type { FullGridModel } from "../problem/full-grid.ts";
import { type ProgramSpec, type TimeProgram, timeProgram, type Timeline } from "../time/timeline.ts";

/** The resolution of a solution in a batch: all nodes (0) or every second (1), all steps or half of them. */
export interface Level {
  readonly mesh: 0 | 1;
  readonly halfSteps: boolean;
}

/** One entry of a batch on one grid. */
export interface PlannedInstance {
  readonly entry: ParameterValues;
  readonly timeline: Timeline;
  /** The mesh of each axis. */
  readonly meshes: readonly AxisMesh[];
}

/**
 * A plan to solve entries, given by their indices in the batch, on one grid and time grid; entries with the same time
 * program are launched together.
 */
export interface LevelPlan {
  readonly entries: readonly number[];
  readonly groups: readonly { readonly program: TimeProgram; readonly members: readonly Member[] }[];
}

/** An instance of a plan with its position among the plan's entries. */
export interface Member {
  readonly at: number;
  readonly instance: PlannedInstance;
}

/** The solution of an instance together with the time program that produced it. */
export type SolvedBy<R> = R & { readonly program: TimeProgram; readonly timeline: Timeline };

/** The plan of a batch's entries at a level. @throws the signal's reason */
export async function planOf(
  { program, accuracy, steps }: FullGridModel,
  prepared: PreparedEntries,
  pace: Pace,
  { mesh, halfSteps }: Level,
  entries: readonly number[],
): Promise<LevelPlan> {
  const halved = accuracy.errorEstimate || accuracy.extrapolate === "time" || accuracy.extrapolate === "both";
  const programFor = programsOf({
    ...program,
    steps: halved ? steps / 2 : steps,
    refinement: halved && !halfSteps ? 2 : 1,
  });
  const groups = new Map<string, { program: TimeProgram; members: Member[] }>();
  for (const [at, index] of entries.entries()) {
    await pace.turn();
    const { entry, timeline } = prepared.of(index);
    const own = programFor(timeline);
    const member = { at, instance: { entry, timeline, meshes: prepared.meshesOf(index, mesh) } };
    const group = groups.get(own.key);
    if (group === undefined) groups.set(own.key, { program: own, members: [member] });
    else group.members.push(member);
    pace.expect(own.words.length / 2);
  }
  return { entries, groups: [...groups.values()] };
}

/**
 * Solves the members of one time program, `sizeOf` of the remaining ones at a time, and stores each result at its index
 * in `solved`.
 */
export async function solveMembers<R extends object>(
  program: TimeProgram,
  members: readonly Member[],
  sizeOf: (count: number) => number,
  launch: (instances: readonly PlannedInstance[]) => Promise<readonly R[]>,
  put: (at: number, result: SolvedBy<R>) => void,
): Promise<void> {
  for (let first = 0, end = 0; first < members.length; first = end) {
    end = first + sizeOf(members.length - first);
    const part = members.slice(first, end);
    const results = await launch(part.map(({ instance }) => instance));
    results.forEach((result, i) => put(part[i].at, { ...result, program, timeline: part[i].instance.timeline }));
  }
}

/** An entry with what its quantities evaluate to. */
interface PreparedEntry {
  readonly entry: ParameterValues;
  readonly timeline: Timeline;
  readonly descriptions: readonly MeshDescription[];
}

/** The entries of a batch, each prepared once for all levels. Entries with the same ends and points share a mesh. */
export class PreparedEntries {
  readonly #model: FullGridModel;
  readonly #prepared: PreparedEntry[] = [];
  readonly #meshes = new Map<string, AxisMesh>();

  constructor(model: FullGridModel) {
    this.#model = model;
  }

  /**
   * Returns the reason why entry `index` cannot be solved at some of `levels`, if so: its parameters, its ends, its
   * dates, its size.
   */
  check(
    index: number,
    levels: readonly Level[],
    checkSize: (counts: readonly number[]) => void,
  ): SpecError | undefined {
    return entryError(() => {
      checkParameters(this.#model.batch, index);
      checkSize(this.of(index).descriptions.map(({ nodes }) => nodes));
      for (const { mesh } of levels) this.meshesOf(index, mesh);
    });
  }

  /** Returns a prepared entry. @throws SpecError */
  of(index: number): PreparedEntry {
    let prepared = this.#prepared[index];
    if (prepared === undefined) {
      const { batch, timelineOf, meshesOf } = this.#model;
      const entry = batch.entries[index];
      prepared = { entry, timeline: timelineOf(entry), descriptions: meshesOf(entry) };
      this.#prepared[index] = prepared;
    }
    return prepared;
  }

  /** The mesh of each axis. @throws SpecError */
  meshesOf(index: number, level: 0 | 1): readonly AxisMesh[] {
    return this.of(index).descriptions.map((description) => this.#meshOf(description, level));
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
  return (timeline) => {
    // Of one segment a program has places only, no times.
    const key = timeline.dates.length === 2 ? `${timeline.events.join(";")} ${timeline.regions[0]}` : keyOf(timeline);
    let program = own.get(key);
    if (program === undefined) own.set(key, (program = timeProgram(spec, timeline)));
    return program;
  };
}
