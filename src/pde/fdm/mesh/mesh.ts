import { Arena, type MeshRange, type NodeMesh, pinnedMesh } from "./pinned-mesh.ts";
import { firstIndex } from "../../../base/search.ts";

/**
 * The specification of a one-dimensional mesh in the spot S, dense about the kinks of the payoff.
 *
 * With x = ln S, or x = S where S = 0 matters, the nodes are the images of equidistant ξ under the inverse of
 *
 *   ξ(x) = Σₖ asinh((x − xₖ)/b),      xₖ the kinks,
 *
 * so that dx/dξ = b near a lone kink, growing like |x − xₖ| away from it (Tavella & Randall 2000, ch. 5.3). Kinks are
 * nodes of even index, so that the coarser mesh of every second node has them too.
 */
export interface MeshSpec extends MeshRange {
  /** The prices at which nodes are concentrated, at least one, between the ends. */
  readonly kinks: readonly number[];
  /** The further prices that must be nodes, because the volatility jumps there. */
  readonly pins?: readonly number[];
  /** The width b, in units of the coordinate. */
  readonly width: number;
  /**
   * True where the highest node comes first. The elimination of Brennan and Schwartz requires the exercise region at
   * index 0.
   */
  readonly descending: boolean;
}

/**
 * A mesh dense about one kink, in closed form, so that a device can compute it itself:
 *
 *   Sᵢ = kink·exp(width·sinh((i − at)·step)), and Sᵢ = 0 at i = zeroAt.
 */
export interface KinkedMesh {
  /** The number of nodes. */
  readonly count: number;
  /** The price of the kink. */
  readonly kink: number;
  /** The width of the dense region in ln S. */
  readonly width: number;
  /** The increment of ξ from node to node, negative where the nodes descend. */
  readonly step: number;
  /** The index of the kink, which is even, so that the mesh of every second node has this form too. */
  readonly at: number;
  /** The index of the node at 0; −1 if no node is 0. */
  readonly zeroAt: number;
}

/** A mesh as an array of nodes, or in a closed form of few numbers. */
export type Mesh = KinkedMesh | NodeMesh;

/** The number of nodes a kink; where there are fewer, kinks that are in each other's way are left between nodes. */
const ROOM = 10;

/**
 * Returns the strictly monotone mesh of a specification. Cost: about 25 ns per node, nothing if it has a closed form.
 */
export function mesh(spec: MeshSpec, arena = new Arena(spec.count)): Mesh {
  const isSingle = spec.kinks.length === 1 && (spec.pins ?? []).length === 0;
  if (spec.coordinate === "log" && isSingle) return kinkedMesh(spec);
  const nodes = isSingle ? singleKink(spec, arena.take(spec.count)) : manyKinks(spec, arena);
  return { count: spec.count, nodes: spec.descending ? nodes.reverse() : nodes };
}

/** Returns the price of node `i`. */
export function nodeAt(mesh: Mesh, i: number): number {
  if ("nodes" in mesh) return mesh.nodes[i];
  if (i === mesh.zeroAt) return 0;
  return mesh.kink * Math.exp(mesh.width * Math.sinh((i - mesh.at) * mesh.step));
}

/**
 * Returns the prices of all nodes. The sinh of a closed form is computed from powers of e^step, with one exponential
 * for each node instead of three.
 */
export function nodesOf(mesh: Mesh, arena = new Arena(mesh.count)): Float64Array {
  if ("nodes" in mesh) return mesh.nodes;
  const { count, kink, width, step, at, zeroAt } = mesh;
  const nodes = arena.take(count);
  const factor = Math.exp(step);
  let growth = Math.exp(-at * step);
  for (let i = 0; i < count; i++) {
    nodes[i] = kink * Math.exp(width * 0.5 * (growth - 1 / growth));
    growth *= factor;
  }
  nodes[at] = kink;
  if (zeroAt >= 0) nodes[zeroAt] = 0;
  return nodes;
}

/** Places nearer to a node than this are compared with the node itself, as it is rounded. */
const NEAR_NODE = 1e-6;

/**
 * Returns the fractional node index of a price in a mesh in closed form; undefined for other meshes and for the price
 * zero.
 */
export function nodePositionOf(mesh: Mesh, price: number): number | undefined {
  if ("nodes" in mesh || !(price > 0)) return undefined;
  return mesh.at + Math.asinh(Math.log(price / mesh.kink) / mesh.width) / mesh.step;
}

/** Tells whether a price is so near a node that rounding decides on its side. */
const isNearNode = (position: number): boolean => Math.abs(position - Math.round(position)) < NEAR_NODE;

/** Tells whether a price is beyond the ends of the mesh; `position` is its fractional node index, if known. */
export function isBeyond(mesh: Mesh, price: number, position = nodePositionOf(mesh, price)): boolean {
  const last = mesh.count - 1;
  if (position !== undefined && (mesh as KinkedMesh).zeroAt < 0) {
    if (!isNearNode(position)) return position < 0 || position > last;
    if (position > 0.5 && position < last - 0.5) return false;
  }
  return (price - nodeAt(mesh, 0)) * (price - nodeAt(mesh, last)) > 0;
}

/**
 * Returns the index i of the cell between nodes i and i + 1 that contains a price. It is limited to 0 … count − 2, so
 * that prices beyond an end belong to the cell at that end. `position` is the price's fractional node index, if known.
 */
export function cellOf(mesh: Mesh, price: number, position = nodePositionOf(mesh, price)): number {
  return position === undefined ? searchedCell(mesh, price) : placedCell(mesh as KinkedMesh, price, position);
}

function placedCell(mesh: KinkedMesh, price: number, position: number): number {
  let cell = Math.floor(position);
  if (isNearNode(position)) {
    const node = Math.round(position);
    const isBefore = mesh.step > 0 ? nodeAt(mesh, node) <= price : nodeAt(mesh, node) > price;
    cell = isBefore ? node : node - 1;
  }
  return Math.min(Math.max(cell, 0), mesh.count - 2);
}

function searchedCell(mesh: Mesh, price: number): number {
  const ascending = nodeAt(mesh, 1) > nodeAt(mesh, 0);
  return firstIndex(1, mesh.count - 1, (i) => nodeAt(mesh, i) <= price !== ascending) - 1;
}

interface Spacing {
  /** The kink's index. */
  readonly at: number;
  readonly step: number;
}

/**
 * Equidistant steps of ξ over `last` intervals from `from` to `to`, with ξ = 0 at a node. The kink's index in the whole
 * mesh, offset + at, is even; within 4 nodes of an end it is the end itself or the fourth. The end that the rounding
 * would cut short decides the spacing; a linear mesh keeps S = 0, so there the kink's index is rounded down.
 */
function spacing(from: number, to: number, last: number, offset: number, log: boolean): Spacing {
  const ideal = (-from / (to - from)) * last;
  let at = (log ? Math.round : Math.floor)((ideal + offset) / 2) * 2 - offset;
  if (from >= -1e-12) at = offset === 0 ? 0 : 1;
  else if (to <= 1e-12) at = last;
  else at = Math.min(Math.max(at, 4 - offset), last - 4);
  const step =
    at === 0 ? to / last : at === last ? -from / last : log ? Math.max(-from / at, to / (last - at)) : -from / at;
  return { at, step };
}

function kinkedMesh({ count, kinks, width, lowest, highest, zero, descending }: MeshSpec): KinkedMesh {
  const [kink] = kinks;
  const offset = zero ? 1 : 0;
  const last = count - 1;
  const from = Math.asinh(Math.log(lowest / kink) / width);
  const to = Math.asinh(Math.log(highest / kink) / width);
  const { at, step } = spacing(from, to, last - offset, offset, true);
  const index = at + offset;
  return descending
    ? { count, kink, width, step: -step, at: last - index, zeroAt: zero ? last : -1 }
    : { count, kink, width, step, at: index, zeroAt: zero ? 0 : -1 };
}

/**
 * The nodes of a linear mesh, denser than asked for where four nodes below the kink would not leave enough for all
 * above it.
 */
function singleKink(spec: MeshSpec, nodes: Float64Array, width = spec.width): Float64Array {
  const [kink] = spec.kinks;
  const from = Math.asinh((spec.lowest - kink) / width);
  const to = Math.asinh((spec.highest - kink) / width);
  const last = nodes.length - 1;
  const { at, step } = spacing(from, to, last, 0, false);
  if ((last - at) * step < to * (1 - 1e-12)) return singleKink(spec, nodes, 0.8 * width);
  const factor = Math.exp(step);
  let growth = Math.exp(-at * step);
  for (let i = 0; i < nodes.length; i++) {
    nodes[i] = kink + width * 0.5 * (growth - 1 / growth);
    growth *= factor;
  }
  nodes[at] = kink;
  nodes[0] = spec.lowest;
  return nodes;
}

/**
 * Nodes on every kink: between nodes, one would move the boundary of early exercise that stands there by a part of a
 * node's distance.
 */
function manyKinks({ kinks, pins: jumps = [], width, ...spec }: MeshSpec, arena: Arena): Float64Array {
  const { count, lowest, highest } = spec;
  const inside = [...kinks, ...jumps].filter((price) => price > lowest && price < highest).sort((a, b) => a - b);
  const isRoomy = (inside.length + 1) * ROOM < count;
  const [pins, wishes] = isRoomy ? [inside, []] : [[], inside];
  return nodesOf(
    pinnedMesh(
      { ...spec, centres: kinks.map((at) => ({ at, width })), pins, kinkPins: pins, optionalPins: wishes },
      arena,
    ),
  );
}

/** Returns the mesh of every second node, ends included, for extrapolation and error estimates. */
export function everySecondNode(mesh: Mesh, arena = new Arena(mesh.count)): Mesh {
  const count = (mesh.count + 1) >> 1;
  if (!("nodes" in mesh)) {
    const { kink, width, step, at, zeroAt } = mesh;
    return { count, kink, width, step: 2 * step, at: at / 2, zeroAt: zeroAt > 0 ? zeroAt / 2 : zeroAt };
  }
  const nodes = arena.take(count);
  for (let i = 0; i < count; i++) nodes[i] = mesh.nodes[2 * i];
  return { count, nodes };
}

/** Returns the index of the first node at or above a price in an ascending mesh. */
export function firstNodeFrom(mesh: Mesh, price: number): number {
  const cell = cellOf(mesh, price);
  return nodeAt(mesh, cell) >= price ? cell : cell + 1;
}
