/** The tile of C that a workgroup computes: chosen by the device's memory and by how many tiles there are. */
import { SpecError } from "../../../base/errors.ts";
import { type Device, firstThatFits, isGpu } from "../../../device/index.ts";

/** The part of C that a workgroup of Feynkac's own product kernel computes. @stable */
export interface Tile {
  /** The number of rows of the tile, a multiple of 4·`itemRows`. */
  readonly rows: number;
  readonly columns: number;
  readonly depth: number;
  /** The number of rows of an item's part: 4, 8 or 16. */
  readonly itemRows: number;
  readonly itemColumns: number;
}

/**
 * The numbers of lanes of a warp along rows and columns of C. A warp is 32 items, so that 4·4 words of A and 8·4 of B
 * lie in 32 different banks.
 */
export const WARP_LANES = { rows: 4, columns: 8 } as const;

/**
 * The number of words that pad a row in workgroup memory. Rows then start in different banks, but at multiples of four.
 */
export const PADDING_WORDS = 4;

const tile = (rows: number, columns: number, depth: number, itemRows: number, itemColumns: number): Tile => ({
  rows,
  columns,
  depth,
  itemRows,
  itemColumns,
});

/**
 * Largest first; the last fits every device. Of an H200's 64 (f32) and 33 (f64) TFLOP/s at 4,096³ the first reach 43
 * (WebGPU 36) and 18; bench/results has the others.
 */
const tiles = (): Readonly<Record<"f64" | "f32", readonly Tile[]>> => ({
  f32: [
    tile(256, 128, 8, 8, 16),
    tile(128, 128, 8, 8, 16),
    tile(128, 64, 16, 8, 8),
    tile(64, 64, 16, 4, 4),
    tile(32, 32, 8, 4, 4),
  ],
  f64: [tile(128, 128, 8, 8, 8), tile(64, 64, 8, 8, 8), tile(64, 64, 16, 4, 4), tile(32, 32, 8, 4, 4)],
});

/** A GPU whose every multiprocessor has one workgroup of 256 items runs an eighth of the items that it has room for. */
const FULL = 1 / 8;

/** Returns the number of items of a workgroup that computes a tile. */
export const itemsPerWorkgroup = ({ rows, columns, itemRows, itemColumns }: Tile): number =>
  (rows * columns) / (itemRows * itemColumns);

/** The bytes of workgroup memory of a tile. */
const sharedBytesOf = ({ rows, columns, depth }: Tile, precision: "f64" | "f32"): number =>
  2 * depth * (rows + columns + 2 * PADDING_WORDS) * (precision === "f64" ? 8 : 4);

/** The number of tiles of a batch of products. */
const tilesOf = (shape: Tiled, { rows, columns }: Pick<Tile, "rows" | "columns">): number =>
  Math.ceil(shape.rows / rows) * Math.ceil(shape.columns / columns) * shape.batch;

/** The sizes of a batch of products to be divided into tiles. */
interface Tiled {
  readonly rows: number;
  readonly columns: number;
  readonly batch: number;
}

/** The factor by which a tile may compute more beyond C's edges than the smallest tiles. */
const MAX_WASTE = 1.5;

/**
 * Returns the largest suitable tile: it fits into the device's memory, C has enough such tiles to occupy the device,
 * and they do not extend too far beyond the edges of C.
 */
export function chooseTile(device: Device, precision: "f64" | "f32", shape: Tiled): Tile {
  const all = tiles()[precision];
  const smallest = all[all.length - 1];
  const work = (one: Tile): number => tilesOf(shape, one) * one.rows * one.columns;
  const good = (one: Tile): boolean =>
    tilesOf(shape, one) * itemsPerWorkgroup(one) >= device.parallelism * FULL &&
    work(one) <= MAX_WASTE * work(smallest);
  // A software adapter takes a minute to compile what a GPU's registers hold.
  const some = isGpu(device) ? all : all.slice(-2);
  const resourcesOf = (one: Tile) => ({ items: itemsPerWorkgroup(one), workgroupBytes: sharedBytesOf(one, precision) });
  return firstThatFits(device, some.filter(good), resourcesOf) ?? smallest;
}

/** Checks that a tile can be divided among the items of a workgroup. @throws SpecError */
export function checkTile(given: Tile): void {
  const { rows, columns, depth, itemRows, itemColumns } = given;
  const items = itemsPerWorkgroup(given);
  const text = `tile ${rows}×${columns}×${depth}, ${itemRows}×${itemColumns} an item`;
  const whole = (what: string, n: number): void => {
    if (!Number.isInteger(n) || n < 1) throw new SpecError(`${text}: ${what} ${n}, expected a whole number ≥ 1`);
  };
  whole("fours along an item's rows:", itemRows / 4);
  whole("fours along an item's columns:", itemColumns / 4);
  whole("runs of lanes along the rows:", rows / (WARP_LANES.rows * itemRows));
  whole("runs of lanes along the columns:", columns / (WARP_LANES.columns * itemColumns));
  whole("fours of A that an item carries:", (rows * depth) / (4 * items));
  whole("fours of B that an item carries:", (columns * depth) / (4 * items));
  whole("items over the depth:", items / depth);
  whole("items over A's fours:", (4 * items) / rows);
  whole("items over B's fours:", (4 * items) / columns);
}

/** The CPU's blocks of C, rows and columns; the last fills no cache, but is one of many. */
const BLOCKS = [128, 64, 32] as const;

/**
 * Returns the number of rows and columns of the blocks of C: the largest with which C has at least one block for each
 * thread.
 */
export const chooseBlockSize = ({ threads }: Device, shape: Tiled): number =>
  BLOCKS.find((size) => tilesOf(shape, { rows: size, columns: size }) >= threads) ?? 32;
