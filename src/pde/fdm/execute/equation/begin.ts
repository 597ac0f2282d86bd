import { fn, i32 } from "../../../../kernel/index.ts";
import { NEVER_EXERCISED } from "../../conditions/barrier.ts";
import { valueAt } from "../../operator/column.ts";
import { stateOnAxis } from "../../operator/state.ts";
import { FAULT } from "../../operator/status.ts";
import { PROGRAM_BITS } from "../../time/timeline.ts";
import { scansOf } from "../team/equation/scans.ts";
import { firstFault } from "./faults.ts";
import { gather } from "./memory.ts";
import { type EquationPlan, isTeam } from "./plan.ts";
import { rowAt } from "../row.ts";
import { atStart, Cursor } from "./records.ts";
import { copyState } from "./state.ts";

/**
 * Returns the function that sets the nodes and the terminal values, or restores the state of an earlier launch of the
 * same time loop.
 */
export function begin(plan: EquationPlan) {
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
    *body({ launch, place, memory }, gpu, env) {
      const { nodes, dates, first: firstRun, recorded, words } = launch;
      const { parameters, item } = place;
      const { table, all, state, factors, products, scans, penalty } = memory;
      const { u, v, obstacle, lambda } = state;
      const rows = env.rows ?? nodes;
      let found = { fault: 0, node: 0, row: 0 };
      let isNew = true;
      let reach = env.few;
      if (env.hasMesh)
        for (let i = item; i < env.meshColumns * nodes; i += env.items) all.mesh[i] = env.valueAt(place.table, i);
      if (env.rows !== undefined) {
        if (item === 0) gpu.atomicStore(scans.counter, 0, 0);
        yield;
      }
      if (firstRun === 0) {
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
        yield* env.gather({ place, nodes, all: all.u, own: u, beyond: 0 });
        for (let k = 0; k < rows; k++) {
          if (env.twoStages) v[k] = 0.0;
          if (env.early) obstacle[k] = env.NEVER_EXERCISED; // until the first stage
          if (env.isPenalty) penalty.active[k] = 0.0;
          if (env.splitting) lambda[k] = 0.0;
        }
      } else {
        isNew = (words[2 * (firstRun - 1)] & env.EVENT) !== 0;
        env.load({ launch, place, memory });
        if (env.scansOf !== undefined) reach = yield* env.scansOf({ factors, products, scans });
      }
      return { found, isNew, record: nodes + recorded, reach, cuts: 0 };
    },
  });
}

/** Returns the function that reads a row of the time program. */
export const runAt = ({ variant: { parameters } }: EquationPlan) =>
  fn({
    name: "runAt",
    params: { ...atStart, cursor: Cursor, run: i32 },
    env: { rowAt: rowAt(parameters) },
    body({ launch: { words, reals }, place: { parameters }, run }, _gpu, { rowAt }) {
      return rowAt({ words, reals, parameters, run });
    },
  });
