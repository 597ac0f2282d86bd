import { fn, i32, real, write } from "../../../../kernel/index.ts";
import { NEVER_EXERCISED } from "../../../conditions/barrier.ts";
import { Launch } from "../../item/equation/records.ts";
import { Factors, Products, Scans } from "../records.ts";
import { reachOf, scanProducts } from "../scan.ts";
import { partsOf } from "../team.ts";
import type { EquationPlan } from "./plan.ts";
import { atStart, EquationTeamPlace } from "./records.ts";

/** Copies an array of the run to or from the `slot`-th array that is kept between launches. */
const copyRuns = (rows: number, load: boolean) =>
  fn({
    name: load ? "loadRuns" : "saveRuns",
    params: { launch: Launch, place: EquationTeamPlace, array: write(real), slot: i32, beyond: real },
    env: { rows, load },
    body({ launch: { state, nodes, pitch }, place: { instance, first }, array, slot, beyond }, _gpu, { rows, load }) {
      for (let k = 0; k < rows; k++) {
        const at = (slot * nodes + Math.min(first + k, nodes - 1)) * pitch + instance;
        if (load) array[k] = first + k < nodes ? state[at] : beyond;
        else if (first + k < nodes) state[at] = array[k];
      }
    },
  });

/** Returns the function that copies the arrays counted by `keptArrays`, in the order of the item executor. */
export function copyState({ rows, variant, early, penalty, splitting }: EquationPlan, load: boolean) {
  const { twoStages, hasSource } = variant;
  return fn({
    name: "copyState",
    params: atStart,
    env: { twoStages, hasSource, early, isPenalty: penalty, splitting, NEVER_EXERCISED, copy: copyRuns(rows, load) },
    body({ launch, place, memory }, _gpu, env) {
      const { state, rows, factors, penalty } = memory;
      env.copy({ launch, place, array: state.u, slot: 0, beyond: 0 });
      if (env.isPenalty) {
        env.copy({ launch, place, array: penalty.decays, slot: 1, beyond: 1 });
        env.copy({ launch, place, array: rows.a, slot: 2, beyond: 0 });
        env.copy({ launch, place, array: rows.c, slot: 3, beyond: 0 });
      } else {
        env.copy({ launch, place, array: factors.gain, slot: 1, beyond: 1 });
        env.copy({ launch, place, array: factors.lower, slot: 2, beyond: 0 });
        env.copy({ launch, place, array: factors.upper, slot: 3, beyond: 0 });
      }
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

/**
 * Returns the function that restores the scans' products from the factors of an earlier launch, bit for bit as
 * `factorRuns` left them, and returns the reach of scans (`reachOf`).
 */
export function scansOf({ team, rows }: EquationPlan) {
  return fn({
    name: "scansOf",
    params: { factors: Factors, products: Products, scans: Scans },
    env: { rows, size: partsOf(rows).size, scanProducts: scanProducts(team, false), reachOf: reachOf(team) },
    *body({ factors: { lower, upper }, products: { downProduct, upProduct }, scans }, _gpu, env) {
      let down = 1.0;
      let up = 1.0;
      let partDown = 1.0;
      let partUp = 1.0;
      for (let k = env.rows - 1; k >= 0; k--) {
        partDown *= upper[k];
        partUp *= lower[k];
        if (k % env.size === 0) {
          downProduct[(k / env.size) | 0] = partDown;
          upProduct[(k / env.size) | 0] = partUp;
          down *= partDown;
          up *= partUp;
          partDown = 1.0;
          partUp = 1.0;
        }
      }
      return env.reachOf(yield* env.scanProducts(down, up, scans));
    },
  });
}
