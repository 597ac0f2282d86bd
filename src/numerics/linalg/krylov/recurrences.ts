/**
 * The scalars of each iteration, and the tests by which it ends. `KrylovSolver` runs these functions in a kernel
 * between its passes over vectors, `KrylovBatch` inside its only kernel.
 */
import { fn, i32, read, real, record, write } from "../../../kernel/index.ts";
import { memoize } from "../../../base/memoize.ts";
import { statusCodes } from "./status.ts";

/** The positions of a method's scalars in `state`. */
export const stateSlots = {
  RELATIVE: 0,
  ABSOLUTE: 1,
  THRESHOLD: 2,
  RESIDUAL: 3,
  BEST: 4,
  RHS: 5,
  RHO: 6,
  ALPHA: 7,
  OMEGA: 8,
  BETA: 9,
  /** The true residual at the end of the last attempt; negative before the first. */
  LAST: 10,
} as const;
/** The number of words of `state`. */
export const STATE_WORDS = 11;

/**
 * The positions of a method's integers in `flags`. `CYCLE` is 1 at the end of a cycle of gmres with `COLUMN` columns;
 * `AGAIN` is 1 if another start from x may help.
 */
export const flagSlots = {
  STATUS: 0,
  ITERATIONS: 1,
  SINCE: 2,
  PATIENCE: 3,
  MAX: 4,
  CYCLE: 5,
  COLUMN: 6,
  AGAIN: 7,
} as const;
/** The number of words of `flags`. */
export const FLAG_WORDS = 8;

/** The scalars and integers of an iterative method, kept on the device. */
export const RecurrenceState = record({ state: write(real), flags: write(i32) });
/** After a reduction: what was summed, two numbers. */
const afterSums = { of: RecurrenceState, first: real, second: real } as const;

/**
 * Returns x² or, if that underflows, the smallest positive number. Otherwise a tiny right-hand side would have norm 0,
 * and the solution of the linear system would be taken to be 0. GPUs may still flush the smallest number of f32 to 0.
 */
export const squareOrTiny = fn({
  name: "square",
  params: { x: real },
  body({ x }, gpu) {
    const result = x * x;
    return result === 0 && x !== 0 ? (gpu.precision === "f64" ? 5e-324 : 1.4e-45) : result;
  },
});

/**
 * Returns the kernel function that computes the tolerance and the state from r·r and b·b, at the start of a solution or
 * a restart. With `isNextCycle` it starts the next cycle of gmres, which keeps the counts.
 */
export const startCycle = memoize((isNextCycle: boolean) =>
  fn({
    name: isNextCycle ? "nextCycle" : "begin",
    params: afterSums,
    env: { ...stateSlots, ...flagSlots, ...statusCodes, isNextCycle },
    body({ of: { state, flags }, first, second }, _gpu, env) {
      const residual = Math.sqrt(first);
      const rhs = Math.sqrt(second);
      const threshold = Math.max(state[env.RELATIVE] * rhs, state[env.ABSOLUTE]);
      state[env.THRESHOLD] = threshold;
      state[env.RESIDUAL] = residual;
      state[env.RHS] = rhs;
      state[env.RHO] = first;
      state[env.ALPHA] = 0;
      state[env.OMEGA] = 0;
      state[env.BETA] = 0;
      flags[env.CYCLE] = 0;
      flags[env.COLUMN] = 0;
      let status = env.RUNNING;
      if (env.isNextCycle) status = flags[env.STATUS];
      else {
        state[env.BEST] = residual;
        flags[env.SINCE] = 0;
      }
      if (residual <= threshold) status = env.CONVERGED;
      if (!Number.isFinite(residual) || !Number.isFinite(rhs)) status = env.NOT_FINITE;
      if (second === 0 && threshold === 0) status = env.ZERO;
      flags[env.STATUS] = status;
    },
  }),
);

/** Counts an iteration, and ends where its residual says so. */
const progress = fn({
  name: "progress",
  params: { of: RecurrenceState, residual: real },
  env: { ...stateSlots, ...flagSlots, ...statusCodes },
  body({ of: { state, flags }, residual }, _gpu, env) {
    flags[env.ITERATIONS] += 1;
    state[env.RESIDUAL] = residual;
    // Less than a thousandth is no progress: rounding gives that, too.
    if (residual < 0.999 * state[env.BEST]) {
      state[env.BEST] = residual;
      flags[env.SINCE] = 0;
    } else flags[env.SINCE] += 1;
    if (flags[env.SINCE] > flags[env.PATIENCE]) flags[env.STATUS] = env.STAGNATION;
    if (residual <= state[env.THRESHOLD]) flags[env.STATUS] = env.CONVERGED;
    if (!Number.isFinite(residual)) flags[env.STATUS] = env.NOT_FINITE;
  },
});

/** Computes α = ρ/(r̂·v) for bicgstab and cgs, with r̂ the shadow residual. */
export const shadowAlpha = fn({
  name: "shadowStep",
  params: afterSums,
  env: { ...stateSlots, ...flagSlots, ...statusCodes },
  body({ of: { state, flags }, first }, _gpu, { ALPHA, RHO, STATUS, RUNNING, BREAKDOWN, NOT_FINITE }) {
    const alpha = state[RHO] / first;
    state[ALPHA] = alpha;
    if (flags[STATUS] === RUNNING && !Number.isFinite(alpha))
      flags[STATUS] = Number.isFinite(first) ? BREAKDOWN : NOT_FINITE;
  },
});

/**
 * Computes ω = (t·s)/(t·t) for bicgstab, or 0 if t is 0. Then either s is 0 and the system is solved, or the next β
 * breaks down.
 */
export const bicgstabOmega = fn({
  name: "minimalStep",
  params: afterSums,
  env: { ...stateSlots },
  body({ of: { state }, first, second }, _gpu, { OMEGA }) {
    state[OMEGA] = second === 0 ? 0.0 : first / second;
  },
});

/**
 * Returns the kernel function that computes β from r̂·r and r·r, and tests convergence, at the end of an iteration. β
 * is (ρ′/ρ)·(α/ω) for bicgstab (`stabilised`), and ρ′/ρ for cgs.
 */
export const shadowBeta = memoize((stabilised: boolean) =>
  fn({
    name: stabilised ? "bicgstabEnd" : "cgsEnd",
    params: afterSums,
    env: { ...stateSlots, ...flagSlots, ...statusCodes, progress, stabilised },
    body({ of, first, second }, _gpu, env) {
      const { state, flags } = of;
      const { stabilised, progress, STATUS, RUNNING, BREAKDOWN, RHO, ALPHA, OMEGA, BETA } = env;
      if (flags[STATUS] === RUNNING) {
        progress({ of, residual: Math.sqrt(second) });
        const ratio = first / state[RHO];
        const beta = stabilised ? ratio * (state[ALPHA] / state[OMEGA]) : ratio;
        state[BETA] = beta;
        state[RHO] = first;
        if (flags[STATUS] === RUNNING && (first === 0 || !Number.isFinite(beta))) flags[STATUS] = BREAKDOWN;
      }
    },
  }),
);

/** Computes α = ρ/(p·A·p) for cg. It is a breakdown if p·A·p is not positive. */
export const cgAlpha = fn({
  name: "conjugateStep",
  params: afterSums,
  env: { ...stateSlots, ...flagSlots, ...statusCodes },
  body({ of: { state, flags }, first }, _gpu, { ALPHA, RHO, STATUS, RUNNING, BREAKDOWN, NOT_FINITE }) {
    state[ALPHA] = state[RHO] / first;
    if (flags[STATUS] === RUNNING && !(first > 0)) flags[STATUS] = Number.isFinite(first) ? BREAKDOWN : NOT_FINITE;
  },
});

/** Sets ρ = r·z at the start of cg. It is a breakdown if r·z is not positive. */
export const cgStart = fn({
  name: "conjugateBegin",
  params: afterSums,
  env: { ...stateSlots, ...flagSlots, ...statusCodes },
  body({ of: { state, flags }, first }, _gpu, { RHO, STATUS, RUNNING, BREAKDOWN }) {
    state[RHO] = first;
    if (flags[STATUS] === RUNNING && !(first > 0)) flags[STATUS] = BREAKDOWN;
  },
});

/**
 * Computes β = ρ′/ρ for cg from r·z and r·r, and tests convergence, at the end of an iteration. It is a breakdown if
 * r·z is not positive.
 */
export const cgBeta = fn({
  name: "conjugateEnd",
  params: afterSums,
  env: { ...stateSlots, ...flagSlots, ...statusCodes, progress },
  body({ of, first, second }, _gpu, { progress, STATUS, RUNNING, BREAKDOWN, RHO, BETA }) {
    const { state, flags } = of;
    if (flags[STATUS] === RUNNING) {
      progress({ of, residual: Math.sqrt(second) });
      state[BETA] = first / state[RHO];
      state[RHO] = first;
      if (flags[STATUS] === RUNNING && !(first > 0)) flags[STATUS] = BREAKDOWN;
    }
  },
});

/** The Hessenberg matrix of gmres, made triangular by rotations. Column j begins at j·(restart + 1). */
export const Hessenberg = record({
  /** The new column: products with the basis in the first pass, then, restart + 1 further, in the second. */
  sums: read(real),
  h: write(real),
  /** Cosines, `restart` further sines, and `restart` further the right-hand side g. */
  rotations: write(real),
});

/**
 * Appends column j to the Hessenberg matrix, with w·w in `squared`. It applies the Givens rotations and updates the
 * norm of the residual.
 */
export const hessenbergColumn = fn({
  name: "hessenbergColumn",
  params: { of: RecurrenceState, matrix: Hessenberg, j: i32, restart: i32, squared: real },
  env: { ...stateSlots, ...flagSlots, ...statusCodes, progress },
  body({ of, matrix: { sums, h, rotations }, j, restart, squared }, gpu, env) {
    const { state, flags } = of;
    const { progress, STATUS, RUNNING, CONVERGED, BREAKDOWN, CYCLE, COLUMN, RESIDUAL } = env;
    if (flags[STATUS] === RUNNING && flags[CYCLE] === 0) {
      const column = j * (restart + 1);
      const sine = restart;
      const g = 2 * restart;
      if (j === 0) rotations[g] = state[RESIDUAL];
      // What rounding leaves of a column that depends on the others must not be divided by.
      const rounding = gpu.precision === "f32" ? 1e-6 : gpu.precision === "f64" ? 1e-14 : 1e-12;
      let size = squared;
      for (let k = 0; k <= j; k++) {
        const entry = sums[k] + sums[restart + 1 + k];
        h[column + k] = entry;
        size += entry * entry;
      }
      for (let k = 0; k < j; k++) {
        const above = h[column + k];
        const below = h[column + k + 1];
        h[column + k] = rotations[k] * above + rotations[sine + k] * below;
        h[column + k + 1] = rotations[k] * below - rotations[sine + k] * above;
      }
      const next = Math.sqrt(squared);
      const diagonal = h[column + j];
      const length = Math.sqrt(diagonal * diagonal + squared);
      const isDependent = length <= rounding * Math.sqrt(size);
      const c = isDependent ? 0.0 : diagonal / length;
      const s = isDependent ? 1.0 : next / length;
      rotations[j] = c;
      rotations[sine + j] = s;
      h[column + j] = length;
      h[column + j + 1] = next;
      rotations[g + j + 1] = -s * rotations[g + j];
      rotations[g + j] = c * rotations[g + j];
      flags[COLUMN] = isDependent ? j : j + 1;
      progress({ of, residual: Math.abs(rotations[g + j + 1]) });
      // The system goes on: whether it has converged is decided by the true residual of the next cycle.
      if (flags[STATUS] !== RUNNING) flags[CYCLE] = 1;
      if (flags[STATUS] === CONVERGED) flags[STATUS] = RUNNING;
      if (next <= rounding * Math.sqrt(size) || isDependent) flags[CYCLE] = 1;
      if (isDependent && j === 0) flags[STATUS] = BREAKDOWN;
    }
  },
});

/** Computes the coefficients of the basis by back substitution; they overwrite g. */
export const hessenbergSolve = fn({
  name: "hessenbergSolve",
  params: { columns: i32, h: read(real), rotations: write(real), restart: i32 },
  body({ columns, h, rotations, restart }) {
    const g = 2 * restart;
    for (let row = columns - 1; row >= 0; row--) {
      let sum = rotations[g + row];
      for (let k = row + 1; k < columns; k++) sum -= h[k * (restart + 1) + row] * rotations[g + k];
      rotations[g + row] = sum / h[row * (restart + 1) + row];
    }
  },
});

/**
 * Tests the true residual at the end, from r·r and b·b. Another start may help if the iteration reports convergence
 * that the residual contradicts, or after a breakdown, provided that this attempt has halved the residual.
 */
export const verifyResidual = fn({
  name: "verify",
  params: afterSums,
  env: { ...stateSlots, ...flagSlots, ...statusCodes },
  body({ of: { state, flags }, first, second }, _gpu, env) {
    const { STATUS, CYCLE, AGAIN, ITERATIONS, MAX, RESIDUAL, RHS, THRESHOLD, LAST } = env;
    const { RUNNING, CONVERGED, ZERO, MISSED, BREAKDOWN, NOT_FINITE } = env;
    const residual = Math.sqrt(first);
    const last = state[LAST];
    let status = flags[STATUS];
    // First, since an infinite b makes the threshold infinite.
    if (!Number.isFinite(residual)) status = NOT_FINITE;
    else if (residual <= state[THRESHOLD]) status = status === ZERO ? ZERO : CONVERGED;
    else if (status === CONVERGED || status === ZERO || (status === RUNNING && flags[CYCLE] === 1)) status = MISSED;
    const halved = last < 0 || residual < 0.5 * last;
    const unfinished = (status === MISSED || status === BREAKDOWN) && flags[ITERATIONS] < flags[MAX];
    flags[AGAIN] = halved && unfinished ? 1 : 0;
    flags[STATUS] = status;
    state[RESIDUAL] = residual;
    state[RHS] = Math.sqrt(second);
    state[LAST] = residual;
  },
});
