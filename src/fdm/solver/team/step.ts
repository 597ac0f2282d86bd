import { bool, fn, i32, type KernelFunction, read, real, write } from "../../../kernel/index.ts";
import { scanDown, scanUp } from "./scan.ts";
import type { Team } from "./team.ts";

/**
 * Elimination, z = rhs·inverse + upper·z from the last node down: each item runs through its rows twice, first to learn what leaves its
 * run, then, after the scan, with what enters it. `scaled`: rhs has that factor already.
 */
export function eliminateRuns(team: Team, rows: number, scaled: boolean, lasting: boolean): KernelFunction<any, any> {
  return fn({
    name: "eliminateRuns",
    params: [read(real), write(real), read(real), read(real), read(real), write(real), i32],
    env: { scaled, last: rows - 1, scanDown: scanDown(team, lasting) },
    *body([rhs, z, inverse, upper, above, scratch, reach], _gpu, env: any) {
      if (!env.scaled) for (let k = env.last; k >= 0; k--) z[k] = rhs[k] * inverse[k];
      let y = env.scaled ? rhs[env.last] : z[env.last];
      for (let k = env.last - 1; k >= 0; k--) y = (env.scaled ? rhs[k] : z[k]) + upper[k] * y;
      y = yield* env.scanDown(y, above, scratch, reach);
      for (let k = env.last; k >= 0; k--) {
        y = (env.scaled ? rhs[k] : z[k]) + upper[k] * y;
        z[k] = y;
      }
    },
  });
}

/** Substitution without exercise, z ← z + lower·z from the first node up, in place. */
export function substituteRuns(team: Team, rows: number, lasting: boolean): KernelFunction<any, any> {
  return fn({
    name: "substituteRuns",
    params: [write(real), read(real), read(real), write(real), i32],
    env: { rows, scanUp: scanUp(team, false, lasting) },
    *body([z, lower, below, scratch, reach], _gpu, env: any) {
      let y = 0.0;
      for (let k = 0; k < env.rows; k++) y = z[k] + lower[k] * y;
      y = yield* env.scanUp(y, 0.0, below, scratch, reach);
      for (let k = 0; k < env.rows; k++) {
        y = z[k] + lower[k] * y;
        z[k] = y;
      }
    },
  });
}

/**
 * One time step, as `projectedStep` does it: solves (I − hL)·y = u, with `early` exercise held above the obstacle during substitution
 * (Brennan & Schwartz 1977), then u ← y or, for Crank–Nicolson, u ← 2y − u. What elimination gives is Z = 2z, from `gain` = 2/pivot.
 *
 * Without exercise, `scaled`, the state is w = gain·u, w ← gain·Y − w with Y = 2y, which spares the elimination its products. With it, substitution is for the new u
 * itself: uₖ ← max(qₖ + lowerₖ·uₖ₋₁, obstacleₖ), where q has the old values, q = Z − uₖ + lowerₖ·uₖ₋₁ (implicit Euler: q = Z/2), so that nothing but a product, a sum and a
 * comparison stand between one node and the next.
 *
 * Cost: 5 multiply-adds a node `scaled`, 7 otherwise, with early exercise 9 and 2 comparisons; and the scans.
 */
export function stepRuns(
  team: Team,
  rows: number,
  { early, scaled, lasting }: { readonly early: boolean; readonly scaled: boolean; readonly lasting: boolean },
): KernelFunction<any, any> {
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
      i32,
      bool,
    ],
    env: {
      rows,
      early,
      scaled,
      eliminateRuns: eliminateRuns(team, rows, scaled, lasting),
      oldValues: oldValues(team, rows),
      scanUp: scanUp(team, early, lasting),
    },
    *body([u, z, gain, lower, upper, obstacle, above, below, scratch, reach, crankNicolson], _gpu, env: any) {
      yield* env.eliminateRuns(u, z, gain, upper, above, scratch, reach);
      if (env.early) yield* env.oldValues(u, z, lower, scratch, crankNicolson);
      let sum = z[0];
      let held = obstacle[0];
      for (let k = 1; k < env.rows; k++) {
        sum = z[k] + lower[k] * sum;
        if (env.early) held = Math.max(z[k] + lower[k] * held, obstacle[k]);
      }
      let y = yield* env.scanUp(sum, held, below, scratch, reach);
      for (let k = 0; k < env.rows; k++) {
        y = z[k] + lower[k] * y;
        if (env.early) {
          y = Math.max(y, obstacle[k]);
          u[k] = y;
        } else z[k] = y;
      }
      if (!env.early) {
        if (crankNicolson) for (let k = 0; k < env.rows; k++) u[k] = env.scaled ? gain[k] * z[k] - u[k] : z[k] - u[k];
        else for (let k = 0; k < env.rows; k++) u[k] = env.scaled ? 0.5 * gain[k] * z[k] : 0.5 * z[k];
      }
    },
  });
}

/** Z becomes q, see `stepRuns`; an item's first node needs the last one of the item before. */
function oldValues({ items, shuffles }: Team, rows: number): KernelFunction<any, any> {
  return fn({
    name: "oldValues",
    params: [read(real), write(real), read(real), write(real), bool],
    env: { rows, items, shuffles },
    *body([u, z, lower, scratch, crankNicolson], gpu, { rows, items, shuffles }) {
      const item = gpu.localId();
      let before = 0.0;
      if (shuffles) before = yield gpu.shuffleUp(u[rows - 1], 1);
      else {
        // No scan uses this part.
        scratch[2 * items + item] = u[rows - 1];
        yield;
        before = scratch[2 * items + Math.max(item - 1, 0)];
      }
      if (crankNicolson) {
        for (let k = 0; k < rows; k++) {
          z[k] = z[k] - u[k] + lower[k] * before;
          before = u[k];
        }
      } else for (let k = 0; k < rows; k++) z[k] = 0.5 * z[k];
    },
  });
}
