import { fn, i32, type KernelFunction, read, real, write } from "../../kernel/index.ts";

/** As much inflow as a row at an end may have, see `matrixRow`. */
const MAX_INFLOW = -0.5;

/**
 * Factors I − hL from rows (−a, 1 + hr + a + c, −c) of another h, `ratio` times as long: the inverse pivots, a/pivot
 * and c/pivot. Row sums are carried along (see `solverKernel`). With barriers the rows up to `low` and from `high` on
 * lose their neighbours. The factors stand from `start` on. Cost: 9 flops, one of them a division, and 5 words of
 * private memory a node.
 */
export function factorRows(hasBarriers: boolean): KernelFunction<any, void> {
  return fn({
    name: "factorRows",
    params: [read(real), read(real), real, real, i32, i32, i32, write(real), write(real), write(real), i32],
    env: { hasBarriers, max: MAX_INFLOW },
    body(
      [rowLower, rowUpper, ratio, hRate, low, high, nodes, inverse, lower, upper, start],
      _gpu,
      { hasBarriers, max },
    ) {
      let excess = 1.0; // 1 − lower[i + 1]
      for (let i = nodes - 1; i >= 0; i--) {
        let a = rowLower[i] * ratio;
        let c = rowUpper[i] * ratio;
        if (i === 0 || i === nodes - 1) {
          a = a < max ? 0.0 : a;
          c = c < max ? 0.0 : c;
        }
        if (hasBarriers && (i <= low || i >= high)) {
          a = 0.0;
          c = 0.0;
        }
        const rest = 1 + hRate + c * excess;
        const pivot = 1 / (rest + a);
        excess = rest * pivot;
        const at = start + i;
        inverse[at] = pivot;
        lower[at] = a * pivot;
        upper[at] = c * pivot;
      }
    },
  });
}
