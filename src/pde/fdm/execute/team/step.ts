import { bool, fn, i32, read, real, write } from "../../../../kernel/index.ts";
import { Column } from "../../operator/state.ts";
import { Factors, Obstacle, Products, Scans, TeamState, StepSettings } from "./records.ts";
import { HOP, NEAR, type ScanReach, scan } from "./scan.ts";
import { partsOf, shuffleSpan, type Team } from "./team.ts";

/**
 * Returns the function of backward elimination, z = rhs·inverse + upper·z, from the last node to the first. Each item
 * goes through its rows twice: first to compute the value that leaves its nodes, then, after the scan, with the value
 * that enters them. The intervals of an item's nodes (`partsOf`) are processed side by side. `downProduct[p]` is the
 * product of `upper` over interval p, with which the value that enters it is computed. If `scaled`, rhs already
 * includes the factor `inverse`.
 */
export function eliminateSegment(team: Team, rows: number, scaled: boolean, reaching: ScanReach) {
  const { count, size } = partsOf(rows);
  return fn({
    name: "eliminateSegment",
    params: { rhs: read(real), z: write(real), factors: Factors, products: Products, scans: Scans, reach: i32 },
    env: {
      scaled,
      rows,
      parts: count,
      size,
      scanDown: scan(team, "down", reaching),
      reusesFactors: reaching !== "refactorised",
    },
    *body({ rhs, z, factors, products, scans, reach }, gpu, env) {
      const { gain, upper } = factors;
      const { downProduct: product, downTo } = products;
      const kept = env.reusesFactors && gpu.precision === "f32";
      if (!env.scaled) for (let k = env.rows - 1; k >= 0; k--) z[k] = rhs[k] * gain[k];
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
      const ofRun = yield* env.scanDown(sums[0], scans.above, scans.scratch, reach);
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

/**
 * Returns the function of forward substitution without exercise, z ← z + lower·z, from the first node to the last, in
 * place.
 */
export function substituteSegment(team: Team, rows: number) {
  return fn({
    name: "substituteSegment",
    params: { z: write(real), lower: read(real), scans: Scans, reach: i32 },
    env: { rows, scanUp: scan(team, "up", "refactorised") },
    *body({ z, lower, scans, reach }, _gpu, env) {
      let y = 0.0;
      for (let k = 0; k < env.rows; k++) y = z[k] + lower[k] * y;
      y = yield* env.scanUp(y, scans.below, scans.scratch, reach);
      for (let k = 0; k < env.rows; k++) {
        y = z[k] + lower[k] * y;
        z[k] = y;
      }
    },
  });
}

/** The options of a series of equal steps. */
export interface StepOptions {
  readonly early: boolean;
  readonly scaled: boolean;
  /** True where one factorisation serves several steps (`scanProducts`). */
  readonly reusesFactors: boolean;
  readonly weighted: boolean;
  readonly timeDependent: boolean;
}

/**
 * `plain`: steps of Crank–Nicolson, and no others, with scans that go so far: nearly all steps of factors that last,
 * without a branch.
 */
interface EqualSteps extends StepOptions {
  readonly plain?: "near" | "hop" | "far";
}

/** The arguments of equal steps; `table` is looked at for a time-dependent obstacle. */
const ADVANCE = {
  state: TeamState,
  factors: Factors,
  products: Products,
  scans: Scans,
  obstacle: Obstacle,
  steps: StepSettings,
  table: Column,
};

/**
 * Returns the function that makes a series of equal steps at an item's nodes, one after another (`encodedSteps`). With
 * shuffles, and factors of several steps, Crank–Nicolson has a separate loop for each reach of its scans; other schemes
 * test reach and weight in each step.
 */
export function advanceSegment(team: Team, rows: number, stepping: StepOptions) {
  return fn({
    name: "advanceSegment",
    params: ADVANCE,
    env: {
      branched: team.shuffles && stepping.reusesFactors,
      near: NEAR,
      hop: HOP,
      equalNear: equalSteps(team, rows, { ...stepping, plain: "near" }),
      equalHop: equalSteps(team, rows, { ...stepping, plain: "hop" }),
      equalFar: equalSteps(team, rows, { ...stepping, plain: "far" }),
      equalAny: equalSteps(team, rows, stepping),
    },
    *body(of, _gpu, { branched, near, hop, equalNear, equalHop, equalFar, equalAny }) {
      const { extrapolated, over, reach } = of.steps;
      const plain = branched && extrapolated && over === 1;
      if (plain && reach === near) yield* equalNear(of);
      else if (plain && reach === hop) yield* equalHop(of);
      else if (plain) yield* equalFar(of);
      else yield* equalAny(of);
    },
  });
}

/**
 * Equal steps, one after another, each by `stepSegment`. `timeDependent`: from word `moves` of the table on there are
 * slope and kink of each step, and of one more, `pitch` words apart; read a step ahead.
 */
function equalSteps(team: Team, rows: number, stepping: EqualSteps) {
  return fn({
    name: "equalSteps",
    params: ADVANCE,
    env: { timeDependent: stepping.timeDependent, stepSegment: stepSegment(team, rows, stepping) },
    *body({ state, factors, products, scans, obstacle, steps, table }, _gpu, { timeDependent, stepSegment }) {
      const { values, pitch } = table;
      let next = steps.moves;
      let slope = 1.0;
      let kink = 0.0;
      let nextSlope = timeDependent ? values[next] : 1.0;
      let nextKink = timeDependent ? values[next + pitch] : 0.0;
      for (let step = 0; step < steps.count; step++) {
        if (timeDependent) {
          slope = nextSlope;
          kink = nextKink;
          next += 2 * pitch;
          nextSlope = values[next];
          nextKink = values[next + pitch];
        }
        yield* stepSegment({ state, factors, products, scans, obstacle, steps, slope, kink });
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
 * are the obstacle wherever the new ones are, and `paid` brings twice the thresholds. Else substitution is for the
 * new u itself, with the old values in q = Z − uₖ + lowerₖ·uₖ₋₁ (implicit Euler: q = Z/2) in place of z.
 * `timeDependent`: the obstacle is slope·paid − kink.
 *
 * Cost: 5 multiply-adds a node `scaled`, 7 otherwise, with early exercise 8 (`timeDependent` 9); a comparison with
 * early exercise; and the scans.
 */
function stepSegment(
  team: Team,
  rows: number,
  { early, scaled, reusesFactors, weighted, timeDependent, plain }: EqualSteps,
) {
  const { count, size } = partsOf(rows);
  const reaching = plain ?? (reusesFactors ? "any" : "refactorised");
  const isPlain = plain !== undefined;
  const direct = early && !scaled;
  return fn({
    name: "stepSegment",
    params: {
      state: TeamState,
      factors: Factors,
      products: Products,
      scans: Scans,
      obstacle: Obstacle,
      steps: StepSettings,
      slope: real,
      kink: real,
    },
    env: {
      rows,
      parts: count,
      size,
      direct,
      held: early && scaled,
      scaled,
      weighted: weighted && !isPlain,
      isPlain,
      reusesFactors,
      eliminateSegment: eliminateSegment(team, rows, scaled, reaching),
      oldValues: oldValues(team, rows, timeDependent, isPlain),
      scanUp: scan(team, "up", reaching),
    },
    *body({ state, factors, products, scans, obstacle, steps, slope, kink }, gpu, env) {
      const { u, z } = state;
      const { gain, lower } = factors;
      const { upProduct, upTo } = products;
      const { paid, isFirstExercised } = obstacle;
      const { extrapolated, over, reach } = steps;
      const kept = env.reusesFactors && gpu.precision === "f32";
      yield* env.eliminateSegment({ rhs: u, z, factors, products, scans, reach });
      if (env.direct)
        yield* env.oldValues({
          state,
          lower,
          obstacle,
          slope,
          kink,
          scratch: scans.scratch,
          crankNicolson: extrapolated,
        });
      if (env.held) {
        z[0] = isFirstExercised ? paid[0] : Math.max(z[0], paid[0]);
        for (let k = 1; k < env.rows; k++) z[k] = Math.max(z[k], paid[k]);
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
      const ofRun = yield* env.scanUp(sums[env.parts - 1], scans.below, scans.scratch, reach);
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
 * Z becomes q, held above its threshold, see `stepSegment`; an item's first node needs the last one of the item before.
 */
function oldValues(team: Team, rows: number, timeDependent: boolean, plain: boolean) {
  return fn({
    name: "oldValues",
    params: {
      state: TeamState,
      lower: read(real),
      obstacle: Obstacle,
      slope: real,
      kink: real,
      scratch: write(real),
      crankNicolson: bool,
    },
    env: { rows, items: team.items, shuffles: team.shuffles, shuffleSpan: shuffleSpan(team), timeDependent, plain },
    *body({ state, lower, obstacle, slope, kink, scratch, crankNicolson }, gpu, env) {
      const { rows, items, shuffles, shuffleSpan, timeDependent, plain } = env;
      const { u, z } = state;
      let before = 0.0;
      if (shuffles) before = yield gpu.shuffleUp(u[rows - 1], 1, shuffleSpan);
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
      let bound = timeDependent ? slope * obstacle.before - kink : obstacle.before;
      for (let k = 0; k < rows; k++) {
        const paid = timeDependent ? slope * obstacle.paid[k] - kink : obstacle.paid[k];
        const threshold = paid - lower[k] * bound;
        z[k] = k === 0 && obstacle.isFirstExercised ? threshold : Math.max(z[k], threshold);
        bound = paid;
      }
    },
  });
}
