import { fn, i32 } from "../../../kernel/index.ts";
import { Column, valueAt } from "./column.ts";
import { type EquationVariant, pinsOf } from "./equation-variant.ts";
import { isPinned, sideOnAxis } from "./pinned.ts";
import { Stage } from "./right-hand-side.ts";
import { endRow, inCoordinate, innerRow, slopeSource } from "./row.ts";
import { stateOnAxis } from "./state.ts";
import { FAULT } from "./status.ts";

/**
 * Returns the function for row i of the matrix I − hL at time t, for a stage that ends at time `tEnd`: (−below, 1 +
 * decay + below + above, −above) with decay = −h·c(t, Sᵢ), or (0, 1, 0) for a pinned node. Only this function evaluates
 * the user's equation, so that a kernel contains that code once.
 *
 * `table` holds S of node i as value i, then the differences of x between nodes i + 1 and i.
 *
 * The other results are: `source`, which is h·(d + the slope of a Neumann end); the coefficient `a` of the equation, 0
 * for a pinned node; whether inflow or drift was limited (`cut`; see `endRow`, `innerRow`); the `FAULT` of the node, 0
 * for none; and whether the slope at an end is not finite.
 */
export function equationRow(variant: EquationVariant) {
  const { log, fitted, first, last, coefficients, hasSource, region } = variant;
  return fn({
    name: "equationRow",
    params: { i: i32, nodes: i32, table: Column, parameters: Column, mask: i32, stage: Stage },
    env: {
      hasSource,
      firstSlope: first.kind === "neumann" ? first.number : undefined,
      lastSlope: last.kind === "neumann" ? last.number : undefined,
      slopeSource: slopeSource(log),
      coefficients,
      isPinned: isPinned(pinsOf(variant)),
      sideOnAxis,
      stateOnAxis,
      inCoordinate: inCoordinate(log),
      endRow: endRow(variant),
      innerRow: innerRow(fitted),
      hasEdges: region?.hasEdges,
      badEdge: FAULT.edge,
      valueAt,
    },
    body({ i, nodes, table, parameters, mask, stage }, gpu, env) {
      const { t, tEnd, h } = stage;
      const last = nodes - 1;
      const S = env.valueAt(table, i);
      const state = env.stateOnAxis({ t, at: S, parameters });
      const atEnd = env.stateOnAxis({ t: tEnd, at: S, parameters });
      const pinned = env.isPinned({ state: atEnd, side: env.sideOnAxis(i, last), mask });
      let below = 0.0;
      let above = 0.0;
      let decay = 0.0;
      let source = 0.0;
      let diffused = 0.0; // a
      let cut = false;
      let fault = 0;
      let badSlope = false;
      if (env.hasEdges !== undefined && !env.hasEdges({ state: atEnd, mask })) fault = env.badEdge;
      if (!pinned) {
        const all = gpu.privateReal(4);
        env.coefficients({ state, out: all });
        const a = all[0];
        const b = all[1];
        const c = all[2];
        const d = all[3];
        if (!(Number.isFinite(a) && Number.isFinite(b) && Number.isFinite(c) && Number.isFinite(d)))
          fault =
            (Number.isFinite(a) ? 0 : 1) |
            (Number.isFinite(b) ? 0 : 2) |
            (Number.isFinite(c) ? 0 : 4) |
            (Number.isFinite(d) ? 0 : 8);
        diffused = a;
        const { diffusion, drift } = env.inCoordinate(Math.max(a, 0.0), b, S);
        decay = -h * c;
        let slopes = 0.0;
        if (i === 0) {
          const dx = env.valueAt(table, nodes);
          const end = env.endRow(true, h, b, diffusion, drift, dx, env.valueAt(table, 1) - S);
          above = end.flow;
          cut = end.cut;
          if (env.firstSlope !== undefined) {
            const slope = env.firstSlope(state);
            slopes = env.slopeSource(true, diffusion, drift, dx, S, slope);
          }
        } else if (i === last) {
          const dx = env.valueAt(table, nodes + last - 1);
          const end = env.endRow(false, h, b, diffusion, drift, dx, S - env.valueAt(table, last - 1));
          below = end.flow;
          cut = end.cut;
          if (env.lastSlope !== undefined) {
            const slope = env.lastSlope(state);
            slopes = env.slopeSource(false, diffusion, drift, dx, S, slope);
          }
        } else {
          const hDown = env.valueAt(table, nodes + i - 1);
          const hUp = env.valueAt(table, nodes + i);
          const inner = env.innerRow(h, diffusion, drift, hDown, hUp);
          below = inner.a;
          above = inner.c;
          cut = inner.cut;
        }
        if (env.firstSlope !== undefined || env.lastSlope !== undefined) badSlope = !Number.isFinite(slopes);
        if (env.hasSource) source = h * (d + slopes);
      }
      return { below, above, decay, source, a: diffused, cut, fault, badSlope };
    },
  });
}

/**
 * The relative tolerance for a diffusion coefficient that rounding makes negative, as a fraction of the largest on the
 * mesh.
 */
export const diffusionUnit = fn({
  name: "diffusionUnit",
  params: [],
  body(_, gpu) {
    return gpu.precision === "f32" ? 1e-6 : gpu.precision === "f32x2" ? 1e-12 : 1e-14;
  },
});
