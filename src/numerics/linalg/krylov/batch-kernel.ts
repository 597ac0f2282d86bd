/** The kernel of a batch: a workgroup solves its system, in every step of a time loop, without leaving. */
import { fn, i32, kernel, read, real, record, write } from "../../../kernel/index.ts";
import { memoize } from "../../../base/memoize.ts";
import { BASIS, Cycle, teamGmres } from "./batch-gmres.ts";
import { slot, teamBicgstab, teamCg, teamCgs } from "./batch-methods.ts";
import {
  type BatchSweep,
  concluded,
  header,
  HEADER_WORDS,
  System,
  Team,
  teamResidual,
  Vectors,
} from "./batch-parts.ts";
import { at, begin, flag, FLAG_WORDS, STATE_WORDS, verify } from "./recurrences.ts";
import type { KrylovMethod } from "./spec.ts";
import { code } from "./status.ts";
import { GROUP } from "./workspace.ts";

/** The variant of the batch kernel. */
export interface BatchVariant {
  readonly method: KrylovMethod;
  readonly sweep: BatchSweep;
  /** The number of reals of workgroup memory for vectors; 0 where they are in device memory. */
  readonly shared: number;
  /** The number of iterations of a cycle of gmres, which determines the memory of its Hessenberg matrix. */
  readonly restart: number;
}

/** The number of vectors of a method. */
export const vectorCount = ({ method, sweep, restart }: Omit<BatchVariant, "shared">): number => {
  if (method === "gmres") return BASIS + restart;
  const plain = { bicgstab: slot.T + 1, cgs: slot.Q + 1, cg: slot.V + 1 }[method];
  return sweep === "none" ? plain : method === "bicgstab" ? slot.SECOND_HAT + 1 : slot.HAT + 1;
};

/** The number of reals of workgroup memory besides the vectors. */
export const otherWords = ({ method, restart }: Pick<BatchVariant, "method" | "restart">): number => {
  const cycle = method === "gmres" ? 2 * (restart + 1) + restart * (restart + 1) + 3 * restart + 1 : 3;
  return 2 * GROUP + 2 + STATE_WORDS + cycle;
};

/** The settings that one system is solved with, besides its matrix. */
const loopParams = {
  steps: i32,
  carry: real,
  maxIterations: i32,
  patience: i32,
  relative: real,
  absolute: real,
} as const;
const Loop = record({ ...loopParams, restart: i32 });

const solveSystem = memoize((variant: Omit<BatchVariant, "shared">) =>
  fn({
    name: "solveSystem",
    params: {
      system: System,
      vectors: Vectors,
      team: Team,
      cycle: Cycle,
      loop: Loop,
      firstRow: i32,
      b: read(real),
      x: write(real),
    },
    env: {
      GROUP,
      ...slot,
      ...at,
      ...flag,
      ...code,
      method: variant.method,
      bicgstab: teamBicgstab(variant),
      cgs: teamCgs(variant),
      cg: teamCg(variant),
      gmres: teamGmres(variant),
      teamResidual,
      began: concluded(begin),
      verified: concluded(verify),
    },
    *body({ system, vectors, team, cycle, loop, firstRow, b, x }, gpu, env) {
      const { GROUP, X, B, R, SHADOW, method, bicgstab, cgs, cg, gmres, teamResidual, began, verified } = env;
      const { STATUS, ITERATIONS, PATIENCE, MAX, AGAIN, RELATIVE, ABSOLUTE, LAST, CONVERGED, ZERO } = env;
      const { rows } = system;
      const { v, origin, pitch } = vectors;
      const { state, flags } = team.of;
      const { steps, carry, restart, maxIterations, patience, relative, absolute } = loop;
      const attempt = { system, vectors, residual: R, copy: SHADOW, x: X, rhs: B };
      let iterations = 0;
      let done = 0;
      for (let i = gpu.localId(); i < rows; i += GROUP) v[origin + X * pitch + i] = x[firstRow + i];
      for (let step = 0; step < steps; step++) {
        for (let i = gpu.localId(); i < rows; i += GROUP)
          v[origin + B * pitch + i] = b[firstRow + i] + carry * v[origin + X * pitch + i];
        if (gpu.localId() === 0) {
          state[RELATIVE] = relative;
          state[ABSOLUTE] = absolute;
          state[LAST] = -1;
          flags[ITERATIONS] = 0;
          flags[PATIENCE] = patience;
          flags[MAX] = maxIterations;
          flags[AGAIN] = 1;
        }
        yield;
        while (flags[AGAIN] === 1) {
          const start = yield* teamResidual(attempt);
          yield* began({ team, first: start.first, second: start.second });
          if (method === "bicgstab") yield* bicgstab({ system, vectors, team, maxIterations });
          if (method === "cgs") yield* cgs({ system, vectors, team, maxIterations });
          if (method === "cg") yield* cg({ system, vectors, team, maxIterations });
          if (method === "gmres") yield* gmres({ system, vectors, team, cycle, restart, maxIterations });
          if (flags[STATUS] === ZERO) for (let i = gpu.localId(); i < rows; i += GROUP) v[origin + X * pitch + i] = 0;
          yield;
          const end = yield* teamResidual(attempt);
          yield* verified({ team, first: end.first, second: end.second });
        }
        iterations += flags[ITERATIONS];
        // A step that failed ends the time loop: what would follow means nothing.
        if (flags[STATUS] !== CONVERGED && flags[STATUS] !== ZERO) break;
        done++;
      }
      for (let i = gpu.localId(); i < rows; i += GROUP) x[firstRow + i] = v[origin + X * pitch + i];
      return { iterations, done };
    },
  }),
);

/**
 * The kernel that solves one system per workgroup. Words per iteration and row: those of `methods.ts`, in workgroup
 * memory if the vectors are there. The matrix is read from the nearest cache that holds it.
 */
export const batchKernel = memoize((variant: BatchVariant) =>
  kernel({
    name: `krylovBatch_${variant.method}_${variant.sweep}`,
    params: {
      ...loopParams,
      totalRows: i32,
      table: read(i32),
      column: read(i32),
      values: read(real),
      b: read(real),
      x: write(real),
      work: write(real),
      residuals: write(real),
      info: write(i32),
    },
    groupSize: GROUP,
    env: {
      GROUP,
      ...at,
      ...flag,
      ...header,
      HEADER_WORDS,
      FLAG_WORDS,
      STATE_WORDS,
      SHARED: variant.shared,
      VECTORS: vectorCount(variant),
      ROOM: variant.method === "gmres" ? variant.restart : 1,
      solveSystem: solveSystem({ method: variant.method, sweep: variant.sweep, restart: variant.restart }),
    },
    *body(given, gpu, env) {
      const { steps, carry, maxIterations, patience, relative, absolute, totalRows } = given;
      const { table, column, values, b, x, work, residuals, info } = given;
      const { GROUP, SHARED, VECTORS, ROOM, STATE_WORDS, FLAG_WORDS, solveSystem } = env;
      const { HEADER_WORDS, FIRST_ROW, ROWS, WIDTH, FIRST_PLACE, FACTORS, FACTOR_WIDTH, STATUS, RESIDUAL, RHS } = env;
      const memory = gpu.sharedReal(SHARED > 0 ? SHARED : 1);
      const state = gpu.sharedReal(STATE_WORDS);
      const flags = gpu.sharedI32(FLAG_WORDS);
      const scratch = gpu.sharedReal(2 * GROUP);
      const sums = gpu.sharedReal(2);
      const coefficients = gpu.sharedReal(2 * (ROOM + 1));
      const h = gpu.sharedReal(ROOM * (ROOM + 1));
      const rotations = gpu.sharedReal(3 * ROOM + 1);
      const s = gpu.groupId();
      const words = s * HEADER_WORDS;
      const firstRow = table[words + FIRST_ROW];
      const rows = table[words + ROWS];
      const place = table[words + FIRST_PLACE];
      const width = table[words + WIDTH];
      const { iterations, done } = yield* solveSystem({
        system: {
          table,
          words,
          rows,
          width,
          place,
          factors: table[words + FACTORS],
          factorWidth: table[words + FACTOR_WIDTH],
          column,
          values,
        },
        vectors: {
          v: SHARED > 0 ? memory : work,
          origin: SHARED > 0 ? 0 : firstRow,
          pitch: SHARED > 0 ? (SHARED / VECTORS) | 0 : totalRows,
        },
        team: { of: { state, flags }, scratch, sums },
        cycle: { sums: coefficients, h, rotations },
        loop: { steps, carry, restart: ROOM, maxIterations, patience, relative, absolute },
        firstRow,
        b,
        x,
      });
      if (gpu.localId() === 0) {
        residuals[2 * s] = state[RESIDUAL];
        residuals[2 * s + 1] = state[RHS];
        info[3 * s] = flags[STATUS];
        info[3 * s + 1] = iterations;
        info[3 * s + 2] = done;
      }
    },
  }),
);
