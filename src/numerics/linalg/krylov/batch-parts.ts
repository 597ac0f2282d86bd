/** Operations of a workgroup on the vectors of its own system: products, preconditioners, sums. */
import { fn, i32, type KernelBody, read, real, record, write } from "../../../kernel/index.ts";
import { RecurrenceState, squareOrTiny } from "./recurrences.ts";
import { type ScalarStep, GROUP_SIZE, groupSums } from "./workspace.ts";

/** The positions of a system's numbers in its header, a part of the batch's table. */
export const headerSlots = {
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
/** The number of words of a system's header in the table. */
export const HEADER_WORDS = 10;

/**
 * The matrix of one system of a batch, and its factors. Entry k of row i is at slot + k·rows + i, the entry k of row i
 * of the factors at factors + k·rows + i.
 */
export const BatchedSystem = record({
  table: read(i32),
  /** The index in the table at which its header begins. */
  words: i32,
  rows: i32,
  width: i32,
  slot: i32,
  factors: i32,
  factorWidth: i32,
  column: read(i32),
  values: read(real),
});

/** The vectors of one system: element i of vector k is at origin + k·pitch + i. */
export const SystemVectors = record({ v: write(real), origin: i32, pitch: i32 });

/** The scalars of a method and the workgroup memory in which they are summed. */
export const TeamMemory = record({ of: RecurrenceState, scratch: write(real), sums: write(real) });

/**
 * Returns the kernel function that ends a pass: it sums over the workgroup, and item 0 then computes the scalars of the
 * next pass by `advance`, between barriers.
 */
export const teamScalarStep = (advance: ScalarStep) =>
  fn({
    name: `team_${advance.functionName}`,
    params: { team: TeamMemory, first: real, second: real },
    env: { groupSums, advance },
    *body({ team: { of, scratch, sums }, first, second }, gpu, { groupSums, advance }): KernelBody {
      yield* groupSums({ first, second, scratch, partials: sums, slot: 0 });
      if (gpu.localId() === 0) advance({ of, first: sums[0], second: sums[1] });
      yield;
    },
  });

/** Sets vector number `to` = A · vector number `from`, followed by a barrier. */
export const teamMultiply = fn({
  name: "teamMultiply",
  params: { system: BatchedSystem, vectors: SystemVectors, from: i32, to: i32 },
  env: { GROUP_SIZE },
  *body({ system, vectors, from, to }, gpu, { GROUP_SIZE }): KernelBody {
    const { rows, width, slot, column, values } = system;
    const { v, origin, pitch } = vectors;
    const source = origin + from * pitch;
    for (let i = gpu.localId(); i < rows; i += GROUP_SIZE) {
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

/** Returns the sums a·b and c·d of four vectors over the rows of a work item. */
export const itemDots = fn({
  name: "itemDots",
  params: { rows: i32, vectors: SystemVectors, a: i32, b: i32, c: i32, d: i32 },
  env: { GROUP_SIZE },
  body({ rows, vectors: { v, origin, pitch }, a, b, c, d }, gpu, { GROUP_SIZE }) {
    let first = 0.0;
    let second = 0.0;
    for (let i = gpu.localId(); i < rows; i += GROUP_SIZE) {
      first += v[origin + a * pitch + i] * v[origin + b * pitch + i];
      second += v[origin + c * pitch + i] * v[origin + d * pitch + i];
    }
    return { first, second };
  },
});

/**
 * Sets the vectors `residual` and `copy` to r = b − A·x, with b the vector `rhs`, and returns r·r and b·b over the rows
 * of a work item.
 */
export const teamResidual = fn({
  name: "teamResidual",
  params: { system: BatchedSystem, vectors: SystemVectors, x: i32, rhs: i32, residual: i32, copy: i32 },
  env: { GROUP_SIZE, teamMultiply, squareOrTiny },
  *body({ system, vectors, x, rhs, residual, copy }, gpu, { GROUP_SIZE, teamMultiply, squareOrTiny }) {
    yield* teamMultiply({ system, vectors, from: x, to: residual });
    const { v, origin, pitch } = vectors;
    let first = 0.0;
    let second = 0.0;
    for (let i = gpu.localId(); i < system.rows; i += GROUP_SIZE) {
      const b = v[origin + rhs * pitch + i];
      const r = b - v[origin + residual * pitch + i];
      v[origin + residual * pitch + i] = r;
      v[origin + copy * pitch + i] = r;
      first += squareOrTiny({ x: r });
      second += squareOrTiny({ x: b });
    }
    return { first, second };
  },
});

/**
 * The operation by which a kernel applies a preconditioner: none, multiplication by the inverse diagonal, or two
 * triangular solves.
 */
export type PreconditionerOperation = "none" | "diagonal" | "triangles";

/** Returns the kernel function that sets vector number `to` = M⁻¹ · vector number `from`, followed by a barrier. */
export const teamPrecondition = (kind: PreconditionerOperation) =>
  fn({
    name: `team_${kind}`,
    params: { system: BatchedSystem, vectors: SystemVectors, from: i32, to: i32 },
    env: { GROUP_SIZE, kind, ...headerSlots },
    *body({ system, vectors, from, to }, gpu, env): KernelBody {
      const { GROUP_SIZE, kind, LOWER_LEVELS, LOWER, UPPER_LEVELS, UPPER } = env;
      const { table, words, rows, factors, factorWidth, column, values } = system;
      const { v, origin, pitch } = vectors;
      const r = origin + from * pitch;
      const z = origin + to * pitch;
      if (kind === "diagonal") {
        for (let i = gpu.localId(); i < rows; i += GROUP_SIZE) v[z + i] = v[r + i] * values[factors + i];
        yield;
      }
      if (kind === "triangles") {
        const lower = table[words + LOWER_LEVELS];
        const lowerAt = table[words + LOWER];
        for (let level = 0; level < lower; level++) {
          const end = table[lowerAt + level + 1];
          for (let at = table[lowerAt + level] + gpu.localId(); at < end; at += GROUP_SIZE) {
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
          for (let at = table[upperAt + level] + gpu.localId(); at < end; at += GROUP_SIZE) {
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
