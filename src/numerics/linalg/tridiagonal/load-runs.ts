import { fn, i32, read, real, record, write } from "../../../kernel/index.ts";
import { Run, transposeRuns } from "./run.ts";

/** The arrays of a batch, as kernels read them. */
export const SystemArrays = record({ lower: read(real), diagonal: read(real), upper: read(real), rhs: read(real) });

/**
 * The place at which a system, or a chunk of one, begins in the matrix and in the right-hand side; the distance and
 * number of its rows, and which of its runs an item has.
 */
const RunPlace = record({ matrix: i32, from: i32, stride: i32, count: i32, lane: i32 });

/** The way in which items access their runs of rows. */
interface RunAccess {
  /** The number of items of a workgroup, and rows of an item. */
  readonly items: number;
  readonly rows: number;
  /** True where consecutive items read consecutive rows, and runs are assembled in workgroup memory. */
  readonly staged: boolean;
  /**
   * True where an item reads its contiguous run of `rows` words from a multiple of four on, which CUDA's compiler
   * merges into accesses of 16 bytes.
   */
  readonly aligned: boolean;
  /** The distance of neighbours in the arrays of b and d: 1, or `items` where these are in workgroup memory. */
  readonly pitch: number;
}

/**
 * Returns the function that loads an item's run of rows, from `start` = lane·rows: a, b, c, d. Rows from `count` on are
 * x = 0; the first has no a, the last no c. All loads precede the first use, so that they are in flight together. b and
 * d begin at `origin`.
 */
export function loadRuns(access: RunAccess & { readonly lanes: number; readonly shared: boolean }) {
  const { items, rows, staged, shared, aligned, pitch } = access;
  return fn({
    name: "loadRuns",
    params: { run: Run, b: write(real), system: SystemArrays, place: RunPlace, tile: write(real) },
    env: {
      items,
      rows,
      last: rows - 1,
      pitch,
      staged: staged && rows > 1,
      aligned,
      shared,
      toRuns: transposeRuns(items, rows, true),
    },
    *body({ run: { a, c, d, origin }, b, system, place, tile }, gpu, env) {
      const { lower, diagonal, upper, rhs } = system;
      const { matrix, from, stride, count, lane } = place;
      const item = gpu.localId();
      const start = lane * env.rows;
      if (!env.staged && start + env.rows <= count) {
        // A whole run needs no bounds.
        const step = env.aligned ? 1 : stride;
        const matrixStep = env.aligned || env.shared ? 1 : stride;
        const run = matrix + start * matrixStep;
        const values = from + start * step;
        for (let k = 0; k < env.rows; k++) {
          a[k] = lower[run + k * matrixStep];
          b[k * env.pitch + origin] = diagonal[run + k * matrixStep];
          c[k] = upper[run + k * matrixStep];
          d[k * env.pitch + origin] = rhs[values + k * step];
        }
        a[0] = lane === 0 ? 0.0 : a[0];
        c[env.last] = start + env.rows === count ? 0.0 : c[env.last];
      } else {
        for (let k = 0; k < env.rows; k++) {
          const i = Math.min(env.staged ? k * env.items + item : start + k, count - 1);
          const at = matrix + (env.shared ? i : i * stride);
          a[k] = lower[at];
          b[k * env.pitch + origin] = diagonal[at];
          c[k] = upper[at];
          d[k * env.pitch + origin] = rhs[from + i * stride];
        }
        for (let k = 0; k < env.rows; k++) {
          const i = env.staged ? k * env.items + item : start + k;
          const inside = i < count;
          const at = k * env.pitch + origin;
          a[k] = inside && i > 0 ? a[k] : 0.0;
          b[at] = inside ? b[at] : 1.0;
          c[k] = inside && i < count - 1 ? c[k] : 0.0;
          d[at] = inside ? d[at] : 0.0;
        }
      }
      if (env.staged) {
        yield* env.toRuns(a, tile);
        yield* env.toRuns(b, tile);
        yield* env.toRuns(c, tile);
        yield* env.toRuns(d, tile);
      }
    },
  });
}

/** Returns the function that stores the unknowns of a run, for rows below `count`. */
export function storeRuns({ items, rows, staged, aligned, pitch }: RunAccess) {
  return fn({
    name: "storeRuns",
    params: [write(real), write(real), i32, i32, i32, i32, write(real), i32],
    env: { items, rows, pitch, staged: staged && rows > 1, aligned, toStrided: transposeRuns(items, rows, false) },
    *body([x, rhs, from, stride, count, lane, tile, origin], gpu, env) {
      const item = gpu.localId();
      const start = lane * env.rows;
      // Rows that are not there were read as the last one, which is written now.
      if (env.staged) yield* env.toStrided(x, tile);
      else yield;
      if (!env.staged && start + env.rows <= count) {
        const step = env.aligned ? 1 : stride;
        for (let k = 0; k < env.rows; k++) rhs[from + start * step + k * step] = x[k * env.pitch + origin];
      } else {
        for (let k = 0; k < env.rows; k++) {
          const i = env.staged ? k * env.items + item : start + k;
          if (i < count) rhs[from + i * stride] = x[k * env.pitch + origin];
        }
      }
    },
  });
}
