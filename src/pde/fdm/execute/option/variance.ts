import { fn, i32, real } from "../../../../kernel/index.ts";
import { Column, valueAt } from "../../operator/column.ts";
import { Coefficients } from "../../operator/read-coefficients.ts";
import { Slice, surfaceSigma } from "../../operator/read-surface.ts";
import type { SolverVariant } from "../variant.ts";

/**
 * Returns the function for h·σ²S² at node i, whose price is `here`. From `row` on the table has the column of local
 * variances, or the spot and the literals of a formula. For a surface `piece` is the number of its spots up to the
 * price (`surfaceSigma`): where the search starts, and in the result where it ended.
 */
export const varianceAt = ({ shape, volatility }: SolverVariant) =>
  fn({
    name: "varianceAt",
    params: { table: Column, of: Coefficients, slice: Slice, row: i32, i: i32, here: real, piece: i32 },
    env: { shape, volatility: volatility?.call, surfaceSigma, valueAt },
    body({ table, of, slice, row, i, here, piece }, _gpu, env) {
      let found = piece;
      let variance = of.hVariance * here * here;
      if (env.shape === "table") variance = of.hVariance * env.valueAt(table, row + i);
      if (env.volatility !== undefined && here > 0) {
        const sigma = Math.max(env.volatility(table, row, here, of.time) + of.shift, 0);
        variance = of.hVariance * sigma * sigma * here * here;
      }
      if (env.shape === "surface") {
        const { first, spots, slice: at, move } = slice;
        const on = env.surfaceSigma(table.values, first, spots, at, move, piece, here);
        found = on.piece;
        variance = of.hVariance * on.sigma * on.sigma * here * here;
      }
      return { variance, piece: found };
    },
  });
