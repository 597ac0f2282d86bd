import { aliveBetween, isWatched, type KnockOut, liveSideOf, rebateValue, type WatchedLevel } from "./barriers.ts";
import { cellOf, type Mesh, nodeAt } from "./mesh.ts";
import type { OneFactorProblem } from "./problem.ts";

/** A node that no mesh has. */
export const NOWHERE = 1e6;

/**
 * The solver's words of an event at `time` with barriers (`solver/barrier.ts`), and of the time before it, back to the event at `before`. Returns the
 * next free row. In units of the spot.
 */
export function barrierRow(
  rows: Float64Array,
  row: number,
  problem: OneFactorProblem,
  mesh: Mesh,
  time: number,
  before: number,
): number {
  const scale = 1 / problem.spots[0];
  row = knockOutRows(rows, row, problem, mesh, time);
  const alive = aliveBetween(problem, before, time);
  for (const [barrier, none] of [
    [alive.down, -1],
    [alive.up, mesh.count],
  ] as const) {
    const node = barrier === undefined ? undefined : nodeOfLevel(mesh, barrier);
    const held = barrier !== undefined && node !== undefined ? heldValue(barrier, problem, time) : undefined;
    rows[row++] = node ?? none;
    rows[row++] = held === undefined ? 0 : 1;
    rows[row++] = (held ?? 0) * scale;
  }
  return row;
}

/** What knocks out at a time: five words a barrier. */
export function knockOutRows(
  rows: Float64Array,
  row: number,
  problem: OneFactorProblem,
  mesh: Mesh,
  time: number,
): number {
  const scale = 1 / problem.spots[0];
  for (const barrier of problem.barriers ?? []) {
    const { side, node } = watchedNode(barrier, problem, mesh, time);
    const value = rebateValue(barrier, time, problem);
    const isSet = node !== undefined && setsNode(barrier, problem, time);
    const { keep, paid } = isSet ? onTheNode(barrier, value, problem, mesh, node) : { keep: 1, paid: 0 };
    rows[row++] = node ?? side * NOWHERE;
    rows[row++] = side;
    rows[row++] = value * scale;
    rows[row++] = keep;
    rows[row++] = paid * scale;
  }
  return row;
}

/** Of several barriers at one level the node is set by one: that which is watched continuously, else the last. */
function setsNode(barrier: KnockOut, { barriers = [], expiry }: OneFactorProblem, time: number): boolean {
  const isHere = ({ side, level }: KnockOut): boolean => side === barrier.side && level === barrier.level;
  const here = barriers.filter((one) => isHere(one) && isWatched(one, time, expiry));
  return barrier === (here.find(({ times }) => times === undefined) ?? here.at(-1));
}

/** +1 or −1 for a level that is hit from below or from above, and the node that it has if it is watched then. */
export function watchedNode(
  level: WatchedLevel,
  { expiry }: OneFactorProblem,
  mesh: Mesh,
  time: number,
): { readonly side: 1 | -1; readonly node: number | undefined } {
  return {
    side: level.side === "up" ? 1 : -1,
    node: isWatched(level, time, expiry) ? nodeOfLevel(mesh, level) : undefined,
  };
}

/** The node at a barrier's level; undefined where the mesh does not reach so far out, one beyond its end where all of it is past the barrier. */
export function nodeOfLevel(mesh: Mesh, { level, side }: WatchedLevel): number | undefined {
  const last = mesh.count - 1;
  if (side === "up" ? level < nodeAt(mesh, 0) : level > nodeAt(mesh, last)) return side === "up" ? -1 : mesh.count;
  const cell = cellOf(mesh, level);
  for (const node of [cell, cell + 1]) if (nodeAt(mesh, node) === level) return node;
  return undefined;
}

/**
 * What an event makes of the value on a barrier's own node. The value jumps there where the barrier is watched on that date only: the node then stands
 * for the half cells on both sides of it, which keeps second order (Pooley, Vetzal & Forsyth 2003). Else it is what is paid there, with which the
 * jump is odd about the node and second order is kept, too.
 */
function onTheNode(
  barrier: KnockOut,
  value: number,
  problem: OneFactorProblem,
  mesh: Mesh,
  node: number,
): { keep: number; paid: number } {
  const paid = earlyOr(value, barrier, problem);
  const keep = barrier.times === undefined ? 0 : livePart(barrier, mesh, node);
  return { keep, paid: (1 - keep) * paid };
}

/** How much of the two half cells about a level's node is on the living side; all of it where the node is none of the mesh's. */
export function livePart({ side }: WatchedLevel, mesh: Mesh, node: number): number {
  if (node < 0 || node >= mesh.count) return 1;
  const alive = side === "up" ? -1 : 1;
  const inside = Math.abs(nodeAt(mesh, node + alive) - nodeAt(mesh, node));
  // Where the mesh ends at another barrier on this node there is nothing beyond.
  const beyond = Math.min(Math.max(node - alive, 0), mesh.count - 1);
  const outside = Math.abs(nodeAt(mesh, beyond) - nodeAt(mesh, node));
  return inside / (inside + outside);
}

/** The holder of an American right uses it rather than be knocked out for less. */
function earlyOr(value: number, barrier: KnockOut, problem: OneFactorProblem): number {
  return problem.american ? Math.max(value, problem.payoff.exercised(liveSideOf(barrier))) : value;
}

/** What is held on the node while the barrier is watched; undefined for what is paid at expiry, which grows towards it. */
export function heldValue(barrier: KnockOut, problem: OneFactorProblem, time: number): number | undefined {
  const value = rebateValue(barrier, time, problem);
  if (barrier.rebateAt === "expiry" && barrier.rebate !== 0 && earlyOr(value, barrier, problem) === value)
    return undefined;
  return earlyOr(value, barrier, problem);
}
