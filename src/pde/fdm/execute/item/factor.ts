import { fn } from "../../../../kernel/index.ts";
import { cutOff } from "../../operator/live.ts";
import { valueAt } from "../../operator/column.ts";
import { factorRows } from "../../operator/factor.ts";
import { matrixRow, rowWeight } from "../../operator/matrix.ts";
import { Coefficients, coefficientWords, readCoefficients } from "../../operator/read-coefficients.ts";
import { SLICE_WORDS } from "../../operator/read-surface.ts";
import { varianceAt } from "../option/variance.ts";
import type { SolverVariant } from "../variant.ts";
import { atRun, atStart, Cursor } from "./records.ts";

/**
 * The rows of I − hL, from the last node to the first: kept as they are (`homogeneous`, policy iteration, knock-ins),
 * or eliminated on the way. Cost: some 30 flops a node, besides the volatility.
 */
function assembleRows(variant: SolverVariant) {
  const { exercise, barriers = 0, knockIns = 0, homogeneous = false } = variant;
  return fn({
    name: "assembleRows",
    params: { ...atStart, cursor: Cursor, of: Coefficients },
    env: {
      varianceAt: varianceAt(variant),
      rowWeight,
      matrixRow,
      cutOff,
      cuts: barriers > 0 && !homogeneous,
      homogeneous,
      onTheWay: exercise === "policy" || knockIns > 0,
    },
    body({ launch, place, memory, cursor, of }, _gpu, env) {
      const { x, inverse, lower, upper, rowLower, rowUpper } = memory;
      const last = launch.nodes - 1;
      const row = (launch.obstacleColumn + 1) * launch.nodes;
      let excess = 1.0; // 1 − lower[i + 1]
      let here = x[last];
      let below = x[last - 1];
      let hUp = here - below;
      let piece = 0;
      for (let i = last; i >= 0; i--) {
        const hDown = here - below;
        const on = env.varianceAt({ table: place.table, of, slice: cursor.surface, row, i, here, piece });
        piece = on.piece;
        const weight = env.rowWeight(hDown, hUp, i === 0, i === last);
        const entries = env.matrixRow(
          of.hDrift * here,
          on.variance,
          hDown,
          hUp,
          weight,
          i === 0,
          i === last,
          launch.firstExercised,
        );
        let { a, c } = entries;
        if (env.cuts && env.cutOff(cursor.live, i)) {
          a = 0.0;
          c = 0.0;
        }
        if (env.homogeneous) {
          rowLower[i] = a;
          rowUpper[i] = c;
        } else if (env.onTheWay) {
          lower[i] = a;
          upper[i] = c;
        } else {
          const rest = 1 + of.hRate + c * excess;
          const pivot = 1 / (rest + a);
          excess = rest * pivot;
          inverse[i] = pivot;
          lower[i] = a * pivot;
          upper[i] = c * pivot;
        }
        hUp = hDown;
        here = below;
        below = x[Math.max(i - 2, 0)];
      }
    },
  });
}

/**
 * Returns the function that assembles and factors I − hL. In time-homogeneous problems the matrix rows are assembled
 * once, and then scaled by h.
 */
export function factor(variant: SolverVariant) {
  const { exercise, barriers = 0, knockIns = 0, shape, homogeneous = false } = variant;
  return fn({
    name: "factor",
    params: atRun,
    env: {
      homogeneous,
      onTheWay: exercise === "policy" || knockIns > 0,
      isSurface: shape === "surface",
      sliceWords: SLICE_WORDS,
      readCoefficients: readCoefficients(shape === "formula"),
      coefficientWords: coefficientWords(shape === "formula"),
      assembleRows: assembleRows(variant),
      factorRows: factorRows(barriers > 0),
      valueAt,
    },
    *body({ launch, place, memory, cursor, step }, _gpu, env) {
      const { parameters: coefficients } = place;
      const { inverse, lower, upper, rowLower, rowUpper } = memory;
      const { exercise, surface, live, held, dormantRow } = cursor;
      let { row } = cursor;
      let { hRate, hFirst, firstRate } = cursor.rates;
      let { slice } = surface;
      if (!env.homogeneous || step.run === 0) {
        const of = env.readCoefficients(coefficients, row);
        row += env.coefficientWords;
        env.assembleRows({ launch, place, memory, cursor, of });
        hRate = of.hRate;
        if (env.isSurface) slice += surface.spots * env.sliceWords;
        if (env.homogeneous) {
          hFirst = of.h;
          firstRate = of.hRate;
        }
      }
      if (env.homogeneous) {
        let ratio = 1.0;
        if (step.run > 0) {
          ratio = env.valueAt(coefficients, row) / hFirst;
          row += 1;
        }
        hRate = firstRate * ratio;
        env.factorRows({
          rows: { a: rowLower, c: rowUpper, nodes: launch.nodes, hRate },
          ratio,
          live,
          factors: { inverse, lower, upper, start: step.start },
        });
      }
      if (exercise.isExercised && !env.onTheWay) inverse[step.start] = Math.min(inverse[step.start], 1);
      return {
        row,
        rates: { hRate, hFirst, firstRate },
        exercise,
        surface: { move: surface.move, spots: surface.spots, first: surface.first, slice, piece: 0 },
        live,
        held,
        dormantRow,
      };
    },
  });
}
