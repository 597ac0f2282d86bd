import { fn, i32, real, write } from "../../../../kernel/index.ts";
import { NEVER_EXERCISED } from "../../conditions/barrier.ts";
import type { EquationPlan } from "./plan.ts";
import { Place } from "../place.ts";
import { atStart, Launch } from "./records.ts";

/** Copies an item's array to or from the `slot`-th array that is kept between launches. */
const copyKept = (rows: number | undefined, load: boolean) =>
  fn({
    name: load ? "loadKept" : "saveKept",
    params: { launch: Launch, place: Place, array: write(real), slot: i32, beyond: real },
    env: { rows, load },
    body({ launch: { state, nodes, pitch }, place: { instance, first }, array, slot, beyond }, _gpu, env) {
      const rows = env.rows ?? nodes;
      for (let k = 0; k < rows; k++) {
        const at = (slot * nodes + Math.min(first + k, nodes - 1)) * pitch + instance;
        if (env.load) array[k] = first + k < nodes ? state[at] : beyond;
        else if (first + k < nodes) state[at] = array[k];
      }
    },
  });

/**
 * Returns the function that loads or stores the arrays that are kept between launches (`keptArrays`), always in the
 * same order.
 */
export function copyState({ rows, variant, early, penalty, splitting }: EquationPlan, load: boolean) {
  const { twoStages, hasSource } = variant;
  return fn({
    name: "copyState",
    params: atStart,
    env: { twoStages, hasSource, early, isPenalty: penalty, splitting, NEVER_EXERCISED, copy: copyKept(rows, load) },
    body({ launch, place, memory }, _gpu, env) {
      const { state, rows, factors, penalty } = memory;
      env.copy({ launch, place, array: state.u, slot: 0, beyond: 0 });
      env.copy({ launch, place, array: env.isPenalty ? penalty.decays : factors.gain, slot: 1, beyond: 1 });
      env.copy({ launch, place, array: env.isPenalty ? rows.a : factors.lower, slot: 2, beyond: 0 });
      env.copy({ launch, place, array: env.isPenalty ? rows.c : factors.upper, slot: 3, beyond: 0 });
      let slot = 4;
      if (env.twoStages) {
        env.copy({ launch, place, array: state.v, slot, beyond: 0 });
        slot++;
      }
      if (env.hasSource) {
        env.copy({ launch, place, array: state.source, slot, beyond: 0 });
        slot++;
      }
      if (env.early) {
        env.copy({ launch, place, array: state.obstacle, slot, beyond: env.NEVER_EXERCISED });
        slot++;
      }
      if (env.isPenalty) env.copy({ launch, place, array: penalty.active, slot, beyond: 0 });
      if (env.splitting) env.copy({ launch, place, array: state.lambda, slot, beyond: 0 });
    },
  });
}
