import { LastUsed } from "../../last-used.ts";
import { type AxisMesh, axisMesh, type MeshDescription } from "../mesh/axis-mesh.ts";
import type { Model } from "../problem/model.ts";
import type { ParameterValues } from "../problem/quantity.ts";
import { type ProgramSpec, type TimeProgram, timeProgram, type Timeline } from "../time/timeline.ts";
import type { Pace } from "./pace.ts";

/** How finely a batch is solved: all nodes (0) or every second (1), all steps or half of them. */
export interface Level {
  readonly mesh: 0 | 1;
  readonly halfSteps: boolean;
}

/** One entry of the batch on one grid. */
export interface PlannedInstance {
  readonly entry: ParameterValues;
  readonly timeline: Timeline;
}

/**
 * Entries, which are indices into the batch, on one grid and time grid: those that share a time program are launched
 * together.
 */
export interface Plan<I extends PlannedInstance> {
  readonly entries: readonly number[];
  readonly groups: readonly { readonly program: TimeProgram; readonly members: readonly Member<I>[] }[];
}

/** An instance of a plan, and its place in the order of the plan's entries. */
export interface Member<I extends PlannedInstance> {
  readonly at: number;
  readonly instance: I;
}

/** An instance's solution, with the program that it was made by. */
export type SolvedBy<R> = R & { readonly program: TimeProgram; readonly timeline: Timeline };

/** What a plan is made from; a model on any number of axes has it. */
type Planned = Pick<Model, "batch" | "timelineOf" | "program" | "accuracy" | "steps">;

/**
 * The plan of entries at a level; `gridOf`: what an instance has besides its entry and its dates.
 * @throws the signal's reason
 */
export async function planOf<G extends object>(
  { batch, timelineOf, program, accuracy, steps }: Planned,
  pace: Pace,
  { halfSteps }: Level,
  entries: readonly number[],
  gridOf: (entry: ParameterValues) => G,
): Promise<Plan<PlannedInstance & G>> {
  const halved = accuracy.errorEstimate || accuracy.extrapolate === "time" || accuracy.extrapolate === "both";
  const programFor = programsOf({
    ...program,
    steps: halved ? steps / 2 : steps,
    refinement: halved && !halfSteps ? 2 : 1,
  });
  const groups = new Map<string, { program: TimeProgram; members: Member<PlannedInstance & G>[] }>();
  for (const [at, index] of entries.entries()) {
    await pace.turn();
    const entry = batch.entries[index];
    const timeline = timelineOf(entry);
    const made = programFor(timeline);
    const member = { at, instance: { entry, timeline, ...gridOf(entry) } };
    const group = groups.get(made.key);
    if (group === undefined) groups.set(made.key, { program: made, members: [member] });
    else group.members.push(member);
    pace.expect(made.words.length / 2);
  }
  return { entries, groups: [...groups.values()] };
}

/** Solves members of one program, `sizeOf` those that are left at a time, each into its place of `solved`. */
export async function solveMembers<I extends PlannedInstance, R extends object>(
  program: TimeProgram,
  members: readonly Member<I>[],
  sizeOf: (count: number) => number,
  launch: (instances: readonly I[]) => Promise<readonly R[]>,
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

/** Programs that are remembered from one solution to the next: a pure function's memory. */
const MAX_PROGRAMS = 16;
const recent = new LastUsed<string, TimeProgram>(MAX_PROGRAMS);

/** Entries with the same dates share a program object; those with other dates may still have an equal one. */
function programsOf(spec: ProgramSpec): (timeline: Timeline) => TimeProgram {
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
