/** The product of compressed rows: an item a row, or several items a row. */
import { fn, i32, kernel, read, real, write } from "../../kernel/index.ts";
import { remembered } from "../remembered.ts";
import { compiled, type Product, type Setting, store } from "./product.ts";

interface Variant {
  /** Items of a row: a power of two, up to 32; 1 is "scalar". */
  readonly lanes: number;
  /** Whether items begin at a multiple of `lanes`, so that every read of a subgroup is one line of memory. */
  readonly aligned: boolean;
  /** Whether items exchange sums by shuffles, which need subgroups of as many; otherwise by workgroup memory. */
  readonly shuffles: boolean;
  /** Whether there are places without an entry, of column −1. */
  readonly padded: boolean;
}

const GROUP = 128;

const params = {
  rows: i32,
  alpha: real,
  beta: real,
  starts: read(i32),
  column: read(i32),
  values: read(real),
  x: read(real),
  y: write(real),
} as const;

/**
 * The sum of places from, from + step, … of a row that ends before `end`; places before `start` belong to the row
 * before.
 */
const partialSum = fn({
  name: "partialSum",
  params: {
    start: i32,
    from: i32,
    end: i32,
    step: i32,
    column: read(i32),
    values: read(real),
    x: read(real),
    padded: i32,
  },
  body({ start, from, end, step, column, values, x, padded }) {
    let sum = 0.0;
    for (let k = from; k < end; k += step) {
      if (k >= start && (padded === 0 || column[k] >= 0)) sum += values[k] * x[column[k]];
    }
    return sum;
  },
});

/** Bytes per entry: 12 (8 in f32), and x; per row 4 and y. Sums in the order of the columns. */
const scalarKernel = remembered(({ padded }: Pick<Variant, "padded">) =>
  kernel({
    name: `csrScalar${padded ? "Padded" : ""}`,
    params,
    env: { partialSum, store, padded: padded ? 1 : 0 },
    body({ alpha, beta, starts, column, values, x, y }, gpu, { partialSum, store, padded }) {
      const i = gpu.globalId();
      const start = starts[i];
      const sum = partialSum({ start, from: start, end: starts[i + 1], step: 1, column, values, x, padded });
      store({ y, i, product: alpha * sum, beta });
    },
  }),
);

/** As `scalarKernel`; item l adds places l, l + lanes, … in order, and the items' sums are added as a binary tree. */
const vectorKernel = remembered(({ lanes, aligned, shuffles, padded }: Variant) =>
  kernel({
    name: `csr${aligned ? "Aligned" : "Vector"}${lanes}${padded ? "Padded" : ""}${shuffles ? "" : "Shared"}`,
    params,
    groupSize: GROUP,
    env: { partialSum, store, lanes, aligned, shuffles, padded: padded ? 1 : 0, GROUP },
    *body({ rows, alpha, beta, starts, column, values, x, y }, gpu, env) {
      const { partialSum, store, lanes, aligned, shuffles, padded, GROUP } = env;
      const sums = gpu.sharedReal(shuffles ? 1 : GROUP);
      const lane = gpu.localId() & (lanes - 1);
      const i = (gpu.globalId() / lanes) | 0;
      const row = Math.min(i, rows - 1);
      const start = starts[row];
      const end = starts[row + 1];
      const from = (aligned ? start & -lanes : start) + lane;
      let sum = partialSum({ start, from, end, step: lanes, column, values, x, padded });
      for (let distance = lanes >> 1; distance > 0; distance = distance >> 1) {
        if (shuffles) {
          const other = yield gpu.shuffleDown(sum, distance, lanes);
          sum += other;
        } else {
          sums[gpu.localId()] = sum;
          yield;
          sum += sums[Math.min(gpu.localId() + distance, GROUP - 1)];
          yield;
        }
      }
      if (lane === 0 && i < rows) store({ y, i, product: alpha * sum, beta });
    },
  }),
);

/** How compressed rows are multiplied. */
export type CsrAlgorithm = "scalar" | "vector" | "aligned";

/** What the product needs to know besides the arrays. */
export interface CsrShape {
  readonly rows: number;
  readonly padded: boolean;
  readonly algorithm: CsrAlgorithm;
  readonly lanes: number;
}

export async function csrProductOf(
  setting: Setting,
  { rows, padded, algorithm, lanes }: CsrShape,
  arrays: Product["arrays"] & Record<"starts" | "column" | "values", Product["arrays"][string]>,
): Promise<Product> {
  const { device } = setting;
  const isScalar = algorithm === "scalar";
  const shuffles = lanes <= (device.limits.subgroupSize ?? 1);
  const variant = { lanes, aligned: algorithm === "aligned", shuffles, padded };
  const program = await compiled(setting, isScalar ? scalarKernel({ padded }) : vectorKernel(variant), 1);
  const size = isScalar ? { items: rows } : { groups: Math.ceil((rows * lanes) / GROUP) };
  return {
    arrays,
    padded,
    record: ({ x, y, alpha, beta }) => {
      const { starts, column, values } = arrays;
      device.launch(program, { rows, alpha, beta, starts, column, values, x, y }, size);
    },
  };
}
