/** One attempt of each method by one workgroup: from the residual to the last iteration. */
import { fn, i32, type KernelBody } from "../../../kernel/index.ts";
import { memoize } from "../../../base/memoize.ts";
import { type BatchSweep, concluded, itemDots, multiply, precondition, System, Team, Vectors } from "./batch-parts.ts";
import {
  at,
  conjugateBegin,
  conjugateEnd,
  conjugateStep,
  flag,
  minimalStep,
  shadowEnd,
  shadowStep,
} from "./recurrences.ts";
import { GROUP } from "./workspace.ts";

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
