import { fn, i32, type KernelFunction, read, real, write } from "../../kernel/index.ts";
import { transposeRuns } from "./run.ts";

export interface LoadShape {
  readonly items: number;
  readonly rows: number;
  /** Whether consecutive items read consecutive rows, and runs are made in workgroup memory. */
  readonly staged: boolean;
}

/**
 * An item's run of rows, from `start` = lane·rows: a, b, c, d. Rows from `count` on say x = 0; the first has no a, the last no c. All loads
 * stand before the first use, so that they are in flight together.
 */
export function loadRuns(
  shape: LoadShape & { readonly lanes: number; readonly shared: boolean },
): KernelFunction<any, any> {
  const { items, rows, staged, shared } = shape;
  return fn({
    name: "loadRuns",
    params: [
      write(real),
      write(real),
      write(real),
      write(real),
      read(real),
      read(real),
      read(real),
      read(real),
      i32,
      i32,
      i32,
      i32,
      i32,
      write(real),
    ],
    env: { items, rows, staged: staged && rows > 1, shared, toRuns: transposeRuns(items, rows, true) },
    *body([a, b, c, d, lower, diagonal, upper, rhs, matrix, from, stride, count, lane, tile], gpu, env: any) {
      const item = gpu.localId();
      for (let k = 0; k < env.rows; k++) {
        const i = Math.min(env.staged ? k * env.items + item : lane * env.rows + k, count - 1);
        const at = matrix + (env.shared ? i : i * stride);
        a[k] = lower[at];
        b[k] = diagonal[at];
        c[k] = upper[at];
        d[k] = rhs[from + i * stride];
      }
      for (let k = 0; k < env.rows; k++) {
        const i = env.staged ? k * env.items + item : lane * env.rows + k;
        const inside = i < count;
        a[k] = inside && i > 0 ? a[k] : 0.0;
        b[k] = inside ? b[k] : 1.0;
        c[k] = inside && i < count - 1 ? c[k] : 0.0;
        d[k] = inside ? d[k] : 0.0;
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

/** The unknowns of a run to where they belong, those of rows below `count`. */
export function storeRuns({ items, rows, staged }: LoadShape): KernelFunction<any, any> {
  return fn({
    name: "storeRuns",
    params: [write(real), write(real), i32, i32, i32, i32, write(real)],
    env: { items, rows, staged: staged && rows > 1, toStrided: transposeRuns(items, rows, false) },
    *body([x, rhs, from, stride, count, lane, tile], gpu, env: any) {
      const item = gpu.localId();
      // Rows that are not there were read as the last one, which is written now.
      if (env.staged) yield* env.toStrided(x, tile);
      else yield;
      for (let k = 0; k < env.rows; k++) {
        const i = env.staged ? k * env.items + item : lane * env.rows + k;
        if (i < count) rhs[from + i * stride] = x[k];
      }
    },
  });
}
