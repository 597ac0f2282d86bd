/** The product of compressed rows: an item a row, or several items a row. */
import type { CsrAlgorithm } from "./spec.ts";
import { i32, kernel } from "../../../kernel/index.ts";
import { memoize } from "../../../base/memoize.ts";
import { isGpu } from "../../../device/index.ts";
import {
  compileFor,
  type SparseProduct,
  productParams,
  rowParams,
  type ComputeTarget,
  storeProduct,
} from "./product.ts";
import { ENTRIES_PER_LOAD } from "./spec.ts";

interface ProductVariant {
  /** The number of items of a row: a power of two, up to 32; 1 is "scalar". */
  readonly lanes: number;
  /** True where items begin at a multiple of `lanes`, so that every read of a subgroup is one line of memory. */
  readonly aligned: boolean;
  /** True where items exchange sums by shuffles, which need subgroups of as many; otherwise by workgroup memory. */
  readonly shuffles: boolean;
  /** True if rows have padding, whose column is −1. */
  readonly padded: boolean;
}

const GROUP = 128;
/** The number of rows that a team of items has, whose ends it reads together. */
const ROWS = 2;

const params = { rows: i32, ...productParams, ...rowParams } as const;

/** The number of rows of a workgroup of a CPU. */
const BLOCK = 256;

/**
 * Row after row, for CPUs: a workgroup is one item, whose code is scalar. Rows side by side in the lanes of a vector
 * took up to 1.8 times as long, since lanes gather, and wait for the longest row. Sums in the order of the columns.
 * Bytes per entry: 12 (8 in f32), and x; per row 4 and y.
 */
const scalarKernel = memoize(({ padded }: Pick<ProductVariant, "padded">) =>
  kernel({
    name: `csrScalar${padded ? "Padded" : ""}`,
    params,
    groupSize: 1,
    env: { storeProduct, padded, BLOCK },
    body({ rows, alpha, beta, starts, column, values, x, y }, gpu, { storeProduct, padded, BLOCK }) {
      const first = gpu.groupId() * BLOCK;
      const last = Math.min(first + BLOCK, rows);
      let k = starts[first];
      for (let i = first; i < last; i++) {
        const end = starts[i + 1];
        let sum = 0.0;
        for (; k < end; k++) {
          const at = column[k];
          if (!padded || at >= 0) sum += values[k] * x[at];
        }
        storeProduct({ y, i, product: alpha * sum, beta });
      }
    },
  }),
);

/**
 * A team of items for each row: item l adds entries l, l + lanes, … in order, and the items' sums are added as a binary
 * tree. Each load of a row waits for the one before: its ends, a column, x. So an item reads ENTRIES_PER_LOAD entries
 * before it adds the first, and a team reads the ends of ROWS rows together. Loads beyond a row's end read its last
 * entry.
 */
const teamKernel = memoize(({ lanes, aligned, shuffles, padded }: ProductVariant) =>
  kernel({
    name: `csr${aligned ? "Aligned" : "Vector"}${lanes}${padded ? "Padded" : ""}${shuffles ? "" : "Shared"}`,
    params,
    groupSize: GROUP,
    env: { storeProduct, lanes, aligned, shuffles, padded, GROUP, ROWS, ENTRIES_PER_LOAD, TEAMS: GROUP / lanes },
    *body({ rows, alpha, beta, starts, column, values, x, y }, gpu, env) {
      const { storeProduct, lanes, aligned, shuffles, padded, GROUP, ROWS, ENTRIES_PER_LOAD, TEAMS } = env;
      const shared = gpu.sharedReal(shuffles ? 1 : GROUP);
      const lane = gpu.localId() & (lanes - 1);
      const top = gpu.groupId() * ROWS * TEAMS + ((gpu.localId() / lanes) | 0);
      const starting = gpu.privateI32(ROWS);
      const ending = gpu.privateI32(ROWS);
      const products = gpu.privateReal(ENTRIES_PER_LOAD);
      for (let r = 0; r < ROWS; r++) {
        const row = Math.min(top + r * TEAMS, rows - 1);
        starting[r] = starts[row];
        ending[r] = starts[row + 1];
      }
      for (let r = 0; r < ROWS; r++) {
        const start = starting[r];
        const end = ending[r];
        let sum = 0.0;
        for (let first = (aligned ? start & -lanes : start) + lane; first < end; first += ENTRIES_PER_LOAD * lanes) {
          for (let j = 0; j < ENTRIES_PER_LOAD; j++) {
            const k = first + j * lanes;
            const slot = Math.min(k, end - 1);
            const at = column[slot];
            const isEntry = k < end && (!aligned || k >= start) && (!padded || at >= 0);
            const product = values[slot] * x[padded ? Math.max(at, 0) : at];
            products[j] = isEntry ? product : 0.0;
          }
          for (let j = 0; j < ENTRIES_PER_LOAD; j++) sum += products[j];
        }
        for (let distance = lanes >> 1; distance > 0; distance = distance >> 1) {
          if (shuffles) {
            const other: number = yield gpu.shuffleDown(sum, distance, lanes);
            sum += other;
          } else {
            shared[gpu.localId()] = sum;
            yield;
            sum += shared[Math.min(gpu.localId() + distance, GROUP - 1)];
            yield;
          }
        }
        const i = top + r * TEAMS;
        if (lane === 0 && i < rows) storeProduct({ y, i, product: alpha * sum, beta });
      }
    },
  }),
);

/**
 * The settings of a matrix–vector product with compressed rows (CSR), apart from its arrays: the number of rows,
 * whether they are padded, the algorithm, and the lanes for each row.
 */
export interface CsrProductSettings {
  readonly rows: number;
  readonly padded: boolean;
  readonly algorithm: CsrAlgorithm;
  readonly lanes: number;
}

/** Returns the product of a matrix in compressed rows that are on the device. */
export async function csrProductOf(
  setting: ComputeTarget,
  { rows, padded, algorithm, lanes }: CsrProductSettings,
  arrays: SparseProduct["arrays"] & Record<"starts" | "column" | "values", SparseProduct["arrays"][string]>,
): Promise<SparseProduct> {
  const { device } = setting;
  const inTeams = algorithm !== "scalar" || isGpu(device);
  const items = algorithm === "scalar" ? 1 : lanes;
  const shuffles = items <= (device.limits.subgroupSize ?? 1);
  const variant = { lanes: items, aligned: algorithm === "aligned", shuffles, padded };
  const program = await compileFor(setting, inTeams ? teamKernel(variant) : scalarKernel({ padded }), 1);
  const size = { groups: Math.ceil(inTeams ? (rows * items) / (GROUP * ROWS) : rows / BLOCK) };
  return {
    arrays,
    padded,
    record: ({ x, y, alpha, beta }) => {
      const { starts, column, values } = arrays;
      device.launch(program, { rows, alpha, beta, starts, column, values, x, y }, size);
    },
  };
}
