import { LastUsed } from "../../../last-used.ts";
import { type FunctionSpec, i32, type Kernel, kernel, read, real, shapeOf, write } from "../../../kernel/index.ts";
import { ZERO_VALUE_GUARD } from "../../operator/zero-value-guard.ts";
import { payJump } from "../../conditions/jump.ts";
import { assemble } from "../../operator/assemble.ts";
import { exerciseBoundary } from "../../conditions/exercise-boundary.ts";
import { penalised } from "../../conditions/penalty.ts";
import { isPinned } from "../../operator/pinned.ts";
import { LOOP_BUDGET } from "../../problem/functions.ts";
import { rightHandSide } from "../../operator/right-hand-side.ts";
import { STATUS, FAULT } from "./status.ts";
import { substitute } from "./substitute.ts";
import type { EquationVariant } from "./equation-variant.ts";

/** Kernels that models share. */
const MAX_KERNELS = 64;
/** Longer ones than this are no memory's business; the device still compares what they lower to. */
const MAX_KEY = 2 ** 18;
/** By all that they are lowered from: devices know them by identity. A pure function's memory. */
const kernels = new LastUsed<string, Kernel>(MAX_KERNELS);

/** One kernel for all variants that lower to the same code, whatever the literals of their functions are. */
export function sharedEquationKernel(variant: EquationVariant): Kernel {
  const key = keyOf(variant);
  return key.length > MAX_KEY ? equationKernel(variant) : kernels.getOrMake(key, () => equationKernel(variant));
}

/** A text that is equal for variants that lower to the same code. */
function keyOf(value: unknown): string {
  if (typeof value === "function") return shapeOf(value as unknown as FunctionSpec);
  if (typeof value !== "object" || value === null) return String(value);
  const parts = Object.entries(value).map(([name, part]) => `${name} ${keyOf(part)}`);
  return parts.map((part) => `${part.length} ${part}`).join("\n");
}

/**
 * The whole backward time loop of a batch of one-factor equations, one instance an entry: terminal values, then the
 * rows of a time program, stages (`Stage`) and events, in order. The matrix is computed again only in rows marked
 * FACTOR.
 *
 * Layout: value i of instance l stands at [i·pitch + l].
 *   table       S at each node, then the next node's coordinate less this one's
 *   parameters  the user's, the literals of the user's functions, then the dates 0 … expiry
 *   words       two a row: flags (timeline.ts), the segment or date; the same for all instances
 *   reals       `ROW_REALS` a row: places of stage and end in the segment, h as a part of it, fromU, fromV,
 *               extrapolation
 *   out         V(0, S) at each node, then the recorded exercise boundary
 *   status      `STATUS_WORDS`, see `STATUS`; zeros before
 *   state       `keptArrays` arrays of the nodes, where the loop is run a part at a time: rows `first` … `end` − 1 of
 *               `rows`, with `recorded` values of the exercise boundary before; not looked at where one launch runs all
 * Cost: a stage is about 10 flops and 10 words of private memory a node besides the user's functions; a matrix about 25
 * flops and two divisions, besides the equation.
 */
export function equationKernel(variant: EquationVariant): Kernel {
  const { exercise, capacity, pointwise, jump, obstacle, recordsEvents } = variant;
  const early = exercise !== "none";
  return kernel({
    name: `equation-${variant.name}`,
    loopBudget: LOOP_BUDGET,
    params: {
      instances: i32,
      pitch: i32,
      nodes: i32,
      rows: i32,
      dates: i32,
      first: i32,
      end: i32,
      recorded: i32,
      table: read(real),
      parameters: read(real),
      words: read(i32),
      reals: read(real),
      out: write(real),
      status: write(i32),
      state: write(real),
    },
    env: {
      early,
      penalty: exercise === "penalty",
      splitting: exercise === "operator-splitting",
      hasPointwise: pointwise !== undefined,
      hasJumps: jump !== undefined,
      recordsEvents,
      count: variant.parameters,
      twoStages: variant.twoStages,
      capacity,
      sourceCapacity: variant.hasSource ? capacity : 1,
      stageCapacity: variant.twoStages ? capacity : 1,
      earlyCapacity: early || recordsEvents ? capacity : 1,
      penaltyCapacity: exercise === "penalty" ? capacity : 1,
      splittingCapacity: exercise === "operator-splitting" ? capacity : 1,
      jumpCapacity: jump === undefined ? 1 : capacity,
      terminal: variant.terminal,
      min: ZERO_VALUE_GUARD,
      assemble: assemble(variant),
      isPinned: isPinned(variant),
      rightHandSide: rightHandSide(variant),
      ...(exercise === "penalty" ? { penalised } : { substitute: substitute(exercise === "brennan-schwartz") }),
      ...(obstacle === undefined ? {} : { payoff: obstacle }),
      ...(pointwise === undefined ? {} : { pointwise }),
      ...(jump === undefined ? {} : { jump, isJump: variant.isJump!, payJump }),
      ...(early || recordsEvents ? { exerciseBoundary: exerciseBoundary(early) } : {}),
      hasSource: variant.hasSource,
      pins: variant.first.kind === "dirichlet" || variant.last.kind === "dirichlet" || variant.region !== undefined,
      badTerminal: FAULT.terminal,
      badEvent: FAULT.event,
      badPayoff: FAULT.payoff,
      badPinned: FAULT.pinned,
      badSolution: FAULT.solution,
      endless: STATUS.endless,
    },
    body(
      {
        instances,
        pitch,
        nodes,
        rows,
        dates,
        first,
        end,
        recorded,
        table,
        parameters,
        words,
        reals,
        out,
        status,
        state,
      },
      gpu,
      env: any,
    ) {
      const instance = gpu.globalId();
      if (instance >= instances) return;
      const u = gpu.privateReal(env.capacity); // the solution
      const z = gpu.privateReal(env.capacity); // the stage's y
      const inverse = gpu.privateReal(env.capacity); // 1/pivot (penalty: 1 + hc)
      const lower = gpu.privateReal(env.capacity); // a/pivot (penalty: a)
      const upper = gpu.privateReal(env.capacity); // c/pivot (penalty: c)
      const v = gpu.privateReal(env.stageCapacity); // u before the first of two stages
      const source = gpu.privateReal(env.sourceCapacity); // h·d, of the matrix
      const obstacle = gpu.privateReal(env.earlyCapacity);
      const right = gpu.privateReal(env.penaltyCapacity); // the right-hand side
      const active = gpu.privateReal(env.penaltyCapacity); // 1 where penalised
      const factor = gpu.privateReal(env.penaltyCapacity); // a/pivot with the penalty
      const lambda = gpu.privateReal(env.splittingCapacity); // the multiplier
      const spots = gpu.privateReal(env.jumpCapacity); // S, where jumps are
      const last = nodes - 1;
      let fault = 0; // the first, its node and row
      let faultNode = 0;
      let faultRow = 0;
      let isNew = true; // has been set since the last stage
      if (first === 0) {
        const expiry = parameters[(env.count + dates - 1) * pitch + instance];
        for (let i = 0; i < nodes; i++) {
          u[i] = env.terminal(expiry, table[i * pitch + instance], parameters, pitch, instance);
          if (env.twoStages) v[i] = 0.0;
          if (env.early) obstacle[i] = -1e30; // until the first stage
          if (env.penalty) active[i] = 0.0;
          if (env.splitting) lambda[i] = 0.0;
          if (!Number.isFinite(u[i]) && fault === 0) {
            fault = env.badTerminal;
            faultNode = i;
          }
        }
      } else {
        isNew = (words[2 * (first - 1)] & 8) !== 0;
        for (let i = 0; i < nodes; i++) {
          let at = i * pitch + instance;
          u[i] = state[at];
          at += nodes * pitch;
          inverse[i] = state[at];
          at += nodes * pitch;
          lower[i] = state[at];
          at += nodes * pitch;
          upper[i] = state[at];
          if (env.twoStages) {
            at += nodes * pitch;
            v[i] = state[at];
          }
          if (env.hasSource) {
            at += nodes * pitch;
            source[i] = state[at];
          }
          if (env.early) {
            at += nodes * pitch;
            obstacle[i] = state[at];
          }
          if (env.penalty) {
            at += nodes * pitch;
            active[i] = state[at];
          }
          if (env.splitting) {
            at += nodes * pitch;
            lambda[i] = state[at];
          }
        }
      }
      if (env.hasJumps) for (let i = 0; i < nodes; i++) spots[i] = table[i * pitch + instance];
      let record = nodes + recorded;
      for (let row = first; row < end; row++) {
        const flags = words[2 * row];
        const segment = words[2 * row + 1];
        const mask = (flags >> 16) & 255;
        if ((flags & 8) !== 0) {
          isNew = true;
          const k = (flags >> 8) & 255;
          const t = parameters[(env.count + segment) * pitch + instance];
          if (env.hasJumps) {
            if (env.isJump(k)) {
              for (let i = 0; i < nodes; i++) {
                z[i] = env.jump(t, spots[i], parameters, pitch, instance, k);
                if (!Number.isFinite(z[i]) && fault === 0) {
                  fault = env.badEvent;
                  faultNode = i;
                  faultRow = row;
                }
              }
              env.payJump(spots, u, z, lower, nodes);
              for (let i = 0; i < nodes; i++) u[i] = lower[i];
            }
          }
          if (env.recordsEvents && (flags & 4) !== 0) {
            for (let i = 0; i < nodes; i++)
              obstacle[i] = env.payoff(t, table[i * pitch + instance], parameters, pitch, instance);
            out[record * pitch + instance] = env.exerciseBoundary(u, obstacle, table, nodes, pitch, instance);
            record++;
          }
          if (env.hasPointwise) {
            for (let i = 0; i < nodes; i++) {
              const { value, ok } = env.pointwise(t, table[i * pitch + instance], parameters, pitch, instance, k, u[i]);
              u[i] = value;
              if (!ok && fault === 0) {
                fault = env.badEvent;
                faultNode = i;
                faultRow = row;
              }
            }
          }
          if (env.early) for (let i = 0; i < nodes; i++) u[i] = Math.max(u[i], obstacle[i]);
        } else {
          if (isNew) for (let i = 0; i < nodes; i++) u[i] = u[i] + env.min;
          isNew = false;
          const start = parameters[(env.count + segment) * pitch + instance];
          const length = parameters[(env.count + segment + 1) * pitch + instance] - start;
          const t = start + reals[6 * row] * length;
          const tEnd = start + reals[6 * row + 1] * length;
          const h = reals[6 * row + 2] * length;
          const fromU = reals[6 * row + 3];
          const fromV = reals[6 * row + 4];
          const e = reals[6 * row + 5];
          if ((flags & 1) !== 0) {
            const made = env.assemble(
              table,
              parameters,
              inverse,
              lower,
              upper,
              source,
              status,
              nodes,
              pitch,
              instance,
              mask,
              t,
              tEnd,
              h,
            );
            if (fault === 0) {
              fault = made.fault;
              faultNode = made.faultNode;
              faultRow = row;
            }
          }
          if (env.early && (flags & 16) !== 0) {
            for (let i = 0; i < nodes; i++) {
              const S = table[i * pitch + instance];
              const pinned = env.isPinned(i, last, tEnd, S, parameters, pitch, instance, mask);
              // A pinned node is not exercised.
              obstacle[i] = pinned ? -1e30 : env.payoff(tEnd, S, parameters, pitch, instance);
              if (!Number.isFinite(obstacle[i]) && fault === 0) {
                fault = env.badPayoff;
                faultNode = i;
                faultRow = row;
              }
            }
          }
          for (let i = 0; i < nodes; i++) {
            const r = env.rightHandSide(
              u,
              v,
              source,
              lambda,
              table,
              parameters,
              i,
              nodes,
              pitch,
              instance,
              mask,
              tEnd,
              h,
              fromU,
              fromV,
              e,
            );
            if (env.penalty) right[i] = r;
            else z[i] = r;
            if (env.pins) {
              if (!Number.isFinite(r) && fault === 0) {
                fault = env.badPinned;
                faultNode = i;
                faultRow = row;
              }
            }
          }
          if (env.penalty) {
            const unconverged = env.penalised(z, right, inverse, lower, upper, u, obstacle, active, factor, nodes, e);
            status[6 * pitch + instance] = status[6 * pitch + instance] + unconverged;
          } else env.substitute(z, inverse, lower, upper, u, obstacle, nodes, e);
          for (let i = 0; i < nodes; i++) {
            const before = u[i];
            let after = before + e * (z[i] - before);
            if (env.splitting) {
              // Ikonen & Toivanen (2004): u′ − kλ′ = ũ − kλ, u′ ≥ payoff, λ′ ≥ 0, one of the two an equality; k = h·e.
              const held = Math.max(after - h * e * lambda[i], obstacle[i]);
              lambda[i] = lambda[i] + (held - after) / (h * e);
              after = held;
            } else if (env.early) after = Math.max(after, obstacle[i]);
            if (env.twoStages && (flags & 2) !== 0) v[i] = before;
            u[i] = after;
          }
          if (env.early && (flags & 4) !== 0) {
            out[record * pitch + instance] = env.exerciseBoundary(u, obstacle, table, nodes, pitch, instance);
            record++;
          }
        }
      }
      if (end < rows) {
        for (let i = 0; i < nodes; i++) {
          let at = i * pitch + instance;
          state[at] = u[i];
          at += nodes * pitch;
          state[at] = inverse[i];
          at += nodes * pitch;
          state[at] = lower[i];
          at += nodes * pitch;
          state[at] = upper[i];
          if (env.twoStages) {
            at += nodes * pitch;
            state[at] = v[i];
          }
          if (env.hasSource) {
            at += nodes * pitch;
            state[at] = source[i];
          }
          if (env.early) {
            at += nodes * pitch;
            state[at] = obstacle[i];
          }
          if (env.penalty) {
            at += nodes * pitch;
            state[at] = active[i];
          }
          if (env.splitting) {
            at += nodes * pitch;
            state[at] = lambda[i];
          }
        }
      } else {
        for (let i = 0; i < nodes; i++) {
          out[i * pitch + instance] = u[i];
          if (!Number.isFinite(u[i]) && fault === 0) {
            fault = env.badSolution;
            faultNode = i;
          }
        }
      }
      if (fault !== 0 && status[instance] === 0) {
        status[instance] = fault;
        status[pitch + instance] = faultNode;
        status[2 * pitch + instance] = faultRow;
      }
      const endless = gpu.endlessLoop();
      if (endless !== 0) status[env.endless * pitch + instance] = endless;
    },
  });
}
