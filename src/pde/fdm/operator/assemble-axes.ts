import { bool, fn, real, record } from "../../../kernel/index.ts";
import type { AxisCode } from "./axes-variant.ts";
import { EquationState } from "./state.ts";
import { endRow, inCoordinate, innerRow, slopeSource } from "./row.ts";

/**
 * The position of a node on one axis: whether it is the first or last, its value, and the distances to its neighbours
 * in the coordinate and in the axis' values.
 */
export const AxisPlace = record({
  isFirst: bool,
  isLast: bool,
  x: real,
  hDown: real,
  hUp: real,
  down: real,
  up: real,
});

/**
 * Returns the function for the off-diagonal entries of hLⱼ along one axis at a node: h·a for the node before and h·c
 * for the node after, by the differences of `innerRow` and `endRow`. It also returns what a Neumann end adds to the
 * source.
 */
export function axisRow({ log, first, last }: AxisCode, fitted: boolean) {
  return fn({
    name: "axisRow",
    params: { at: AxisPlace, h: real, a: real, b: real, state: EquationState },
    env: {
      inCoordinate: inCoordinate(log),
      innerRow: innerRow(fitted),
      endRow: endRow({ first, last }),
      slopeSource: slopeSource(log),
      firstSlope: first.kind === "neumann" ? first.number : undefined,
      lastSlope: last.kind === "neumann" ? last.number : undefined,
    },
    body({ at, h, a, b, state }, _gpu, env) {
      const { diffusion, drift } = env.inCoordinate(Math.max(a, 0.0), b, at.x);
      let below = 0.0;
      let above = 0.0;
      let slope = 0.0;
      if (at.isFirst) {
        above = env.endRow(true, h, b, diffusion, drift, at.hUp, at.up).flow;
        if (env.firstSlope !== undefined)
          slope = env.slopeSource(true, diffusion, drift, at.hUp, at.x, env.firstSlope(state));
      } else if (at.isLast) {
        below = env.endRow(false, h, b, diffusion, drift, at.hDown, at.down).flow;
        if (env.lastSlope !== undefined)
          slope = env.slopeSource(false, diffusion, drift, at.hDown, at.x, env.lastSlope(state));
      } else {
        const row = env.innerRow(h, diffusion, drift, at.hDown, at.hUp);
        below = row.a;
        above = row.c;
      }
      return { below, above, slope };
    },
  });
}
