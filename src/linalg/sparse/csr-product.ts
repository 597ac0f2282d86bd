/** The product of compressed rows: an item a row, or several items a row. */
import { i32, kernel, read, real, write } from "../../kernel/index.ts";
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
/** Rows that a team of items has at a time. */
const ROWS = 4;

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

/** Bytes per entry: 12 (8 in f32), and x; per row 4 and y. Sums in the order of the columns. */
const scalarKernel = remembered(({ padded }: Pick<Variant, "padded">) =>
  kernel({
    name: `csrScalar${padded ? "Padded" : ""}`,
    params,
    env: { store, padded },
    body({ alpha, beta, starts, column, values, x, y }, gpu, { store, padded }) {
      const i = gpu.globalId();
      const end = starts[i + 1];
      let sum = 0.0;
      for (let k = starts[i]; k < end; k++) {
        const at = column[k];
        if (!padded || at >= 0) sum += values[k] * x[at];
      }
      store({ y, i, product: alpha * sum, beta });
    },
  }),
);

/**
 * As `scalarKernel`; item l of a team adds places l, l + lanes, … of a row in order, and the items' sums are added as a
 * binary tree. Rows of a handful of entries are one load after another, each of which waits for the one before: a team
 * has ROWS of them at a time, so that as many loads are under way. A place outside its row is read as place 0.
 */
const vectorKernel = remembered(({ lanes, aligned, shuffles, padded }: Variant) =>
  kernel({
    name: `csr${aligned ? "Aligned" : "Vector"}${lanes}${padded ? "Padded" : ""}${shuffles ? "" : "Shared"}`,
    params,
    groupSize: GROUP,
    env: { store, lanes, aligned, shuffles, padded, GROUP, ROWS, TEAMS: GROUP / lanes },
    *body({ rows, alpha, beta, starts, column, values, x, y }, gpu, env) {
      const { store, lanes, aligned, shuffles, padded, GROUP, ROWS, TEAMS } = env;
      const shared = gpu.sharedReal(shuffles ? 1 : GROUP);
      const lane = gpu.localId() & (lanes - 1);
      const first = gpu.groupId() * ROWS * TEAMS + ((gpu.localId() / lanes) | 0);
      const start = gpu.privateI32(ROWS);
      const from = gpu.privateI32(ROWS);
      const end = gpu.privateI32(ROWS);
      const sums = gpu.privateReal(ROWS);
      let longest = 0;
      for (let j = 0; j < ROWS; j++) {
        const row = Math.min(first + j * TEAMS, rows - 1);
        start[j] = starts[row];
        end[j] = starts[row + 1];
      }
      for (let j = 0; j < ROWS; j++) {
        from[j] = (aligned ? start[j] & -lanes : start[j]) + lane;
        longest = Math.max(longest, end[j] - from[j]);
        sums[j] = 0;
      }
      for (let step = 0; step < longest; step += lanes) {
        for (let j = 0; j < ROWS; j++) {
          const k = from[j] + step;
          const isInside = k < end[j] && (!aligned || k >= start[j]);
          const place = isInside ? k : 0;
          const at = column[place];
          const isEntry = isInside && (!padded || at >= 0);
          const product = values[place] * x[padded ? Math.max(at, 0) : at];
          sums[j] += isEntry ? product : 0.0;
        }
      }
      for (let j = 0; j < ROWS; j++) {
        let sum = sums[j];
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
        const i = first + j * TEAMS;
        if (lane === 0 && i < rows) store({ y, i, product: alpha * sum, beta });
      }
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
  const size = isScalar ? { items: rows } : { groups: Math.ceil((rows * lanes) / (GROUP * ROWS)) };
  return {
    arrays,
    padded,
    record: ({ x, y, alpha, beta }) => {
      const { starts, column, values } = arrays;
      device.launch(program, { rows, alpha, beta, starts, column, values, x, y }, size);
    },
  };
}
