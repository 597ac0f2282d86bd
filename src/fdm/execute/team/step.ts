import { bool, fn, i32, type KernelFunction, read, real, write } from "../../../kernel/index.ts";
import { HOP, NEAR, type Reaching, scan } from "./scan.ts";
import { partsOf, span, type Team } from "./team.ts";

/**
 * Elimination, z = rhs·inverse + upper·z from the last node down: each item runs through its rows twice, first to learn
 * what leaves its run, then, after the scan, with what enters it. The parts of a run (`partsOf`) go side by side:
 * `product[p]` is that of `upper` over part p, so that what enters a part follows from what enters the run. `scaled`:
 * rhs has the factor `inverse` already.
 */
export function eliminateRuns(team: Team, rows: number, scaled: boolean, reaching: Reaching): KernelFunction<any, any> {
  const { count, size } = partsOf(rows);
  return fn({
    name: "eliminateRuns",
    params: [read(real), write(real), read(real), read(real), read(real), read(real), read(real), write(real), i32],
    env: {
      scaled,
      rows,
      parts: count,
      size,
      scanDown: scan(team, "down", reaching),
      lasting: reaching !== "refactorised",
    },
    *body([rhs, z, inverse, upper, downTo, product, above, scratch, reach], gpu, env: any) {
      const kept = env.lasting && gpu.precision === "f32";
      if (!env.scaled) for (let k = env.rows - 1; k >= 0; k--) z[k] = rhs[k] * inverse[k];
      const sums = gpu.privateReal(env.parts);
      for (let p = 0; p < env.parts; p++) {
        const top = Math.min((p + 1) * env.size, env.rows) - 1;
        let y = env.scaled ? rhs[top] : z[top];
        if (kept) z[top] = y;
        for (let k = top - 1; k >= p * env.size; k--) {
          y = (env.scaled ? rhs[k] : z[k]) + upper[k] * y;
          if (kept) z[k] = y;
        }
        sums[p] = y;
      }
      for (let p = env.parts - 2; p >= 0; p--) sums[p] = sums[p] + product[p] * sums[p + 1];
      const ofRun = yield* env.scanDown(sums[0], above, scratch, reach);
      let entering = ofRun;
      let through = 1.0; // the same in all steps of a factorisation
      for (let p = env.parts - 1; p >= 0; p--) {
        let y = entering;
        for (let k = Math.min((p + 1) * env.size, env.rows) - 1; k >= p * env.size; k--) {
          if (kept) z[k] = z[k] + downTo[k] * entering;
          else {
            y = (env.scaled ? rhs[k] : z[k]) + upper[k] * y;
            z[k] = y;
          }
        }
        through *= product[p];
        entering = sums[p] + through * ofRun;
      }
    },
  });
}

/** Substitution without exercise, z ← z + lower·z from the first node up, in place. */
export function substituteRuns(team: Team, rows: number): KernelFunction<any, any> {
  return fn({
    name: "substituteRuns",
    params: [write(real), read(real), read(real), write(real), i32],
    env: { rows, scanUp: scan(team, "up", "refactorised") },
    *body([z, lower, below, scratch, reach], _gpu, env: any) {
      let y = 0.0;
      for (let k = 0; k < env.rows; k++) y = z[k] + lower[k] * y;
      y = yield* env.scanUp(y, below, scratch, reach);
      for (let k = 0; k < env.rows; k++) {
        y = z[k] + lower[k] * y;
        z[k] = y;
      }
    },
  });
}

export interface Stepping {
  readonly early: boolean;
  readonly scaled: boolean;
  /** See `scanProducts`. */
  readonly lasting: boolean;
  readonly weighted: boolean;
  readonly timeDependent: boolean;
}

/**
 * `plain`: steps of Crank–Nicolson, and no others, with scans that go so far: nearly all steps of factors that last,
 * without a branch.
 */
interface EqualSteps extends Stepping {
  readonly plain?: "near" | "hop" | "far";
}

/** What runs of steps read and write, see `advanceRuns`. */
const PARAMS = [
  i32,
  read(real),
  i32,
  i32,
  write(real),
  write(real),
  read(real),
  read(real),
  read(real),
  read(real),
  bool,
  real,
  read(real),
  read(real),
  read(real),
  read(real),
  read(real),
  read(real),
  write(real),
  i32,
  bool,
  real,
] as const;

/**
 * Steps that are alike, one after another (`alikeRuns`). Where factors last and items shuffle, those of Crank–Nicolson
 * have a loop of their own, by how far their scans go; others, of implicit Euler and, `over` not 1, of Alexander's
 * stages, look at both in each step.
 */
export function advanceRuns(team: Team, rows: number, stepping: Stepping): KernelFunction<any, any> {
  return fn({
    name: "advanceRuns",
    params: PARAMS,
    env: {
      branched: team.shuffles && stepping.lasting,
      near: NEAR,
      hop: HOP,
      equalNear: equalSteps(team, rows, { ...stepping, plain: "near" }),
      equalHop: equalSteps(team, rows, { ...stepping, plain: "hop" }),
      equalFar: equalSteps(team, rows, { ...stepping, plain: "far" }),
      equalAny: equalSteps(team, rows, stepping),
    },
    *body(
      [
        steps,
        table,
        moves,
        pitch,
        u,
        z,
        gain,
        lower,
        upper,
        obstacle,
        isExercised,
        paidBefore,
        downTo,
        upTo,
        downProduct,
        upProduct,
        above,
        below,
        scratch,
        reach,
        extrapolated,
        over,
      ],
      _gpu,
      { branched, near, hop, equalNear, equalHop, equalFar, equalAny }: any,
    ) {
      const plain = branched && extrapolated && over === 1;
      if (plain && reach === near)
        yield* equalNear(
          steps,
          table,
          moves,
          pitch,
          u,
          z,
          gain,
          lower,
          upper,
          obstacle,
          isExercised,
          paidBefore,
          downTo,
          upTo,
          downProduct,
          upProduct,
          above,
          below,
          scratch,
          near,
          true,
          1.0,
        );
      else if (plain && reach === hop)
        yield* equalHop(
          steps,
          table,
          moves,
          pitch,
          u,
          z,
          gain,
          lower,
          upper,
          obstacle,
          isExercised,
          paidBefore,
          downTo,
          upTo,
          downProduct,
          upProduct,
          above,
          below,
          scratch,
          hop,
          true,
          1.0,
        );
      else if (plain)
        yield* equalFar(
          steps,
          table,
          moves,
          pitch,
          u,
          z,
          gain,
          lower,
          upper,
          obstacle,
          isExercised,
          paidBefore,
          downTo,
          upTo,
          downProduct,
          upProduct,
          above,
          below,
          scratch,
          reach,
          true,
          1.0,
        );
      else
        yield* equalAny(
          steps,
          table,
          moves,
          pitch,
          u,
          z,
          gain,
          lower,
          upper,
          obstacle,
          isExercised,
          paidBefore,
          downTo,
          upTo,
          downProduct,
          upProduct,
          above,
          below,
          scratch,
          reach,
          extrapolated,
          over,
        );
    },
  });
}

/**
 * Steps that are alike, one after another, each by `stepRuns`. `timeDependent`: from word `moves` of the table on there
 * are slope and kink of each step, and of one more, `pitch` words apart; read a step ahead.
 */
function equalSteps(team: Team, rows: number, stepping: EqualSteps): KernelFunction<any, any> {
  return fn({
    name: "alikeRuns",
    params: PARAMS,
    env: { timeDependent: stepping.timeDependent, stepRuns: stepRuns(team, rows, stepping) },
    *body(
      [
        steps,
        table,
        moves,
        pitch,
        u,
        z,
        gain,
        lower,
        upper,
        obstacle,
        isExercised,
        paidBefore,
        downTo,
        upTo,
        downProduct,
        upProduct,
        above,
        below,
        scratch,
        reach,
        extrapolated,
        over,
      ],
      _gpu,
      { timeDependent, stepRuns }: any,
    ) {
      let next = moves;
      let slope = 1.0;
      let kink = 0.0;
      let nextSlope = timeDependent ? table[next] : 1.0;
      let nextKink = timeDependent ? table[next + pitch] : 0.0;
      for (let step = 0; step < steps; step++) {
        if (timeDependent) {
          slope = nextSlope;
          kink = nextKink;
          next += 2 * pitch;
          nextSlope = table[next];
          nextKink = table[next + pitch];
        }
        yield* stepRuns(
          u,
          z,
          gain,
          lower,
          upper,
          obstacle,
          isExercised,
          paidBefore,
          slope,
          kink,
          downTo,
          upTo,
          downProduct,
          upProduct,
          above,
          below,
          scratch,
          reach,
          extrapolated,
          over,
        );
      }
    },
  });
}

/**
 * One time step, as `projectedStep` does it: solves (I − hL)·y = u, then u ← y or, `extrapolated`, u ← 2y − u
 * (Crank–Nicolson), `weighted` u ← y + over·(y − u). What elimination gives is Z = 2z, from `gain` = 2/pivot. `scaled`:
 * the state is w = gain·u, w ← gain·Y − w with Y = 2y, which spares the elimination its products. The parts of
 * substitution go side by side as those of elimination do.
 *
 * With `early` exercise Brennan & Schwartz (1977) hold y above a bound in each step of the substitution, yₖ ← max(zₖ +
 * lowerₖ·yₖ₋₁, boundₖ): exact if what is exercised are the first nodes. Then it is z that can be held, before the
 * substitution and each node by itself,
 *
 *   yₖ ← max(zₖ, thresholdₖ) + lowerₖ·yₖ₋₁,   thresholdₖ = boundₖ − lowerₖ·boundₖ₋₁,
 *
 * since y = bound on all nodes before, and z is above its threshold on all nodes behind (design/early-exercise.md).
 * `scaled`, where the exercise region only shrinks on the way to today, the bound is the obstacle, for the old values
 * are the obstacle wherever the new ones are, and `obstacle` brings twice the thresholds. Else substitution is for the
 * new u itself, with the old values in q = Z − uₖ + lowerₖ·uₖ₋₁ (implicit Euler: q = Z/2) in place of z. `paidBefore`:
 * the obstacle at the node before the run. `isExercised`: the run's first node is, whatever the row of an end says.
 * `timeDependent`: the obstacle is slope·obstacle − kink.
 *
 * Cost: 5 multiply-adds a node `scaled`, 7 otherwise, with early exercise 8 (`timeDependent` 9); a comparison with
 * early exercise; and the scans.
 */
function stepRuns(
  team: Team,
  rows: number,
  { early, scaled, lasting, weighted, timeDependent, plain }: EqualSteps,
): KernelFunction<any, any> {
  const { count, size } = partsOf(rows);
  const reaching = plain ?? (lasting ? "any" : "refactorised");
  const isPlain = plain !== undefined;
  const direct = early && !scaled;
  return fn({
    name: "stepRuns",
    params: [
      write(real),
      write(real),
      read(real),
      read(real),
      read(real),
      read(real),
      bool,
      real,
      real,
      real,
      read(real),
      read(real),
      read(real),
      read(real),
      read(real),
      read(real),
      write(real),
      i32,
      bool,
      real,
    ],
    env: {
      rows,
      parts: count,
      size,
      direct,
      held: early && scaled,
      scaled,
      weighted: weighted && !isPlain,
      isPlain,
      lasting,
      eliminateRuns: eliminateRuns(team, rows, scaled, reaching),
      oldValues: oldValues(team, rows, timeDependent, isPlain),
      scanUp: scan(team, "up", reaching),
    },
    *body(
      [
        u,
        z,
        gain,
        lower,
        upper,
        obstacle,
        isExercised,
        paidBefore,
        slope,
        kink,
        downTo,
        upTo,
        downProduct,
        upProduct,
        above,
        below,
        scratch,
        reach,
        extrapolated,
        over,
      ],
      gpu,
      env: any,
    ) {
      const kept = env.lasting && gpu.precision === "f32";
      yield* env.eliminateRuns(u, z, gain, upper, downTo, downProduct, above, scratch, reach);
      if (env.direct)
        yield* env.oldValues(u, z, lower, obstacle, isExercised, paidBefore, slope, kink, scratch, extrapolated);
      if (env.held) {
        z[0] = isExercised ? obstacle[0] : Math.max(z[0], obstacle[0]);
        for (let k = 1; k < env.rows; k++) z[k] = Math.max(z[k], obstacle[k]);
      }
      const sums = gpu.privateReal(env.parts);
      for (let p = 0; p < env.parts; p++) {
        const from = p * env.size;
        let sum = z[from];
        for (let k = from + 1; k < Math.min(from + env.size, env.rows); k++) {
          sum = z[k] + lower[k] * sum;
          if (kept) z[k] = sum;
        }
        sums[p] = sum;
      }
      for (let p = 1; p < env.parts; p++) sums[p] = sums[p] + upProduct[p] * sums[p - 1];
      // What does not need what enters is done while that is on its way.
      const overlapped = kept && env.scaled;
      const extrapolates = env.isPlain || extrapolated;
      const part = !extrapolates ? 0.5 : env.weighted ? 0.5 + 0.5 * over : 1.0; // of Y = 2y
      if (overlapped)
        for (let k = 0; k < env.rows; k++) {
          const y = gain[k] * z[k];
          if (extrapolates) u[k] = env.weighted ? part * y - over * u[k] : y - u[k];
          else u[k] = 0.5 * y;
        }
      const ofRun = yield* env.scanUp(sums[env.parts - 1], below, scratch, reach);
      let entering = ofRun;
      let through = 1.0;
      for (let p = 0; p < env.parts; p++) {
        let y = entering;
        const enters = env.isPlain && !env.weighted ? entering : part * entering;
        for (let k = p * env.size; k < Math.min((p + 1) * env.size, env.rows); k++) {
          if (overlapped) u[k] += upTo[k] * enters;
          else {
            y = z[k] + (kept ? upTo[k] * entering : lower[k] * y);
            if (env.direct) u[k] = y;
            else z[k] = y;
          }
        }
        through *= upProduct[p];
        entering = sums[p] + through * ofRun;
      }
      if (!env.direct && !overlapped)
        for (let k = 0; k < env.rows; k++) {
          const y = env.scaled ? gain[k] * z[k] : z[k];
          if (extrapolates) u[k] = env.weighted ? part * y - over * u[k] : y - u[k];
          else u[k] = 0.5 * y;
        }
    },
  });
}

/**
 * Z becomes q, held above its threshold, see `stepRuns`; an item's first node needs the last one of the item before.
 */
function oldValues(team: Team, rows: number, timeDependent: boolean, plain: boolean): KernelFunction<any, any> {
  return fn({
    name: "oldValues",
    params: [read(real), write(real), read(real), read(real), bool, real, real, real, write(real), bool],
    env: { rows, items: team.items, shuffles: team.shuffles, span: span(team), timeDependent, plain },
    *body(
      [u, z, lower, obstacle, isExercised, paidBefore, slope, kink, scratch, crankNicolson],
      gpu,
      { rows, items, shuffles, span, timeDependent, plain }: any,
    ) {
      let before = 0.0;
      if (shuffles) before = yield gpu.shuffleUp(u[rows - 1], 1, span);
      else {
        const item = gpu.localId();
        // No scan uses this part.
        scratch[2 * items + item] = u[rows - 1];
        yield;
        before = scratch[2 * items + Math.max(item - 1, 0)];
      }
      if (plain || crankNicolson) {
        for (let k = 0; k < rows; k++) {
          z[k] = z[k] - u[k] + lower[k] * before;
          before = u[k];
        }
      } else for (let k = 0; k < rows; k++) z[k] = 0.5 * z[k];
      let bound = timeDependent ? slope * paidBefore - kink : paidBefore;
      for (let k = 0; k < rows; k++) {
        const paid = timeDependent ? slope * obstacle[k] - kink : obstacle[k];
        const threshold = paid - lower[k] * bound;
        z[k] = k === 0 && isExercised ? threshold : Math.max(z[k], threshold);
        bound = paid;
      }
    },
  });
}
