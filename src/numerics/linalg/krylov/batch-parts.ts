/** Operations of a workgroup on the vectors of its own system: products, preconditioners, sums. */
import { fn, i32, type KernelBody, read, real, record, write } from "../../../kernel/index.ts";
import { Recurrence, square } from "./recurrences.ts";
import { type Advance, GROUP, groupSums } from "./workspace.ts";

/** The words of a system in the table. */
export const header = {
  FIRST_ROW: 0,
  ROWS: 1,
  WIDTH: 2,
  FIRST_PLACE: 3,
  /** Levels of the lower triangle and where they are: their starts, then the order of the rows; then of the upper. */
  LOWER_LEVELS: 4,
  LOWER: 5,
  UPPER_LEVELS: 6,
  UPPER: 7,
  FACTORS: 8,
  FACTOR_WIDTH: 9,
} as const;
/** The number of words of a system in the table. */
export const HEADER_WORDS = 10;

/** One system: entry k of row i is at place + k·rows + i, and its factors are at factors + k·rows + i. */
export const System = record({
  table: read(i32),
  /** The place at which its words begin. */
  words: i32,
  rows: i32,
  width: i32,
  slot: i32,
  factors: i32,
  factorWidth: i32,
  column: read(i32),
  values: read(real),
});

/** The vectors of a system: element i of vector k is at origin + k·pitch + i. */
export const Vectors = record({ v: write(real), origin: i32, pitch: i32 });

/** The workgroup memory of a method's scalars. */
export const Team = record({ of: Recurrence, scratch: write(real), sums: write(real) });

/**
 * Returns the function that computes the scalars of the next pass after a barrier: item 0 runs `advance` on the sums
 * over the workgroup.
 */
export const concluded = (advance: Advance) =>
  fn({
    name: `team_${advance.functionName}`,
    params: { team: Team, first: real, second: real },
    env: { groupSums, advance },
    *body({ team: { of, scratch, sums }, first, second }, gpu, { groupSums, advance }): KernelBody {
      yield* groupSums({ first, second, scratch, partials: sums, slot: 0 });
      if (gpu.localId() === 0) advance({ of, first: sums[0], second: sums[1] });
      yield;
    },
  });

/** Sets vector `to` = A·vector `from`, followed by a barrier. */
export const multiply = fn({
  name: "teamMultiply",
  params: { system: System, vectors: Vectors, from: i32, to: i32 },
  env: { GROUP },
  *body({ system, vectors, from, to }, gpu, { GROUP }): KernelBody {
    const { rows, width, slot, column, values } = system;
    const { v, origin, pitch } = vectors;
    const source = origin + from * pitch;
    for (let i = gpu.localId(); i < rows; i += GROUP) {
      let sum = 0.0;
      for (let k = 0; k < width; k++) {
        const at = slot + k * rows + i;
        const j = column[at];
        if (j >= 0) sum += values[at] * v[source + j];
      }
      v[origin + to * pitch + i] = sum;
    }
    yield;
  },
});

/** The sums a·b and c·d of four vectors over the rows of an item. */
export const itemDots = fn({
  name: "itemDots",
  params: { rows: i32, vectors: Vectors, a: i32, b: i32, c: i32, d: i32 },
  env: { GROUP },
  body({ rows, vectors: { v, origin, pitch }, a, b, c, d }, gpu, { GROUP }) {
    let first = 0.0;
    let second = 0.0;
    for (let i = gpu.localId(); i < rows; i += GROUP) {
      first += v[origin + a * pitch + i] * v[origin + b * pitch + i];
      second += v[origin + c * pitch + i] * v[origin + d * pitch + i];
    }
    return { first, second };
  },
});

/**
 * Sets vector `residual` = vector `rhs` − A·vector `x`, using vector `scratch`, and returns r·r and b·b over the rows
 * of an item.
 */
export const teamResidual = fn({
  name: "teamResidual",
  params: { system: System, vectors: Vectors, x: i32, rhs: i32, residual: i32, copy: i32 },
  env: { GROUP, multiply, square },
  *body({ system, vectors, x, rhs, residual, copy }, gpu, { GROUP, multiply, square }) {
    yield* multiply({ system, vectors, from: x, to: residual });
    const { v, origin, pitch } = vectors;
    let first = 0.0;
    let second = 0.0;
    for (let i = gpu.localId(); i < system.rows; i += GROUP) {
      const b = v[origin + rhs * pitch + i];
      const r = b - v[origin + residual * pitch + i];
      v[origin + residual * pitch + i] = r;
      v[origin + copy * pitch + i] = r;
      first += square({ x: r });
      second += square({ x: b });
    }
    return { first, second };
  },
});

/**
 * The kernel operation of a preconditioner: none, a product with the inverse diagonal, or the solution of two
 * triangles.
 */
export type BatchSweep = "none" | "diagonal" | "triangles";

/** Returns the function that sets vector `to` = M⁻¹·vector `from`, followed by a barrier. */
export const precondition = (kind: BatchSweep) =>
  fn({
    name: `team_${kind}`,
    params: { system: System, vectors: Vectors, from: i32, to: i32 },
    env: { GROUP, kind, ...header },
    *body({ system, vectors, from, to }, gpu, env): KernelBody {
      const { GROUP, kind, LOWER_LEVELS, LOWER, UPPER_LEVELS, UPPER } = env;
      const { table, words, rows, factors, factorWidth, column, values } = system;
      const { v, origin, pitch } = vectors;
      const r = origin + from * pitch;
      const z = origin + to * pitch;
      if (kind === "diagonal") {
        for (let i = gpu.localId(); i < rows; i += GROUP) v[z + i] = v[r + i] * values[factors + i];
        yield;
      }
      if (kind === "triangles") {
        const lower = table[words + LOWER_LEVELS];
        const lowerAt = table[words + LOWER];
        for (let level = 0; level < lower; level++) {
          const end = table[lowerAt + level + 1];
          for (let at = table[lowerAt + level] + gpu.localId(); at < end; at += GROUP) {
            const i = table[lowerAt + lower + 1 + at];
            let sum = v[r + i];
            for (let k = 0; k < factorWidth; k++) {
              const j = column[factors + k * rows + i];
              if (j >= 0 && j < i) sum -= values[factors + k * rows + i] * v[z + j];
            }
            v[z + i] = sum;
          }
          yield;
        }
        const upper = table[words + UPPER_LEVELS];
        const upperAt = table[words + UPPER];
        for (let level = 0; level < upper; level++) {
          const end = table[upperAt + level + 1];
          for (let at = table[upperAt + level] + gpu.localId(); at < end; at += GROUP) {
            const i = table[upperAt + upper + 1 + at];
            let sum = v[z + i];
            let pivot = 1.0;
            for (let k = 0; k < factorWidth; k++) {
              const j = column[factors + k * rows + i];
              if (j > i) sum -= values[factors + k * rows + i] * v[z + j];
              if (j === i) pivot = values[factors + k * rows + i];
            }
            v[z + i] = sum / pivot;
          }
          yield;
        }
      }
    },
  });
