/** The products of blocks and packets. */
import { createBufferOf } from "../../../device/index.ts";
import { i32, kernel, read, real, u32 } from "../../../kernel/index.ts";
import { memoize } from "../../../base/memoize.ts";
import { type AccumulatingProduct, uploadAccumulatingCoo } from "./coo-product.ts";
import { type BcsrMatrix, NO_ENTRY, type PktMatrix } from "./formats.ts";
import {
  compileFor,
  type SparseProduct,
  productParams,
  rowParams,
  type ComputeTarget,
  storeProduct,
  uploadReals,
} from "./product.ts";

/**
 * An item a row of a block. A column of a block is contiguous, so that the items of a block read neighbouring words.
 *
 * Bytes per stored entry: 8 (4 in f32), and 4 per block; x once per block that needs it.
 */
const bcsrKernel = memoize(({ height, width }: { readonly height: number; readonly width: number }) =>
  kernel({
    name: `bcsr${height}x${width}`,
    params: { columns: i32, ...productParams, ...rowParams },
    env: { storeProduct, height, width },
    body({ columns, alpha, beta, starts, column, values, x, y }, gpu, { storeProduct, height, width }) {
      const i = gpu.globalId();
      const band = (i / height) | 0;
      const r = i - band * height;
      let sum = 0.0;
      for (let b = starts[band]; b < starts[band + 1]; b++) {
        const j = column[b] * width;
        const at = b * (height * width) + r;
        // The last block may reach beyond the matrix.
        for (let c = 0; c < width; c++) if (j + c < columns) sum += values[at + c * height] * x[j + c];
      }
      storeProduct({ y, i, product: alpha * sum, beta });
    },
  }),
);

/** Uploads a matrix in BCSR and returns its product. */
export async function bcsrProduct(setting: ComputeTarget, matrix: BcsrMatrix): Promise<SparseProduct> {
  const { device } = setting;
  const { rows, columns, starts, column, values } = matrix;
  const [height, width] = matrix.block;
  const program = await compileFor(setting, bcsrKernel({ height, width }), 1);
  const arrays = {
    starts: createBufferOf(device, "i32", starts),
    column: createBufferOf(device, "i32", column),
    values: uploadReals(setting, values),
  };
  return {
    arrays,
    record: ({ x, y, alpha, beta }) =>
      device.launch(program, { columns, alpha, beta, x, y, ...arrays }, { items: rows }),
  };
}

/**
 * A packet a workgroup: its part of x is read once, into workgroup memory; an item adds the entries of its own rows.
 *
 * Bytes per stored entry: 12 (8 in f32) in the packets; per row x, y and 4.
 */
const pktKernel = memoize(({ items, packetRows }: Pick<PktMatrix, "items" | "packetRows">) =>
  kernel({
    name: `pkt${items}x${packetRows}`,
    params: {
      ...productParams,
      order: read(i32),
      starts: read(i32),
      entryStarts: read(i32),
      packed: read(u32),
      values: read(real),
    },
    groupSize: items,
    env: { storeProduct, items, packetRows, none: NO_ENTRY },
    *body(
      { alpha, beta, order, starts, entryStarts, packed, values, x, y },
      gpu,
      { storeProduct, items, packetRows, none },
    ) {
      const near = gpu.sharedReal(packetRows);
      const sums = gpu.sharedReal(packetRows);
      const packet = gpu.groupId();
      const item = gpu.localId();
      const first = starts[packet];
      const rows = starts[packet + 1] - first;
      for (let r = item; r < rows; r += items) {
        near[r] = x[order[first + r]];
        sums[r] = 0;
      }
      yield;
      for (let k = entryStarts[packet] + item; k < entryStarts[packet + 1]; k += items) {
        const word = packed[k];
        if (word !== none) {
          const r = gpu.i32(word >>> 16);
          sums[r] += values[k] * near[gpu.i32(word & 0xffff)];
        }
      }
      for (let r = item; r < rows; r += items) storeProduct({ y, i: order[first + r], product: alpha * sums[r], beta });
    },
  }),
);

/** Uploads a matrix in PKT and returns its product. */
export async function pktProduct(setting: ComputeTarget, matrix: PktMatrix): Promise<SparseProduct> {
  const { device } = setting;
  const { items, packetRows } = matrix;
  const program = await compileFor(setting, pktKernel({ items, packetRows }), 1);
  const rest = await uploadAccumulatingCoo(setting, matrix.rest);
  const arrays = {
    order: createBufferOf(device, "i32", matrix.order),
    starts: createBufferOf(device, "i32", matrix.starts),
    entryStarts: createBufferOf(device, "i32", matrix.entryStarts),
    packed: createBufferOf(device, "u32", matrix.packed),
    values: uploadReals(setting, matrix.values),
  };
  const groups = matrix.starts.length - 1;
  const packets: SparseProduct = {
    arrays,
    record: ({ x, y, alpha, beta }) => device.launch(program, { alpha, beta, x, y, ...arrays }, { groups }),
  };
  return productWithRest(packets, rest);
}

/**
 * Returns the product of a matrix that is stored in two parts, the second of which adds to the product of the first.
 */
export const productWithRest = (main: SparseProduct, rest: AccumulatingProduct): SparseProduct => ({
  arrays: {
    ...main.arrays,
    ...Object.fromEntries(Object.entries(rest.arrays).map(([name, buffer]) => [`rest.${name}`, buffer])),
  },
  record(args) {
    main.record(args);
    rest.add(args);
  },
});
