import { fn, i32, read, real } from "../../../kernel/index.ts";

/** What stands for "no node is exercised" in the output; NaN need not survive on WebGPU. */
export const NOWHERE = -3e38;

/**
 * Where the exercise region that is nearest to the first node ends, between its last node j and the next. With w = V − payoff,
 *
 *   at all times   w ≈ C·(S − S*)² beyond S* (smooth pasting), so that √w is linear there: from nodes j + 1 and j + 2
 *   on a date      w crosses zero, as a line: from nodes j and j + 1, V before exercise
 *
 * held between the two nodes. Error O(h²) where w is as said. `NOWHERE` if no node is exercised.
 */
export const exerciseBoundary = (smooth: boolean): ReturnType<typeof makeBoundary> => makeBoundary(smooth);

function makeBoundary(smooth: boolean) {
  return fn({
    name: "exerciseBoundary",
    params: [read(real), read(real), read(real), i32, i32, i32],
    env: { smooth },
    body([u, payoff, table, nodes, pitch, lane], gpu, { smooth }) {
      const tolerance = gpu.precision === "f32" ? 1e-6 : 1e-12;
      let j = 0;
      while (j < nodes && u[j] - payoff[j] > tolerance * Math.abs(payoff[j])) j++;
      let found = -3e38;
      if (j < nodes) {
        while (j < nodes - 1 && u[j + 1] - payoff[j + 1] <= tolerance * Math.abs(payoff[j + 1])) j++;
        found = table[j * pitch + lane];
        if (j < nodes - 2) {
          const here = table[(j + 1) * pitch + lane];
          const next = u[j + 1] - payoff[j + 1];
          let edge = found;
          if (smooth) {
            const root = Math.sqrt(Math.max(next, 0));
            const rise = Math.sqrt(Math.max(u[j + 2] - payoff[j + 2], 0)) - root;
            if (rise > 0) edge = here - (root * (table[(j + 2) * pitch + lane] - here)) / rise;
          } else {
            const now = u[j] - payoff[j];
            if (next > now) edge = here - (next * (here - found)) / (next - now);
          }
          found = Math.min(Math.max(edge, Math.min(found, here)), Math.max(found, here));
        }
      }
      return found;
    },
  });
}
