import { Arena } from "./arena.ts";

/**
 * One-dimensional meshes in the spot S, dense where the payoff bends.
 *
 * With x = ln S (or x = S where S = 0 matters), the nodes are the images of equidistant ξ under the inverse of
 *
 *   ξ(x) = Σₖ asinh((x − xₖ)/b),      xₖ the kinks,
 *
 * so that dx/dξ = b near a lone kink, growing like |x − xₖ| away from it (Tavella & Randall 2000, ch. 5.3). A lone kink falls
 * on a node of even index: the coarser mesh of every second node then has it too.
 */
export interface MeshSpec {
  /** Nodes, odd. */
  readonly count: number;
  /** Equidistance of the map: "log" for lognormal models, "linear" where the diffusion at S → 0 is not S. */
  readonly coordinate: "log" | "linear";
  /** Ends of the mesh, as prices; `lowest` is 0 only with the linear coordinate. */
  readonly lowest: number;
  readonly highest: number;
  /** Prices at which nodes are concentrated, at least one, between the ends. */
  readonly kinks: readonly number[];
  /** b, in units of the coordinate. */
  readonly width: number;
  /** Adds S = 0 below `lowest` (log coordinate): dividends may take the spot there. */
  readonly zero: boolean;
  /** Highest first. Brennan and Schwartz' elimination wants the exercise region at index 0. */
  readonly descending: boolean;
}

/** The nodes of a mesh, strictly monotone, `spec.count` of them. Cost: about 25 ns a node. */
export function mesh(spec: MeshSpec, arena = new Arena(spec.count)): Float64Array {
  const nodes = arena.take(spec.count);
  const offset = spec.zero ? 1 : 0;
  const inner = offset === 0 ? nodes : nodes.subarray(offset);
  if (offset > 0) nodes[0] = 0;
  if (spec.kinks.length === 1) singleKink(spec, inner, offset);
  else manyKinks(spec, inner);
  return spec.descending ? nodes.reverse() : nodes;
}

function singleKink(spec: MeshSpec, nodes: Float64Array, offset: number): void {
  const { width } = spec;
  const log = spec.coordinate === "log";
  const kink = spec.kinks[0];
  const centre = log ? Math.log(kink) : kink;
  const from = Math.asinh(((log ? Math.log(spec.lowest) : spec.lowest) - centre) / width);
  const to = Math.asinh(((log ? Math.log(spec.highest) : spec.highest) - centre) / width);
  const last = nodes.length - 1;
  // The kink's index in the whole mesh, offset + at, is even; within 4 nodes of an end it is the end itself or the fourth.
  const ideal = (-from / (to - from)) * last;
  let at = Math.round((ideal + offset) / 2) * 2 - offset;
  if (from >= -1e-12) at = offset === 0 ? 0 : 1;
  else if (to <= 1e-12) at = last;
  else at = Math.min(Math.max(at, 4 - offset), last - 4);
  // The end that the rounding would cut short decides the spacing, except that a linear mesh keeps S = 0.
  const step =
    at === 0 ? to / last : at === last ? -from / last : log ? Math.max(-from / at, to / (last - at)) : -from / at;
  // sinh by powers of e^step: one exponential a node instead of three.
  const factor = Math.exp(step);
  let growth = Math.exp(-at * step);
  for (let i = 0; i <= last; i++) {
    const x = centre + width * 0.5 * (growth - 1 / growth);
    nodes[i] = log ? Math.exp(x) : x;
    growth *= factor;
  }
  nodes[at] = kink;
  if (!log) nodes[0] = spec.lowest;
}

function manyKinks(spec: MeshSpec, nodes: Float64Array): void {
  const { width } = spec;
  const log = spec.coordinate === "log";
  const centres = spec.kinks.map((kink) => (log ? Math.log(kink) : kink));
  const map = (x: number): number => centres.reduce((sum, centre) => sum + Math.asinh((x - centre) / width), 0);
  const slope = (x: number): number => centres.reduce((sum, centre) => sum + 1 / Math.hypot(x - centre, width), 0);
  const lowest = log ? Math.log(spec.lowest) : spec.lowest;
  const highest = log ? Math.log(spec.highest) : spec.highest;
  const [from, to] = [map(lowest), map(highest)];
  const last = nodes.length - 1;
  let x = lowest;
  for (let i = 0; i <= last; i++) {
    const target = from + ((to - from) * i) / last;
    x = bracketedNewton(map, slope, target, x, highest);
    nodes[i] = log ? Math.exp(x) : x;
  }
}

/** Solves f(x) = target for increasing f on [low, high]; Newton's steps that leave the bracket become bisections. */
function bracketedNewton(
  f: (x: number) => number,
  slope: (x: number) => number,
  target: number,
  low: number,
  high: number,
): number {
  let x = low;
  for (let iteration = 0; iteration < 60; iteration++) {
    const residual = f(x) - target;
    if (residual > 0) high = x;
    else low = x;
    let next = x - residual / slope(x);
    if (!(next >= low && next <= high)) next = 0.5 * (low + high);
    if (Math.abs(next - x) <= 1e-14 * (Math.abs(x) + 1)) return next;
    x = next;
  }
  return x;
}

/** Every second node, ends included: the coarser mesh of an error estimate. */
export function coarser(nodes: Float64Array, arena = new Arena(nodes.length)): Float64Array {
  const coarse = arena.take((nodes.length + 1) >> 1);
  for (let i = 0; i < coarse.length; i++) coarse[i] = nodes[2 * i];
  return coarse;
}
