/**
 * The Voronoi cells of points in the plane under N(0, I₂), with their masses and means, integrated along their edges.
 *
 * The divergence theorem turns integrals over a cell C into integrals over its edges. An edge lies on a line at the
 * signed distance h from the origin, n its outward normal, s the place along it:
 *
 *   P(C)     = Σ ∫ h·g(h² + s²) ds / 2π,       g(u) = (1 − e^(−u/2))/u, an entire function
 *   E[X; C]  = −Σ n·∫ φ ds,                    since ∇φ = −x·φ
 *
 * Both integrands are smooth, so that Gauss and Legendre's rule is exact to rounding. Unbounded cells end at a square
 * outside of which the probability is 1e-22.
 */
import { gaussLegendre } from "../../../numerics/linalg/index.ts";

/** Half the side of the square. */
const REACH = 10;
/** Longest part of an edge that the rule integrates at once, in standard deviations. */
const PANEL = 0.75;
/** The number of points of the rule. */
const POINTS = 12;
/** The largest number of edges of a cell. */
const MAX_EDGES = 128;

/** An edge of a Voronoi cell, with the integrals of 1, s and s² times the density along it. */
export interface CellEdge {
  /** The cell on this side. */
  readonly cell: number;
  readonly other: number;
  /** The outward normal of the cell, first coordinate. */
  readonly normalX: number;
  readonly normalY: number;
  readonly height: number;
  readonly moments: readonly [number, number, number];
}

/** The Voronoi cells of points in the plane under the standard normal distribution of two variables. */
export interface PlaneCells {
  /** The probability of each cell. */
  readonly weights: Float64Array;
  /** The first moments E[X; Cᵢ], [size, 2]. */
  readonly firstMoments: Float64Array;
  /** The edges between two cells, once from each side. */
  readonly edges: readonly CellEdge[];
  /** The distortion E minᵢ |X − xᵢ|². */
  readonly distortion: number;
}

/** A convex polygon, counter-clockwise; edge k goes from vertex k to the next and borders cell `across[k]`, or −1. */
class Polygon {
  count = 0;
  readonly x = new Float64Array(MAX_EDGES);
  readonly y = new Float64Array(MAX_EDGES);
  readonly across = new Int32Array(MAX_EDGES);

  reset(): void {
    this.count = 4;
    this.x.set([-REACH, REACH, REACH, -REACH]);
    this.y.set([-REACH, -REACH, REACH, REACH]);
    this.across.fill(-1, 0, 4);
  }

  add(x: number, y: number, across: number): void {
    this.x[this.count] = x;
    this.y[this.count] = y;
    this.across[this.count++] = across;
  }
}

/** The scratch memory for computing cells: polygons, and each point's neighbours of the last time. */
export class PlaneScratch {
  #polygon = new Polygon();
  #clipped = new Polygon();
  /** The neighbours across each point's edges, which most likely bound its cell the next time. */
  neighbours: readonly (readonly number[])[] = [];

  /** Returns the cell of point i. */
  cell(points: Float64Array, i: number): Polygon {
    const size = points.length / 2;
    this.#polygon.reset();
    for (const j of this.neighbours[i] ?? []) if (j < size && j !== i) this.#clip(points, i, j);
    const [x, y] = [points[2 * i], points[2 * i + 1]];
    let reach = this.#reachOf(x, y);
    for (let j = 0; j < size; j++) {
      const squared = (points[2 * j] - x) ** 2 + (points[2 * j + 1] - y) ** 2;
      // A bisector farther away than every corner cuts none off.
      if (squared >= 4 * reach || j === i) continue;
      if (this.#clip(points, i, j)) reach = this.#reachOf(x, y);
    }
    return this.#polygon;
  }

  #reachOf(x: number, y: number): number {
    const { count, x: xs, y: ys } = this.#polygon;
    let reach = 0;
    for (let k = 0; k < count; k++) reach = Math.max(reach, (xs[k] - x) ** 2 + (ys[k] - y) ** 2);
    return reach;
  }

  /** Cuts off what is nearer to point j than to point i; whether that was anything. */
  #clip(points: Float64Array, i: number, j: number): boolean {
    const from = this.#polygon;
    const nx = points[2 * j] - points[2 * i];
    const ny = points[2 * j + 1] - points[2 * i + 1];
    const level = 0.5 * (nx * (points[2 * j] + points[2 * i]) + ny * (points[2 * j + 1] + points[2 * i + 1]));
    const beyond = (k: number): number => nx * from.x[k] + ny * from.y[k] - level;
    let isCut = false;
    for (let k = 0; k < from.count && !isCut; k++) isCut = beyond(k) > 0 && from.across[k] !== j;
    if (!isCut) return false;
    const to = this.#clipped;
    to.count = 0;
    for (let k = 0; k < from.count; k++) {
      const next = k + 1 === from.count ? 0 : k + 1;
      const [here, there] = [beyond(k), beyond(next)];
      if (here <= 0) to.add(from.x[k], from.y[k], from.across[k]);
      if (here <= 0 === there <= 0) continue;
      const share = here / (here - there);
      const [x, y] = [from.x[k] + share * (from.x[next] - from.x[k]), from.y[k] + share * (from.y[next] - from.y[k])];
      // Leaving, the new edge along the bisector begins here; entering again, the rest of the old one does.
      to.add(x, y, here <= 0 ? j : from.across[k]);
    }
    [this.#polygon, this.#clipped] = [to, from];
    return true;
  }
}

/** Returns the cells of points, [size, 2]; of equal points all but one have empty cells. */
export function planeCells(points: Float64Array, scratch: PlaneScratch): PlaneCells {
  const size = points.length / 2;
  const weights = new Float64Array(size);
  const firstMoments = new Float64Array(2 * size);
  const edges: CellEdge[] = [];
  const neighbours: number[][] = [];
  let distortion = 2;
  for (let i = 0; i < size; i++) {
    const polygon = scratch.cell(points, i);
    const beside: number[] = [];
    for (let k = 0; k < polygon.count; k++) {
      const edge = integrate(polygon, k, i);
      if (edge === undefined) continue;
      weights[i] += edge.mass;
      firstMoments[2 * i] -= edge.normalX * edge.moments[0];
      firstMoments[2 * i + 1] -= edge.normalY * edge.moments[0];
      if (edge.other < 0) continue;
      edges.push(edge);
      beside.push(edge.other);
    }
    neighbours.push(beside);
    const [x, y] = [points[2 * i], points[2 * i + 1]];
    distortion += weights[i] * (x * x + y * y) - 2 * (x * firstMoments[2 * i] + y * firstMoments[2 * i + 1]);
  }
  scratch.neighbours = neighbours;
  return { weights, firstMoments, edges, distortion };
}

/** Edge k of a cell; undefined if it is a point. */
function integrate(polygon: Polygon, k: number, cell: number): (CellEdge & { readonly mass: number }) | undefined {
  const next = k + 1 === polygon.count ? 0 : k + 1;
  const [x, y] = [polygon.x[k], polygon.y[k]];
  const [dx, dy] = [polygon.x[next] - x, polygon.y[next] - y];
  const length = Math.hypot(dx, dy);
  if (length < 1e-13) return undefined;
  const [normalX, normalY] = [dy / length, -dx / length];
  const height = normalX * x + normalY * y;
  const start = (dx * x + dy * y) / length;
  let [g, one, first, second] = [0, 0, 0, 0];
  const panels = Math.ceil(length / PANEL);
  const { nodes, weights } = gaussLegendre(POINTS);
  const half = (0.5 * length) / panels;
  for (let panel = 0; panel < panels; panel++) {
    for (let node = 0; node < nodes.length; node++) {
      const s = start + half * (2 * panel + 1 + nodes[node]);
      const u = height * height + s * s;
      const weight = half * weights[node];
      const density = Math.exp(-0.5 * u) * weight;
      g += u < 1e-3 ? weight * (0.5 - u * (0.125 - u / 48)) : (weight - density) / u;
      one += density;
      first += s * density;
      second += s * s * density;
    }
  }
  const scale = 0.5 / Math.PI;
  const moments = [scale * one, scale * first, scale * second] as const;
  return { cell, other: polygon.across[k], normalX, normalY, height, moments, mass: scale * height * g };
}
