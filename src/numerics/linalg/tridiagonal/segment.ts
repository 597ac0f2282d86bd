/** The operations of an item of the register hybrid on its segment of rows, all in registers. */
import { fn, i32, read, real, record, write } from "../../../kernel/index.ts";
import { CODE_OK } from "./status.ts";

/** The rows of an item, without their diagonal: row k is aₖ·xₖ₋₁ + bₖ·xₖ + cₖ·xₖ₊₁ = dₖ. `d` begins at `origin`. */
export const RowSegment = record({ a: write(real), c: write(real), d: write(real), origin: i32 });

/** The rest of row 0 of a segment, while the rows after it are eliminated from it. */
const FirstRow = record({ pivot: real, c: real, d: real });

/**
 * Returns the kernel function that eliminates within a segment of `rows` ≥ 2 rows (László, Giles & Appleyard 2016).
 * Rows 1 … become
 *
 *   xₖ + aₖ·x₀ + cₖ·xₖ₊₁ = dₖ,
 *
 * where the last row is coupled to the next segment. Row 0 becomes x₀ + a·(last x of the previous segment) + c·(last x
 * of this segment) = d, which is returned as a, c, d. `code` is the number of the segment's first row, `first`, if a
 * pivot or its inverse (`gpu.reciprocal`) is zero. Elements of b and d are `pitch` apart, from `origin` on. Cost per
 * row: 12 flops, one of them a division.
 */
export function eliminateSegment(rows: number, pitch = 1) {
  return fn({
    name: "eliminateRun",
    params: { run: RowSegment, b: read(real), first: i32 },
    env: { rows, pitch, eliminateRow: eliminateRow(rows, pitch), freeFirstRow, ok: CODE_OK },
    body({ run, b, first }, _gpu, { rows, pitch, eliminateRow, freeFirstRow, ok }) {
      const { a, c, d, origin } = run;
      let broken = false;
      let row0 = { pivot: b[origin], c: c[0], d: d[origin] };
      let dBefore = row0.d;
      for (let k = 1; k < rows; k++) {
        const row = eliminateRow({ run, k, b: b[k * pitch + origin], dBefore, row0 });
        row0 = row.row0;
        dBefore = row.d;
        broken = broken || row.broken;
      }
      const freed = freeFirstRow(row0.pivot, a[0], row0.c, row0.d);
      return { a: freed.a, c: freed.c, d: freed.d, code: broken || freed.broken ? first : ok };
    },
  });
}

/**
 * Returns the kernel function that eliminates the previous row from row k ≥ 1 of a segment, in place, and row k from
 * row 0, whose pivot, c and d are passed and returned. `dBefore` is d of the previous row, passed as a number so that
 * it is not read again.
 */
export function eliminateRow(rows: number, pitch = 1) {
  return fn({
    name: "eliminateRow",
    params: { run: RowSegment, k: i32, b: real, dBefore: real, row0: FirstRow },
    env: { pitch, last: rows - 1 },
    body({ run: { a, c, d, origin }, k, b, dBefore, row0 }, gpu, { pitch, last }) {
      const before = k === 1 ? 0.0 : a[k]; // couples to row k − 1, and so to x₀; row 1 is coupled to x₀ as it is
      const at = k * pitch + origin;
      const pivot = b - before * c[k - 1];
      const inverse = gpu.reciprocal(pivot);
      const dHere = (d[at] - before * dBefore) * inverse;
      d[at] = dHere;
      a[k] = (k === 1 ? a[k] : -before * a[k - 1]) * inverse;
      c[k] *= inverse;
      const inner = k < last;
      return {
        d: dHere,
        row0: {
          pivot: inner ? row0.pivot - row0.c * a[k] : row0.pivot,
          d: inner ? row0.d - row0.c * dHere : row0.d,
          c: inner ? -row0.c * c[k] : row0.c,
        },
        broken: pivot === 0 || inverse === 0,
      };
    },
  });
}

/**
 * Returns row 0 after elimination, divided by its pivot: x₀ + a·(last x of the previous segment) + c·(last x of this
 * segment) = d.
 */
export const freeFirstRow = fn({
  name: "freeFirstRow",
  params: [real, real, real, real],
  body([pivot0, a, c0, d0], gpu) {
    const inverse = gpu.reciprocal(pivot0);
    return { a: a * inverse, c: c0 * inverse, d: d0 * inverse, broken: pivot0 === 0 || inverse === 0 };
  },
});

/**
 * Returns the kernel function that computes the unknowns of a segment from its first, `x0`, and its last, `xLast`. They
 * replace d. Cost per row: 4 flops.
 */
export function substituteSegment(rows: number, pitch = 1) {
  return fn({
    name: "substituteRun",
    params: { run: RowSegment, x0: real, xLast: real },
    env: { pitch, last: rows - 1 },
    body({ run: { a, c, d, origin }, x0, xLast }, _gpu, { pitch, last }) {
      d[origin] = x0;
      let x = xLast;
      d[last * pitch + origin] = x;
      for (let k = last - 1; k > 0; k--) {
        x = d[k * pitch + origin] - a[k] * x0 - c[k] * x;
        d[k * pitch + origin] = x;
      }
    },
  });
}

/**
 * Returns the function that moves the equations of a system between two distributions over the work items of a
 * workgroup, each of which holds `rows` of them. In one, the k-th value of an item belongs to equation k·items + item;
 * in the other, which it produces if `toRuns` is true, to equation item·rows + k. It uses a workgroup array with a word
 * of padding every `rows`, so that the items of a subgroup access different banks. `rows` divides `items`. Each value
 * costs one write to and one read from workgroup memory, without bank conflicts. There are two barriers.
 */
function transposeSegments(items: number, rows: number, toRuns: boolean) {
  return fn({
    name: toRuns ? "stridedToRuns" : "runsToStrided",
    params: [write(real), write(real)],
    env: { rows, toRuns, pitch: items + items / rows },
    *body([values, tile], gpu, { rows, toRuns, pitch }) {
      const item = gpu.localId();
      const run = item * (rows + 1);
      const strided = item + ((item / rows) | 0);
      for (let k = 0; k < rows; k++) {
        if (toRuns) tile[strided + k * pitch] = values[k];
        else tile[run + k] = values[k];
      }
      yield;
      for (let k = 0; k < rows; k++) values[k] = toRuns ? tile[run + k] : tile[strided + k * pitch];
      yield;
    },
  });
}

/** Returns the number of words of workgroup memory that `transposeSegments` needs. */
export const transposeWords = (items: number, rows: number): number => items * (rows + 1);

/** The arrays of a batch of systems, as kernels read them. */
export const SystemArrays = record({ lower: read(real), diagonal: read(real), upper: read(real), rhs: read(real) });

/**
 * The position of a system, or a chunk of one, in the arrays of the matrix (`matrix`) and of the right-hand side
 * (`from`); the distance and number of its rows, and the number of the item's segment (`lane`).
 */
const SegmentSource = record({ matrix: i32, from: i32, stride: i32, count: i32, lane: i32 });

/** The way in which items access their segments of rows. */
interface SegmentAccess {
  /** The number of items of a workgroup, and rows of an item. */
  readonly items: number;
  readonly rows: number;
  /** True if consecutive items read consecutive rows, and segments are assembled in workgroup memory. */
  readonly staged: boolean;
  /**
   * True if an item reads its contiguous segment of `rows` words from a multiple of four on, which CUDA's compiler
   * merges into accesses of 16 bytes.
   */
  readonly aligned: boolean;
  /** The distance of neighbours in the arrays of b and d: 1, or `items` if these are in workgroup memory. */
  readonly pitch: number;
}

/**
 * Returns the kernel function that loads a, b, c and d of an item's segment, which begins at row lane·rows of its
 * system. Rows from `count` on become x = 0. The first row of a system has no a, the last no c. All loads precede the
 * first use, so that they are in flight together. b and d begin at `origin`.
 */
export function loadSegments(access: SegmentAccess & { readonly lanes: number; readonly shared: boolean }) {
  const { items, rows, staged, shared, aligned, pitch } = access;
  return fn({
    name: "loadRuns",
    params: { run: RowSegment, b: write(real), system: SystemArrays, place: SegmentSource, tile: write(real) },
    env: {
      items,
      rows,
      last: rows - 1,
      pitch,
      staged: staged && rows > 1,
      aligned,
      shared,
      toRuns: transposeSegments(items, rows, true),
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

/** Returns the kernel function that stores the unknowns of a segment, of rows below `count`. */
export function storeSegments({ items, rows, staged, aligned, pitch }: SegmentAccess) {
  return fn({
    name: "storeRuns",
    params: [write(real), write(real), i32, i32, i32, i32, write(real), i32],
    env: { items, rows, pitch, staged: staged && rows > 1, aligned, toStrided: transposeSegments(items, rows, false) },
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
