/** One attempt of each method by one workgroup: from the residual to the last iteration. */
import { fn, i32, type KernelBody, real, record, write } from "../../../kernel/index.ts";
import { memoize } from "../../../base/memoize.ts";
import {
  type BatchSweep,
  concluded,
  itemDots,
  multiply,
  precondition,
  System,
  Team,
  Vectors,
  teamResidual,
} from "./batch-parts.ts";
import {
  at,
  conjugateBegin,
  conjugateEnd,
  conjugateStep,
  flag,
  minimalStep,
  shadowEnd,
  shadowStep,
  begin,
  hessenbergColumn,
  hessenbergSolve,
} from "./recurrences.ts";
import { GROUP, groupSums } from "./workspace.ts";

/**
 * The numbers of the vectors of each method: the solution, the right-hand side, the residual and its initial copy, and
 * others.
 */
export const slot = { X: 0, B: 1, R: 2, SHADOW: 3, P: 4, V: 5, T: 6, Q: 7, HAT: 8, SECOND_HAT: 9 } as const;

const params = { system: System, vectors: Vectors, team: Team, maxIterations: i32 } as const;
const common = (sweep: BatchSweep) =>
  ({
    GROUP,
    ...slot,
    ...at,
    ...flag,
    multiply,
    itemDots,
    hasM: sweep !== "none",
    precondition: precondition(sweep),
  }) as const;

/**
 * The BiCGSTAB method of van der Vorst (1992), run by one workgroup. Its vectors are those of `methods.ts`, and T holds
 * t, HAT the direction M⁻¹p with the preconditioner M.
 */
export const teamBicgstab = memoize((sweep: BatchSweep) =>
  fn({
    name: "teamBicgstab",
    params,
    env: {
      ...common(sweep),
      first: concluded(shadowStep),
      second: concluded(minimalStep),
      end: concluded(shadowEnd(true)),
    },
    *body({ system, vectors, team, maxIterations }, gpu, env): KernelBody {
      const { GROUP, multiply, itemDots, hasM, precondition } = env;
      const { X, R, SHADOW, P, V, T, HAT, SECOND_HAT, ALPHA, OMEGA, BETA, STATUS, ITERATIONS } = env;
      const { rows } = system;
      const { v, origin, pitch } = vectors;
      const { state, flags } = team.of;
      const pHat = hasM ? HAT : P;
      const sHat = hasM ? SECOND_HAT : R;
      while (flags[STATUS] === 0 && flags[ITERATIONS] < maxIterations) {
        const beta = state[BETA];
        const omega = state[OMEGA];
        for (let i = origin + gpu.localId(); i < origin + rows; i += GROUP) {
          if (beta === 0) v[P * pitch + i] = v[R * pitch + i];
          else v[P * pitch + i] = v[R * pitch + i] + beta * (v[P * pitch + i] - omega * v[V * pitch + i]);
        }
        yield;
        if (hasM) yield* precondition({ system, vectors, from: P, to: HAT });
        yield* multiply({ system, vectors, from: pHat, to: V });
        const shadowed = itemDots({ rows, vectors, a: SHADOW, b: V, c: V, d: V });
        yield* env.first({ team, first: shadowed.first, second: shadowed.second });
        if (flags[STATUS] !== 0) break;
        const alpha = state[ALPHA];
        for (let i = origin + gpu.localId(); i < origin + rows; i += GROUP)
          v[R * pitch + i] -= alpha * v[V * pitch + i];
        yield;
        if (hasM) yield* precondition({ system, vectors, from: R, to: SECOND_HAT });
        yield* multiply({ system, vectors, from: sHat, to: T });
        const minimal = itemDots({ rows, vectors, a: T, b: R, c: T, d: T });
        yield* env.second({ team, first: minimal.first, second: minimal.second });
        const step = state[OMEGA];
        for (let i = origin + gpu.localId(); i < origin + rows; i += GROUP) {
          v[X * pitch + i] = v[X * pitch + i] + alpha * v[pHat * pitch + i] + step * v[sHat * pitch + i];
          v[R * pitch + i] -= step * v[T * pitch + i];
        }
        const last = itemDots({ rows, vectors, a: SHADOW, b: R, c: R, d: R });
        yield* env.end({ team, first: last.first, second: last.second });
      }
    },
  }),
);

/** The method cgs of Sonneveld (1989) for one workgroup; T for u and u + q. */
export const teamCgs = memoize((sweep: BatchSweep) =>
  fn({
    name: "teamCgs",
    params,
    env: {
      ...common(sweep),
      first: concluded(shadowStep),
      end: concluded(shadowEnd(false)),
    },
    *body({ system, vectors, team, maxIterations }, gpu, env): KernelBody {
      const { GROUP, multiply, itemDots, hasM, precondition } = env;
      const { X, R, SHADOW, P, V, T, Q, HAT, ALPHA, BETA, STATUS, ITERATIONS } = env;
      const { rows } = system;
      const { v, origin, pitch } = vectors;
      const { state, flags } = team.of;
      const pHat = hasM ? HAT : P;
      const uHat = hasM ? HAT : T;
      while (flags[STATUS] === 0 && flags[ITERATIONS] < maxIterations) {
        const beta = state[BETA];
        for (let i = origin + gpu.localId(); i < origin + rows; i += GROUP) {
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
        yield* multiply({ system, vectors, from: pHat, to: V });
        const shadowed = itemDots({ rows, vectors, a: SHADOW, b: V, c: V, d: V });
        yield* env.first({ team, first: shadowed.first, second: shadowed.second });
        if (flags[STATUS] !== 0) break;
        const alpha = state[ALPHA];
        for (let i = origin + gpu.localId(); i < origin + rows; i += GROUP) {
          const q = v[T * pitch + i] - alpha * v[V * pitch + i];
          v[Q * pitch + i] = q;
          v[T * pitch + i] += q;
        }
        yield;
        if (hasM) yield* precondition({ system, vectors, from: T, to: HAT });
        yield* multiply({ system, vectors, from: uHat, to: V });
        for (let i = origin + gpu.localId(); i < origin + rows; i += GROUP) {
          v[X * pitch + i] += alpha * v[uHat * pitch + i];
          v[R * pitch + i] -= alpha * v[V * pitch + i];
        }
        const last = itemDots({ rows, vectors, a: SHADOW, b: R, c: R, d: R });
        yield* env.end({ team, first: last.first, second: last.second });
      }
    },
  }),
);

/** The method cg of Hestenes & Stiefel (1952) for one workgroup. */
export const teamCg = memoize((sweep: BatchSweep) =>
  fn({
    name: "teamCg",
    params,
    env: {
      ...common(sweep),
      began: concluded(conjugateBegin),
      step: concluded(conjugateStep),
      end: concluded(conjugateEnd),
    },
    *body({ system, vectors, team, maxIterations }, gpu, env): KernelBody {
      const { GROUP, multiply, itemDots, hasM, precondition } = env;
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
        for (let i = origin + gpu.localId(); i < origin + rows; i += GROUP) {
          if (beta === 0) v[P * pitch + i] = v[z * pitch + i];
          else v[P * pitch + i] = v[z * pitch + i] + beta * v[P * pitch + i];
        }
        yield;
        yield* multiply({ system, vectors, from: P, to: V });
        const curvature = itemDots({ rows, vectors, a: P, b: V, c: P, d: V });
        yield* env.step({ team, first: curvature.first, second: curvature.second });
        if (flags[STATUS] !== 0) break;
        const alpha = state[ALPHA];
        for (let i = origin + gpu.localId(); i < origin + rows; i += GROUP) {
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

/** The number of the first vector of the basis. */
export const BASIS = 7;

/** The workgroup memory of a cycle of gmres; see `Hessenberg`. */
const Cycle = record({ sums: write(real), h: write(real), rotations: write(real) });

/** Products of vector T with columns 0 … j of the basis, to `sums` from `from` on; T less the columns times them. */
const orthogonalise = fn({
  name: "teamOrthogonalise",
  params: { system: System, vectors: Vectors, team: Team, cycle: Cycle, j: i32, from: i32 },
  env: { GROUP, ...slot, BASIS, groupSums, itemDots },
  *body({ system, vectors, team, cycle, j, from }, gpu, env): KernelBody {
    const { GROUP, T, BASIS, groupSums, itemDots } = env;
    const { rows } = system;
    const { v, origin, pitch } = vectors;
    const { scratch, sums } = team;
    for (let k = 0; k <= j; k += 2) {
      const next = Math.min(k + 1, j);
      const { first, second } = itemDots({ rows, vectors, a: BASIS + k, b: T, c: BASIS + next, d: T });
      yield* groupSums({ first, second, scratch, partials: sums, slot: 0 });
      if (gpu.localId() === 0) {
        cycle.sums[from + k] = sums[0];
        cycle.sums[from + next] = next > k ? sums[1] : sums[0];
      }
      yield;
    }
    for (let i = origin + gpu.localId(); i < origin + rows; i += GROUP) {
      let value = v[T * pitch + i];
      for (let k = 0; k <= j; k++) value -= cycle.sums[from + k] * v[(BASIS + k) * pitch + i];
      v[T * pitch + i] = value;
    }
    yield;
  },
});

/** The method gmres of Saad & Schultz (1986) for one workgroup; see `gmres.ts`. */
export const teamGmres = memoize((sweep: BatchSweep) =>
  fn({
    name: "teamGmres",
    params: { system: System, vectors: Vectors, team: Team, cycle: Cycle, restart: i32, maxIterations: i32 },
    env: {
      GROUP,
      ...slot,
      ...at,
      ...flag,
      BASIS,
      hasM: sweep !== "none",
      precondition: precondition(sweep),
      multiply,
      itemDots,
      orthogonalise,
      groupSums,
      hessenbergColumn,
      hessenbergSolve,
      teamResidual,
      again: concluded(begin(true)),
    },
    *body({ system, vectors, team, cycle, restart, maxIterations }, gpu, env): KernelBody {
      const { GROUP, BASIS, hasM, precondition, multiply, itemDots, orthogonalise, groupSums } = env;
      const { hessenbergColumn, hessenbergSolve, teamResidual, again } = env;
      const { X, B, R, SHADOW, P, T, STATUS, CYCLE, COLUMN, ITERATIONS, RESIDUAL } = env;
      const { rows } = system;
      const { v, origin, pitch } = vectors;
      const { scratch, sums, of } = team;
      const { state, flags } = of;
      while (flags[STATUS] === 0 && flags[ITERATIONS] < maxIterations) {
        const norm = state[RESIDUAL];
        for (let i = origin + gpu.localId(); i < origin + rows; i += GROUP)
          v[BASIS * pitch + i] = v[R * pitch + i] / norm;
        yield;
        let j = 0;
        while (j < restart && flags[STATUS] === 0 && flags[CYCLE] === 0 && flags[ITERATIONS] < maxIterations) {
          if (hasM) {
            yield* precondition({ system, vectors, from: BASIS + j, to: P });
            yield* multiply({ system, vectors, from: P, to: T });
          } else yield* multiply({ system, vectors, from: BASIS + j, to: T });
          yield* orthogonalise({ system, vectors, team, cycle, j, from: 0 });
          yield* orthogonalise({ system, vectors, team, cycle, j, from: restart + 1 });
          const { first } = itemDots({ rows, vectors, a: T, b: T, c: T, d: T });
          yield* groupSums({ first, second: 0.0, scratch, partials: sums, slot: 0 });
          if (gpu.localId() === 0) hessenbergColumn({ of, matrix: cycle, j, restart, squared: sums[0] });
          yield;
          j++;
          if (j < restart) {
            const length = Math.sqrt(sums[0]);
            for (let i = origin + gpu.localId(); i < origin + rows; i += GROUP)
              v[(BASIS + j) * pitch + i] = v[T * pitch + i] / length;
            yield;
          }
        }
        const { h, rotations } = cycle;
        if (gpu.localId() === 0) hessenbergSolve({ columns: flags[COLUMN], h, rotations, restart });
        yield;
        for (let i = origin + gpu.localId(); i < origin + rows; i += GROUP) {
          let sum = 0.0;
          for (let k = 0; k < flags[COLUMN]; k++) sum += rotations[2 * restart + k] * v[(BASIS + k) * pitch + i];
          v[T * pitch + i] = sum;
        }
        yield;
        if (hasM) yield* precondition({ system, vectors, from: T, to: P });
        const update = hasM ? P : T;
        for (let i = origin + gpu.localId(); i < origin + rows; i += GROUP) v[X * pitch + i] += v[update * pitch + i];
        yield;
        // Where the last cycle ended the attempt, the true residual is left to `verify`.
        if (flags[STATUS] !== 0 || flags[ITERATIONS] >= maxIterations) break;
        const { first, second } = yield* teamResidual({ system, vectors, x: X, rhs: B, residual: R, copy: SHADOW });
        yield* again({ team, first, second });
      }
    },
  }),
);
