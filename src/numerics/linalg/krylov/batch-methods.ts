/** One attempt of each method by one workgroup: from the residual to the last iteration. */
import { fn, i32, type KernelBody, real, record, write } from "../../../kernel/index.ts";
import { memoize } from "../../../base/memoize.ts";
import {
  type PreconditionerOperation,
  teamScalarStep,
  itemDots,
  teamMultiply,
  teamPrecondition,
  BatchedSystem,
  TeamMemory,
  SystemVectors,
  teamResidual,
} from "./batch-parts.ts";
import {
  stateSlots,
  cgStart,
  cgBeta,
  cgAlpha,
  flagSlots,
  bicgstabOmega,
  shadowBeta,
  shadowAlpha,
  startCycle,
  hessenbergColumn,
  hessenbergSolve,
} from "./recurrences.ts";
import { GROUP_SIZE, groupSums } from "./workspace.ts";

/**
 * The numbers of a system's vectors, in all methods: the solution, the right-hand side, the residual, its initial copy,
 * and the others by the letters of `methods.ts`.
 */
export const vectorSlots = { X: 0, B: 1, R: 2, SHADOW: 3, P: 4, V: 5, T: 6, Q: 7, HAT: 8, SECOND_HAT: 9 } as const;

const params = { system: BatchedSystem, vectors: SystemVectors, team: TeamMemory, maxIterations: i32 } as const;
const common = (preconditioning: PreconditionerOperation) =>
  ({
    GROUP_SIZE,
    ...vectorSlots,
    ...stateSlots,
    ...flagSlots,
    teamMultiply,
    itemDots,
    hasM: preconditioning !== "none",
    precondition: teamPrecondition(preconditioning),
  }) as const;

/**
 * Returns the kernel function by which one workgroup runs bicgstab of van der Vorst (1992). Its vectors are those of
 * `methods.ts`; T holds t, and HAT the direction M⁻¹p with the preconditioner M.
 */
export const teamBicgstab = memoize((preconditioning: PreconditionerOperation) =>
  fn({
    name: "teamBicgstab",
    params,
    env: {
      ...common(preconditioning),
      first: teamScalarStep(shadowAlpha),
      second: teamScalarStep(bicgstabOmega),
      end: teamScalarStep(shadowBeta(true)),
    },
    *body({ system, vectors, team, maxIterations }, gpu, env): KernelBody {
      const { GROUP_SIZE, teamMultiply, itemDots, hasM, precondition } = env;
      const { X, R, SHADOW, P, V, T, HAT, SECOND_HAT, ALPHA, OMEGA, BETA, STATUS, ITERATIONS } = env;
      const { rows } = system;
      const { v, origin, pitch } = vectors;
      const { state, flags } = team.of;
      const pHat = hasM ? HAT : P;
      const sHat = hasM ? SECOND_HAT : R;
      while (flags[STATUS] === 0 && flags[ITERATIONS] < maxIterations) {
        const beta = state[BETA];
        const omega = state[OMEGA];
        for (let i = origin + gpu.localId(); i < origin + rows; i += GROUP_SIZE) {
          if (beta === 0) v[P * pitch + i] = v[R * pitch + i];
          else v[P * pitch + i] = v[R * pitch + i] + beta * (v[P * pitch + i] - omega * v[V * pitch + i]);
        }
        yield;
        if (hasM) yield* precondition({ system, vectors, from: P, to: HAT });
        yield* teamMultiply({ system, vectors, from: pHat, to: V });
        const shadowed = itemDots({ rows, vectors, a: SHADOW, b: V, c: V, d: V });
        yield* env.first({ team, first: shadowed.first, second: shadowed.second });
        if (flags[STATUS] !== 0) break;
        const alpha = state[ALPHA];
        for (let i = origin + gpu.localId(); i < origin + rows; i += GROUP_SIZE)
          v[R * pitch + i] -= alpha * v[V * pitch + i];
        yield;
        if (hasM) yield* precondition({ system, vectors, from: R, to: SECOND_HAT });
        yield* teamMultiply({ system, vectors, from: sHat, to: T });
        const minimal = itemDots({ rows, vectors, a: T, b: R, c: T, d: T });
        yield* env.second({ team, first: minimal.first, second: minimal.second });
        const step = state[OMEGA];
        for (let i = origin + gpu.localId(); i < origin + rows; i += GROUP_SIZE) {
          v[X * pitch + i] = v[X * pitch + i] + alpha * v[pHat * pitch + i] + step * v[sHat * pitch + i];
          v[R * pitch + i] -= step * v[T * pitch + i];
        }
        const last = itemDots({ rows, vectors, a: SHADOW, b: R, c: R, d: R });
        yield* env.end({ team, first: last.first, second: last.second });
      }
    },
  }),
);

/** Returns the kernel function by which one workgroup runs cgs of Sonneveld (1989). T holds u, and then u + q. */
export const teamCgs = memoize((preconditioning: PreconditionerOperation) =>
  fn({
    name: "teamCgs",
    params,
    env: {
      ...common(preconditioning),
      first: teamScalarStep(shadowAlpha),
      end: teamScalarStep(shadowBeta(false)),
    },
    *body({ system, vectors, team, maxIterations }, gpu, env): KernelBody {
      const { GROUP_SIZE, teamMultiply, itemDots, hasM, precondition } = env;
      const { X, R, SHADOW, P, V, T, Q, HAT, ALPHA, BETA, STATUS, ITERATIONS } = env;
      const { rows } = system;
      const { v, origin, pitch } = vectors;
      const { state, flags } = team.of;
      const pHat = hasM ? HAT : P;
      const uHat = hasM ? HAT : T;
      while (flags[STATUS] === 0 && flags[ITERATIONS] < maxIterations) {
        const beta = state[BETA];
        for (let i = origin + gpu.localId(); i < origin + rows; i += GROUP_SIZE) {
          const r = v[R * pitch + i];
          if (beta === 0) {
            v[T * pitch + i] = r;
            v[P * pitch + i] = r;
          } else {
            const q = v[Q * pitch + i];
            const u = r + beta * q;
            v[T * pitch + i] = u;
            v[P * pitch + i] = u + beta * (q + beta * v[P * pitch + i]);
          }
        }
        yield;
        if (hasM) yield* precondition({ system, vectors, from: P, to: HAT });
        yield* teamMultiply({ system, vectors, from: pHat, to: V });
        const shadowed = itemDots({ rows, vectors, a: SHADOW, b: V, c: V, d: V });
        yield* env.first({ team, first: shadowed.first, second: shadowed.second });
        if (flags[STATUS] !== 0) break;
        const alpha = state[ALPHA];
        for (let i = origin + gpu.localId(); i < origin + rows; i += GROUP_SIZE) {
          const q = v[T * pitch + i] - alpha * v[V * pitch + i];
          v[Q * pitch + i] = q;
          v[T * pitch + i] += q;
        }
        yield;
        if (hasM) yield* precondition({ system, vectors, from: T, to: HAT });
        yield* teamMultiply({ system, vectors, from: uHat, to: V });
        for (let i = origin + gpu.localId(); i < origin + rows; i += GROUP_SIZE) {
          v[X * pitch + i] += alpha * v[uHat * pitch + i];
          v[R * pitch + i] -= alpha * v[V * pitch + i];
        }
        const last = itemDots({ rows, vectors, a: SHADOW, b: R, c: R, d: R });
        yield* env.end({ team, first: last.first, second: last.second });
      }
    },
  }),
);

/** Returns the kernel function by which one workgroup runs cg of Hestenes & Stiefel (1952). */
export const teamCg = memoize((preconditioning: PreconditionerOperation) =>
  fn({
    name: "teamCg",
    params,
    env: {
      ...common(preconditioning),
      began: teamScalarStep(cgStart),
      step: teamScalarStep(cgAlpha),
      end: teamScalarStep(cgBeta),
    },
    *body({ system, vectors, team, maxIterations }, gpu, env): KernelBody {
      const { GROUP_SIZE, teamMultiply, itemDots, hasM, precondition } = env;
      const { X, R, P, V, HAT, ALPHA, BETA, STATUS, ITERATIONS } = env;
      const { rows } = system;
      const { v, origin, pitch } = vectors;
      const { state, flags } = team.of;
      const z = hasM ? HAT : R;
      if (hasM) yield* precondition({ system, vectors, from: R, to: HAT });
      const start = itemDots({ rows, vectors, a: R, b: z, c: R, d: R });
      yield* env.began({ team, first: start.first, second: start.second });
      while (flags[STATUS] === 0 && flags[ITERATIONS] < maxIterations) {
        const beta = state[BETA];
        for (let i = origin + gpu.localId(); i < origin + rows; i += GROUP_SIZE) {
          if (beta === 0) v[P * pitch + i] = v[z * pitch + i];
          else v[P * pitch + i] = v[z * pitch + i] + beta * v[P * pitch + i];
        }
        yield;
        yield* teamMultiply({ system, vectors, from: P, to: V });
        const curvature = itemDots({ rows, vectors, a: P, b: V, c: P, d: V });
        yield* env.step({ team, first: curvature.first, second: curvature.second });
        if (flags[STATUS] !== 0) break;
        const alpha = state[ALPHA];
        for (let i = origin + gpu.localId(); i < origin + rows; i += GROUP_SIZE) {
          v[X * pitch + i] += alpha * v[P * pitch + i];
          v[R * pitch + i] -= alpha * v[V * pitch + i];
        }
        if (hasM) {
          yield;
          yield* precondition({ system, vectors, from: R, to: HAT });
        }
        const last = itemDots({ rows, vectors, a: R, b: z, c: R, d: R });
        yield* env.end({ team, first: last.first, second: last.second });
      }
    },
  }),
);

/** The number of the first vector of gmres's basis. */
export const FIRST_BASIS_VECTOR = 7;

/** The workgroup memory of a cycle of gmres; see `Hessenberg`. */
const Cycle = record({ sums: write(real), h: write(real), rotations: write(real) });

/** Products of vector T with columns 0 … j of the basis, to `sums` from `from` on; T less the columns times them. */
const orthogonalise = fn({
  name: "teamOrthogonalise",
  params: { system: BatchedSystem, vectors: SystemVectors, team: TeamMemory, cycle: Cycle, j: i32, from: i32 },
  env: { GROUP_SIZE, ...vectorSlots, FIRST_BASIS_VECTOR, groupSums, itemDots },
  *body({ system, vectors, team, cycle, j, from }, gpu, env): KernelBody {
    const { GROUP_SIZE, T, FIRST_BASIS_VECTOR, groupSums, itemDots } = env;
    const { rows } = system;
    const { v, origin, pitch } = vectors;
    const { scratch, sums } = team;
    for (let k = 0; k <= j; k += 2) {
      const next = Math.min(k + 1, j);
      const { first, second } = itemDots({
        rows,
        vectors,
        a: FIRST_BASIS_VECTOR + k,
        b: T,
        c: FIRST_BASIS_VECTOR + next,
        d: T,
      });
      yield* groupSums({ first, second, scratch, partials: sums, slot: 0 });
      if (gpu.localId() === 0) {
        cycle.sums[from + k] = sums[0];
        cycle.sums[from + next] = next > k ? sums[1] : sums[0];
      }
      yield;
    }
    for (let i = origin + gpu.localId(); i < origin + rows; i += GROUP_SIZE) {
      let value = v[T * pitch + i];
      for (let k = 0; k <= j; k++) value -= cycle.sums[from + k] * v[(FIRST_BASIS_VECTOR + k) * pitch + i];
      v[T * pitch + i] = value;
    }
    yield;
  },
});

/** Returns the kernel function by which one workgroup runs gmres of Saad & Schultz (1986); see `gmres.ts`. */
export const teamGmres = memoize((preconditioning: PreconditionerOperation) =>
  fn({
    name: "teamGmres",
    params: {
      system: BatchedSystem,
      vectors: SystemVectors,
      team: TeamMemory,
      cycle: Cycle,
      restart: i32,
      maxIterations: i32,
    },
    env: {
      GROUP_SIZE,
      ...vectorSlots,
      ...stateSlots,
      ...flagSlots,
      FIRST_BASIS_VECTOR,
      hasM: preconditioning !== "none",
      precondition: teamPrecondition(preconditioning),
      teamMultiply,
      itemDots,
      orthogonalise,
      groupSums,
      hessenbergColumn,
      hessenbergSolve,
      teamResidual,
      again: teamScalarStep(startCycle(true)),
    },
    *body({ system, vectors, team, cycle, restart, maxIterations }, gpu, env): KernelBody {
      const { GROUP_SIZE, FIRST_BASIS_VECTOR, hasM, precondition, teamMultiply, itemDots, orthogonalise, groupSums } =
        env;
      const { hessenbergColumn, hessenbergSolve, teamResidual, again } = env;
      const { X, B, R, SHADOW, P, T, STATUS, CYCLE, COLUMN, ITERATIONS, RESIDUAL } = env;
      const { rows } = system;
      const { v, origin, pitch } = vectors;
      const { scratch, sums, of } = team;
      const { state, flags } = of;
      while (flags[STATUS] === 0 && flags[ITERATIONS] < maxIterations) {
        const norm = state[RESIDUAL];
        for (let i = origin + gpu.localId(); i < origin + rows; i += GROUP_SIZE)
          v[FIRST_BASIS_VECTOR * pitch + i] = v[R * pitch + i] / norm;
        yield;
        let j = 0;
        while (j < restart && flags[STATUS] === 0 && flags[CYCLE] === 0 && flags[ITERATIONS] < maxIterations) {
          if (hasM) {
            yield* precondition({ system, vectors, from: FIRST_BASIS_VECTOR + j, to: P });
            yield* teamMultiply({ system, vectors, from: P, to: T });
          } else yield* teamMultiply({ system, vectors, from: FIRST_BASIS_VECTOR + j, to: T });
          yield* orthogonalise({ system, vectors, team, cycle, j, from: 0 });
          yield* orthogonalise({ system, vectors, team, cycle, j, from: restart + 1 });
          const { first } = itemDots({ rows, vectors, a: T, b: T, c: T, d: T });
          yield* groupSums({ first, second: 0.0, scratch, partials: sums, slot: 0 });
          if (gpu.localId() === 0) hessenbergColumn({ of, matrix: cycle, j, restart, squared: sums[0] });
          yield;
          j++;
          if (j < restart) {
            const length = Math.sqrt(sums[0]);
            for (let i = origin + gpu.localId(); i < origin + rows; i += GROUP_SIZE)
              v[(FIRST_BASIS_VECTOR + j) * pitch + i] = v[T * pitch + i] / length;
            yield;
          }
        }
        const { h, rotations } = cycle;
        if (gpu.localId() === 0) hessenbergSolve({ columns: flags[COLUMN], h, rotations, restart });
        yield;
        for (let i = origin + gpu.localId(); i < origin + rows; i += GROUP_SIZE) {
          let sum = 0.0;
          for (let k = 0; k < flags[COLUMN]; k++)
            sum += rotations[2 * restart + k] * v[(FIRST_BASIS_VECTOR + k) * pitch + i];
          v[T * pitch + i] = sum;
        }
        yield;
        if (hasM) yield* precondition({ system, vectors, from: T, to: P });
        const update = hasM ? P : T;
        for (let i = origin + gpu.localId(); i < origin + rows; i += GROUP_SIZE)
          v[X * pitch + i] += v[update * pitch + i];
        yield;
        // Where the last cycle ended the attempt, the true residual is left to `verify`.
        if (flags[STATUS] !== 0 || flags[ITERATIONS] >= maxIterations) break;
        const { first, second } = yield* teamResidual({ system, vectors, x: X, rhs: B, residual: R, copy: SHADOW });
        yield* again({ team, first, second });
      }
    },
  }),
);
