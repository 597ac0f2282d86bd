import { bool, fn, type KernelFunction, read, real, write } from "../../../kernel/index.ts";
import { scanDown, scanUp } from "./scan.ts";
import type { Team } from "./team.ts";

/**
 * Elimination, z = D⁻¹·rhs + upper·z from the last node down: each item runs through its rows twice, first to learn what leaves its
 * run, then, after the scan, with what enters it.
 */
export function eliminateRuns(team: Team, rows: number): KernelFunction<any, any> {
  return fn({
    name: "eliminateRuns",
    params: [read(real), write(real), read(real), read(real), read(real), write(real)],
    env: { rows, scanDown: scanDown(team) },
    *body([rhs, z, inverse, upper, above, scratch], _gpu, env: any) {
      let y = 0.0;
      for (let k = env.rows - 1; k >= 0; k--) y = rhs[k] * inverse[k] + upper[k] * y;
      y = yield* env.scanDown(y, above, scratch);
      for (let k = env.rows - 1; k >= 0; k--) {
        y = rhs[k] * inverse[k] + upper[k] * y;
        z[k] = y;
      }
    },
  });
}

/** Substitution without exercise, z ← z + lower·z from the first node up, in place. */
export function substituteRuns(team: Team, rows: number): KernelFunction<any, any> {
  return fn({
    name: "substituteRuns",
    params: [write(real), read(real), read(real), write(real)],
    env: { rows, scanUp: scanUp(team, false) },
    *body([z, lower, below, scratch], _gpu, env: any) {
      let y = 0.0;
      for (let k = 0; k < env.rows; k++) y = z[k] + lower[k] * y;
      y = yield* env.scanUp(y, 0.0, below, scratch);
      for (let k = 0; k < env.rows; k++) {
        y = z[k] + lower[k] * y;
        z[k] = y;
      }
    },
  });
}

/**
 * One time step, as `projectedStep` does it: solves (I − hL)·y = u, with `early` exercise held above the obstacle during substitution
 * (Brennan & Schwartz 1977), then u ← y or, for Crank–Nicolson, u ← 2y − u.
 *
 * Cost: 12 flops a node (early exercise 22; the split with one item an option takes 7 and 10) and 24 (42) an item; 12 (17) shuffles
 * an item, or 28 (40) words of workgroup memory and 14 barriers.
 */
export function stepRuns(team: Team, rows: number, early: boolean): KernelFunction<any, any> {
  return fn({
    name: "stepRuns",
    params: [
      write(real),
      write(real),
      read(real),
      read(real),
      read(real),
      read(real),
      read(real),
      read(real),
      write(real),
      bool,
    ],
    env: { rows, early, eliminateRuns: eliminateRuns(team, rows), scanUp: scanUp(team, early) },
    *body([u, z, inverse, lower, upper, obstacle, above, below, scratch, crankNicolson], _gpu, env: any) {
      yield* env.eliminateRuns(u, z, inverse, upper, above, scratch);
      // The bound is obstacle for u_new, so (obstacle + u)/2 for y = (u_new + u)/2.
      const memory = crankNicolson ? 0.5 : 0.0;
      let sum = 0.0;
      let held = -1e30;
      for (let k = 0; k < env.rows; k++) {
        sum = z[k] + lower[k] * sum;
        if (env.early) held = Math.max(z[k] + lower[k] * held, obstacle[k] + memory * (u[k] - obstacle[k]));
      }
      let y = yield* env.scanUp(sum, held, below, scratch);
      for (let k = 0; k < env.rows; k++) {
        y = z[k] + lower[k] * y;
        if (env.early) y = Math.max(y, obstacle[k] + memory * (u[k] - obstacle[k]));
        u[k] = crankNicolson ? y + y - u[k] : y;
      }
    },
  });
}
