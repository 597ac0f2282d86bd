import { fn, i32, read, real, write } from "../../../../kernel/index.ts";
import { boundaryLocator, isExercised, NOWHERE } from "../../conditions/dates.ts";
import { atStart, FirstFault, firstFault, Launch, Memory, type TeamEquationPlan } from "../equation/memory.ts";
import { ItemContext, ProgramRow } from "../rollback.ts";
import { Scans } from "./records.ts";
import { shuffleSpan, type Team } from "./team.ts";
import { pinsOf, Stage, stageRightHandSide } from "../../operator/equation-row.ts";
import { pinnedOnAxis } from "../../operator/state.ts";
import { FAULT } from "../../operator/status.ts";
import { iteratePolicyOnSegment } from "./policy.ts";
import { eliminateSegment, substituteSegment } from "./step.ts";

/**
 * Returns the function that writes the exercise boundary (`exerciseBoundary`) to index `record` of the results. The
 * exercise region nearest to the first node ends at the first exercised node whose next node is not exercised. Mostly
 * only one item has such a node, and it alone accesses the counter, which is 0 before and after. Cost: 4 flops and one
 * real of workgroup memory for each node, and three barriers.
 */
export function recordBoundaryOnTeam({ team, rows }: TeamEquationPlan, smooth: boolean) {
  return fn({
    name: "recordBoundaryOnTeam",
    params: { launch: Launch, context: ItemContext, memory: Memory, record: i32 },
    env: {
      rows,
      items: team.items,
      isExercised,
      boundaryLocator: boundaryLocator(smooth, true),
      NOWHERE,
    },
    *body({ launch: { nodes, pitch, out }, context: { item, instance, first }, memory, record }, gpu, env) {
      const { u: premiums, faults: exercised } = memory.all;
      const { u, obstacle } = memory.state;
      const { counter } = memory.scans;
      const last = nodes - 1;
      for (let k = 0; k < env.rows; k++) if (first + k <= last) premiums[first + k] = u[k] - obstacle[k];
      exercised[item] = first <= last && env.isExercised(u[0], obstacle[0]) ? 1 : 0;
      yield;
      let isNext = item + 1 < env.items && exercised[Math.min(item + 1, env.items - 1)] === 1;
      let toEnd = 0; // nodes from the region's last on
      for (let k = env.rows - 1; k >= 0; k--) {
        const isHere = first + k <= last && env.isExercised(u[k], obstacle[k]);
        if (isHere && !isNext) toEnd = nodes - first - k;
        isNext = isHere;
      }
      if (toEnd > 0) gpu.atomicMax(counter, 0, toEnd);
      yield;
      if (item === 0) {
        const j = nodes - gpu.atomicLoad(counter, 0);
        gpu.atomicStore(counter, 0, 0);
        let found = env.NOWHERE;
        if (j <= last) found = env.boundaryLocator(premiums, premiums, memory.table, nodes, j);
        out[record * pitch + instance] = found;
      }
      yield;
    },
  });
}

/**
 * Returns the function of Brennan & Schwartz's substitution, y ← max(z + lower·y, bound) from the first node up, which
 * replaces z by y. Maps y ← max(α + βy, γ) with β ≥ 0 are closed under composition,
 *
 *   max(α₂ + β₂·max(α₁ + β₁y, γ₁), γ₂) = max(α₂ + β₂α₁ + β₂β₁y, max(α₂ + β₂γ₁, γ₂)),
 *
 * so that the projection can be computed by a scan over the items, wherever the exercise region lies. The β are the
 * multipliers of `scan`, whose reach also applies. Cost: 4 flops and 2 comparisons a node; for each round of the scan 3
 * flops, a comparison and two shuffles, or reals of workgroup memory.
 */
function projectSegment(team: Team, rows: number) {
  return fn({
    name: "projectSegment",
    params: { z: write(real), lower: read(real), bound: read(real), scans: Scans, reach: i32 },
    env: { rows, scanProjection: scanProjection(team) },
    *body({ z, lower, bound, scans, reach }, _gpu, env) {
      let alpha = z[0];
      let gamma = bound[0];
      for (let k = 1; k < env.rows; k++) {
        alpha = z[k] + lower[k] * alpha;
        gamma = Math.max(z[k] + lower[k] * gamma, bound[k]);
      }
      let y = yield* env.scanProjection(alpha, gamma, scans, reach);
      for (let k = 0; k < env.rows; k++) {
        y = Math.max(z[k] + lower[k] * y, bound[k]);
        z[k] = y;
      }
    },
  });
}

/** The y that enters an item's segment from below, where a segment maps y to max(alpha + βy, gamma). */
function scanProjection(team: Team) {
  const { items, levels, shuffles, few } = team;
  return fn({
    name: "scanProjection",
    params: [real, real, Scans, i32],
    env: { items, levels, shuffles, few, shuffleSpan: shuffleSpan(team) },
    *body([alpha, gamma, { below, scratch }, reach], gpu, { items, levels, shuffles, few, shuffleSpan }) {
      const item = gpu.localId();
      const own = gpu.precision === "f32"; // in registers, see `multiplierReals`
      const pitch = own ? 1 : items;
      const place = own ? 0 : item;
      let a = alpha;
      let c = gamma;
      let otherA = 0.0;
      let otherC = 0.0;
      for (let level = 0; level < levels; level++) {
        if (level < few || level < reach) {
          const distance = 1 << level;
          if (shuffles) {
            otherA = yield gpu.shuffleUp(a, distance, shuffleSpan);
            otherC = yield gpu.shuffleUp(c, distance, shuffleSpan);
          } else {
            // The half that `scan` up starts with.
            const half = (1 - (level & 1)) * 4 * items;
            scratch[half + item] = a;
            scratch[half + items + item] = c;
            yield;
            const from = Math.max(item - distance, 0);
            otherA = scratch[half + from];
            otherC = scratch[half + items + from];
          }
          // Where there is nobody so far below, β is 0, and max(a, c) all that there is.
          const beta = below[level * pitch + place];
          c = Math.max(a + beta * otherC, c);
          a = a + beta * otherA;
        }
      }
      const leaves = Math.max(a, c);
      let enters = 0.0;
      if (shuffles) enters = yield gpu.shuffleUp(leaves, 1, shuffleSpan);
      else {
        scratch[4 * items + 2 * items + item] = leaves;
        yield;
        enters = scratch[4 * items + 2 * items + Math.max(item - 1, 0)];
      }
      return enters;
    },
  });
}

/** Returns the function that computes the right-hand side of a stage at an item's nodes (`rightHandSide`). */
export function rightHandSideOfSegment(plan: TeamEquationPlan) {
  const { rows, variant, pins } = plan;
  return fn({
    name: "rightHandSideOfSegment",
    params: { ...atStart, found: FirstFault, programRow: ProgramRow },
    env: { rows, stageRightHandSide: stageRightHandSide(variant), pinSegment: pins ? pinSegment(plan) : undefined },
    *body({ launch, context, memory, found: before, programRow }, _gpu, env) {
      const { u, v, source, lambda, right } = memory.state;
      const { stage } = programRow;
      let found = before;
      for (let k = 0; k < env.rows; k++) right[k] = env.stageRightHandSide({ at: k, u, v, source, lambda, stage });
      if (env.pinSegment !== undefined) found = yield* env.pinSegment({ launch, context, memory, found, programRow });
      return found;
    },
  });
}

/** The right-hand side of pinned nodes. */
function pinSegment({ team, rows, variant }: TeamEquationPlan) {
  return fn({
    name: "pinSegment",
    params: { ...atStart, found: FirstFault, programRow: ProgramRow },
    env: {
      rows,
      items: team.items,
      pinnedOnAxis: pinnedOnAxis(pinsOf(variant)),
      firstFault,
      badPinned: FAULT.pinned,
    },
    *body({ launch: { nodes }, context: { item, first, parameters }, memory, found: before, programRow }, gpu, env) {
      const { mesh, u: values, beside } = memory.all;
      const { u, right } = memory.state;
      const { tEnd: t, extrapolation } = programRow.stage;
      const back = gpu.reciprocal(extrapolation);
      const last = nodes - 1;
      let found = before;
      for (let i = item; i < nodes; i += env.items) {
        const end = env.pinnedOnAxis({ i, nodes, S: mesh[i], parameters, mask: programRow.mask, t });
        values[i] = end.value;
        beside[i] = end.pinned ? 1.0 : 0.0;
      }
      yield;
      for (let k = 0; k < env.rows; k++) {
        const i = Math.min(first + k, last);
        if (first + k <= last && beside[i] > 0.5) right[k] = u[k] + (values[i] - u[k]) * back;
        const ok = first + k > last || Number.isFinite(right[k]);
        found = env.firstFault({ before: found, ok, fault: env.badPinned, node: i, row: programRow.index });
      }
      yield;
      return found;
    },
  });
}

/** Returns the function that solves a stage at an item's nodes and writes the solution into z (`solveStage`). */
export function solveStageOnSegment({ team, rows, variant: { exercise }, penalty }: TeamEquationPlan) {
  const projected = exercise === "brennan-schwartz";
  return fn({
    name: "solveStageOnSegment",
    params: { nodes: i32, memory: Memory, reach: i32, stage: Stage },
    env: {
      rows,
      iteratePolicyOnSegment: penalty ? iteratePolicyOnSegment(team, rows, "varying", false) : undefined,
      eliminateSegment: eliminateSegment(team, rows, false, "refactorised"),
      projectSegment: projected ? projectSegment(team, rows) : undefined,
      substituteSegment: substituteSegment(team, rows),
    },
    *body({ memory, reach, stage }, gpu, env) {
      const { rows, factors, products, scans, penalty } = memory;
      const { u, z, right, obstacle } = memory.state;
      // A division each would take as long as all else that a stage does with a node.
      const back = gpu.reciprocal(stage.extrapolation);
      let unconverged = 0;
      if (env.iteratePolicyOnSegment !== undefined) {
        const diagonal = { active: penalty.active, decays: penalty.decays, decay: 0.0 };
        const bound = { u, obstacle, weightOfOld: 1 - back };
        const live = { low: -1, high: env.rows, lowHeld: -1, highHeld: -1 };
        unconverged = yield* env.iteratePolicyOnSegment({
          rows,
          diagonal,
          right,
          bound,
          z,
          factors,
          products,
          scans,
          live,
        });
      } else {
        const bound = gpu.privateReal(env.rows);
        if (env.projectSegment !== undefined)
          for (let k = 0; k < env.rows; k++) bound[k] = u[k] + (obstacle[k] - u[k]) * back;
        yield* env.eliminateSegment({ rhs: z, z, factors, products, scans, reach });
        if (env.projectSegment !== undefined)
          yield* env.projectSegment({ z, lower: factors.lower, bound, scans, reach });
        else yield* env.substituteSegment({ z, lower: factors.lower, scans, reach });
      }
      return unconverged;
    },
  });
}
