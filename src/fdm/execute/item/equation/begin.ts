import { fn, i32, real, write } from "../../../../kernel/index.ts";
import { valueAt } from "../../../operator/column.ts";
import type { EquationVariant } from "../../../operator/equation-variant.ts";
import { stateOnAxis } from "../../../operator/state.ts";
import { FAULT } from "../../../operator/status.ts";
import { NEVER_EXERCISED } from "../../../conditions/barrier.ts";
import { PROGRAM_BITS } from "../../../time/timeline.ts";
import { atStart, Launch, EquationItemPlace, Cursor } from "./records.ts";
import { rowAt } from "./row.ts";

/** Locates a work item: one item solves one instance. */
export const placeOf = fn({
  name: "placeOf",
  params: { launch: Launch, globalId: i32 },
  body({ launch: { instances, pitch, first, end, table, parameters }, globalId: instance }) {
    return {
      isActive: instance < instances,
      firstRun: first,
      endRun: end,
      instance,
      table: { values: table, pitch, instance },
      parameters: { values: parameters, pitch, instance },
    };
  },
});

/**
 * Returns the function that allocates the arrays of a work item; arrays that a variant does not use have one element.
 */
export function allocate({ exercise, recordsEvents, twoStages, hasSource, jump, capacity }: EquationVariant) {
  const where = (used: boolean): number => (used ? capacity : 1);
  return fn({
    name: "allocate",
    params: [EquationItemPlace],
    env: {
      capacity,
      stages: where(twoStages),
      sources: where(hasSource),
      obstacles: where(exercise !== "none" || recordsEvents),
      penalties: where(exercise === "penalty"),
      multipliers: where(exercise === "operator-splitting"),
      jumps: where(jump !== undefined),
    },
    body(_, gpu, env) {
      return {
        u: gpu.privateReal(env.capacity),
        z: gpu.privateReal(env.capacity),
        inverse: gpu.privateReal(env.capacity),
        lower: gpu.privateReal(env.capacity),
        upper: gpu.privateReal(env.capacity),
        v: gpu.privateReal(env.stages),
        source: gpu.privateReal(env.sources),
        obstacle: gpu.privateReal(env.obstacles),
        right: gpu.privateReal(env.penalties),
        active: gpu.privateReal(env.penalties),
        factor: gpu.privateReal(env.penalties),
        lambda: gpu.privateReal(env.multipliers),
        spots: gpu.privateReal(env.jumps),
      };
    },
  });
}

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

/** Copies an array of the nodes to or from the `slot`-th array that is kept between launches. */
const copyKept = (load: boolean) =>
  fn({
    name: load ? "loadKept" : "saveKept",
    params: { launch: Launch, instance: i32, array: write(real), slot: i32 },
    env: { load },
    body({ launch: { state, nodes, pitch }, instance, array, slot }, _gpu, { load }) {
      for (let i = 0; i < nodes; i++) {
        const at = (slot * nodes + i) * pitch + instance;
        if (load) array[i] = state[at];
        else state[at] = array[i];
      }
    },
  });

/** Returns the function that copies the arrays counted by `keptArrays`, always in the same order. */
export function copyState({ twoStages, hasSource, exercise }: EquationVariant, load: boolean) {
  return fn({
    name: "copyState",
    params: atStart,
    env: {
      twoStages,
      hasSource,
      early: exercise !== "none",
      penalty: exercise === "penalty",
      splitting: exercise === "operator-splitting",
      copy: copyKept(load),
    },
    body({ launch, place: { instance }, memory }, _gpu, env) {
      env.copy({ launch, instance, array: memory.u, slot: 0 });
      env.copy({ launch, instance, array: memory.inverse, slot: 1 });
      env.copy({ launch, instance, array: memory.lower, slot: 2 });
      env.copy({ launch, instance, array: memory.upper, slot: 3 });
      let slot = 4;
      if (env.twoStages) {
        env.copy({ launch, instance, array: memory.v, slot });
        slot++;
      }
      if (env.hasSource) {
        env.copy({ launch, instance, array: memory.source, slot });
        slot++;
      }
      if (env.early) {
        env.copy({ launch, instance, array: memory.obstacle, slot });
        slot++;
      }
      if (env.penalty) env.copy({ launch, instance, array: memory.active, slot });
      if (env.splitting) env.copy({ launch, instance, array: memory.lambda, slot });
    },
  });
}

/**
 * Returns the function that sets the values at expiry, or restores the state of an earlier launch of the same time
 * loop.
 */
export function begin(variant: EquationVariant) {
  const { terminal, twoStages, exercise, jump, parameters } = variant;
  return fn({
    name: "begin",
    params: atStart,
    env: {
      terminal,
      dates: parameters,
      twoStages,
      early: exercise !== "none",
      penalty: exercise === "penalty",
      splitting: exercise === "operator-splitting",
      hasJumps: jump !== undefined,
      NEVER_EXERCISED,
      stateOnAxis,
      badTerminal: FAULT.terminal,
      EVENT: PROGRAM_BITS.EVENT,
      load: copyState(variant, true),
      valueAt,
    },
    *body({ launch, place, memory }, _gpu, env) {
      const { nodes, dates, first, recorded, words } = launch;
      const { table, parameters } = place;
      const { u, v, obstacle, active, lambda, spots } = memory;
      let fault = 0;
      let node = 0;
      let isNew = true;
      if (first === 0) {
        const expiry = env.valueAt(parameters, env.dates + dates - 1);
        for (let i = 0; i < nodes; i++) {
          u[i] = env.terminal(env.stateOnAxis({ t: expiry, at: env.valueAt(table, i), parameters }));
          if (env.twoStages) v[i] = 0.0;
          if (env.early) obstacle[i] = env.NEVER_EXERCISED; // until the first stage
          if (env.penalty) active[i] = 0.0;
          if (env.splitting) lambda[i] = 0.0;
          if (!Number.isFinite(u[i]) && fault === 0) {
            fault = env.badTerminal;
            node = i;
          }
        }
      } else {
        isNew = (words[2 * (first - 1)] & env.EVENT) !== 0;
        env.load({ launch, place, memory });
      }
      if (env.hasJumps) for (let i = 0; i < nodes; i++) spots[i] = env.valueAt(table, i);
      return { found: { fault, node, row: 0 }, isNew, record: nodes + recorded };
    },
  });
}
