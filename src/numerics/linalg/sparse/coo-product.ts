/**
 * The product of sorted coordinates, y ← y + α·A·x, in a fixed order: chunks of entries are summed row by row; the sum
 * of a row that began in an earlier chunk is carried over, and added in a second launch in the order of the chunks.
 * (With atomic additions instead, the order of the sums would differ from run to run.)
 */
import { type DeviceBuffer, createBufferOf } from "../../../device/index.ts";
import { isGpu } from "../../../device/index.ts";
import { fn, hostRealType, i32, kernel, read, real, record, write } from "../../../kernel/index.ts";
import type { CooMatrix } from "./formats.ts";
import { compileFor, type SparseProduct, type ComputeTarget, uploadReals } from "./product.ts";

const GROUP = 128;
/** The number of entries of a chunk: of a work item, which takes one after the other, and of a workgroup. */
const ITEM_CHUNK = 256;
const ROUNDS = 8;

const params = {
  count: i32,
  alpha: real,
  row: read(i32),
  column: read(i32),
  values: read(real),
  x: read(real),
  y: write(real),
  carryRow: write(i32),
  carry: write(real),
} as const;

const Target = record({ alpha: real, y: write(real), carryRow: write(i32), carry: write(real) });

/** The sum of a row's entries of one chunk: to y, or, if the row began before, to the chunk's carry. */
const emit = fn({
  name: "emit",
  params: { to: Target, chunk: i32, row: i32, sum: real, continued: i32 },
  body({ to: { alpha, y, carryRow, carry }, chunk, row, sum, continued }) {
    if (row === continued) {
      carryRow[chunk] = row;
      carry[chunk] = sum;
    } else y[row] += alpha * sum;
  },
});

/** A chunk a work item. Bytes per entry: 16 (12 in f32), and x. */
const itemKernel = kernel({
  name: "cooItems",
  params,
  env: { emit, CHUNK: ITEM_CHUNK },
  body({ count, alpha, row, column, values, x, y, carryRow, carry }, gpu, { emit, CHUNK }) {
    const to = { alpha, y, carryRow, carry };
    const chunk = gpu.globalId();
    const first = chunk * CHUNK;
    const end = Math.min(first + CHUNK, count);
    let current = row[first];
    const continued = first > 0 && row[first > 0 ? first - 1 : 0] === current ? current : -1;
    carryRow[chunk] = -1;
    let sum = 0.0;
    for (let k = first; k < end; k++) {
      if (row[k] !== current) {
        emit({ to, chunk, row: current, sum, continued });
        current = row[k];
        sum = 0.0;
      }
      sum += values[k] * x[column[k]];
    }
    emit({ to, chunk, row: current, sum, continued });
  },
});

/**
 * A chunk a workgroup: segmented scans of GROUP entries (Blelloch 1990), whose last sum the next round goes on with.
 */
const groupKernel = kernel({
  name: "cooGroups",
  params,
  groupSize: GROUP,
  env: { emit, GROUP, ROUNDS },
  *body({ count, alpha, row, column, values, x, y, carryRow, carry }, gpu, { emit, GROUP, ROUNDS }) {
    const to = { alpha, y, carryRow, carry };
    const rows = gpu.sharedI32(GROUP);
    const sums = gpu.sharedReal(GROUP);
    const chunk = gpu.groupId();
    const item = gpu.localId();
    const first = chunk * GROUP * ROUNDS;
    const before = first > 0 ? row[first - 1] : -1;
    const continued = before === row[first] ? before : -1;
    if (item === 0) carryRow[chunk] = -1;
    // The row that the last round ended in, and its sum so far.
    let open = -1;
    let openSum = 0.0;
    for (let round = 0; round < ROUNDS; round++) {
      const k = first + round * GROUP + item;
      let mine = -2;
      let sum = 0.0;
      if (k < count) {
        mine = row[k];
        sum = values[k] * x[column[k]];
      }
      if (item === 0 && open >= 0) {
        if (mine === open) sum += openSum;
        else emit({ to, chunk, row: open, sum: openSum, continued });
      }
      yield;
      rows[item] = mine;
      sums[item] = sum;
      yield;
      for (let distance = 1; distance < GROUP; distance = distance * 2) {
        let below = 0.0;
        if (item >= distance && rows[Math.max(item - distance, 0)] === mine) below = sums[Math.max(item - distance, 0)];
        yield;
        sum += below;
        sums[item] = sum;
        yield;
      }
      const isLast = item < GROUP - 1 && rows[Math.min(item + 1, GROUP - 1)] !== mine;
      if (mine >= 0 && isLast) emit({ to, chunk, row: mine, sum, continued });
      open = rows[GROUP - 1];
      openSum = sums[GROUP - 1];
    }
    if (item === 0 && open >= 0) emit({ to, chunk, row: open, sum: openSum, continued });
  },
});

/** Item c adds what chunks c, c + 1, … carry for one row, if c is the first of them. */
const carryKernel = kernel({
  name: "cooCarries",
  params: { chunks: i32, alpha: real, carryRow: read(i32), carry: read(real), y: write(real) },
  body({ chunks, alpha, carryRow, carry, y }, gpu) {
    const c = gpu.globalId();
    const row = carryRow[c];
    const before = c > 0 ? carryRow[c > 0 ? c - 1 : 0] : -1;
    if (row >= 0 && row !== before) {
      let sum = carry[c];
      for (let next = c + 1; next < chunks; next++) {
        if (carryRow[next] !== row) break;
        sum += carry[next];
      }
      y[row] += alpha * sum;
    }
  },
});

/** y ← β·y. */
const scaleKernel = kernel({
  name: "scale",
  params: { beta: real, y: write(real) },
  body({ beta, y }, gpu) {
    const i = gpu.globalId();
    if (beta === 0) y[i] = 0;
    else y[i] *= beta;
  },
});

/** A matrix–vector product that is added to y, after other products have been stored there. */
export interface AccumulatingProduct {
  readonly arrays: Readonly<Record<string, DeviceBuffer>>;
  add(args: { readonly x: DeviceBuffer; readonly y: DeviceBuffer; readonly alpha: number }): void;
}

type Coordinates = Readonly<Record<"row" | "column" | "values", DeviceBuffer>>;

/** Uploads a matrix in coordinates and returns its product, which is added to y. */
export async function uploadAccumulatingCoo(
  setting: ComputeTarget,
  matrix: CooMatrix,
  byGroups = isGpu(setting.device),
): Promise<AccumulatingProduct> {
  const { device } = setting;
  const arrays = {
    row: createBufferOf(device, "i32", matrix.row),
    column: createBufferOf(device, "i32", matrix.column),
    values: uploadReals(setting, matrix.values),
  };
  return accumulatingCooProductOf(setting, arrays, byGroups);
}

/**
 * Returns the product of a matrix in coordinates that are on the device, which is added to y. @param byGroups true if a
 * workgroup processes each chunk of entries, which suits GPUs; false if a work item does
 */
export async function accumulatingCooProductOf(
  setting: ComputeTarget,
  arrays: Coordinates,
  byGroups = isGpu(setting.device),
): Promise<AccumulatingProduct> {
  const { device, precision } = setting;
  const count = arrays.row.length;
  const chunks = Math.ceil(count / (byGroups ? GROUP * ROUNDS : ITEM_CHUNK));
  const program = await compileFor(setting, byGroups ? groupKernel : itemKernel, 1);
  const finish = await compileFor(setting, carryKernel);
  const carryRow = device.createBuffer("i32", chunks);
  const carry = device.createBuffer(hostRealType(precision), chunks);
  const { row, column, values } = arrays;
  return {
    arrays: { row, column, values, carryRow, carry },
    add({ x, y, alpha }) {
      if (count === 0) return;
      const args = { count, alpha, row, column, values, x, y, carryRow, carry };
      device.launch(program, args, byGroups ? { groups: chunks } : { items: chunks });
      device.launch(finish, { chunks, alpha, carryRow, carry, y }, { items: chunks });
    },
  };
}

/**
 * Returns the product of a matrix in coordinates alone. It scales y first, because rows without entries are scaled,
 * too.
 */
export async function cooProductOf(
  setting: ComputeTarget,
  rows: number,
  added: AccumulatingProduct,
): Promise<SparseProduct> {
  const scale = await compileFor(setting, scaleKernel);
  return {
    arrays: added.arrays,
    record({ x, y, alpha, beta }) {
      if (beta !== 1) setting.device.launch(scale, { beta, y }, { items: rows });
      added.add({ x, y, alpha });
    },
  };
}
