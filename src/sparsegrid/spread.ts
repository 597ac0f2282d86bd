import { allOf } from "../all-of.ts";
import type { TimeProgram } from "../fdm/index.ts";
import type { GridJob, GridSolver, GridValues } from "./grids.ts";

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
export async function solveSpread(
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
  await allOf(
    loads.map(async ({ solver, places }) => {
      const own = places.map((at) => jobs[at]);
      const values = await solver.solve(own, program, room);
      places.forEach((at, i) => (results[at] = values[i]));
    }),
  );
  return results;
}
