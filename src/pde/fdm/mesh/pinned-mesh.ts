import { SpecError } from "../../../base/errors.ts";

/**
 * An allocator that takes many small arrays from a few large ones. A trade needs half a dozen arrays of a few hundred
 * numbers, whose separate allocation would cost more than filling them.
 */
export class Arena {
  readonly #chunkLength: number;
  readonly #chunks: Float64Array[] = [];
  /** The index of the chunk that is being cut, and how much of it is gone. */
  #current = -1;
  #used = 0;
  #room = 0;

  constructor(chunkLength = 2 ** 16) {
    this.#chunkLength = chunkLength;
  }

  /** Returns an uninitialised array, which the caller must fill. */
  take(length: number): Float64Array {
    if (this.#used + length > this.#room) this.#nextChunk(length);
    const start = this.#used;
    this.#used += length;
    return this.#chunks[this.#current].subarray(start, this.#used);
  }

  /** Releases all arrays taken so far for reuse; those still in use elsewhere will be overwritten. */
  clear(): void {
    this.#current = -1;
    this.#used = 0;
    this.#room = 0;
  }

  #nextChunk(length: number): void {
    this.#current++;
    this.#used = 0;
    if (!((this.#chunks[this.#current]?.length ?? 0) >= length))
      this.#chunks[this.#current] = new Float64Array(Math.max(this.#chunkLength, length));
    this.#room = this.#chunks[this.#current].length;
  }
}

/** The number of nodes of a mesh of prices, the coordinate in which they are spaced, and the ends of the mesh. */
export interface MeshRange {
  /** The number of nodes, 4k + 1. */
  readonly count: number;
  /** The coordinate x: "log" for lognormal models, "linear" where σ(S)·S does not vanish like S at zero. */
  readonly coordinate: "log" | "linear";
  /** The ends of the mesh as prices; the lower one is 0 only with the linear coordinate. */
  readonly lowest: number;
  readonly highest: number;
  /** Adds a node S = 0 below `lowest` (log coordinate), because dividends may take the spot there. */
  readonly zero: boolean;
}

/**
 * The specification of a mesh with nodes at given prices, dense about given centres, each with its own width. Nodes are
 * the images of equidistant i under i → ξ → x,
 *
 *   ξ(x) = Σₖ asinh((x − xₖ)/bₖ),      ξ(i) the monotone cubic through the pins (Fritsch & Butland 1984),
 *
 * with x = ln S or S, and centres xₖ. Pins have even indices, so that the mesh of every second node has them too.
 * Neighbouring intervals differ by O(h²) everywhere.
 */
export interface PinnedMeshSpec extends MeshRange {
  /** The prices about which nodes are dense, each with its width in units of the coordinate. */
  readonly centres: readonly { readonly at: number; readonly width: number }[];
  /** The prices that must be nodes, increasing, between the ends. */
  readonly pins: readonly number[];
  /** The pins at which the solution has a kink but no jump, so that interpolation may extend across them. */
  readonly kinkPins?: readonly number[];
  /** The prices that become nodes unless a pin is too near. */
  readonly optionalPins: readonly number[];
}

/**
 * The number of intervals between pins, if there is room: six nodes of the coarser mesh, which is what reading between
 * them takes.
 */
const APART = 10;
/**
 * The number of intervals beside a pin where the solution bends: two of the coarser mesh. More would take the nodes
 * from where the payoff's kinks are near to each other, and all else is far.
 */
const APART_FROM_BENDS = 4;

/** Returns the ascending mesh of a specification. Cost: about 60 ns per node. @throws SpecError more pins than nodes */
export function pinnedMesh(spec: PinnedMeshSpec, arena = new Arena(spec.count)): NodeMesh {
  const log = spec.coordinate === "log";
  const map = new DenseMap(spec);
  const [lowest, highest] = [map.coordinate(spec.lowest), map.coordinate(spec.highest)];
  const [from, to] = [map.at(lowest).image, map.at(highest).image];
  const first = spec.zero ? 1 : 0;
  const last = spec.count - 1;
  const wanted = (price: number): Wanted => {
    const { image } = map.at(map.coordinate(price));
    return { price, image, ideal: first + ((image - from) / (to - from)) * (last - first) };
  };
  const placed = places(spec, spec.pins.map(wanted), spec.optionalPins.map(wanted));
  const indices = [first];
  const images = [from];
  for (const { image, index } of placed) {
    indices.push(index);
    images.push(image);
  }
  indices.push(last);
  images.push(to);
  const nodes = arena.take(spec.count);
  fillNodes(nodes, map, new MonotoneCubic(indices, images), lowest, highest);
  if (log) for (let i = first; i < last; i++) nodes[i] = Math.exp(nodes[i]);
  if (spec.zero) nodes[0] = 0;
  nodes[first] = spec.lowest;
  nodes[last] = spec.highest;
  for (const { index, price } of placed) nodes[index] = price;
  return { count: spec.count, nodes };
}

/** x at all nodes from the first of the cubic's indices to the last, which is left out. */
function fillNodes(nodes: Float64Array, map: DenseMap, index: MonotoneCubic, lowest: number, highest: number): void {
  const anchorAt = (at: number, guess: number, low: number): Anchor => {
    index.seek(at);
    const x = map.inverse(index.value, low, highest, guess);
    return { index: at, x, slope: index.slope / map.slopeAt(x) };
  };
  const next = (left: Anchor, at: number): Anchor => anchorAt(at, left.x + (at - left.index) * left.slope, left.x);
  let left = anchorAt(index.points[0], lowest, lowest);
  for (const end of index.points)
    while (left.index < end) {
      const far = next(left, Math.min(left.index + STRIDE, end));
      const right = isGentle(left, far) ? far : next(left, left.index + 1);
      fill(nodes, left, right);
      left = right;
    }
}

/** Newton's iterations end when what is left is below the square of this. */
const NEARLY = 1e-5;

/** ξ(x): an object that is told x and asked for ξ and dξ/dx, since a mesh asks some hundred times. */
class DenseMap {
  image = 0;
  slope = 0;
  private readonly log: boolean;
  private readonly centres: readonly number[];
  private readonly widths: readonly number[];

  constructor({ coordinate, centres }: PinnedMeshSpec) {
    this.log = coordinate === "log";
    this.centres = centres.map(({ at }) => this.coordinate(at));
    this.widths = centres.map(({ width }) => width);
  }

  coordinate(price: number): number {
    return this.log ? Math.log(price) : price;
  }

  /**
   * asinh u = ln(u + √(1 + u²)), and one logarithm for all centres; u + √ is 1/(√ − u), which does not cancel where u <
   * 0.
   */
  at(x: number): this {
    const { centres, widths } = this;
    let product = 1;
    let slope = 0;
    for (let k = 0; k < centres.length; k++) {
      const distance = x - centres[k];
      const width = widths[k];
      // Not Math.hypot, which takes five times as long and guards against what cannot be.
      const root = Math.sqrt(distance * distance + width * width);
      product *= distance > 0 ? (root + distance) / width : width / (root - distance);
      slope += 1 / root;
    }
    this.slope = slope;
    this.image = Math.log(product);
    return this;
  }

  slopeAt(x: number): number {
    const { centres, widths } = this;
    let slope = 0;
    for (let k = 0; k < centres.length; k++) {
      const distance = x - centres[k];
      slope += 1 / Math.sqrt(distance * distance + widths[k] * widths[k]);
    }
    return slope;
  }

  /**
   * x in (low, high) with ξ(x) = target, from a first guess; steps of Newton's that leave the bracket, or are more than
   * half of the one before, become bisections: across a thin layer they go to and fro.
   */
  inverse(target: number, low: number, high: number, guess: number): number {
    let x = guess > low && guess < high ? guess : low;
    let before = high - low;
    for (let iteration = 0; iteration < 60; iteration++) {
      this.at(x);
      const residual = this.image - target;
      if (residual > 0) high = x;
      else low = x;
      const next = x - residual / this.slope;
      if (Math.abs(residual) <= NEARLY) return Math.min(Math.max(next, low), high);
      const isShorter = next >= low && next <= high && Math.abs(next - x) <= 0.5 * before;
      const to = isShorter ? next : 0.5 * (low + high);
      before = Math.abs(to - x);
      x = to;
    }
    return x;
  }
}

/** A node, with x and dx/di. */
interface Anchor {
  readonly index: number;
  readonly x: number;
  readonly slope: number;
}

/**
 * The number of nodes from one solution of ξ(x) = ξ(i) to the next. Between them x is a cubic in i, of the right
 * slopes: what that changes of a mesh is O(h⁴).
 */
const STRIDE = 4;

/**
 * Tells whether the cubic between two anchors is monotone (Fritsch & Carlson 1980): not where few nodes have to do for
 * a thin layer.
 */
function isGentle(left: Anchor, right: Anchor): boolean {
  return Math.max(left.slope, right.slope) * (right.index - left.index) <= 3 * (right.x - left.x);
}

/** Hermite's cubic in the index from one anchor to the next, which the next fill begins with. */
function fill(nodes: Float64Array, left: Anchor, right: Anchor): void {
  const width = right.index - left.index;
  const rise = right.x - left.x;
  const a = width * left.slope;
  const b = width * right.slope;
  const square = 3 * rise - 2 * a - b;
  const cube = a + b - 2 * rise;
  for (let i = left.index; i < right.index; i++) {
    const t = (i - left.index) / width;
    nodes[i] = left.x + t * (a + t * (square + t * cube));
  }
}

/** A price that is to have a node, with ξ and the index that it would have. */
interface Wanted {
  readonly price: number;
  readonly image: number;
  readonly ideal: number;
}

interface Placed extends Wanted {
  readonly index: number;
}

/** Even indices for the pins, and for those wishes that are not in their way. */
function places(spec: PinnedMeshSpec, wantedPins: readonly Wanted[], wishes: readonly Wanted[]): readonly Placed[] {
  const pins = spread(wantedPins, spec);
  const placed = [...pins];
  for (const { price, image, ideal } of wishes) {
    if (!roomInside(ideal, spec) || pins.some((pin) => Math.abs(pin.index - ideal) < 3)) continue;
    const nearest = 2 * Math.round(ideal / 2);
    const second = nearest + (ideal > nearest ? 2 : -2);
    // Its second choice only where that does not crowd nodes together.
    const isApart = placed.every((other, k) => k < pins.length || Math.abs(other.ideal - ideal) >= 1);
    if (isFree(placed, price, nearest)) placed.push({ price, image, ideal, index: nearest });
    else if (isApart && isFree(placed, price, second)) placed.push({ price, image, ideal, index: second });
  }
  return placed.length < 2 ? placed : placed.sort((a, b) => a.index - b.index);
}

/** Tells whether a price at an index is in order with those that have their places. */
const isFree = (placed: readonly Placed[], price: number, index: number): boolean =>
  placed.every((other) => (other.price - price) * (other.index - index) > 0);

const roomInside = (ideal: number, { count, zero }: PinnedMeshSpec): boolean =>
  ideal > (zero ? 1 : 0) + 3 && ideal < count - 4;

/** The even indices nearest to the ideal ones that are far enough from each other and from the ends. */
function spread(pins: readonly Wanted[], { count, kinkPins: bends = [] }: PinnedMeshSpec): readonly Placed[] {
  if (pins.length === 0) return [];
  const room = 2 * Math.floor((count - 1) / (2 * (pins.length + 1)));
  if (room < 2) throw new SpecError(`barriers: ${pins.length} levels, more than a mesh of ${count} nodes has room for`);
  const isBend = (k: number): boolean => k >= 0 && k < pins.length && bends.includes(pins[k].price);
  /** The number of intervals from the k-th pin to the one before, or from an end of the mesh, at least. */
  const apart = (k: number): number => Math.min(isBend(k - 1) || isBend(k) ? APART_FROM_BENDS : APART, room);
  const indices = pins.map(({ ideal }) => 2 * Math.round(ideal / 2));
  const last = indices.length - 1;
  for (let k = 0; k <= last; k++) indices[k] = Math.max(indices[k], (k === 0 ? 0 : indices[k - 1]) + apart(k));
  for (let k = last; k >= 0; k--)
    indices[k] = Math.min(indices[k], (k === last ? count - 1 : indices[k + 1]) - apart(k + 1));
  return pins.map(({ price, ideal, image }, k) => ({ price, ideal, image, index: indices[k] }));
}

/**
 * The monotone piecewise cubic through increasing points, with harmonic means as slopes. `seek(x)` sets value and
 * slope; x must not decrease.
 */
class MonotoneCubic {
  value = 0;
  slope = 0;
  readonly points: readonly number[];
  private readonly values: readonly number[];
  private readonly slopes: readonly number[];
  private piece = 0;

  constructor(points: readonly number[], values: readonly number[]) {
    this.points = points;
    this.values = values;
    this.slopes = harmonicSlopes(points, values);
  }

  seek(at: number): void {
    const { points, values, slopes } = this;
    while (this.piece < points.length - 2 && at > points[this.piece + 1]) this.piece++;
    const k = this.piece;
    const width = points[k + 1] - points[k];
    const t = (at - points[k]) / width;
    const rise = values[k + 1] - values[k];
    const a = width * slopes[k];
    const b = width * slopes[k + 1];
    const square = 3 * rise - 2 * a - b;
    const cube = a + b - 2 * rise;
    this.value = values[k] + t * (a + t * (square + t * cube));
    this.slope = (a + t * (2 * square + 3 * t * cube)) / width;
  }
}

function harmonicSlopes(x: readonly number[], y: readonly number[]): number[] {
  const last = x.length - 1;
  const slopes: number[] = [];
  let before = 0;
  for (let k = 0; k < last; k++) {
    const secant = (y[k + 1] - y[k]) / (x[k + 1] - x[k]);
    if (k === 0) slopes.push(secant);
    else {
      const left = x[k] - x[k - 1];
      const right = x[k + 1] - x[k];
      const a = 2 * right + left;
      const b = right + 2 * left;
      slopes.push((a + b) / (a / before + b / secant));
    }
    before = secant;
  }
  slopes.push(before);
  return slopes;
}

/** A mesh as an array of the prices of its nodes. */
export interface NodeMesh {
  readonly count: number;
  readonly nodes: Float64Array;
}
