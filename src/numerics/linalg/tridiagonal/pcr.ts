import { fn, i32, real, write } from "../../../kernel/index.ts";
import { CODE_OK } from "./status.ts";

/**
 * Returns the function of parallel cyclic reduction in place in workgroup memory, `perItem` rows a work item: every row
 * eliminates both neighbours at distance 1, 2, 4, …, until each row is decoupled and x = d/b, in d. The rows are those
 * at step − 1, 2·step − 1, … of the arrays; all of them for step = 1. An item reads all its inputs before the barrier,
 * and writes after it. The function returns the code of the first zero pivot.
 *
 * Cost: 12 flops a row and round, log₂ n rounds of two barriers. Source: R. W. Hockney & C. R. Jesshope, Parallel
 * Computers (1981); in place as in D. Egloff, GPUs in Financial Computing (2010).
 */
export function reduceParallel(groupSize: number, perItem: number) {
  return fn({
    name: "reduceParallel",
    params: [write(real), write(real), write(real), write(real), i32, i32],
    env: { groupSize, perItem, ok: CODE_OK },
    *body([a, b, c, d, rows, step], gpu, { groupSize, perItem, ok }) {
      const item = gpu.localId();
      const newA = gpu.privateReal(perItem);
      const newB = gpu.privateReal(perItem);
      const newC = gpu.privateReal(perItem);
      const newD = gpu.privateReal(perItem);
      const count = (rows / step) | 0;
      let code = ok;
      for (let distance = 1; distance < count; distance = distance * 2) {
        const s = distance * step;
        for (let p = 0; p < perItem; p++) {
          const k = item + p * groupSize;
          if (k < count) {
            const i = (k + 1) * step - 1;
            let alpha = 0.0;
            let gamma = 0.0;
            newA[p] = 0.0;
            newB[p] = b[i];
            newC[p] = 0.0;
            newD[p] = d[i];
            if (k >= distance) {
              const pivot = b[i - s];
              if (pivot === 0) code = Math.min(code, i - s);
              alpha = -a[i] / pivot;
              newA[p] = alpha * a[i - s];
              newB[p] += alpha * c[i - s];
              newD[p] += alpha * d[i - s];
            }
            if (k + distance < count) {
              const pivot = b[i + s];
              if (pivot === 0) code = Math.min(code, i + s);
              gamma = -c[i] / pivot;
              newC[p] = gamma * c[i + s];
              newB[p] += gamma * a[i + s];
              newD[p] += gamma * d[i + s];
            }
          }
        }
        yield;
        for (let p = 0; p < perItem; p++) {
          const k = item + p * groupSize;
          if (k < count) {
            const i = (k + 1) * step - 1;
            a[i] = newA[p];
            b[i] = newB[p];
            c[i] = newC[p];
            d[i] = newD[p];
          }
        }
        yield;
      }
      for (let p = 0; p < perItem; p++) {
        const k = item + p * groupSize;
        if (k < count) {
          const i = (k + 1) * step - 1;
          if (b[i] === 0) code = Math.min(code, i);
          d[i] /= b[i];
        }
      }
      yield;
      return code;
    },
  });
}
