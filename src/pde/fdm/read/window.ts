import type { TodaysWindow } from "../mesh/grid.ts";
import type { Grid } from "../mesh/grid.ts";
import { cellOf, firstFrom, isBeyond, type Mesh, placeOf } from "../mesh/mesh.ts";
import { aliveBetween, dormantBetween, hasLevels, isKnockedIn, knockedOutBy } from "../problem/barriers.ts";
import type { OneFactorProblem } from "../problem/one-factor.ts";
import { WINDOW, windowStart } from "./interpolation.ts";

/** Returns the nodes from which the value at today's spot is interpolated. */
export function windowOf(grid: Grid): TodaysWindow {
  return (grid.today ??= findWindow(grid));
}

function findWindow(grid: Grid): TodaysWindow {
  const { problem, mesh } = grid;
  const cell = todaysCell(grid);
  if (cell === undefined) return { cell, first: undefined, stencil: undefined };
  const spot = problem.spots[0];
  const isBent = hasLevels(problem) || bendsInside(problem);
  const [lowest, highest] = isBent ? readableFrom(grid)(spot) : [0, mesh.count - 1];
  return { cell, first: windowStart(mesh, spot, lowest, highest, cell), stencil: undefined };
}

/**
 * Node i of a mesh of every second node is node 2i of the finer one, to the bit: where the spot is need be found but
 * once.
 */
function todaysCell({ problem, mesh, finer }: Grid): number | undefined {
  if (finer !== undefined) {
    const { cell } = windowOf(finer);
    return cell === undefined ? undefined : cell >> 1;
  }
  const spot = problem.spots[0];
  const place = placeOf(mesh, spot);
  if (isBeyond(mesh, spot, place) || knockedOutBy(problem, spot) !== undefined) return undefined;
  return cellOf(mesh, spot, place);
}

/**
 * Returns the function for the first and the last node from which a spot may be interpolated: only live nodes where a
 * barrier is monitored today, and none beyond a kink of the solution.
 */
export function readableFrom({ problem, mesh, time: { dates } }: Grid): (spot: number) => readonly [number, number] {
  const all = [0, mesh.count - 1] as const;
  if (!hasLevels(problem)) return (spot) => betweenKinks(problem, mesh, spot, all);
  const between = ({ down, up }: ReturnType<typeof dormantBetween>): readonly [number, number] => [
    down === undefined ? all[0] : firstFrom(mesh, down.level),
    up === undefined ? all[1] : firstFrom(mesh, up.level),
  ];
  const alive = between(aliveBetween(problem, 0, dates[1]));
  const dormant = problem.knockIns === undefined ? alive : between(dormantBetween(problem, 0, dates[1]));
  return (spot) => (isKnockedIn(problem, spot) ? betweenKinks(problem, mesh, spot, alive) : dormant);
}

/**
 * The nodes, of those that are alive, that a spot may be read from. What is exercised up to a kink bends the solution
 * there (a cap, a jump): none beyond the kinks
 * beside the spot, if that leaves enough of them.
 */
function betweenKinks(
  problem: OneFactorProblem,
  mesh: Mesh,
  spot: number,
  alive: readonly [number, number],
): readonly [number, number] {
  if (!bendsInside(problem)) return alive;
  const { payoff } = problem;
  const below = payoff.kinks.findLast((kink) => kink < spot);
  const above = payoff.kinks.find((kink) => kink > spot);
  const lowest = below === undefined ? alive[0] : Math.max(firstFrom(mesh, below), alive[0]);
  const highest = above === undefined ? alive[1] : Math.min(firstFrom(mesh, above), alive[1]);
  return highest + 1 - lowest < WINDOW || payoff.kinks.includes(spot) ? alive : [lowest, highest];
}

/** Tells whether early exercise ends at kinks of the payoff, of a mesh that ascends. */
const bendsInside = ({ american, payoff, barriers, knockIns }: OneFactorProblem): boolean =>
  american &&
  (payoff.exerciseSide === "unknown" || (payoff.jumps && (barriers !== undefined || knockIns !== undefined)));
