/** gmres by one workgroup. */
import { fn, i32, type KernelBody, real, record, write } from "../../../kernel/index.ts";
import { memoize } from "../../../base/memoize.ts";
import { slot } from "./batch-methods.ts";
import {
  type BatchSweep,
  concluded,
  itemDots,
  multiply,
  precondition,
  System,
  Team,
  teamResidual,
  Vectors,
} from "./batch-parts.ts";
import { at, begin, flag, hessenbergColumn, hessenbergSolve } from "./recurrences.ts";
import { GROUP, groupSums } from "./workspace.ts";

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
      yield* groupSums({ first, second, scratch, partials: sums, place: 0 });
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
          yield* groupSums({ first, second: 0.0, scratch, partials: sums, place: 0 });
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
