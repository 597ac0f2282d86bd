import { fn } from "../../../../../kernel/index.ts";
import type { TeamEquationPlan } from "../../equation/plan.ts";
import { Factors, Products, Scans } from "../records.ts";
import { reachOf, scanProducts } from "../scan.ts";
import { partsOf } from "../team.ts";

/**
 * Returns the function that restores the products of scans from the factors of an earlier launch, bit for bit as
 * `factorRuns` left them, and returns the reach of scans (`reachOf`).
 */
export function scansOf({ team, rows }: TeamEquationPlan) {
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
