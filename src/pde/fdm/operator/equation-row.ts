import type { ExerciseMethod } from "../problem/equation.ts";
import {
  type AxisEnds,
  Column,
  type EquationCode,
  isPinned,
  sideOnAxis,
  type StateNumber,
  stateOnAxis,
  valueAt,
} from "./state.ts";
import { fn, i32, read, real, record, write } from "../../../kernel/index.ts";
import { endRow, coefficientsInCoordinate, interiorRow, slopeSource } from "./matrix.ts";
import { FAULT, STATUS } from "./status.ts";

/**
 * The properties of a problem on one axis that the code of its kernel depends on. "First" and "last" are ends in the
 * order of the nodes.
 */
export interface EquationVariant extends Omit<EquationCode, "axes" | "pairs" | "payoff">, AxisEnds {
  /** The largest number of nodes. */
  readonly capacity: number;
  /** True where any scheme has two stages. */
  readonly twoStages: boolean;
  /** The method that imposes exercise at all times; "none" without it. */
  readonly exercise: ExerciseMethod | "none";
  /** The payoff of exercise, at all times or on dates. */
  readonly obstacle: StateNumber | undefined;
  /** True where the exercise boundary on exercise dates is recorded. */
  readonly recordsEvents: boolean;
}

/** Returns the ends of the only axis and the continuously monitored knock-outs, in the form that `isPinned` takes. */
export const pinsOf = ({ first, last, region }: EquationVariant) => ({ axes: [{ first, last }], region });

/**
 * Returns the number of private node arrays of an instance that must be saved between launches when several launches
 * share a time loop.
 */
export function keptArrayCount({
  twoStages,
  hasSource,
  exercise,
}: EquationVariant | Omit<EquationVariant, "capacity">): number {
  const early = exercise !== "none";
  const used = [twoStages, hasSource, early, exercise === "penalty", exercise === "operator-splitting"];
  return 4 + used.filter((one) => one).length;
}

/** Returns the number of private node arrays that a variant uses, each of `capacity` reals. */
export function privateArrayCount({ twoStages, hasSource, exercise, recordsEvents, jump }: EquationVariant): number {
  const method = exercise === "penalty" ? 3 : exercise === "operator-splitting" ? 1 : 0;
  const others = [twoStages, hasSource, exercise !== "none" || recordsEvents, jump !== undefined];
  return 5 + method + others.filter((used) => used).length;
}

/**
 * A stage of a time step: (I − hL)·y = fromU·u + fromV·v + source, then u ← u + extrapolation·(y − u). The operator is
 * taken at time `t`; the new u belongs to `tEnd`.
 */
export const Stage = record({ t: real, tEnd: real, h: real, fromU: real, fromV: real, extrapolation: real });

/**
 * Returns the function that computes a stage's right-hand side at one index of the node arrays,
 *
 *   fromU·u + fromV·v + source + h·λ,
 *
 * where λ is the multiplier of operator splitting.
 */
export function stageRightHandSide({ twoStages, hasSource, exercise }: EquationVariant) {
  return fn({
    name: "stageRightHandSide",
    params: { at: i32, u: read(real), v: read(real), source: read(real), lambda: read(real), stage: Stage },
    env: { twoStages, hasSource, splitting: exercise === "operator-splitting" },
    body({ at, u, v, source, lambda, stage }, _gpu, { twoStages, hasSource, splitting }) {
      let value = stage.fromU * u[at];
      if (twoStages) value += stage.fromV * v[at];
      if (hasSource) value += source[at];
      if (splitting) value += stage.h * lambda[at];
      return value;
    },
  });
}

/**
 * Returns the function that computes row i of the matrix I − hL at time t, for a stage that ends at time `tEnd`:
 * (−below, 1 + decay + below + above, −above) with decay = −h·c(t, Sᵢ), or (0, 1, 0) for a pinned node. Only this
 * function evaluates the user's equation, so that a kernel contains that code once.
 *
 * `table` holds S of node i as value i, then the differences of x between nodes i + 1 and i.
 *
 * The other results are: `source`, which is h·(d + the slope of a Neumann end); the coefficient `a` of the equation, 0
 * for a pinned node; whether inflow or drift was limited (`limited`; see `endRow`, `interiorRow`); the `FAULT` of the
 * node, 0 for none; and whether the slope at an end is not finite.
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
      coefficientsInCoordinate: coefficientsInCoordinate(log),
      endRow: endRow(variant),
      interiorRow: interiorRow(fitted),
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
      let limited = false;
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
        const { diffusion, drift } = env.coefficientsInCoordinate(Math.max(a, 0.0), b, S);
        decay = -h * c;
        let slopes = 0.0;
        if (i === 0) {
          const dx = env.valueAt(table, nodes);
          const end = env.endRow(true, h, b, diffusion, drift, dx, env.valueAt(table, 1) - S);
          above = end.flow;
          limited = end.limited;
          if (env.firstSlope !== undefined) {
            const slope = env.firstSlope(state);
            slopes = env.slopeSource(true, diffusion, drift, dx, S, slope);
          }
        } else if (i === last) {
          const dx = env.valueAt(table, nodes + last - 1);
          const end = env.endRow(false, h, b, diffusion, drift, dx, S - env.valueAt(table, last - 1));
          below = end.flow;
          limited = end.limited;
          if (env.lastSlope !== undefined) {
            const slope = env.lastSlope(state);
            slopes = env.slopeSource(false, diffusion, drift, dx, S, slope);
          }
        } else {
          const hDown = env.valueAt(table, nodes + i - 1);
          const hUp = env.valueAt(table, nodes + i);
          const inner = env.interiorRow(h, diffusion, drift, hDown, hUp);
          below = inner.a;
          above = inner.c;
          limited = inner.limited;
        }
        if (env.firstSlope !== undefined || env.lastSlope !== undefined) badSlope = !Number.isFinite(slopes);
        if (env.hasSource) source = h * (d + slopes);
      }
      return { below, above, decay, source, a: diffused, limited, fault, badSlope };
    },
  });
}

/**
 * Returns the tolerance for a diffusion coefficient that rounding makes negative, as a fraction of the largest
 * coefficient on the mesh.
 */
export const diffusionTolerance = fn({
  name: "diffusionTolerance",
  params: [],
  body(_, gpu) {
    return gpu.precision === "f32" ? 1e-6 : gpu.precision === "f32x2" ? 1e-12 : 1e-14;
  },
});

/**
 * Returns the function that assembles the matrix I − hL at time t, for a stage that ends at time `tEnd`, from the rows
 * of `equationRow`. With `direct` it eliminates from the last node to the first and stores 1/pivot, a/pivot and c/pivot
 * in `inverse`, `lower`, `upper`; otherwise it stores the entries 1 + hcᵢ, a and c there. `source` gets h·(d + the
 * slope of a Neumann end). Elimination carries row sums (Grassmann, Taksar & Heyman 1985), as `solverKernel` does, so
 * that nothing is subtracted where c ≤ 0.
 *
 * Coefficients must be finite, and a must be nonnegative up to rounding: a negative value of a few units of rounding of
 * its largest value on the mesh counts as 0.
 *
 * The function updates the status of the instance and returns the `FAULT`, if any, and its node.
 */
export function assemble(variant: EquationVariant) {
  const { exercise, first, last, hasSource } = variant;
  return fn({
    name: "assemble",
    params: {
      nodes: i32,
      table: Column,
      parameters: Column,
      inverse: write(real),
      lower: write(real),
      upper: write(real),
      source: write(real),
      status: write(i32),
      mask: i32,
      stage: Stage,
    },
    env: {
      ...STATUS,
      direct: exercise !== "penalty",
      hasSource,
      hasSlopes: first.kind === "neumann" || last.kind === "neumann",
      equationRow: equationRow(variant),
      diffusionTolerance,
      badSlope: FAULT.slope,
      negative: FAULT.negative,
    },
    body({ nodes, table, parameters, inverse, lower, upper, source, status, mask, stage }, _gpu, env) {
      const { pitch, instance } = parameters;
      const last = nodes - 1;
      let fault = 0;
      let node = 0;
      let lowest = 0.0; // a
      let lowestNode = 0;
      let largest = 0.0;
      let excess = 1.0; // 1 − lower[i + 1]
      let limitedRows = 0;
      let limitedLow = last;
      let limitedHigh = 0;
      let growth = 0;
      for (let i = last; i >= 0; i--) {
        const row = env.equationRow({ i, nodes, table, parameters, mask, stage });
        const { below, above, decay } = row;
        if (row.fault !== 0) {
          fault = row.fault;
          node = i;
        }
        if (row.a < lowest) {
          lowest = row.a;
          lowestNode = i;
        }
        largest = Math.max(largest, row.a);
        if (decay <= -1) growth = 1;
        if (env.hasSlopes && row.badSlope && fault === 0) {
          fault = env.badSlope;
          node = i;
        }
        if (env.hasSource) source[i] = row.source;
        if (row.limited) {
          limitedRows++;
          limitedLow = Math.min(limitedLow, i);
          limitedHigh = Math.max(limitedHigh, i);
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
      if (fault === 0 && lowest < -env.diffusionTolerance() * largest) {
        fault = env.negative;
        node = lowestNode;
      }
      if (limitedRows > status[env.limitedRows * pitch + instance]) {
        status[env.limitedRows * pitch + instance] = limitedRows;
        status[env.limitedLow * pitch + instance] = limitedLow;
        status[env.limitedHigh * pitch + instance] = limitedHigh;
      }
      if (growth > 0) status[env.growth * pitch + instance] = 1;
      return { fault, node };
    },
  });
}
