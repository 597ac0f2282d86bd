import { type Kernel, kernel } from "../../../kernel/index.ts";
import { memoize } from "../../../base/memoize.ts";
import { type Layout, systemBase } from "./place.ts";
import { reduceParams } from "./reduce-params.ts";
import { CODE_OK } from "./status.ts";

interface ReductionVariant {
  readonly layout: Layout;
  readonly shared: boolean;
}

/**
 * The kernel that reduces each chunk of a system to its first and last unknown, one chunk a work item: rows 2c and 2c +
 * 1 of an interleaved tridiagonal system with twice as many rows as there are chunks. See `eliminateRun` for the
 * elimination.
 *
 * Cost a row: 12 flops and 4 words read. Source: H. H. Wang, A parallel method for tridiagonal equations (ACM TOMS 7:2,
 * 1981).
 */
export const reduceChunksKernel = memoize(({ layout, shared }: ReductionVariant): Kernel =>
  kernel({
    name: `reduce-chunks-${layout}${shared ? "-shared" : ""}`,
    params: reduceParams,
    env: { base: systemBase[layout], shared, ok: CODE_OK },
    body(
      { rows, stride, batch, chunk, lower, diagonal, upper, rhs, outLower, outUpper, outRhs, status },
      gpu,
      { base, shared, ok },
    ) {
      const t = gpu.globalId();
      const part = (t / batch) | 0;
      const system = t - part * batch;
      const first = part * chunk;
      const count = Math.min(chunk, rows - first);
      const from = base(system, rows, stride) + first * stride;
      const matrix = shared ? first : from;
      const matrixStride = shared ? 1 : stride;
      let code = ok;
      let pivot0 = diagonal[matrix];
      let c0 = count > 1 ? upper[matrix] : 0.0;
      let d0 = rhs[from];
      // The row before the one at hand: x + a·x₀ + c·(next x) = d. A chunk of one row has a second that says x = 0.
      let a = 0.0;
      let c = 0.0;
      let d = 0.0;
      for (let k = 1; k < count; k++) {
        const at = matrix + k * matrixStride;
        if (k > 1) {
          pivot0 -= c0 * a;
          d0 -= c0 * d;
          c0 = -c0 * c;
        }
        const below = lower[at];
        const before = k > 1 ? below : 0.0;
        const pivot = diagonal[at] - before * c;
        if (pivot === 0 && code === ok) code = first + k;
        const inverse = 1 / pivot;
        d = (rhs[from + k * stride] - before * d) * inverse;
        a = (k > 1 ? -before * a : below) * inverse;
        c = upper[at] * inverse;
      }
      if (first + count === rows) c = 0.0;
      if (pivot0 === 0) code = Math.min(code, first);
      const inverse = 1 / pivot0;
      const out = 2 * part * batch + system;
      outLower[out] = (first > 0 ? lower[matrix] : 0.0) * inverse;
      outUpper[out] = c0 * inverse;
      outRhs[out] = d0 * inverse;
      outLower[out + batch] = a;
      outUpper[out + batch] = c;
      outRhs[out + batch] = d;
      status[t] = code === ok ? 0 : code + 1;
    },
  }),
);
