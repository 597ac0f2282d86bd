/**
 * Nearest neighbours by uniform bins: each bin of a box lists the points that are nearest to some place in it. All
 * lists are as long as the longest, so that work items do not diverge, and several numbers of points share a word, so
 * that the table fits into workgroup memory. Queries outside the box are compared with every point.
 */
import { SpecError } from "../../../base/errors.ts";
import { fn, read, real } from "../../../kernel/index.ts";
import { type NearestFunction, nearestByBruteForce, SearchTables, type SearchPlan } from "./brute-force.ts";

/** The largest number of dimensions for bins, whose number grows exponentially with it. */
export const MAX_BIN_DIMENSION = 3;
/** The box goes so far beyond the points, as a share of their range on each side. */
const MARGIN = 0.15;
/**
 * The largest number of words in the bins of a table: 32 KB for small grids in the plane, so that a GPU's workgroup has
 * room for them, and half a megabyte for all others. Finer bins have shorter lists.
 */
const maxWords = (size: number, dimension: number): number => (size <= 1024 && dimension < 3 ? 2 ** 13 : 2 ** 17);
/** The smallest number of bins along an axis: coarser ones save nothing. */
const MIN_BINS = 8;
/** The overlap of neighbouring bins, as a part of their size: rounding may put a query into the next one. */
const OVERLAP = 1e-3;
/**
 * The tolerance relative to the largest squared distance in a bin: a point is left out if another is nearer by more
 * than rounding in f32.
 */
const ROUNDING = 4e-6;
/** Before the bins in a table: words of a list, bits of a point's number, numbers in a word, bins along each axis. */
const HEADER = 6;
const AXES = 3;

/** The format in which the lists of bins are stored. */
interface BinFormat {
  /** The number of words of a list. */
  readonly words: number;
  /** The number of bits of a point's number. */
  readonly bits: number;
  readonly perWord: number;
}

/** Returns the format of a table from `binPlan`. */
export const binFormatOf = (table: Int32Array): BinFormat => ({ words: table[0], bits: table[1], perWord: table[2] });

/**
 * Returns the kernel function that searches the tables of `binPlan`: one bin, then as many squared distances as a list
 * has points. Exact: the result is that of `nearestByBruteForce` bit for bit, also of its ties.
 *
 * @param dimension of the points, 1 to 3: a constant of the kernel.
 * @param format of the only table that is searched, as constants of the kernel, which unroll its loops; by default each
 *   table says its own.
 * @example
 * import { binPlan, nearestByBins } from "feynkac/quantization";
 *
 * const points = Float64Array.of(-1, 0, 1);
 * const { table, geometry } = binPlan(points, 1);
 * const search = { points, size: 3, first: 0, table, tableAt: 0, geometry, geometryAt: 0 };
 * console.log(nearestByBins(1)({ search, query: Float64Array.of(0.6) })); // 2
 * @experimental
 */
export function nearestByBins(dimension: number, format?: BinFormat): NearestFunction {
  return fn({
    name: "nearestByBins",
    params: { search: SearchTables, query: read(real) },
    env: {
      nearestByBruteForce: nearestByBruteForce(dimension),
      DIMENSION: dimension,
      HEADER,
      AXES,
      words: format?.words,
      bits: format?.bits,
      perWord: format?.perWord,
    },
    body({ search, query }, gpu, { nearestByBruteForce, DIMENSION, HEADER, AXES, words, bits, perWord }) {
      const { points, first, table, tableAt, geometry, geometryAt } = search;
      let bin = 0;
      let isInside = true;
      for (let a = DIMENSION - 1; a >= 0; a--) {
        const place = (query[a] - geometry[geometryAt + 2 * a]) * geometry[geometryAt + 2 * a + 1];
        const bins = table[tableAt + AXES + a];
        isInside = isInside && place >= 0 && place < gpu.real(bins);
        bin = bin * bins + Math.min(gpu.i32(Math.max(place, 0)), bins - 1);
      }
      const length = words === undefined ? table[tableAt] : words;
      const width = bits === undefined ? table[tableAt + 1] : bits;
      const count = perWord === undefined ? table[tableAt + 2] : perWord;
      const mask = (1 << width) - 1;
      const list = tableAt + HEADER + bin * length;
      let best = 0;
      let least = gpu.real(Infinity);
      for (let w = 0; w < length; w++) {
        let word = table[list + w];
        for (let c = 0; c < count; c++) {
          const j = word & mask;
          word >>= width;
          let squared = gpu.real(0);
          for (let a = 0; a < DIMENSION; a++) {
            const apart = query[a] - points[(first + j) * DIMENSION + a];
            squared += apart * apart;
          }
          if (squared < least) {
            least = squared;
            best = j;
          }
        }
      }
      if (!isInside) best = nearestByBruteForce({ search, query });
      return best;
    },
  });
}

/**
 * Returns the tables of `nearestByBins` for points, [size, dimension]. The resolution is the coarsest with the shortest
 * lists whose table has at most 32 KB, or half a megabyte for more than 1,024 points or three dimensions.
 *
 * Cost on the host: bins × points distances; 0.1 s for 500 points in the plane.
 *
 * @param points row by row, finite.
 * @param dimension 1 to 3.
 * @throws SpecError for another dimension.
 * @example
 * import { binPlan } from "feynkac/quantization";
 *
 * const { table } = binPlan(Float64Array.of(-1, 0, 1), 1);
 * console.log(table.slice(0, 4).join(" ")); // 1 2 2 8
 * @experimental
 */
export function binPlan(points: Float64Array, dimension: number): SearchPlan {
  if (!(dimension >= 1 && dimension <= MAX_BIN_DIMENSION))
    throw new SpecError(
      `binPlan: dimension: got ${dimension}, expected 1 to ${MAX_BIN_DIMENSION}: bins grow with its power; take ` +
        `the method "brute-force" or "kd-tree"`,
    );
  const size = points.length / dimension;
  const box = boxOf(points, dimension);
  let lists: Lists = [Array.from({ length: size }, (_, i) => i)];
  let best: SearchPlan | undefined;
  let shortest = Infinity;
  // What is not near a bin is not near its halves: each bin chooses from the list of the one that it is a part of.
  for (let bins = 2; ; bins *= 2) {
    lists = refined(points, dimension, box, bins, lists);
    const length = lists.reduce((most, list) => Math.max(most, list.length), 1);
    const format = formatOf(size, length);
    if (best !== undefined && lists.length * format.words > maxWords(size, dimension)) return best;
    if (bins >= MIN_BINS && format.words * format.perWord < shortest) {
      best = tableOf(lists, format, dimension, box, bins);
      shortest = format.words * format.perWord;
    }
    // At a corner of cells d + 1 of them meet, so that lists do not become shorter than that.
    if (best !== undefined && length <= dimension + 1) return best;
  }
}

/** The format with as few words as hold `length` numbers of points, and as few numbers in each. */
function formatOf(size: number, length: number): BinFormat {
  const bits = Math.max(1, Math.ceil(Math.log2(size)));
  const words = Math.ceil(length / Math.floor(32 / bits));
  return { words, bits, perWord: Math.ceil(length / words) };
}

type Lists = readonly (readonly number[])[];

interface Box {
  readonly low: readonly number[];
  readonly size: readonly number[];
}

function boxOf(points: Float64Array, dimension: number): Box {
  const axes = Array.from({ length: dimension }, (_, a) => points.filter((_x, k) => k % dimension === a));
  const low = axes.map((x) => x.reduce((p, q) => Math.min(p, q)));
  const high = axes.map((x) => x.reduce((p, q) => Math.max(p, q)));
  const range = Math.max(...high.map((x, a) => x - low[a])) || 1;
  return { low: low.map((x) => x - MARGIN * range), size: high.map((x, a) => x - low[a] + 2 * MARGIN * range) };
}

function tableOf(lists: Lists, format: BinFormat, dimension: number, { low, size }: Box, bins: number): SearchPlan {
  const { words, bits, perWord } = format;
  const table = new Int32Array(HEADER + lists.length * words);
  table.set([words, bits, perWord, ...low.map(() => bins)]);
  // The last point again in the places that are left.
  lists.forEach((list, bin) => {
    for (let c = 0; c < words * perWord; c++)
      table[HEADER + bin * words + Math.floor(c / perWord)] |=
        list[Math.min(c, list.length - 1)] << ((c % perWord) * bits);
  });
  const geometry = new Float64Array(2 * dimension);
  for (let a = 0; a < dimension; a++) geometry.set([low[a], bins / size[a]], 2 * a);
  return { table, geometry };
}

/** The points of each bin that no other point dominates, increasing; from the lists of bins twice as wide. */
function refined(points: Float64Array, dimension: number, box: Box, bins: number, coarse: Lists): Lists {
  const width = box.size.map((size) => size / bins);
  return Array.from({ length: bins ** dimension }, (_, bin) => {
    const places = width.map((_w, a) => Math.floor(bin / bins ** a) % bins);
    const within = places.reduce((sum, k, a) => sum + (k >> 1) * (bins / 2) ** a, 0);
    const low = places.map((k, a) => box.low[a] + (k - OVERLAP) * width[a]);
    const high = places.map((k, a) => box.low[a] + (k + 1 + OVERLAP) * width[a]);
    return candidatesOf(points, dimension, coarse[within], { low, high });
  });
}

interface Corners {
  readonly low: readonly number[];
  readonly high: readonly number[];
}

/** Selects those of some points that may be the nearest to a place in a box. */
function candidatesOf(
  points: Float64Array,
  dimension: number,
  from: readonly number[],
  corners: Corners,
): readonly number[] {
  const { low, high } = corners;
  let reach = Infinity;
  const nearest = from.map((j) => {
    let [near, far] = [0, 0];
    for (let a = 0; a < dimension; a++) {
      const x = points[j * dimension + a];
      const [below, above] = [low[a] - x, x - high[a]];
      near += Math.max(below, above, 0) ** 2;
      far += Math.min(below, above) ** 2;
    }
    reach = Math.min(reach, far);
    return near;
  });
  const tolerance = ROUNDING * reach;
  const near = from.filter((_, k) => nearest[k] <= reach + tolerance);
  const isDominated = (i: number): boolean =>
    near.some((j) => j !== i && lead(points, dimension, i, j, corners) < -tolerance);
  return near.filter((i) => !isDominated(i));
}

/** The largest |q − xⱼ|² − |q − xᵢ|² of q in a box: linear in q, so that each axis takes one of its ends. */
function lead(points: Float64Array, dimension: number, i: number, j: number, { low, high }: Corners): number {
  let sum = 0;
  for (let a = 0; a < dimension; a++) {
    const [x, y] = [points[i * dimension + a], points[j * dimension + a]];
    const q = x > y ? high[a] : low[a];
    sum += (x - y) * (2 * q - x - y);
  }
  return sum;
}
