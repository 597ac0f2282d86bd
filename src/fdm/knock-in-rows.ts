import { heldValue, putKnockOuts, livePart, nodeOfLevel, NOWHERE, watchedNode } from "./barrier-rows.ts";
import { isWatched, type KnockIns, type KnockOut, waitingBetween, type WatchedLevel } from "./barriers.ts";
import type { Mesh } from "./mesh.ts";
import type { OneFactorProblem } from "./problem.ts";
import type { Rows } from "./rows.ts";
import { WAITING_END } from "./solver/index.ts";

/**
 * The solver's words of an event at `time` for the value before a knock-in (`solver/knock-in.ts`), and of the time before it, back to the event at
 * `before`. In units of the spot.
 */
export function putKnockIns(rows: Rows, problem: OneFactorProblem, mesh: Mesh, time: number, before: number): void {
  const { levels, rebate } = problem.knockIns as KnockIns;
  const scale = 1 / problem.spots[0];
  // Nobody exercises rather than be knocked out: there is nothing yet to exercise.
  const waiting = { ...problem, american: false };
  putKnockOuts(rows, waiting, mesh, time);
  for (const level of levels) {
    const { side, node } = watchedNode(level, problem, mesh, time);
    rows.put(node ?? side * NOWHERE);
    rows.put(side);
    rows.put(node === undefined ? 1 : keptOnNode(level, problem, mesh, node, time));
  }
  const { down, up } = waitingBetween(problem, before, time);
  for (const [level, none] of [
    [down, -1],
    [up, mesh.count],
  ] as const) {
    const node = level && nodeOfLevel(mesh, level);
    const held = level !== undefined && isKnockOut(level) ? heldValue(level, waiting, time) : undefined;
    rows.put(node ?? none);
    rows.put(
      level !== undefined && !isKnockOut(level)
        ? WAITING_END.joined
        : held !== undefined
          ? WAITING_END.held
          : WAITING_END.discounted,
    );
    rows.put((held ?? 0) * scale);
  }
  rows.put(rebate * scale);
}

const isKnockOut = (level: KnockOut | WatchedLevel): level is KnockOut => "rebate" in level;

/**
 * What a knock-in leaves of the value on its own node: nothing where it is watched continuously; on a date the part of the half cell on the waiting
 * side; all of it where a knock-out at the same level, which goes before it, has set the node.
 */
function keptOnNode(
  level: WatchedLevel,
  { barriers = [], expiry }: OneFactorProblem,
  mesh: Mesh,
  node: number,
  time: number,
): number {
  const goesBefore = (out: KnockOut): boolean =>
    out.side === level.side &&
    out.level === level.level &&
    isWatched(out, time, expiry) &&
    (out.times === undefined || level.times !== undefined);
  if (barriers.some(goesBefore)) return 1;
  return level.times === undefined ? 0 : livePart(level, mesh, node);
}
