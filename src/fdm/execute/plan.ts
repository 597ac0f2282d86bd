import type { SpecError } from "../../errors.ts";
import { keyOf } from "../../remembered.ts";
import { type AxisMesh, axisMesh, type MeshDescription } from "../mesh/axis-mesh.ts";
import { checkParameters, entryError, type ParameterValues } from "../problem/quantity.ts";
import type { Understood } from "../problem/understood.ts";
import { type ProgramSpec, type TimeProgram, timeProgram, type Timeline } from "../time/timeline.ts";
import type { Pace } from "./pace.ts";

/** The resolution of a batch: all nodes (0) or every second (1), all steps or half of them. */
export interface Level {
  readonly mesh: 0 | 1;
  readonly halfSteps: boolean;
}

/** One entry of the batch on one grid. */
export interface PlannedInstance {
  readonly entry: ParameterValues;
  readonly timeline: Timeline;
  /** The mesh of each axis. */
  readonly meshes: readonly AxisMesh[];
}

/**
 * A plan for entries, which are indices into the batch, on one grid and time grid: those that share a time program are
 * launched together.
 */
export interface Plan {
  readonly entries: readonly number[];
  readonly groups: readonly { readonly program: TimeProgram; readonly members: readonly Member[] }[];
}

/** An instance of a plan, and its place in the order of the plan's entries. */
export interface Member {
  readonly at: number;
  readonly instance: PlannedInstance;
}

/** An instance's solution, with the program that it was made by. */
export type SolvedBy<R> = R & { readonly program: TimeProgram; readonly timeline: Timeline };

/**
 * Returns the reason why entry `index` cannot be solved at some of `levels`, if so: its parameters, its ends, its
 * dates, its size.
 */
export function checkEntry(
  { batch, meshesOf, timelineOf }: Understood,
  made: Meshes,
  index: number,
  levels: readonly Level[],
  checkSize: (counts: readonly number[]) => void,
): SpecError | undefined {
  return entryError(() => {
    checkParameters(batch, index);
    const entry = batch.entries[index];
    timelineOf(entry);
    const descriptions = meshesOf(entry);
    checkSize(descriptions.map(({ nodes }) => nodes));
    for (const { mesh } of levels) for (const description of descriptions) made.of(description, mesh);
  });
}

/** The plan of entries at a level. @throws the signal's reason */
export async function planOf(
  { batch, meshesOf, timelineOf, program, accuracy, steps }: Understood,
  made: Meshes,
  pace: Pace,
  { mesh, halfSteps }: Level,
  entries: readonly number[],
): Promise<Plan> {
  const halved = accuracy.errorEstimate || accuracy.extrapolate === "time" || accuracy.extrapolate === "both";
  const programFor = programsOf({
    ...program,
    steps: halved ? steps / 2 : steps,
    refinement: halved && !halfSteps ? 2 : 1,
  });
  const groups = new Map<string, { program: TimeProgram; members: Member[] }>();
  for (const [at, index] of entries.entries()) {
    await pace.turn();
    const entry = batch.entries[index];
    const timeline = timelineOf(entry);
    const own = programFor(timeline);
    const meshes = meshesOf(entry).map((description) => made.of(description, mesh));
    const member = { at, instance: { entry, timeline, meshes } };
    const group = groups.get(own.key);
    if (group === undefined) groups.set(own.key, { program: own, members: [member] });
    else group.members.push(member);
    pace.expect(own.words.length / 2);
  }
  return { entries, groups: [...groups.values()] };
}

/** Solves members of one program, `sizeOf` those that are left at a time, each into its place of `solved`. */
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

/** The meshes of a batch: entries with the same ends and points share one. */
export class Meshes {
  readonly #made = new Map<string, AxisMesh>();

  of(description: MeshDescription, level: 0 | 1): AxisMesh {
    const { from, to, width, points, nodes, coordinate, density } = description;
    const places = points.map(({ at, align, concentrate }) => `${at} ${align} ${concentrate}`).join();
    const key = `${level} ${nodes} ${coordinate} ${density} ${from} ${to} ${width} ${places}`;
    let mesh = this.#made.get(key);
    if (mesh === undefined) this.#made.set(key, (mesh = axisMesh(description, level)));
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
