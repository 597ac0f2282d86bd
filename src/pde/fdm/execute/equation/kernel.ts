import { fn, i32, type Kernel, read, real, write } from "../../../../kernel/index.ts";
import { stateOnAxis, valueAt } from "../../operator/state.ts";
import { FAULT, STATUS } from "../../operator/status.ts";
import { PROGRAM_BITS } from "../../time/timeline.ts";
import { factor as factorByTeam, firstOfItems, scansOf } from "../team/equation-factor.ts";
import {
  allocate,
  atRow,
  atStart,
  copyState,
  LoopState,
  equationParams,
  type EquationPlan,
  firstFault,
  gather,
  isTeam,
  contextOf,
  planOf,
  spread,
} from "./memory.ts";
import { rollbackKernel, readProgramRow } from "../rollback.ts";
import { NEVER_EXERCISED, obstacleAt, valueAtTarget } from "../../conditions/dates.ts";
import { SUBNORMAL_GUARD } from "../../operator/matrix.ts";
import { factor, recordBoundary, rightHandSide, solveStage } from "../item/equation.ts";
import { recordBoundaryOnTeam, rightHandSideOfSegment, solveStageOnSegment } from "../team/equation.ts";
import { type EquationVariant, Stage } from "../../operator/equation-row.ts";
import { LOOP_BUDGET } from "../../problem/lowered.ts";
import { groupSize, type Team } from "../team/team.ts";

/**
 * Returns the function that sets the nodes and the terminal values, or restores the state of an earlier launch of the
 * same time loop.
 */
function begin(plan: EquationPlan) {
  const { team, items, rows, variant, early, penalty, splitting } = plan;
  const { terminal, twoStages, jump, parameters } = variant;
  return fn({
    name: "begin",
    params: atStart,
    env: {
      items,
      rows,
      few: team?.few ?? 0,
      hasMesh: isTeam(plan) || jump !== undefined,
      meshColumns: isTeam(plan) ? 2 : 1,
      terminal,
      dates: parameters,
      twoStages,
      early,
      isPenalty: penalty,
      splitting,
      NEVER_EXERCISED,
      stateOnAxis,
      badTerminal: FAULT.terminal,
      firstFault,
      EVENT: PROGRAM_BITS.EVENT,
      gather: gather(plan),
      load: copyState(plan, true),
      scansOf: isTeam(plan) && !penalty ? scansOf(plan) : undefined,
      valueAt,
    },
    *body({ launch, context, memory }, gpu, env) {
      const { nodes, dates, first: firstRow, recorded, words } = launch;
      const { parameters, item } = context;
      const { table, all, state, factors, products, scans, penalty } = memory;
      const { u, v, obstacle, lambda } = state;
      const rows = env.rows ?? nodes;
      let found = { fault: 0, node: 0, row: 0 };
      let isNew = true;
      let reach = env.few;
      if (env.hasMesh)
        for (let i = item; i < env.meshColumns * nodes; i += env.items) all.mesh[i] = env.valueAt(context.table, i);
      if (env.rows !== undefined) {
        if (item === 0) gpu.atomicStore(scans.counter, 0, 0);
        yield;
      }
      if (firstRow === 0) {
        const expiry = env.valueAt(parameters, env.dates + dates - 1);
        for (let i = item; i < nodes; i += env.items) {
          const value = env.terminal(env.stateOnAxis({ t: expiry, at: env.valueAt(table, i), parameters }));
          all.u[i] = value;
          found = env.firstFault({
            before: found,
            ok: Number.isFinite(value),
            fault: env.badTerminal,
            node: i,
            row: 0,
          });
        }
        yield* env.gather({ context, nodes, all: all.u, own: u, beyond: 0 });
        for (let k = 0; k < rows; k++) {
          if (env.twoStages) v[k] = 0.0;
          if (env.early) obstacle[k] = env.NEVER_EXERCISED; // until the first stage
          if (env.isPenalty) penalty.active[k] = 0.0;
          if (env.splitting) lambda[k] = 0.0;
        }
      } else {
        isNew = (words[2 * (firstRow - 1)] & env.EVENT) !== 0;
        env.load({ launch, context, memory });
        if (env.scansOf !== undefined) reach = yield* env.scansOf({ factors, products, scans });
      }
      return { found, isNew, record: nodes + recorded, reach, limitedRows: 0 };
    },
  });
}

/** Returns the function that reads a row of the time program. */
const rowAt = ({ variant: { parameters } }: EquationPlan) =>
  fn({
    name: "rowAt",
    params: { ...atStart, loopState: LoopState, index: i32 },
    env: { readProgramRow: readProgramRow(parameters) },
    body({ launch: { words, reals }, context: { parameters }, index }, _gpu, { readProgramRow }) {
      return readProgramRow({ words, reals, parameters, index });
    },
  });

/**
 * Sets the amount that exercise pays at the end of a stage, where it is another than before; nobody exercises beyond
 * the end.
 */
function setObstacle(plan: EquationPlan) {
  return fn({
    name: "setObstacle",
    params: atRow,
    env: {
      items: plan.items,
      obstacleAt: obstacleAt(plan.variant),
      badPayoff: FAULT.payoff,
      firstFault,
      NEVER_EXERCISED,
      gather: gather(plan),
    },
    *body({ launch: { nodes }, context, memory, loopState, programRow }, _gpu, env) {
      const { parameters, item } = context;
      const { table, all, state } = memory;
      let found = loopState.found;
      if (programRow.obstacleChanges) {
        for (let i = item; i < nodes; i += env.items) {
          const paid = env.obstacleAt({ i, nodes, table, parameters, mask: programRow.mask, t: programRow.stage.tEnd });
          all.obstacle[i] = paid;
          const ok = Number.isFinite(paid);
          found = env.firstFault({ before: found, ok, fault: env.badPayoff, node: i, row: programRow.index });
        }
        yield* env.gather({ context, nodes, all: all.obstacle, own: state.obstacle, beyond: env.NEVER_EXERCISED });
      }
      return found;
    },
  });
}

/** Returns the function that makes one stage of a time step. */
function advance(plan: EquationPlan) {
  const { rows, variant, early, penalty } = plan;
  return fn({
    name: "advance",
    params: atRow,
    env: {
      rows,
      penalty,
      twoStages: variant.twoStages,
      setObstacle: early ? setObstacle(plan) : undefined,
      rightHandSide: isTeam(plan) ? rightHandSideOfSegment(plan) : rightHandSide(plan),
      solveStage: isTeam(plan) ? solveStageOnSegment(plan) : solveStage(plan),
      extrapolateAt: extrapolateAt(variant),
      recordBoundary: !early ? undefined : isTeam(plan) ? recordBoundaryOnTeam(plan, true) : recordBoundary(true),
      unconverged: STATUS.unconverged,
      guard: SUBNORMAL_GUARD,
    },
    *body({ launch, context, memory, loopState, programRow }, _gpu, env) {
      const { nodes, pitch, status } = launch;
      const { u, v, z, obstacle, lambda } = memory.state;
      const rows = env.rows ?? nodes;
      let { found, isNew, record } = loopState;
      if (!programRow.event) {
        const { stage } = programRow;
        if (isNew) for (let k = 0; k < rows; k++) u[k] = u[k] + env.guard;
        isNew = false;
        if (env.setObstacle !== undefined)
          found = yield* env.setObstacle({ launch, context, memory, loopState, programRow });
        found = yield* env.rightHandSide({ launch, context, memory, found, programRow });
        const unconverged = yield* env.solveStage({ nodes, memory, reach: loopState.reach, stage });
        const at = env.unconverged * pitch + context.instance;
        if (env.penalty && context.item === 0 && unconverged > 0) status[at] = status[at] + unconverged;
        for (let k = 0; k < rows; k++) {
          const before = u[k];
          u[k] = env.extrapolateAt({ at: k, u, y: z, obstacle, lambda, stage });
          if (env.twoStages && programRow.keep) v[k] = before;
        }
        if (env.recordBoundary !== undefined && programRow.stepEnd) {
          yield* env.recordBoundary({ launch, context, memory, record });
          record++;
        }
      }
      return { found, isNew, record, reach: loopState.reach, limitedRows: loopState.limitedRows };
    },
  });
}

/**
 * Returns the function for u after a stage at one index of the node arrays, from the old u and the solution y of the
 * stage: u + extrapolation·(y − u), bounded below by the exercise payoff. With operator splitting it also updates the
 * multiplier λ.
 */
function extrapolateAt({ exercise }: EquationVariant) {
  return fn({
    name: "extrapolateAt",
    params: { at: i32, u: read(real), y: read(real), obstacle: read(real), lambda: write(real), stage: Stage },
    env: { early: exercise !== "none", splitting: exercise === "operator-splitting" },
    body({ at, u, y, obstacle, lambda, stage: { h, extrapolation: e } }, _gpu, { early, splitting }) {
      let after = u[at] + e * (y[at] - u[at]);
      if (splitting) {
        // Ikonen & Toivanen (2004): u′ − kλ′ = ũ − kλ, u′ ≥ payoff, λ′ ≥ 0, one of the two an equality; k = h·e.
        const held = Math.max(after - h * e * lambda[at], obstacle[at]);
        lambda[at] = lambda[at] + (held - after) / (h * e);
        after = held;
      } else if (early) after = Math.max(after, obstacle[at]);
      return after;
    },
  });
}

/**
 * Returns the function that applies a condition on its date: a jump, exercise, or a knock-out. Where a team of items
 * solves the instance, it copies the solution to workgroup memory, where its items process it node by node.
 */
function applyEvents(plan: EquationPlan) {
  const { items, rows, variant, early } = plan;
  const { recordsEvents, obstacle, pointwise, jump, jumpAxis } = variant;
  return fn({
    name: "applyEvents",
    params: atRow,
    env: {
      items,
      rows,
      early,
      jump,
      jumpAxis,
      valueAtTarget,
      pointwise,
      payoff: recordsEvents ? obstacle : undefined,
      recordBoundary: isTeam(plan) ? recordBoundaryOnTeam(plan, false) : recordBoundary(false),
      stateOnAxis,
      badEvent: FAULT.event,
      firstFault,
      NEVER_EXERCISED,
      gather: gather(plan),
      spread: spread(plan),
      valueAt,
    },
    *body({ launch, context, memory, loopState, programRow }, _gpu, env) {
      const { nodes } = launch;
      const { item, parameters } = context;
      const { table, all } = memory;
      const { mesh, beside } = all;
      const { u, obstacle } = memory.state;
      const { condition, date: t } = programRow;
      const rows = env.rows ?? nodes;
      let { found, record } = loopState;
      if (env.jump !== undefined && env.jumpAxis !== undefined && env.jumpAxis(condition) >= 0) {
        yield* env.spread({ context, nodes, own: u, all: all.u });
        const sign = mesh[nodes - 1] > mesh[0] ? 1.0 : -1.0;
        for (let i = item; i < nodes; i += env.items) {
          const state = env.stateOnAxis({ t, at: mesh[i], parameters });
          const target = env.jump({ state, k: condition, u: 0.0 });
          const ok = Number.isFinite(target);
          found = env.firstFault({ before: found, ok, fault: env.badEvent, node: i, row: programRow.index });
          beside[i] = env.valueAtTarget(mesh, all.u, nodes, sign, target);
        }
        if (env.rows === undefined) for (let k = 0; k < nodes; k++) u[k] = beside[k];
        yield* env.gather({ context, nodes, all: beside, own: u, beyond: 0 });
      }
      if (env.payoff !== undefined && programRow.stepEnd) {
        for (let i = item; i < nodes; i += env.items)
          all.obstacle[i] = env.payoff(env.stateOnAxis({ t, at: env.valueAt(table, i), parameters }));
        yield* env.gather({ context, nodes, all: all.obstacle, own: obstacle, beyond: env.NEVER_EXERCISED });
        yield* env.recordBoundary({ launch, context, memory, record });
        record++;
      }
      if (env.pointwise !== undefined) {
        yield* env.spread({ context, nodes, own: u, all: all.u });
        for (let i = item; i < nodes; i += env.items) {
          const state = env.stateOnAxis({ t, at: env.valueAt(table, i), parameters });
          const { value, ok } = env.pointwise({ state, k: condition, u: all.u[i] });
          all.u[i] = value;
          found = env.firstFault({ before: found, ok, fault: env.badEvent, node: i, row: programRow.index });
        }
        yield* env.gather({ context, nodes, all: all.u, own: u, beyond: 0 });
      }
      if (env.early) for (let k = 0; k < rows; k++) u[k] = Math.max(u[k], obstacle[k]);
      return { found, isNew: true, record, reach: loopState.reach, limitedRows: loopState.limitedRows };
    },
  });
}

/**
 * Returns the function that writes the solution at the nodes, or the state for the next launch, and the first fault.
 */
function readSolution(plan: EquationPlan) {
  return fn({
    name: "readSolution",
    params: { ...atStart, loopState: LoopState },
    env: {
      ...STATUS,
      rows: plan.rows,
      save: copyState(plan, false),
      badSolution: FAULT.solution,
      firstFault,
      firstOfItems: isTeam(plan) ? firstOfItems(plan) : undefined,
    },
    *body({ launch, context, memory, loopState }, gpu, env) {
      const { nodes, pitch, rows, end, out, status } = launch;
      const { instance, item, first } = context;
      const { u } = memory.state;
      let { found } = loopState;
      if (end < rows) env.save({ launch, context, memory });
      else {
        const own = env.rows ?? nodes;
        for (let k = 0; k < own; k++) {
          const i = Math.min(first + k, nodes - 1);
          const inside = first + k < nodes;
          if (inside) out[i * pitch + instance] = u[k];
          const ok = !inside || Number.isFinite(u[k]);
          found = env.firstFault({ before: found, ok, fault: env.badSolution, node: i, row: found.row });
        }
      }
      let endless = gpu.endlessLoop();
      if (env.firstOfItems !== undefined) {
        const all = yield* env.firstOfItems({ context, memory, found, endless });
        found = all.found;
        endless = all.endless;
      }
      if (item === 0) {
        if (found.fault !== 0 && status[env.fault * pitch + instance] === 0) {
          status[env.fault * pitch + instance] = found.fault;
          status[env.node * pitch + instance] = found.node;
          status[env.row * pitch + instance] = found.row;
        }
        if (endless !== 0) status[env.endless * pitch + instance] = endless;
      }
    },
  });
}

/**
 * Returns the kernel that runs the whole backward time loop of a batch of equations on one axis: terminal values, then
 * the rows of a time program, which are stages (`Stage`) and events, in order. The matrix is recomputed only in rows
 * marked FACTOR. An instance is solved by one work item, or by a `team` of items in one workgroup.
 *
 * Layout: value i of instance l is at [i·pitch + l].
 *   table       S at each node, then the differences of the coordinate between successive nodes
 *   parameters  the user's, the literals of the user's functions, then the dates 0 … expiry
 *   words       two integers for each program row: flags (timeline.ts), the segment or date; the same for all instances
 *   reals       `ROW_REALS` for each program row: the times of the stage and of its end as fractions of the segment
 *               between two dates, the step h as a fraction of it, the weights of the stored solutions U and V, and the
 *               extrapolation
 *   out         V(0, S) at each node, then the recorded exercise boundary
 *   status      `STATUS_INTEGERS` integers (`STATUS`), zero at the start
 *   state       `keptArrayCount` node arrays, where several launches share the time loop: rows `first` … `end` − 1 of
 *               `rows`, with `recorded` values of the exercise boundary before; not read where one launch runs all
 * Cost: a stage is about 10 flops and 10 reals of private memory a node besides the user's functions; a matrix about 25
 * flops and two divisions, besides the equation.
 *
 * An item of a team has capacity/items consecutive nodes. Sweeps and pivots are scans over the items (`scan.ts`,
 * `factor.ts`), as is Brennan & Schwartz's projection (`projectSegment`): the same elimination, whose results differ by
 * rounding only. Rows are divided by 1 + hc. A matrix with 1 + hc ≤ 0 somewhere therefore makes no sense there, nor
 * does one with entries beyond 1e15, whose products over an item's nodes might overflow. An instance with such a matrix
 * has `STATUS.growth`, and must be solved again by a single item. Convection must be fitted, because negative
 * off-diagonal entries would let products over nodes grow.
 *
 * Cost for a team: a stage is 8 shuffles or 10 barriers for each item (Brennan & Schwartz: 14 flops and two comparisons
 * for each node, 11 shuffles; its boundary 4 barriers more); a matrix 30 flops for each node, 20 shuffles and 8 reals
 * of workgroup memory; a round of the penalty method as much as a matrix and a stage. Workgroup memory:
 * `equationBytes`.
 */
export function equationKernel(variant: EquationVariant, team?: Team): Kernel {
  const plan = planOf(variant, team);
  return rollbackKernel(
    {
      name: `equation-${team === undefined ? "" : `${team.name}-`}${variant.name}`,
      loopBudget: LOOP_BUDGET,
      params: equationParams,
      ...(team && { groupSize: groupSize(team) }),
    },
    {
      contextOf: contextOf(plan),
      allocate: allocate(plan),
      begin: begin(plan),
      rowAt: rowAt(plan),
      factor: isTeam(plan) ? factorByTeam(plan) : factor(plan),
      advance: advance(plan),
      applyEvents: applyEvents(plan),
      read: readSolution(plan),
    },
  );
}
