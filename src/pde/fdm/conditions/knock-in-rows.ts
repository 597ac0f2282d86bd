import type { DiscreteDividend } from "../../../market/index.ts";
import {
  comparesAt,
  crossingOf,
  heldValue,
  livePart,
  nodeOfLevel,
  NOWHERE,
  putCrossings,
  putKnockOuts,
  setsNode,
  monitoredNode,
} from "./barrier-rows.ts";
import { isMonitored, dormantBetween } from "../problem/barriers.ts";
import type { KnockIns, KnockOut, MonitoredLevel } from "../problem/levels.ts";
import type { Mesh } from "../mesh/mesh.ts";
import type { OneFactorProblem } from "../problem/one-factor.ts";
import type { Rows } from "../operator/rows.ts";
import { DORMANT_END } from "./knock-in.ts";

/**
 * Writes the solver's coefficients on a date for the dormant value, that of a trade not yet knocked in
 * (`conditions/knock-in.ts`), and for the interval from the earlier date `before` to it. Prices are in units of today's
 * spot.
 */
export function putKnockIns(rows: Rows, problem: OneFactorProblem, mesh: Mesh, time: number, before: number): void {
  const { levels, rebate } = problem.knockIns as KnockIns;
  const scale = 1 / problem.spots[0];
  // Nobody exercises rather than be knocked out: there is nothing yet to exercise.
  const dormant = { ...problem, american: false };
  const compares = comparesAt(problem, time, before);
  putKnockOuts(rows, dormant, mesh, time, compares);
  for (const level of levels) {
    const { side, node } = monitoredNode(level, mesh, compares);
    rows.put(node ?? side * NOWHERE);
    rows.put(side);
    const isSet = node !== undefined && setsEntry(level, problem, compares);
    rows.put(isSet ? keptOnNode(level, mesh, node) : 1);
  }
  const { down, up } = dormantBetween(problem, before, time);
  for (const [level, none] of [
    [down, -1],
    [up, mesh.count],
  ] as const) {
    const node = level && nodeOfLevel(mesh, level);
    const held = level !== undefined && isKnockOut(level) ? heldValue(level, dormant, time) : undefined;
    rows.put(node ?? none);
    rows.put(
      level !== undefined && !isKnockOut(level)
        ? DORMANT_END.joined
        : held !== undefined
          ? DORMANT_END.held
          : DORMANT_END.discounted,
    );
    rows.put((held ?? 0) * scale);
  }
  rows.put(rebate * scale);
}

/**
 * Writes the coefficients of the dormant value (`crossInWords`) for a dividend that may take the spot across a level.
 */
export function putCrossingsIn(
  rows: Rows,
  problem: OneFactorProblem,
  mesh: Mesh,
  dividend: DiscreteDividend,
  time: number,
): void {
  // V is u at a level that stays monitored, whatever may be exercised once it has been hit.
  const dormant = { ...problem, american: false };
  putCrossings(rows, dormant, mesh, dividend, time);
  for (const level of (problem.knockIns as KnockIns).levels) {
    const { side, node, keep, keepBeyond } = crossingOf(level, dormant, mesh, dividend, time);
    const isSet = setsEntry(level, problem, (one) => isMonitored(one, time, problem.expiry));
    rows.put(node);
    rows.put(side);
    rows.put(isSet ? keep : 1);
    rows.put(isSet ? keepBeyond : 1);
  }
}

const isKnockOut = (level: KnockOut | MonitoredLevel): level is KnockOut => "rebate" in level;

/**
 * Tells whether a knock-in sets its node: of several at one level one does, and none where a knock-out at that level
 * goes before.
 */
function setsEntry(
  level: MonitoredLevel,
  { barriers = [], knockIns }: OneFactorProblem,
  compares: (level: MonitoredLevel) => boolean,
): boolean {
  const goesBefore = (out: KnockOut): boolean =>
    out.side === level.side &&
    out.level === level.level &&
    compares(out) &&
    (out.times === undefined || level.times !== undefined);
  return setsNode(level, knockIns?.levels, compares) && !barriers.some(goesBefore);
}

/**
 * The part of the value on its own node that a knock-in leaves: nothing where it is monitored continuously; on a date
 * the part of the half cell on the waiting side.
 */
const keptOnNode = (level: MonitoredLevel, mesh: Mesh, node: number): number =>
  level.times === undefined ? 0 : livePart(level, mesh, node);
