import { fn, i32 } from "../../../../kernel/index.ts";
import { NEVER_EXERCISED } from "../../../conditions/barrier.ts";
import { valueAt } from "../../../operator/column.ts";
import type { EquationVariant } from "../../../operator/equation-variant.ts";
import { stateOnAxis } from "../../../operator/state.ts";
import { FAULT } from "../../../operator/status.ts";
import { PROGRAM_BITS } from "../../../time/timeline.ts";
import { rowAt } from "../../item/equation/row.ts";
import type { EquationPlan } from "./plan.ts";
import { atStart, Cursor } from "./records.ts";
import { copyState, scansOf } from "./state.ts";

/** Returns the function that reads a row of the time program. */
export function runAt({ parameters }: EquationVariant) {
  return fn({
    name: "runAt",
    params: { ...atStart, cursor: Cursor, run: i32 },
    env: { rowAt: rowAt(parameters) },
    body({ launch: { words, reals }, place: { parameters }, run }, _gpu, { rowAt }) {
      return rowAt({ words, reals, parameters, run });
    },
  });
}

/**
 * Returns the function that sets the nodes and the values at expiry, or restores the state of an earlier launch of the
 * same time loop.
 */
export function begin(plan: EquationPlan) {
  const { team, rows, variant, early, penalty, splitting } = plan;
  const { terminal, twoStages, parameters } = variant;
  return fn({
    name: "begin",
    params: atStart,
    env: {
      rows,
      items: team.items,
      few: team.few,
      terminal,
      dates: parameters,
      twoStages,
      early,
      isPenalty: penalty,
      splitting,
      NEVER_EXERCISED,
      stateOnAxis,
      badTerminal: FAULT.terminal,
      EVENT: PROGRAM_BITS.EVENT,
      load: copyState(plan, true),
      scansOf: scansOf(plan),
      valueAt,
    },
    *body({ launch, place, memory }, gpu, env) {
      const { nodes, dates, first: firstRun, recorded, words } = launch;
      const { table, parameters, item, first } = place;
      const { shared, state, factors, products, scans, penalty } = memory;
      const { mesh, values } = shared;
      const { u, v, obstacle, lambda } = state;
      let fault = 0;
      let node = 0;
      let isNew = true;
      let reach = env.few;
      for (let i = item; i < 2 * nodes; i += env.items) mesh[i] = env.valueAt(table, i);
      if (item === 0) gpu.atomicStore(scans.counter, 0, 0);
      yield;
      if (firstRun === 0) {
        const expiry = env.valueAt(parameters, env.dates + dates - 1);
        for (let i = item; i < nodes; i += env.items) {
          const value = env.terminal(env.stateOnAxis({ t: expiry, at: mesh[i], parameters }));
          values[i] = value;
          if (!Number.isFinite(value) && fault === 0) {
            fault = env.badTerminal;
            node = i;
          }
        }
        yield;
        for (let k = 0; k < env.rows; k++) {
          u[k] = first + k < nodes ? values[Math.min(first + k, nodes - 1)] : 0.0;
          if (env.twoStages) v[k] = 0.0;
          if (env.early) obstacle[k] = env.NEVER_EXERCISED; // until the first stage
          if (env.isPenalty) penalty.active[k] = 0.0;
          if (env.splitting) lambda[k] = 0.0;
        }
        yield;
      } else {
        isNew = (words[2 * (firstRun - 1)] & env.EVENT) !== 0;
        env.load({ launch, place, memory });
        if (!env.isPenalty) reach = yield* env.scansOf({ factors, products, scans });
      }
      return { found: { fault, node, row: 0 }, isNew, record: nodes + recorded, reach, cuts: 0 };
    },
  });
}
