/** Grids of one time program, each solved once. */
import { settleAll } from "../../base/event-loop.ts";
import type { LaunchScheduler } from "../../device/index.ts";
import { SpecError } from "../../base/errors.ts";
import {
  reportOf,
  endlessLoops,
  type ParameterValues,
  formattedParameters,
  type TimeProgram,
  timeProgram,
  type Timeline,
} from "../fdm/index.ts";
import type { CombinationGrid } from "./combination.ts";
import type { GridJob, GridSolver, GridValues } from "./grids.ts";
import type { SparseGridEquation } from "./problem/model.ts";
import type { CombinedGrid, SparseContents } from "./solution.ts";

/** The time steps of a solution: all of them, or half as many. */
export type TimeSteps = "all" | "half";

/** A grid's values for every entry, and the time program that led to them. */
interface Solved {
  readonly values: readonly GridValues[];
  readonly program: TimeProgram;
}

/**
 * The solved grids of those entries of a batch that share a time program (`members`). Each grid is solved only once.
 */
export class SolvedGrids {
  readonly #solvers: readonly GridSolver[];
  readonly #model: SparseGridEquation;
  readonly #members: readonly { readonly index: number; readonly timeline: Timeline }[];
  readonly #pace: LaunchScheduler;
  readonly #called: Error;
  readonly #solved = new Map<string, Solved>();
  /** The number of time steps, which the adaptive choice changes. */
  steps: number;

  /** One solver a device. */
  constructor(
    solvers: readonly GridSolver[],
    model: SparseGridEquation,
    members: readonly { readonly index: number; readonly timeline: Timeline }[],
    pace: LaunchScheduler,
    called: Error,
  ) {
    this.#solvers = solvers;
    this.#model = model;
    this.#members = members;
    this.#pace = pace;
    this.#called = called;
    this.steps = model.steps;
  }

  /** The parameters of the first entry. */
  get entry(): ParameterValues {
    return this.#model.batch.entries[this.#members[0].index];
  }

  /** Returns the number of unknowns of a grid. */
  unknownsOf(levels: readonly number[]): number {
    return this.#solvers[0].unknownsOf(levels);
  }

  /** Solves the given grids, except those already solved. */
  async solve(grids: readonly Pick<CombinationGrid, "levels">[], steps: TimeSteps): Promise<void> {
    const missing = new Map<string, readonly number[]>();
    for (const { levels } of grids)
      if (!this.#solved.has(this.#key(levels, steps))) missing.set(this.#key(levels, steps), levels);
    if (missing.size === 0) return;
    const members = this.#members.map(({ index, timeline }) => ({ entry: this.#model.batch.entries[index], timeline }));
    const jobs: GridJob[] = [...missing.values()].flatMap((levels) => members.map((member) => ({ ...member, levels })));
    const program = this.#programOf(steps);
    this.#pace.expect((jobs.length * program.words.length) / 2);
    const values = await solveSpread(this.#solvers, jobs, program);
    [...missing.keys()].forEach((key, i) =>
      this.#solved.set(key, { values: values.slice(i * members.length, (i + 1) * members.length), program }),
    );
  }

  /** Returns the given grids with their coefficients and their solutions for one member. */
  combined(grids: readonly CombinationGrid[], member: number, steps: TimeSteps): readonly CombinedGrid[] {
    return grids.map(({ levels, coefficient }) => ({
      grid: this.#solved.get(this.#key(levels, steps))!.values[member],
      coefficient,
    }));
  }

  /** Returns the error and the warnings of a member's grids: those of the first grid solved that has any. */
  outcome(member: number): Pick<SparseContents, "error" | "warnings"> {
    const model = this.#model;
    const { index, timeline } = this.#members[member];
    const entry = model.batch.entries[index];
    for (const { values, program } of this.#solved.values()) {
      const { report, meshes, levels, program: by } = values[member];
      const endless = endlessLoops(() => by.source, by.kernel.precision, [report.endless], this.#called);
      const { error } = reportOf(model, entry, { meshes, status: report, program, timeline }, endless);
      if (error !== undefined) return { error, warnings: [] };
      if (report.unsolved > 0) return { error: unsolved(model, levels, report.unsolved, entry), warnings: [] };
      if (values[member].values.some((value) => !Number.isFinite(value)))
        return {
          error: new SpecError(
            `solution: not a finite number on the grid of levels ${levels.join(", ")}, ${formattedParameters(model.batch.names, entry)}: ` +
              "it grows without bound; take more steps, or move the ends of the axes",
          ),
          warnings: [],
        };
    }
    return { error: undefined, warnings: [] };
  }

  #programOf(steps: TimeSteps): TimeProgram {
    // Nested, so that every step of the coarse grid is two of the fine one.
    const hasHalf = this.#model.errorEstimate || this.#model.accuracy !== undefined;
    return timeProgram(
      {
        ...this.#model.program,
        steps: hasHalf ? this.steps / 2 : this.steps,
        refinement: hasHalf && steps === "all" ? 2 : 1,
      },
      this.#members[0].timeline,
    );
  }

  #key(levels: readonly number[], steps: TimeSteps): string {
    return `${this.steps} ${levels.join()} ${steps}`;
  }
}

function unsolved(
  { solver, batch }: SparseGridEquation,
  levels: readonly number[],
  count: number,
  entry: readonly number[],
): SpecError {
  return new SpecError(
    `solver: ${solver.method} did not reach ${solver.tolerance.relative} in ${solver.maxIterations} iterations, ` +
      `${count} times on the grid of levels ${levels.join(", ")}, ${formattedParameters(batch.names, entry)}; ` +
      "take more steps, a larger tolerance, or another method",
  );
}

/** The grids that one device has to solve. */
interface Load {
  readonly solver: GridSolver;
  readonly places: number[];
  cost: number;
}

/**
 * Solves grids on several devices of one kind: the longest first, each on the device that has least to do until then.
 * All of them have the kernel that one device would have for all grids, so that the numbers do not depend on how many
 * there are.
 * @throws what a device throws, when all have ended
 */
async function solveSpread(
  solvers: readonly GridSolver[],
  jobs: readonly GridJob[],
  program: TimeProgram,
): Promise<GridValues[]> {
  const [first] = solvers;
  const sizes = jobs.map((job) => first.sizeOf(job));
  const room = Math.max(...sizes.map((size) => size.room));
  const loads: readonly Load[] = solvers.map((solver) => ({ solver, places: [], cost: 0 }));
  const longestFirst = sizes.map((_, at) => at).toSorted((a, b) => sizes[b].cost - sizes[a].cost);
  for (const at of longestFirst) {
    const least = loads.reduce((a, b) => (b.cost < a.cost ? b : a));
    least.places.push(at);
    least.cost += sizes[at].cost;
  }
  const results = new Array<GridValues>(jobs.length);
  // Those without work, too: what they compile now decides what they take later.
  await settleAll(
    loads.map(async ({ solver, places }) => {
      const own = places.map((at) => jobs[at]);
      const values = await solver.solve(own, program, room);
      places.forEach((at, i) => (results[at] = values[i]));
    }),
  );
  return results;
}
