import { fn, i32, read, real, write } from "../../../kernel/index.ts";
import { CODE_OK } from "./status.ts";

/**
 * Returns the function of the forward half of cyclic reduction in workgroup memory: rows s − 1, 3s − 1, 5s − 1 … are
 * eliminated from those between, for s = 1, 2, 4 …, in place, until at most `max` rows remain, at s − 1, 2s − 1, 3s − 1
 * …. The function returns that s and the code of the first zero pivot.
 *
 *   α = −aᵢ/bᵢ₋ₛ, γ = −cᵢ/bᵢ₊ₛ:   a′ = α·aᵢ₋ₛ,   b′ = bᵢ + α·cᵢ₋ₛ + γ·aᵢ₊ₛ,   c′ = γ·cᵢ₊ₛ,   d′ = dᵢ + α·dᵢ₋ₛ + γ·dᵢ₊ₛ
 *
 * Cost: rows in total, each 12 flops; a barrier a round. Source: R. W. Hockney (1965).
 */
export function reduceCyclic(groupSize: number, max: number) {
  return fn({
    name: "reduceCyclic",
    params: [write(real), write(real), write(real), write(real), i32],
    env: { groupSize, max, ok: CODE_OK },
    *body([a, b, c, d, rows], gpu, { groupSize, max, ok }) {
      const item = gpu.localId();
      let code = ok;
      let s = 1;
      while (((rows / s) | 0) > max) {
        for (let i = 2 * s - 1 + 2 * s * item; i < rows; i += 2 * s * groupSize) {
          const below = b[i - s];
          if (below === 0) code = Math.min(code, i - s);
          const alpha = -a[i] / below;
          let next = 1.0;
          let nextA = 0.0;
          let nextC = 0.0;
          let nextD = 0.0;
          if (i + s < rows) {
            next = b[i + s];
            nextA = a[i + s];
            nextC = c[i + s];
            nextD = d[i + s];
            if (next === 0) code = Math.min(code, i + s);
          }
          const gamma = -c[i] / next;
          b[i] += alpha * c[i - s] + gamma * nextA;
          d[i] += alpha * d[i - s] + gamma * nextD;
          a[i] = alpha * a[i - s];
          c[i] = gamma * nextC;
        }
        s = s * 2;
        yield;
      }
      return { s, code };
    },
  });
}

/**
 * Returns the function of the backward half of cyclic reduction: with the unknowns at s − 1, 2s − 1 … known (in d), it
 * solves those between, for s/2, s/4, … 1. It starts at the stride `start`, whose rows s − 1, 3s − 1 … are solved
 * first. Cost: 5 flops a row; a barrier a round.
 */
export function substituteCyclic(groupSize: number) {
  return fn({
    name: "substituteCyclic",
    params: [read(real), read(real), read(real), write(real), i32, i32],
    env: { groupSize, ok: CODE_OK },
    *body([a, b, c, d, rows, start], gpu, { groupSize, ok }) {
      const item = gpu.localId();
      let code = ok;
      for (let s = start; s > 0; s = s >> 1) {
        for (let i = s - 1 + 2 * s * item; i < rows; i += 2 * s * groupSize) {
          const before = i >= s ? d[Math.max(i - s, 0)] : 0.0;
          const after = i + s < rows ? d[Math.min(i + s, rows - 1)] : 0.0;
          const pivot = b[i];
          if (pivot === 0) code = Math.min(code, i);
          d[i] = (d[i] - a[i] * before - c[i] * after) / pivot;
        }
        yield;
      }
      return code;
    },
  });
}
