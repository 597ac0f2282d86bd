import { bool, fn, i32, read, real, record, type ValueOf, write } from "../../../../kernel/index.ts";
import { HeldValues } from "../../conditions/barrier.ts";
import { isDecoupled, factorRows, Factors, LiveNodes, matrixRow, rowWeight } from "../../operator/matrix.ts";
import {
  Coefficients,
  coefficientReals,
  readCoefficients,
  SurfaceLocation,
  SLICE_REALS,
} from "../../operator/coefficients.ts";
import { ItemContext } from "../rollback.ts";
import { Launch, type SolverVariant } from "../option/plan.ts";
import { valueAt } from "../../operator/state.ts";
import { KeptLayer } from "../option/reversed.ts";
import { varianceAt } from "../option/values.ts";
import { FLAGS, STEPS_SHIFT } from "../../time/time-grid.ts";

/**
 * The arrays of an instance in private memory, with one value for each node; those that a variant does not use have
 * length 1.
 */
const Memory = record({
  /** The solution. */
  u: write(real),
  /** The right-hand side after elimination. */
  z: write(real),
  /** 1 / pivot; not used where the matrix is factored on the way (policy iteration, knock-ins). */
  inverse: write(real),
  /** a / pivot; a where the matrix is factored on the way. */
  lower: write(real),
  /** c / pivot; c where the matrix is factored on the way. */
  upper: write(real),
  /** The nodes. */
  x: write(real),
  /** The amount that exercise pays; φ·x where the obstacle is time-dependent. */
  obstacle: write(real),
  /** 1 where exercised, of policy iteration. */
  active: write(real),
  /** a / pivot of the current policy, or value. */
  factor: write(real),
  /** The value before a knock-in. */
  dormant: write(real),
  /** a and c of the first factorisation's rows, of time-homogeneous problems. */
  rowLower: write(real),
  rowUpper: write(real),
  /** The layers that are kept to go back. */
  layers: write(real),
});

/** The numbers that change from one series of equal steps to the next. */
export const LoopState = record({
  /** The next row of coefficients. */
  row: i32,
  /** h·r of the matrix; h and h·r of `rowLower` and `rowUpper`. */
  rates: record({ hRate: real, hFirst: real, firstRate: real }),
  /**
   * True where the first node is certain to be exercised; a time-dependent obstacle, slope·obstacle − kink; and the
   * index in the table of that of the next step.
   */
  exercise: record({ isExercised: bool, next: i32, slope: real, kink: real }),
  /** A volatility surface, with the slice of the next factorisation. */
  surface: SurfaceLocation,
  /** The nodes between which the trade is alive, and what is held at their ends. */
  live: LiveNodes,
  held: HeldValues,
  /** The first coefficient of the dormant value at the last event. */
  dormantRow: i32,
});

/** A row of the time program: a series of equal steps. */
const StepSeries = record({
  index: i32,
  flag: i32,
  refactor: bool,
  event: bool,
  /** The index at which the factors of these steps start, because two factorisations are kept. */
  start: i32,
  count: i32,
  crankNicolson: bool,
  /** Alexander's second stage: u ← y + √2·(y − u). */
  alexander: bool,
});

/** The parameters of functions that run before the first step. */
export const atStart = { launch: Launch, context: ItemContext, memory: Memory };
/** The parameters of functions that are called for each row of the time program, which is a series of equal steps. */
export const atSeries = { ...atStart, loopState: LoopState, programRow: StepSeries };

/** The value type of the record `LoopState`. */
export type LoopState = ValueOf<typeof LoopState>;

/** Returns the function that decodes an integer of the time program into a series of equal steps (`encodedSteps`). */
export function stepSeriesAt({ homogeneous = false, exercise, capacity }: SolverVariant) {
  return fn({
    name: "stepSeriesAt",
    params: { ...atStart, loopState: LoopState, index: i32 },
    env: { ...FLAGS, STEPS_SHIFT, homogeneous, dates: exercise === "dates", capacity },
    body({ launch, index }, _gpu, env) {
      const flag = launch.flags[index];
      return {
        index,
        flag,
        refactor: (flag & env.REFACTOR) !== 0,
        event: (flag & (env.DIVIDEND | env.EXERCISE | env.BARRIERS)) !== 0,
        start: env.homogeneous && (flag & env.SECOND_FACTORS) !== 0 ? env.capacity : 0,
        count: flag >> env.STEPS_SHIFT,
        crankNicolson: (flag & env.CRANK_NICOLSON) !== 0,
        alexander: env.dates && (flag & env.ALEXANDER) !== 0,
      };
    },
  });
}

/**
 * The rows of I − hL, from the last node to the first: kept as they are (`homogeneous`, policy iteration, knock-ins),
 * or eliminated on the way. Cost: some 30 flops a node, besides the volatility.
 */
function assembleRows(variant: SolverVariant) {
  const { exercise, barriers = 0, knockIns = 0, homogeneous = false } = variant;
  return fn({
    name: "assembleRows",
    params: { ...atStart, loopState: LoopState, of: Coefficients },
    env: {
      varianceAt: varianceAt(variant),
      rowWeight,
      matrixRow,
      isDecoupled,
      decouples: barriers > 0 && !homogeneous,
      homogeneous,
      onTheWay: exercise === "policy" || knockIns > 0,
    },
    body({ launch, context, memory, loopState, of }, _gpu, env) {
      const { x, inverse, lower, upper, rowLower, rowUpper } = memory;
      const last = launch.nodes - 1;
      const row = (launch.obstacleColumn + 1) * launch.nodes;
      let excess = 1.0; // 1 − lower[i + 1]
      let here = x[last];
      let below = x[last - 1];
      let hUp = here - below;
      let piece = 0;
      for (let i = last; i >= 0; i--) {
        const hDown = here - below;
        const on = env.varianceAt({ table: context.table, of, slice: loopState.surface, row, i, here, piece });
        piece = on.piece;
        const weight = env.rowWeight(hDown, hUp, i === 0, i === last);
        const entries = env.matrixRow(
          of.hDrift * here,
          on.variance,
          hDown,
          hUp,
          weight,
          i === 0,
          i === last,
          launch.firstExercised,
        );
        let { a, c } = entries;
        if (env.decouples && env.isDecoupled(loopState.live, i)) {
          a = 0.0;
          c = 0.0;
        }
        if (env.homogeneous) {
          rowLower[i] = a;
          rowUpper[i] = c;
        } else if (env.onTheWay) {
          lower[i] = a;
          upper[i] = c;
        } else {
          const rest = 1 + of.hRate + c * excess;
          const pivot = 1 / (rest + a);
          excess = rest * pivot;
          inverse[i] = pivot;
          lower[i] = a * pivot;
          upper[i] = c * pivot;
        }
        hUp = hDown;
        here = below;
        below = x[Math.max(i - 2, 0)];
      }
    },
  });
}

/**
 * Returns the function that assembles and factors I − hL. In time-homogeneous problems the matrix rows are assembled
 * once, and then scaled by h.
 */
export function factor(variant: SolverVariant) {
  const { exercise, barriers = 0, knockIns = 0, shape, homogeneous = false } = variant;
  return fn({
    name: "factor",
    params: atSeries,
    env: {
      homogeneous,
      onTheWay: exercise === "policy" || knockIns > 0,
      isSurface: shape === "surface",
      sliceReals: SLICE_REALS,
      readCoefficients: readCoefficients(shape === "formula"),
      coefficientReals: coefficientReals(shape === "formula"),
      assembleRows: assembleRows(variant),
      factorRows: factorRows(barriers > 0),
      valueAt,
    },
    *body({ launch, context, memory, loopState, programRow }, _gpu, env) {
      const { parameters: coefficients } = context;
      const { inverse, lower, upper, rowLower, rowUpper } = memory;
      const { exercise, surface, live, held, dormantRow } = loopState;
      let { row } = loopState;
      let { hRate, hFirst, firstRate } = loopState.rates;
      let { slice } = surface;
      if (!env.homogeneous || programRow.index === 0) {
        const of = env.readCoefficients(coefficients, row);
        row += env.coefficientReals;
        env.assembleRows({ launch, context, memory, loopState, of });
        hRate = of.hRate;
        if (env.isSurface) slice += surface.spots * env.sliceReals;
        if (env.homogeneous) {
          hFirst = of.h;
          firstRate = of.hRate;
        }
      }
      if (env.homogeneous) {
        let ratio = 1.0;
        if (programRow.index > 0) {
          ratio = env.valueAt(coefficients, row) / hFirst;
          row += 1;
        }
        hRate = firstRate * ratio;
        env.factorRows({
          rows: { a: rowLower, c: rowUpper, nodes: launch.nodes, hRate },
          ratio,
          live,
          factors: { inverse, lower, upper, start: programRow.start },
        });
      }
      if (exercise.isExercised && !env.onTheWay) inverse[programRow.start] = Math.min(inverse[programRow.start], 1);
      return {
        row,
        rates: { hRate, hFirst, firstRate },
        exercise,
        surface: { move: surface.move, spots: surface.spots, first: surface.first, slice, piece: 0 },
        live,
        held,
        dormantRow,
      };
    },
  });
}

/** The exercise payoff at the nodes: `obstacle`, or slope·obstacle − kink where it depends on time. */
const Obstacle = record({ obstacle: read(real), slope: real, kink: real });

/**
 * Returns the function that makes one time step by a factored matrix. It solves (I − hL)·y = u, then sets u ← y
 * (implicit Euler), u ← 2y − u (Crank–Nicolson, `extrapolated`), or u ← y + over·(y − u) (`weighted`; Crank–Nicolson is
 * over = 1).
 *
 * Elimination runs from the last node to the first, and substitution back. With `early` exercise y is kept above its
 * lower bound during substitution: the payoff, or for Crank–Nicolson the mean of payoff and old u, which is equivalent
 * to u_new ≥ payoff. This is the method of Brennan & Schwartz (1977), which is exact if the exercise region is at the
 * first nodes. With `keeps` y goes to `kept`, too, and the result is the number of exercised nodes. Cost for each node:
 * 7 flops and 8 (with early exercise 9) reals of private memory.
 */
export function projectedStep(
  early: boolean,
  { weighted, timeDependent, keeps }: Readonly<Record<"weighted" | "timeDependent" | "keeps", boolean>>,
) {
  return fn({
    name: "projectedStep",
    params: {
      u: write(real),
      z: write(real),
      factors: Factors,
      paid: Obstacle,
      nodes: i32,
      extrapolated: bool,
      over: real,
      kept: KeptLayer,
    },
    env: { early, weighted, timeDependent, keeps },
    body({ u, z, factors, paid: { obstacle, slope, kink }, nodes, extrapolated, over, kept }, gpu, env) {
      const { inverse, lower, upper, start } = factors;
      let y = 0.0;
      let exercised = 0.0;
      for (let i = nodes - 1; i >= 0; i--) {
        y = u[i] * inverse[start + i] + upper[start + i] * y;
        z[i] = y;
      }
      y = 0.0;
      if (extrapolated) {
        for (let i = 0; i < nodes; i++) {
          y = z[i] + lower[start + i] * y;
          const before = u[i];
          if (env.early) {
            const paid = env.timeDependent ? slope * obstacle[i] - kink : obstacle[i];
            const bound = 0.5 * (paid + before);
            if (env.keeps) exercised += y <= bound && exercised === gpu.real(i) ? 1.0 : 0.0;
            y = Math.max(y, bound);
          }
          if (env.keeps) kept.values[kept.at + i * kept.apart] = y;
          u[i] = env.weighted ? y + over * (y - before) : y + y - before;
        }
      } else {
        for (let i = 0; i < nodes; i++) {
          y = z[i] + lower[start + i] * y;
          if (env.early) {
            const paid = env.timeDependent ? slope * obstacle[i] - kink : obstacle[i];
            if (env.keeps) exercised += y <= paid && exercised === gpu.real(i) ? 1.0 : 0.0;
            y = Math.max(y, paid);
          }
          if (env.keeps) kept.values[kept.at + i * kept.apart] = y;
          u[i] = y;
        }
      }
      return exercised;
    },
  });
}
