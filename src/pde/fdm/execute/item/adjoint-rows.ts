import { bool, fn, i32, real, record, write } from "../../../../kernel/index.ts";
import { Coefficients, SurfaceLocation, surfaceSigma } from "../../operator/coefficients.ts";
import { isDecoupled, rowWeight } from "../../operator/matrix.ts";
import { Column, valueAt } from "../../operator/state.ts";
import type { SolverVariant } from "../option/plan.ts";
import { atStart, LoopState } from "./factor.ts";

/**
 * How the off-diagonal entries a and c of the rows of I − hL change: with h·σ² (with h·σ²S² of the node, for the shape
 * "table") and with h·(r − q). `shift` is the ratio of the change with a shift of σ to that with h·σ².
 */
export const RowSlopes = record({
  varianceDown: write(real),
  varianceUp: write(real),
  driftDown: write(real),
  driftUp: write(real),
  shift: write(real),
});

/** Returns the function that allocates `RowSlopes`. */
export const allocateSlopes = ({ shape, capacity }: SolverVariant) =>
  fn({
    name: "allocateSlopes",
    params: [],
    env: { capacity, shift: shape === "formula" || shape === "surface" ? capacity : 1 },
    body(_, gpu, env) {
      return {
        varianceDown: gpu.privateReal(env.capacity),
        varianceUp: gpu.privateReal(env.capacity),
        driftDown: gpu.privateReal(env.capacity),
        driftUp: gpu.privateReal(env.capacity),
        shift: gpu.privateReal(env.shift),
      };
    },
  });

/** h·σ²S² at node i, and its derivatives by the coefficient h·σ² and by the shift of σ, as `varianceAt`. */
const varianceSlopes = ({ shape, volatility }: SolverVariant) =>
  fn({
    name: "varianceSlopes",
    params: { table: Column, of: Coefficients, slice: SurfaceLocation, row: i32, i: i32, here: real, piece: i32 },
    env: { shape, volatility: volatility?.call, surfaceSigma, valueAt },
    body({ table, of, slice, row, i, here, piece }, _gpu, env) {
      let found = piece;
      let byVariance = here * here;
      let byShift = 0.0;
      if (env.shape === "table") byVariance = env.valueAt(table, row + i);
      if (env.volatility !== undefined) {
        let sigma = 0.0;
        if (here > 0) sigma = Math.max(env.volatility(table, row, here, of.time) + of.shift, 0);
        byVariance = sigma * sigma * here * here;
        byShift = 2 * of.hVariance * sigma * here * here;
      }
      if (env.shape === "surface") {
        const { first, spots, slice: at, move } = slice;
        const on = env.surfaceSigma(table.values, first, spots, at, move, piece, here);
        found = on.piece;
        byVariance = on.sigma * on.sigma * here * here;
        byShift = 2 * of.hVariance * on.sigma * here * here;
      }
      return { variance: of.hVariance * byVariance, byVariance, byShift, piece: found };
    },
  });

/** How a and c of one row change with h·σ²S² and with h·μ: the derivatives of `matrixRow`. */
const entrySlopes = fn({
  name: "entrySlopes",
  params: {
    drift: real,
    variance: real,
    hDown: real,
    hUp: real,
    isFirst: bool,
    isLast: bool,
    firstExercised: bool,
  },
  env: { rowWeight },
  body({ drift, variance, hDown, hUp, isFirst, isLast, firstExercised }, _gpu, { rowWeight }) {
    const weight = rowWeight(hDown, hUp, isFirst, isLast);
    let varianceDown = 0.0;
    let varianceUp = 0.0;
    let driftDown = 0.0;
    let driftUp = 0.0;
    if (isLast) {
      const a = -drift * weight;
      driftDown = a < 0 && (variance < Math.abs(drift * hDown) || a < -0.5) ? 0.0 : -weight;
    } else if (isFirst) {
      const c = drift * weight;
      const isCut = firstExercised || (c < 0 && (variance < Math.abs(drift * hUp) || c < -0.5));
      driftUp = isCut ? 0.0 : weight;
    } else {
      const down = hUp * weight;
      const up = hDown * weight;
      const upward = drift * hUp;
      const isFree = variance >= Math.max(upward, -drift * hDown);
      varianceDown = isFree ? down : 0.0;
      varianceUp = isFree ? up : 0.0;
      // Where diffusion is raised until an entry is zero, drift moves the other one alone.
      driftDown = isFree ? -hUp * down : upward > 0 ? 0.0 : -(hUp + hDown) * down;
      driftUp = isFree ? hDown * up : upward > 0 ? (hUp + hDown) * up : 0.0;
    }
    return { varianceDown, varianceUp, driftDown, driftUp };
  },
});

/**
 * Returns the function that makes `RowSlopes` of a factorisation, those of the first and last row alone unless
 * `isWhole`. Cost for each node: some 30 flops, besides the
 * volatility.
 */
export function rowSlopes(variant: SolverVariant) {
  const { shape, barriers = 0 } = variant;
  return fn({
    name: "rowSlopes",
    params: { ...atStart, loopState: LoopState, of: Coefficients, slopes: RowSlopes, isWhole: bool },
    env: {
      hasTable: shape === "table",
      hasShift: shape === "formula" || shape === "surface",
      hasBarriers: barriers > 0,
      varianceSlopes: varianceSlopes(variant),
      entrySlopes,
      isDecoupled,
    },
    body({ launch, context, memory: { x }, loopState, of, slopes, isWhole }, _gpu, env) {
      const { nodes, obstacleColumn, firstExercised } = launch;
      const { varianceDown, varianceUp, driftDown, driftUp, shift } = slopes;
      const row = (obstacleColumn + 1) * nodes;
      const last = nodes - 1;
      const apart = isWhole ? 1 : last;
      let piece = 0;
      for (let i = 0; i < nodes; i += apart) {
        const here = x[i];
        const hDown = here - x[Math.max(i - 1, 0)];
        const hUp = x[Math.min(i + 1, last)] - here;
        const slice = loopState.surface;
        const on = env.varianceSlopes({ table: context.table, of, slice, row, i, here, piece });
        piece = on.piece;
        const drift = of.hDrift * here;
        const { variance } = on;
        const isFirst = i === 0;
        const isLast = i === last;
        const entries = env.entrySlopes({ drift, variance, hDown, hUp, isFirst, isLast, firstExercised });
        let live = 1.0;
        if (env.hasBarriers) live = env.isDecoupled(loopState.live, i) ? 0.0 : 1.0;
        const byVariance = env.hasTable ? live : live * on.byVariance;
        const byDrift = live * here;
        varianceDown[i] = entries.varianceDown * byVariance;
        varianceUp[i] = entries.varianceUp * byVariance;
        driftDown[i] = entries.driftDown * byDrift;
        driftUp[i] = entries.driftUp * byDrift;
        if (env.hasShift) shift[i] = on.byVariance > 0 ? on.byShift / on.byVariance : 0.0;
      }
    },
  });
}
