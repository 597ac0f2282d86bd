import { fn, i32, read, real, record, write } from "../../../kernel/index.ts";
import { cutOff, Live } from "../operator/live.ts";

/** The most inflow that a row at an end may have, see `matrixRow`. */
const MAX_INFLOW = -0.5;

/** The matrix I − hL before factoring, with rows (−a, 1 + hr + a + c, −c). */
export const Rows = record({ a: read(real), c: read(real), nodes: i32, hRate: real });

/** The factors of I − hL from node `start` on: 1/pivot in `inverse`, a/pivot in `lower` and c/pivot in `upper`. */
export const Factors = record({ inverse: write(real), lower: write(real), upper: write(real), start: i32 });

/**
 * Returns the function that factors I − hL from the rows (−a, 1 + h′r + a + c, −c) of another step h′, where h =
 * `ratio`·h′; `hRate` is h·r of the new step. Row sums are carried along (see `solverKernel`). With barriers the rows
 * at and beyond the ends of the live nodes are decoupled from their neighbours. Cost: 9 flops, one of them a division,
 * and 5 reals of private memory a node.
 */
export function factorRows(hasBarriers: boolean) {
  return fn({
    name: "factorRows",
    params: { rows: Rows, ratio: real, live: Live, factors: Factors },
    env: { hasBarriers, max: MAX_INFLOW, cutOff },
    body({ rows, ratio, live, factors }, _gpu, { hasBarriers, max, cutOff }) {
      const { nodes, hRate } = rows;
      let excess = 1.0; // 1 − lower[i + 1]
      for (let i = nodes - 1; i >= 0; i--) {
        let a = rows.a[i] * ratio;
        let c = rows.c[i] * ratio;
        if (i === 0 || i === nodes - 1) {
          a = a < max ? 0.0 : a;
          c = c < max ? 0.0 : c;
        }
        if (hasBarriers && cutOff(live, i)) {
          a = 0.0;
          c = 0.0;
        }
        const rest = 1 + hRate + c * excess;
        const pivot = 1 / (rest + a);
        excess = rest * pivot;
        const at = factors.start + i;
        factors.inverse[at] = pivot;
        factors.lower[at] = a * pivot;
        factors.upper[at] = c * pivot;
      }
    },
  });
}
