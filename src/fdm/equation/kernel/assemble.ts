import { fn, i32, type KernelFunction, read, real, write } from "../../../kernel/index.ts";
import { isPinned } from "./pinned.ts";
import { endRow, inCoordinate, innerRow, slopeSource } from "./row.ts";
import type { EquationVariant } from "./variant.ts";

/** What `status` says of a lane, a word each. */
export const STATUS = {
  trouble: 0,
  node: 1,
  row: 2,
  cuts: 3,
  cutLow: 4,
  cutHigh: 5,
  unconverged: 6,
  growth: 7,
} as const;
export const STATUS_WORDS = 8;
/** Bits of `trouble`: a, b, c, d not finite; terminal; a boundary, payoff or knock-out; the solution. */
export const TROUBLE = { a: 1, b: 2, c: 4, d: 8, terminal: 16, condition: 32, solution: 64 } as const;

/**
 * The matrix I − hL at time t, of a stage that ends at `tEnd`: rows (−aᵢ, 1 + hcᵢ + aᵢ + cᵢ, −cᵢ), hcᵢ = −h·c(t, Sᵢ), pinned nodes (0, 1, 0). `direct`: eliminated from the last
 * node to the first, 1/pivot, a/pivot and c/pivot in `inverse`, `lower`, `upper`; otherwise 1 + hcᵢ, a and c. `source` is h·(d + a Neumann end's slope). The only place that evaluates the equation, so that its code is there once. Elimination carries row sums
 * (Grassmann, Taksar & Heyman 1985), as `solverKernel` does, so that nothing is subtracted where c ≤ 0.
 *
 * `table`: S of node i at [i·pitch + lane], then x of node i + 1 less x of node i. Status words are updated for this row of the program.
 */
export function assemble(variant: EquationVariant): KernelFunction<any, void> {
  const { log, fitted, exercise, first, last, coefficients, hasSource } = variant;
  const [firstSlope, lastSlope] = [first.kind === "neumann", last.kind === "neumann"];
  return fn({
    name: "assemble",
    params: [
      read(real),
      read(real),
      write(real),
      write(real),
      write(real),
      write(real),
      write(i32),
      i32,
      i32,
      i32,
      i32,
      i32,
      real,
      real,
      real,
    ],
    env: {
      direct: exercise !== "penalty",
      hasSource,
      firstSlope,
      lastSlope,
      ...(firstSlope ? { firstNumber: first.number! } : {}),
      ...(lastSlope ? { lastNumber: last.number! } : {}),
      slopeSource: slopeSource(log),
      coefficients,
      isPinned: isPinned(variant),
      inCoordinate: inCoordinate(log),
      endRow: endRow(variant),
      innerRow: innerRow(fitted),
    },
    body(
      [table, parameters, inverse, lower, upper, source, status, nodes, pitch, lane, row, mask, t, tEnd, h],
      _gpu,
      env: any,
    ) {
      const last = nodes - 1;
      let excess = 1.0; // 1 − lower[i + 1]
      let cuts = 0;
      let cutLow = last;
      let cutHigh = 0;
      let growth = 0;
      for (let i = last; i >= 0; i--) {
        const S = table[i * pitch + lane];
        const pinned = env.isPinned(i, last, tEnd, S, parameters, pitch, lane, mask);
        let below = 0.0;
        let above = 0.0;
        let decay = 0.0;
        if (env.hasSource) source[i] = 0.0;
        if (!pinned) {
          const { a, b, c, d } = env.coefficients(t, S, parameters, pitch, lane);
          const trouble =
            (Number.isFinite(a) ? 0 : 1) |
            (Number.isFinite(b) ? 0 : 2) |
            (Number.isFinite(c) ? 0 : 4) |
            (Number.isFinite(d) ? 0 : 8);
          if (status[lane] === 0 && trouble !== 0) {
            status[lane] = trouble;
            status[pitch + lane] = i;
            status[2 * pitch + lane] = row;
          }
          const { diffusion, drift } = env.inCoordinate(a, b, S);
          decay = -h * c;
          if (decay <= -1) growth = 1;
          let cut = false;
          let slopes = 0.0;
          if (i === 0) {
            const dx = table[nodes * pitch + lane];
            const end = env.endRow(true, h, b, diffusion, drift, dx, table[pitch + lane] - S);
            above = end.flow;
            cut = end.cut;
            if (env.firstSlope) {
              const slope = env.firstNumber(t, S, parameters, pitch, lane);
              slopes = env.slopeSource(true, diffusion, drift, dx, S, slope);
            }
          } else if (i === last) {
            const dx = table[(nodes + last - 1) * pitch + lane];
            const end = env.endRow(false, h, b, diffusion, drift, dx, S - table[(last - 1) * pitch + lane]);
            below = end.flow;
            cut = end.cut;
            if (env.lastSlope) {
              const slope = env.lastNumber(t, S, parameters, pitch, lane);
              slopes = env.slopeSource(false, diffusion, drift, dx, S, slope);
            }
          } else {
            const hDown = table[(nodes + i - 1) * pitch + lane];
            const hUp = table[(nodes + i) * pitch + lane];
            const inner = env.innerRow(h, diffusion, drift, hDown, hUp);
            below = inner.a;
            above = inner.c;
            cut = inner.cut;
          }
          if (env.hasSource) source[i] = h * (d + slopes);
          if (cut) {
            cuts++;
            cutLow = Math.min(cutLow, i);
            cutHigh = Math.max(cutHigh, i);
          }
        }
        if (env.direct) {
          const rest = 1 + decay + above * excess;
          const pivot = 1 / (rest + below);
          excess = rest * pivot;
          inverse[i] = pivot;
          lower[i] = below * pivot;
          upper[i] = above * pivot;
        } else {
          inverse[i] = 1 + decay;
          lower[i] = below;
          upper[i] = above;
        }
      }
      if (cuts > status[3 * pitch + lane]) {
        status[3 * pitch + lane] = cuts;
        status[4 * pitch + lane] = cutLow;
        status[5 * pitch + lane] = cutHigh;
      }
      if (growth > 0) status[7 * pitch + lane] = 1;
    },
  });
}
