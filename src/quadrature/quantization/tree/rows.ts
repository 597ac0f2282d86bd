/**
 * Counters to probabilities: sparse rows of at most `slots` columns each, [slots, rows], so that neighbours are read
 * together. Row r has `widths[r]` counters, from `starts[r]` on.
 *
 * An item reads its row. With CUDA items of neighbouring rows would read far apart, so that a workgroup reads tiles of
 * its rows together, and each item goes through its part of a tile.
 *
 * Bytes: each counter is read twice, and each transition that occurs is written once.
 */
import { compileExact, type Device, type DeviceBuffer, createBufferOf } from "../../../device/index.ts";
import {
  fn,
  hostRealType,
  i32,
  kernel,
  type Precision,
  read,
  real,
  record,
  u32,
  write,
} from "../../../kernel/index.ts";

/** Tells whether tiles are worth it: a software adapter of WebGPU runs out of memory when it compiles their loops. */
const byTiles = ({ backend }: Device): boolean => backend === "cuda";

/** The number of rows of a workgroup, and columns of a tile. */
const ROWS = 64;
const TILE = 32;

const rowParams = {
  rows: i32,
  /** The largest of the widths. */
  widest: i32,
  starts: read(i32),
  widths: read(i32),
  counters: read(u32),
} as const;
const lengthParams = { ...rowParams, totals: write(u32), most: write(i32) } as const;
const fillParams = { ...rowParams, totals: read(u32), columns: write(i32), probabilities: write(real) } as const;

/** The sum of each row's counters, and in `most` the largest number of columns that occur in a row. */
const lengthsByItem = kernel({
  name: "rowLengths",
  params: lengthParams,
  body({ starts, widths, counters, totals, most }, gpu) {
    const row = gpu.globalId();
    const start = starts[row];
    const width = widths[row];
    let length = 0;
    let total = gpu.u32(0);
    for (let j = 0; j < width; j++) {
      const count = counters[start + j];
      length += count > 0 ? 1 : 0;
      total += count;
    }
    totals[row] = total;
    gpu.atomicMax(most, 0, length);
  },
});

/** p = count / sum of the row; slots that a row does not use have probability 0. A cell that no path met has none. */
const probabilitiesByItem = kernel({
  name: "rowProbabilities",
  params: fillParams,
  body({ rows, starts, widths, counters, totals, columns, probabilities }, gpu) {
    const row = gpu.globalId();
    const start = starts[row];
    const width = widths[row];
    const scale = 1 / gpu.real(Math.max(gpu.i32(totals[row]), 1));
    let slot = row;
    for (let j = 0; j < width; j++) {
      const count = gpu.i32(counters[start + j]);
      if (count > 0) {
        columns[slot] = j;
        probabilities[slot] = gpu.real(count) * scale;
        slot += rows;
      }
    }
  },
});

const Tile = record({ tile: write(u32), begins: read(i32), lengths: read(i32) });

/** The columns from `from` on of a workgroup's rows, read side by side. */
const loadTile = fn({
  name: "loadTile",
  params: { into: Tile, counters: read(u32), from: i32 },
  env: { ROWS, TILE },
  body({ into: { tile, begins, lengths }, counters, from }, gpu, { ROWS, TILE }): void {
    const local = gpu.localId();
    for (let k = 0; k < TILE; k++) {
      const cell = k * ROWS + local;
      const row = (cell / TILE) | 0;
      const column = cell % TILE;
      const j = from + column;
      // A word more in each row, so that the items of a subgroup use different banks.
      tile[row * (TILE + 1) + column] = j < lengths[row] ? counters[begins[row] + j] : gpu.u32(0);
    }
  },
});

/** `lengthsByItem`, by tiles. */
const lengthsByTiles = kernel({
  name: "rowLengthsTiled",
  params: lengthParams,
  env: { ROWS, TILE, loadTile },
  groupSize: ROWS,
  *body({ rows, widest, starts, widths, counters, totals, most }, gpu, { ROWS, TILE, loadTile }) {
    const tile = gpu.sharedU32(ROWS * (TILE + 1));
    const begins = gpu.sharedI32(ROWS);
    const lengths = gpu.sharedI32(ROWS);
    const local = gpu.localId();
    const row = gpu.globalId();
    begins[local] = row < rows ? starts[row] : 0;
    lengths[local] = row < rows ? widths[row] : 0;
    yield;
    let length = 0;
    let total = gpu.u32(0);
    for (let from = 0; from < widest; from += TILE) {
      loadTile({ into: { tile, begins, lengths }, counters, from });
      yield;
      for (let k = 0; k < TILE; k++) {
        const count = tile[local * (TILE + 1) + k];
        length += count > 0 ? 1 : 0;
        total += count;
      }
      yield;
    }
    if (row < rows) {
      totals[row] = total;
      gpu.atomicMax(most, 0, length);
    }
  },
});

/** `probabilitiesByItem`, by tiles. */
const probabilitiesByTiles = kernel({
  name: "rowProbabilitiesTiled",
  params: fillParams,
  env: { ROWS, TILE, loadTile },
  groupSize: ROWS,
  *body({ rows, widest, starts, widths, counters, totals, columns, probabilities }, gpu, { ROWS, TILE, loadTile }) {
    const tile = gpu.sharedU32(ROWS * (TILE + 1));
    const begins = gpu.sharedI32(ROWS);
    const lengths = gpu.sharedI32(ROWS);
    const local = gpu.localId();
    const row = gpu.globalId();
    begins[local] = row < rows ? starts[row] : 0;
    lengths[local] = row < rows ? widths[row] : 0;
    yield;
    const scale = 1 / gpu.real(row < rows ? Math.max(gpu.i32(totals[row]), 1) : 1);
    let slot = row;
    for (let from = 0; from < widest; from += TILE) {
      loadTile({ into: { tile, begins, lengths }, counters, from });
      yield;
      for (let k = 0; k < TILE; k++) {
        const count = gpu.i32(tile[local * (TILE + 1) + k]);
        if (count > 0) {
          columns[slot] = from + k;
          probabilities[slot] = gpu.real(count) * scale;
          slot += rows;
        }
      }
      yield;
    }
  },
});

/**
 * The kernels that turn counts of simulated transitions into transition probabilities. The counts of the transitions
 * from one cell are a row. A work item reads a row (`items`), or a workgroup reads a tile of several rows (`tiles`).
 */
export const rowKernels = {
  items: { lengths: lengthsByItem, probabilities: probabilitiesByItem },
  tiles: { lengths: lengthsByTiles, probabilities: probabilitiesByTiles },
} as const;

/** The start of each row of counts, and the number of its counts: the cells of the next layer. */
export interface RowRanges {
  readonly starts: Int32Array;
  readonly widths: Int32Array;
}

/** A converter of counts of simulated transitions to sparse rows of transition probabilities, on a device. */
interface RowMaker extends Disposable {
  /** Records the computation of all rows' sums and of the length of the longest. */
  measure(counters: DeviceBuffer): void;
  /** Waits and returns the number of columns of the longest measured row. */
  slots(): Promise<number>;
  /** Records the columns and probabilities of all measured rows, to zero-filled buffers [slots, rows]. */
  fill(counters: DeviceBuffer, columns: DeviceBuffer, probabilities: DeviceBuffer): void;
}

/** Prepares the conversion of rows. @throws PrecisionError | OutOfMemoryError */
export async function rowMakerOf(device: Device, places: RowRanges, precision: Precision): Promise<RowMaker> {
  const kernels = rowKernels[byTiles(device) ? "tiles" : "items"];
  const lengths = await compileExact(device, kernels.lengths, precision);
  const shares = await compileExact(device, kernels.probabilities, precision);
  const rows = places.starts.length;
  const widest = places.widths.reduce((most, width) => Math.max(most, width), 0);
  const own = {
    starts: createBufferOf(device, "i32", places.starts),
    widths: createBufferOf(device, "i32", places.widths),
    totals: device.createBuffer("u32", rows),
    most: device.createBuffer("i32", 1),
  };
  const { most, ...read } = own;
  const args = { rows, widest, ...read };
  const size = byTiles(device) ? { groups: Math.ceil(rows / ROWS) } : { items: rows };
  return {
    measure: (counters) => device.launch(lengths, { ...args, counters, most }, size),
    slots: async () => (await device.read(most))[0],
    fill: (counters, columns, probabilities) =>
      device.launch(shares, { ...args, counters, columns, probabilities }, size),
    [Symbol.dispose]() {
      for (const buffer of Object.values(own)) buffer[Symbol.dispose]();
    },
  };
}

/** Returns zero-filled sparse rows on the device: entry s of row r is at s·rows + r. */
export function emptyRows(device: Device, precision: Precision, rows: number, slots: number) {
  const columns = device.createBuffer("i32", slots * rows);
  const probabilities = device.createBuffer(hostRealType(precision), slots * rows);
  return { rows, slots, columns, probabilities };
}
