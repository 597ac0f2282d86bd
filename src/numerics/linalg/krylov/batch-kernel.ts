/** The kernel of a batch: a workgroup solves its system, in every step of a time loop, without leaving. */
import { i32, kernel, read, real, write } from "../../../kernel/index.ts";
import { memoize } from "../../../base/memoize.ts";
import { FIRST_BASIS_VECTOR, teamGmres, vectorSlots, teamBicgstab, teamCg, teamCgs } from "./batch-methods.ts";
import {
  type PreconditionerOperation,
  teamScalarStep,
  headerSlots,
  HEADER_WORDS,
  teamResidual,
} from "./batch-parts.ts";
import { stateSlots, startCycle, flagSlots, FLAG_WORDS, STATE_WORDS, verifyResidual } from "./recurrences.ts";
import type { KrylovMethod } from "./spec.ts";
import { statusCodes } from "./status.ts";
import { GROUP_SIZE } from "./workspace.ts";

/** The variant of the batch kernel. */
interface BatchVariant {
  readonly method: KrylovMethod;
  readonly preconditioning: PreconditionerOperation;
  /** The number of reals of workgroup memory for vectors; 0 where they are in device memory. */
  readonly shared: number;
  /** The number of iterations of a cycle of gmres, which determines the memory of its Hessenberg matrix. */
  readonly restart: number;
}

/** Returns the number of vectors that a method stores for a system. */
export const vectorCount = ({ method, preconditioning, restart }: Omit<BatchVariant, "shared">): number => {
  if (method === "gmres") return FIRST_BASIS_VECTOR + restart;
  const plain = { bicgstab: vectorSlots.T + 1, cgs: vectorSlots.Q + 1, cg: vectorSlots.V + 1 }[method];
  return preconditioning === "none" ? plain : method === "bicgstab" ? vectorSlots.SECOND_HAT + 1 : vectorSlots.HAT + 1;
};

/**
 * Returns the number of reals that a method's scalars and sums take in workgroup memory. Its vectors are not included.
 */
export const scalarRealCount = ({ method, restart }: Pick<BatchVariant, "method" | "restart">): number => {
  const cycle = method === "gmres" ? 2 * (restart + 1) + restart * (restart + 1) + 3 * restart + 1 : 3;
  return 2 * GROUP_SIZE + 2 + STATE_WORDS + cycle;
};

/**
 * Returns the kernel in which each workgroup solves one system. Words per iteration and row: those of `methods.ts`, in
 * workgroup memory if the vectors are there. The matrix is read from the nearest cache that holds it.
 */
export const batchKernel = memoize((variant: BatchVariant) =>
  kernel({
    name: `krylovBatch_${variant.method}_${variant.preconditioning}`,
    params: {
      steps: i32,
      carry: real,
      maxIterations: i32,
      patience: i32,
      relative: real,
      absolute: real,
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
    groupSize: GROUP_SIZE,
    env: {
      GROUP_SIZE,
      ...vectorSlots,
      ...stateSlots,
      ...flagSlots,
      ...statusCodes,
      ...headerSlots,
      HEADER_WORDS,
      FLAG_WORDS,
      STATE_WORDS,
      SHARED: variant.shared,
      VECTORS: vectorCount(variant),
      restart: variant.method === "gmres" ? variant.restart : 1,
      method: variant.method,
      bicgstab: teamBicgstab(variant.preconditioning),
      cgs: teamCgs(variant.preconditioning),
      cg: teamCg(variant.preconditioning),
      gmres: teamGmres(variant.preconditioning),
      teamResidual,
      began: teamScalarStep(startCycle(false)),
      verified: teamScalarStep(verifyResidual),
    },
    *body(given, gpu, env) {
      const { steps, carry, maxIterations, table, b, x } = given;
      const { GROUP_SIZE, SHARED, X, B, R, SHADOW, method, restart } = env;
      const { STATUS, ITERATIONS, AGAIN, CONVERGED, ZERO } = env;
      const memory = gpu.sharedReal(SHARED > 0 ? SHARED : 1);
      const state = gpu.sharedReal(env.STATE_WORDS);
      const flags = gpu.sharedI32(env.FLAG_WORDS);
      const scratch = gpu.sharedReal(2 * GROUP_SIZE);
      const sums = gpu.sharedReal(2);
      const coefficients = gpu.sharedReal(2 * (restart + 1));
      const h = gpu.sharedReal(restart * (restart + 1));
      const rotations = gpu.sharedReal(3 * restart + 1);
      const s = gpu.groupId();
      const words = s * env.HEADER_WORDS;
      const firstRow = table[words + env.FIRST_ROW];
      const rows = table[words + env.ROWS];
      const system = {
        table,
        words,
        rows,
        width: table[words + env.WIDTH],
        slot: table[words + env.FIRST_PLACE],
        factors: table[words + env.FACTORS],
        factorWidth: table[words + env.FACTOR_WIDTH],
        column: given.column,
        values: given.values,
      };
      const v = SHARED > 0 ? memory : given.work;
      const origin = SHARED > 0 ? 0 : firstRow;
      const pitch = SHARED > 0 ? (SHARED / env.VECTORS) | 0 : given.totalRows;
      const vectors = { v, origin, pitch };
      const team = { of: { state, flags }, scratch, sums };
      const cycle = { sums: coefficients, h, rotations };
      const attempt = { system, vectors, residual: R, copy: SHADOW, x: X, rhs: B };
      let iterations = 0;
      let done = 0;
      for (let i = gpu.localId(); i < rows; i += GROUP_SIZE) v[origin + X * pitch + i] = x[firstRow + i];
      for (let step = 0; step < steps; step++) {
        for (let i = gpu.localId(); i < rows; i += GROUP_SIZE)
          v[origin + B * pitch + i] = b[firstRow + i] + carry * v[origin + X * pitch + i];
        if (gpu.localId() === 0) {
          state[env.RELATIVE] = given.relative;
          state[env.ABSOLUTE] = given.absolute;
          state[env.LAST] = -1;
          flags[ITERATIONS] = 0;
          flags[env.PATIENCE] = given.patience;
          flags[env.MAX] = maxIterations;
          flags[AGAIN] = 1;
        }
        yield;
        while (flags[AGAIN] === 1) {
          const start = yield* env.teamResidual(attempt);
          yield* env.began({ team, first: start.first, second: start.second });
          if (method === "bicgstab") yield* env.bicgstab({ system, vectors, team, maxIterations });
          if (method === "cgs") yield* env.cgs({ system, vectors, team, maxIterations });
          if (method === "cg") yield* env.cg({ system, vectors, team, maxIterations });
          if (method === "gmres") yield* env.gmres({ system, vectors, team, cycle, restart, maxIterations });
          if (flags[STATUS] === ZERO)
            for (let i = gpu.localId(); i < rows; i += GROUP_SIZE) v[origin + X * pitch + i] = 0;
          yield;
          const end = yield* env.teamResidual(attempt);
          yield* env.verified({ team, first: end.first, second: end.second });
        }
        iterations += flags[ITERATIONS];
        // A step that failed ends the time loop: what would follow means nothing.
        if (flags[STATUS] !== CONVERGED && flags[STATUS] !== ZERO) break;
        done++;
      }
      for (let i = gpu.localId(); i < rows; i += GROUP_SIZE) x[firstRow + i] = v[origin + X * pitch + i];
      if (gpu.localId() === 0) {
        given.residuals[2 * s] = state[env.RESIDUAL];
        given.residuals[2 * s + 1] = state[env.RHS];
        given.info[3 * s] = flags[STATUS];
        given.info[3 * s + 1] = iterations;
        given.info[3 * s + 2] = done;
      }
    },
  }),
);
