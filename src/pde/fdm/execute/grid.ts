import { checkFormula, type ExerciseScheme, type Grid, hasObstacle, makeTable, type Table } from "../mesh/grid.ts";
import { barrierDomain } from "../mesh/barrier-domain.ts";
import { dividendDomain, hasLargeDividends } from "../mesh/dividend-domain.ts";
import { domain } from "../mesh/domain.ts";
import { certainExercise, hasLevels, type OneFactorProblem } from "../problem/one-factor.ts";
import { coarser, type Mesh, mesh, nodesOf } from "../mesh/mesh.ts";
import { pinnedMesh } from "../mesh/pinned-mesh.ts";
import { certainForward, type Forward, forwardOf, isForward } from "../time/forward.ts";
import { timesOf } from "../time/nested-times.ts";
import type { TimeGrid } from "../time/time-grid.ts";
import { Arena } from "../mesh/arena.ts";
import type { SolverVariant } from "./option/plan.ts";

/** The number of mesh nodes and of time steps of a solution. */
export interface Resolution {
  /** The number of nodes, 4k + 1. */
  readonly nodes: number;
  /** The number of time steps, even. */
  readonly steps: number;
}

/**
 * Returns the fine grid of a problem, and the coarse one for extrapolation and its error estimate, which has every
 * second node and half the time steps.
 */
export function grids(
  problem: OneFactorProblem,
  resolution: Resolution,
  arena = new Arena(4096),
): readonly [Grid, Grid] {
  const forward = forwardFor(problem);
  const { fine, firstExercised } = fineMesh(problem, resolution.nodes, arena, forward);
  return gridsOn(problem, fine, resolution, arena, firstExercised, forward);
}

/** Returns only the fine grid of a problem, for a value without an error estimate. */
export function fineGrid(problem: OneFactorProblem, { nodes, steps }: Resolution, arena = new Arena(4096)): Grid {
  const forward = forwardFor(problem);
  const { fine, firstExercised } = fineMesh(problem, nodes, arena, forward);
  const { fine: time } = timesOf(forward?.flat ?? problem, steps / 2);
  return grid(problem, fine, undefined, time, schemeOf(problem, forward), firstExercised, forward, arena);
}

const forwardFor = (problem: OneFactorProblem): Forward | undefined =>
  isForward(problem) && exerciseScheme(problem) !== "policy" ? forwardOf(problem) : undefined;

function schemeOf(problem: OneFactorProblem, forward: Forward | undefined): ExerciseScheme {
  return forward !== undefined && problem.american ? "time-dependent" : exerciseScheme(problem);
}

function fineMesh(
  problem: OneFactorProblem,
  count: number,
  arena: Arena,
  forward: Forward | undefined,
): { fine: Mesh; firstExercised: boolean } {
  if (hasLevels(problem)) return { fine: pinnedMesh(barrierDomain(problem, count), arena), firstExercised: false };
  if (hasLargeDividends(problem)) {
    const { nodes } = pinnedMesh(dividendDomain(problem, count), arena);
    return {
      fine: { count, nodes: problem.payoff.exerciseSide === "high" ? nodes.reverse() : nodes },
      firstExercised: false,
    };
  }
  const spec =
    forward === undefined
      ? domain(problem, count, certainExercise(problem))
      : domain(forward.flat, count, certainForward(problem));
  const fine = mesh(spec, arena);
  // σ by node or by formula wants nodes in a table, not in closed form.
  const tabled = problem.diffusion.kind === "local" || problem.diffusion.kind === "formula";
  return { fine: tabled ? { count, nodes: nodesOf(fine, arena) } : fine, firstExercised: spec.firstExercised };
}

/** Returns the fine and the coarse grid of a problem on a mesh that was made for another problem. */
export function gridsOn(
  problem: OneFactorProblem,
  mesh: Mesh,
  resolution: Resolution,
  arena = new Arena(4096),
  firstExercised = false,
  forward?: Forward,
): readonly [Grid, Grid] {
  const times = timesOf(forward?.flat ?? problem, resolution.steps / 2);
  const scheme = schemeOf(problem, forward);
  const fine = grid(problem, mesh, undefined, times.fine, scheme, firstExercised, forward, arena);
  return [fine, grid(problem, coarser(mesh, arena), fine, times.coarse, scheme, firstExercised, forward, arena)];
}

function grid(
  problem: OneFactorProblem,
  mesh: Mesh,
  finer: Grid | undefined,
  time: TimeGrid,
  scheme: ExerciseScheme,
  firstExercised: boolean,
  forward: Forward | undefined,
  arena: Arena,
): Grid {
  const closed = !("nodes" in mesh) && problem.payoff.vanillaSign !== undefined;
  if (finer === undefined) checkFormula(problem.diffusion, mesh, time);
  const table = closed ? undefined : makeTable(mesh, problem, arena);
  return {
    problem,
    mesh,
    table,
    firstExercised,
    scheme,
    time,
    today: undefined,
    finer,
    forward,
    key: keyOf(problem, scheme, mesh.count, firstExercised, table),
  };
}

/**
 * Returns the fine mesh of `resolution` with the time steps of the coarse grid. Its solution separates the error in
 * time from that in space.
 */
export function coarserInTime(fine: Grid, resolution: Resolution): Grid {
  return { ...fine, time: timesOf(fine.forward?.flat ?? fine.problem, resolution.steps / 2).coarse };
}

const SCHEMES = [
  "none",
  "brennan-schwartz",
  "policy",
  "dates",
  "time-dependent",
] as const satisfies readonly ExerciseScheme[];

const SHAPES = ["lognormal", "table", "formula", "surface"] as const satisfies readonly SolverVariant["shape"][];

/** Strings by number: made once for all equal grids, and then compared by address. A pure function's memory. */
const keys = new Map<number, string>();

const MAX_KEYS = 4096;

/** Schemes, shapes, whether the first node is fixed, none to two columns. */
const MAX_KINDS = SCHEMES.length * SHAPES.length * 2 * 3;

function keyOf(
  problem: OneFactorProblem,
  scheme: ExerciseScheme,
  nodes: number,
  firstExercised: boolean,
  table: Table | undefined,
): string {
  const shape = shapeOf(problem);
  const spots = problem.spots.length;
  const barriers = problem.barriers?.length ?? 0;
  const columns = table === undefined ? 0 : hasObstacle(table) ? 2 : 1;
  const kinds =
    ((SCHEMES.indexOf(scheme) * SHAPES.length + SHAPES.indexOf(shape)) * 2 + (firstExercised ? 1 : 0)) * 3 + columns;
  const code = ((barriers * 4096 + spots) * 65_536 + nodes) * MAX_KINDS + kinds;
  let key = keys.get(code);
  if (key === undefined) {
    if (keys.size >= MAX_KEYS) keys.clear();
    keys.set(code, (key = `${scheme} ${shape} ${nodes} ${firstExercised} ${columns} ${spots} ${barriers}`));
  }
  return problem.knockIns === undefined ? key : `${key} ${problem.knockIns.levels.length}`;
}

/**
 * Brennan and Schwartz' elimination is exact if the exercise region is one interval at the mesh's first nodes. Negative
 * rates (puts) and yields (calls) can make it two intervals (Battauz, De Donno & Sbuelz 2015), formulas anything.
 */
function exerciseScheme(problem: OneFactorProblem): ExerciseScheme {
  const { american, exerciseTimes = [], payoff, rates, dividendYield } = problem;
  if (!american) return exerciseTimes.length > 0 ? "dates" : "none";
  // A rebate may be worth more than exercise at one end of the mesh.
  if (hasLevels(problem) || payoff.exerciseSide === "unknown") return "policy";
  const { values } = rates;
  const minRate = values.length === 1 ? values[0] : Math.min(...values);
  if (payoff.exerciseSide === "low" || payoff.jumps) return minRate >= 0 ? "brennan-schwartz" : "policy";
  return dividendYield >= 0 ? "brennan-schwartz" : "policy";
}

function shapeOf({ diffusion }: OneFactorProblem): SolverVariant["shape"] {
  switch (diffusion.kind) {
    case "deterministic":
      return "lognormal";
    case "local":
      return "table";
    default:
      return diffusion.kind;
  }
}
