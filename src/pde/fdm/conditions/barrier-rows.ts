import type { DiscreteDividend } from "../../../market/index.ts";
import {
  aliveBetween,
  crossingPrice,
  dormantBetween,
  isMonitored,
  isMonitoredBetween,
  type KnockIns,
  type KnockOut,
  priceInside,
  type MonitoredLevel,
  type OneFactorProblem,
  rebateValue,
  SAME_DATE,
} from "../problem/one-factor.ts";
import { cellOf, type Mesh, nodeAt } from "../mesh/mesh.ts";
import type { CoefficientSink } from "../operator/coefficients.ts";
import { DORMANT_END } from "./barrier.ts";

/** A node index beyond the last node of every mesh. */
const NOWHERE = 1e6;

/** Tells whether the spot is compared with a level on a date. */
type Compares = (level: MonitoredLevel) => boolean;

/**
 * Returns a function that tells which barrier levels are compared with the spot on the date `time`. These are all
 * levels monitored then. Where a dividend is paid on the date, this comparison is with the spot after it
 * (`putCrossings` has the one before), and only levels monitored continuously since the date `before` take part.
 */
function comparesAt({ dividends, expiry }: OneFactorProblem, time: number, before: number): Compares {
  const isPaid = dividends.some((dividend) => Math.abs(dividend.time - time) <= SAME_DATE * expiry);
  return isPaid
    ? (level) => isMonitoredBetween(level, before, time, expiry)
    : (level) => isMonitored(level, time, expiry);
}

/**
 * Writes the solver's coefficients for the barriers that are monitored on a date (`conditions/barrier.ts`), and for the
 * barriers that are monitored continuously from the earlier date `before` to this date. Prices are in units of today's
 * spot.
 */
export function putBarriers(
  rows: CoefficientSink,
  problem: OneFactorProblem,
  mesh: Mesh,
  time: number,
  before: number,
): void {
  putKnockOuts(rows, problem, mesh, time, comparesAt(problem, time, before));
  const { down, up } = aliveBetween(problem, before, time);
  putEnd(rows, down, -1, problem, mesh, time);
  putEnd(rows, up, mesh.count, problem, mesh, time);
}

/**
 * An end of where the trade is alive, or dormant: its node, `none` without a level there, the kind of what is beyond
 * (`DORMANT_END`), and what is held.
 */
function putEnd(
  rows: CoefficientSink,
  level: KnockOut | MonitoredLevel | undefined,
  none: number,
  problem: OneFactorProblem,
  mesh: Mesh,
  time: number,
): void {
  const node = level && nodeOfLevel(mesh, level);
  const isIn = level !== undefined && !isKnockOut(level);
  const held = level === undefined || isIn || node === undefined ? undefined : heldValue(level, problem, time);
  const { discounted, held: isHeld, joined } = DORMANT_END;
  rows.put(node ?? none);
  rows.put(isIn ? joined : held === undefined ? discounted : isHeld);
  rows.put((held ?? 0) * (1 / problem.spots[0]));
}

/** Writes the coefficients of the knock-outs on a date: five reals for each barrier (`knockOut`). */
function putKnockOuts(
  rows: CoefficientSink,
  problem: OneFactorProblem,
  mesh: Mesh,
  time: number,
  compares: Compares,
): void {
  const scale = 1 / problem.spots[0];
  for (const barrier of problem.barriers ?? []) {
    const { side, node } = monitoredNode(barrier, mesh, compares);
    const value = rebateValue(barrier, time, problem);
    const isSet = node !== undefined && setsNode(barrier, problem.barriers, compares);
    const { keep, paid } = isSet ? onTheNode(barrier, value, problem, mesh, node) : { keep: 1, paid: 0 };
    rows.put(node ?? side * NOWHERE);
    rows.put(side);
    rows.put(value * scale);
    rows.put(keep);
    rows.put(paid * scale);
  }
}

/**
 * Tells whether a barrier determines the value at its node. Of several barriers at the same price it is the one that is
 * monitored continuously, otherwise the last of them.
 */
function setsNode(level: MonitoredLevel, all: readonly MonitoredLevel[] = [], compares: Compares): boolean {
  let setter: MonitoredLevel | undefined;
  for (const one of all) {
    if (one.side !== level.side || one.level !== level.level || !compares(one)) continue;
    if (setter === undefined || setter.times !== undefined) setter = one;
  }
  return level === setter;
}

/**
 * Returns the direction of a barrier's breach (+1 upward, −1 downward) and the index of its node; the index is
 * undefined where the barrier is not compared with the spot.
 */
function monitoredNode(
  level: MonitoredLevel,
  mesh: Mesh,
  compares: Compares,
): { readonly side: 1 | -1; readonly node: number | undefined } {
  return {
    side: level.side === "up" ? 1 : -1,
    node: compares(level) ? nodeOfLevel(mesh, level) : undefined,
  };
}

/**
 * The index of the node at a barrier's level. It is undefined where the mesh does not reach the level, and −1 or the
 * number of nodes where the whole mesh is past the barrier. A level below the lowest positive node belongs to the node
 * at zero.
 */
function nodeOfLevel(mesh: Mesh, { level, side }: MonitoredLevel): number | undefined {
  const last = mesh.count - 1;
  // A node at zero, to which dividends may take the spot, stands far below the others.
  const lowest = nodeAt(mesh, 0) > 0 ? nodeAt(mesh, 0) : nodeAt(mesh, 1);
  if (side === "up" ? level < lowest : level > nodeAt(mesh, last)) return side === "up" ? -1 : mesh.count;
  if (nodeAt(mesh, 0) === level || (nodeAt(mesh, 0) === 0 && level < lowest)) return 0;
  if (nodeAt(mesh, last) === level) return last;
  const cell = cellOf(mesh, level);
  return nodeAt(mesh, cell) === level ? cell : nodeAt(mesh, cell + 1) === level ? cell + 1 : undefined;
}

/**
 * The coefficients of an event for the value on a barrier's own node. The value jumps there where the barrier is
 * monitored on that date only: the node then stands for the half cells on both sides of it, which keeps second order
 * (Pooley, Vetzal & Forsyth 2003). Else it is what is paid there, with which the jump is odd about the node and second
 * order is kept, too.
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

/**
 * The fraction of the two half cells about a barrier's node that lies where the trade is alive; 1 where the node is not
 * on the mesh.
 */
function livePart({ side }: MonitoredLevel, mesh: Mesh, node: number): number {
  if (node < 0 || node >= mesh.count) return 1;
  const alive = side === "up" ? -1 : 1;
  const inside = Math.abs(nodeAt(mesh, node + alive) - nodeAt(mesh, node));
  // Where the mesh ends at another barrier on this node there is nothing beyond.
  const beyond = Math.min(Math.max(node - alive, 0), mesh.count - 1);
  const outside = Math.abs(nodeAt(mesh, beyond) - nodeAt(mesh, node));
  return inside / (inside + outside);
}

/**
 * Writes the coefficients for barriers that are monitored on the date of a dividend and that the dividend may take the
 * spot across. There are seven reals for each barrier; `knockOut` reads them with `crossing`.
 */
export function putCrossings(
  rows: CoefficientSink,
  problem: OneFactorProblem,
  mesh: Mesh,
  dividend: DiscreteDividend,
  time: number,
): void {
  const { expiry, spots, american, payoff } = problem;
  const scale = 1 / spots[0];
  const monitored: Compares = (level) => isMonitored(level, time, expiry);
  for (const barrier of problem.barriers ?? []) {
    const value = rebateValue(barrier, time, problem);
    const { side, node, keep, keepBeyond } = crossingOf(barrier, problem, mesh, dividend, time);
    const isSet = setsNode(barrier, problem.barriers, monitored);
    // The holder of an American right may use it before the dividend.
    const paidAt = (i: number): number =>
      american && i >= 0 && i < mesh.count ? Math.max(value, payoff.exercised(nodeAt(mesh, i))) : value;
    rows.put(node);
    rows.put(side);
    rows.put(value * scale);
    rows.put(isSet ? keep : 1);
    rows.put(isSet ? (1 - keep) * paidAt(node) * scale : 0);
    rows.put(isSet ? keepBeyond : 1);
    rows.put(isSet ? (1 - keepBeyond) * paidAt(node + side) * scale : 0);
  }
}

/** The place at which a dividend takes the spot to a level. */
interface Crossing {
  readonly side: 1 | -1;
  /** The last node on the living side; far outside the mesh if the level is not monitored then. */
  readonly node: number;
  /** The part of V that is kept there from the living side, and V at the next node beyond. */
  readonly keep: number;
  readonly keepBeyond: number;
}

/**
 * Returns the weights with which the nodes about a barrier keep their value just before a dividend that takes the spot
 * to the barrier. There V has a jump or a kink between two nodes. Each of them gets the mean of V weighted by its hat
 * function, with V on the side where the trade is alive continued smoothly. The jump then keeps its mass and position
 * to O(h³), and extrapolation finds the same h² error as for a jump on a node, where that node alone gets the mean over
 * its half cells.
 */
function crossingOf(
  level: MonitoredLevel,
  { expiry }: OneFactorProblem,
  mesh: Mesh,
  dividend: DiscreteDividend,
  time: number,
): Crossing {
  const side = level.side === "up" ? 1 : -1;
  if (!isMonitored(level, time, expiry)) return { side, node: side * NOWHERE, keep: 1, keepBeyond: 1 };
  const price = crossingPrice(level, dividend);
  const last = mesh.count - 1;
  const [lowest, highest] = [nodeAt(mesh, 0), nodeAt(mesh, last)];
  if (price < lowest || (side > 0 && price <= lowest)) return { side, node: side > 0 ? -1 : 0, keep: 1, keepBeyond: 0 };
  if (price > highest || (side < 0 && price >= highest))
    return { side, node: side > 0 ? last : last + 1, keep: 1, keepBeyond: 0 };
  const cell = Math.min(cellOf(mesh, price), last - 1);
  const node = side > 0 ? cell : cell + 1;
  const width = nodeAt(mesh, cell + 1) - nodeAt(mesh, cell);
  const alive = Math.abs(price - nodeAt(mesh, node)) / width;
  const widthOf = (i: number): number => nodeAt(mesh, Math.min(i + 1, last)) - nodeAt(mesh, Math.max(i - 1, 0));
  return {
    side,
    node,
    keep: 1 - ((1 - alive) ** 2 * width) / widthOf(node),
    keepBeyond: (alive ** 2 * width) / widthOf(node + side),
  };
}

/** The holder of an American right uses it rather than be knocked out for less. */
function earlyOr(value: number, barrier: KnockOut, problem: OneFactorProblem): number {
  return problem.american ? Math.max(value, problem.payoff.exercised(priceInside(barrier))) : value;
}

/**
 * The value that stays constant on the barrier's node while the barrier is monitored; undefined for a rebate paid at
 * expiry, whose present value grows towards expiry.
 */
function heldValue(barrier: KnockOut, problem: OneFactorProblem, time: number): number | undefined {
  const value = rebateValue(barrier, time, problem);
  if (barrier.rebateAt === "expiry" && barrier.rebate !== 0 && earlyOr(value, barrier, problem) === value)
    return undefined;
  return earlyOr(value, barrier, problem);
}

/**
 * Writes the solver's coefficients for the dormant value on a date, which is the value of a trade that has not yet been
 * knocked in (`conditions/barrier.ts`), and for the interval from the earlier date `before` to it. Prices are in units
 * of today's spot.
 */
export function putKnockIns(
  rows: CoefficientSink,
  problem: OneFactorProblem,
  mesh: Mesh,
  time: number,
  before: number,
): void {
  const { levels, rebate } = problem.knockIns as KnockIns;
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
  putEnd(rows, down, -1, dormant, mesh, time);
  putEnd(rows, up, mesh.count, dormant, mesh, time);
  rows.put(rebate * (1 / problem.spots[0]));
}

/**
 * Writes the coefficients that apply a discrete dividend to the value of a trade that is not yet knocked in
 * (`crossInReals`), where the dividend may carry the spot across a barrier.
 */
export function putKnockInCrossings(
  rows: CoefficientSink,
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
