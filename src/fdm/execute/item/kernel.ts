import { LastUsed } from "../../../last-used.ts";
import { bool, i32, type Kernel, kernel, type KernelFunction, read, real, write } from "../../../kernel/index.ts";
import { barrierWords, CROSSING_WORDS, holdEnd, knockOut, liveObstacle, readEnds } from "../../conditions/barrier.ts";
import { payDividend, payDividendBetween } from "../../conditions/dividend.ts";
import { exerciseByHalves, exerciseOnDate } from "../../conditions/exercise.ts";
import {
  crossInWords,
  knockInWords,
  rowsStep,
  settleDormant,
  dormantDividend,
  dormantStep,
} from "../../conditions/knock-in.ts";
import { matrixRow, rowWeight } from "../../operator/matrix.ts";
import { pointValue, pointWords } from "../../read/point.ts";
import { policyStep } from "../../conditions/policy.ts";
import { factorRows } from "../../operator/factor.ts";
import { SECOND, STEPS_SHIFT } from "../../time/flags.ts";
import { ZERO_VALUE_GUARD } from "../../operator/zero-value-guard.ts";
import {
  CLOSED_WORDS,
  coefficientWords,
  grownNode,
  readClosed,
  readCoefficients,
} from "../../operator/read-coefficients.ts";
import { projectedStep } from "./step.ts";
import { PIECE_WORDS, readSurface, surfaceSigma } from "../../operator/read-surface.ts";

/**
 * How early exercise is treated; "dates": at some ends of steps only; "time-dependent": as Brennan and Schwartz do, for
 * an obstacle that moves. See `solverKernel`.
 */
export type ExerciseScheme = "none" | "brennan-schwartz" | "policy" | "dates" | "time-dependent";

/**
 * Where σ² comes from: flat in S, a column of the table, a formula in S and t evaluated in the kernel, or cubics in S,
 * other ones each step, that the instances of one expiry share (`surface.ts`).
 */
export type DiffusionShape = "lognormal" | "table" | "formula" | "surface";

export interface SolverVariant {
  readonly exercise: ExerciseScheme;
  readonly shape: DiffusionShape;
  /** Whether any step ends at a dividend; without them a third of the code goes. */
  readonly dividends: boolean;
  /** How many barriers instances have; none unless said. */
  readonly barriers?: number;
  /**
   * How many knock-ins instances wait for, none unless said: then a second value is solved beside the first
   * (`knock-in.ts`).
   */
  readonly knockIns?: number;
  /** Whether instances bring a mesh and a vanilla payoff in closed form, in place of a table. */
  readonly closed: boolean;
  /**
   * Whether no coefficient depends on time: rows are made once, and scaled when the step changes; two factorisations
   * are kept.
   */
  readonly homogeneous?: boolean;
  /** Whether values at points are read beside windows; not unless said. */
  readonly points?: boolean;
  /** Most nodes an instance may have. */
  readonly capacity: number;
  /** σ(S, t), for the shape "formula". */
  readonly volatility?: KernelFunction<any, number>;
}

/**
 * The whole backward time loop of a batch of one-factor problems, one instance each:
 *
 *   ∂V/∂t + ½σ(S,t)²S² ∂²V/∂S² + (r−q)S ∂V/∂S − rV = 0,   V(S, T) = payoff,   V ≥ obstacle if exercise is early.
 *
 * A step solves (I − hL)·y = u and sets u ← y (implicit Euler, h = Δt) or u ← 2y − u (Crank–Nicolson, h = Δt/2), so
 * that L is never applied (`step.ts`). Of Alexander's two stages (1977), h = (1 − 1/√2)·Δt, the second sets u ← (1 +
 * √2)·y − √2·u. L is the three-point operator on a nonuniform mesh (`matrix.ts`). V = obstacle at the first node where
 * it is `firstExercised`, being certain to be exercised.
 *
 * Elimination carries the row sums (Grassmann, Taksar & Heyman 1985): there are no subtractions, so the factors are
 * good to a few ulp even in f32. `brennan-schwartz` needs the exercise region at the first nodes; `policy`
 * (`policy.ts`) makes no such assumption and costs some six times as much. `dates` takes V ← max(V, obstacle) at the
 * ends of steps that say so (`exercise.ts`). With `moving` the obstacle is φ·(slope·x − kink) with other numbers each
 * step (`forward.ts`).
 *
 * Where a barrier is monitored the nodes beyond it are cut off (a = c = 0) and its own node holds what is paid there,
 * exactly; at dates on which one is monitored, or begins or ends to be, the nodes beyond it are set again
 * (`barrier.ts`). With knock-ins a second value, that before any of them has been hit, follows the first from step to
 * step (`knock-in.ts`).
 *
 * Layout: value i of instance l stands at [i·pitch + l].
 *   table         columns of `nodes` values: S, V(S, T), the obstacle where it is not V(S, T), then σ²S² (shape
 *                 "table"); `closed`: six numbers that the nodes and max(φ·(S − kink), 0) follow from, kink, width,
 *                 step, at, zeroAt (`KinkedMesh`), φ; "time-dependent": slope and φ·kink of each step, the last one's
 *                 twice; after all that the surface (shape "surface"), see `readSurface`
 *   coefficients  per refactoring: h, h·σ² (h if σ comes from elsewhere), h·(r−q), h·r [, t, shift of σ]; `steady`:
 *                 after the first one h alone (`flagsOfKept`); with barriers, at expiry and at each event:
 *                 `knockInWords`, `barrierWords` (`barrier.ts`); before those per dividend: keep, cash, `crossInWords`,
 *                 `CROSSING_WORDS` a barrier; in the end per point: `pointWords`
 *   flags         one word a run of steps that are alike, the same for all instances (`runsOfSteps`)
 *   start         first node of each window of six that is read at the end; plus `nodes` for the value before a
 *                 knock-in
 *   out           [window·6 + k]; `closed`: and the nodes after them, as many, as they were rounded here; then the
 *                 points' values (`point.ts`)
 * Cost: a step is 7 flops and 8 (early exercise 9) words of private memory a node; refactoring about 4 steps.
 */
export function solverKernel(variant: SolverVariant): Kernel {
  if (variant.volatility !== undefined) return makeKernel(variant);
  return kernels.getOrMake(variantName(variant), () => makeKernel(variant));
}

/** Two variants without a formula are the same if their names are. */
export function variantName(variant: SolverVariant): string {
  const {
    exercise,
    shape,
    dividends,
    barriers = 0,
    knockIns = 0,
    closed,
    points = false,
    homogeneous = false,
    capacity,
  } = variant;
  const levels = `${barriers > 0 ? `-barriers${barriers}` : ""}${knockIns > 0 ? `-ins${knockIns}` : ""}`;
  const events = `${dividends ? "-dividends" : ""}${levels}`;
  return `${exercise}-${shape}${events}${closed ? "-closed" : ""}${points ? "-points" : ""}${homogeneous ? "-homogeneous" : ""}-${capacity}`;
}

/** Factorisations that a time-homogeneous solver has room for. */
export const KEPT_FACTORS = 2;

/**
 * Variants whose kernels are remembered. A book has a dozen, 600 random trades of every kind some 200; numbers of
 * barriers and knock-ins make
 * their number unbounded in a stream.
 */
export const MAX_VARIANTS = 512;
/** One kernel a variant, so that devices know them by identity. A pure function's memory. */
const kernels = new LastUsed<string, Kernel>(MAX_VARIANTS);

/** What both splits of the solver are launched with; the layouts are `solverKernel`'s. */
export const solverParams = {
  instances: i32,
  pitch: i32,
  nodes: i32,
  runs: i32,
  windows: i32,
  points: i32,
  obstacleColumn: i32,
  scale: real,
  firstExercised: bool,
  table: read(real),
  coefficients: read(real),
  flags: read(i32),
  start: read(i32),
  out: write(real),
} as const;

function makeKernel(variant: SolverVariant): Kernel {
  const {
    exercise,
    shape,
    dividends,
    barriers = 0,
    knockIns = 0,
    closed,
    capacity,
    homogeneous = false,
    points = false,
    volatility,
  } = variant;
  const early = exercise !== "none";
  const dates = exercise === "dates";
  const timeDependent = exercise === "time-dependent";
  const places = homogeneous ? KEPT_FACTORS : 1;
  return kernel({
    name: `fdm-${variantName(variant)}`,
    params: solverParams,
    env: {
      early,
      shape,
      dividends,
      dates,
      timeDependent,
      stepsShift: STEPS_SHIFT,
      hasBarriers: barriers > 0,
      hasKnockIns: knockIns > 0,
      closed,
      capacity,
      grownNode,
      readClosed,
      closedWords: CLOSED_WORDS,
      readSurface: readSurface(shape),
      surfaceSigma,
      sliceWords: PIECE_WORDS,
      readCoefficients: readCoefficients(shape === "formula"),
      coefficientWords: coefficientWords(shape === "formula"),
      policy: exercise === "policy",
      homogeneous,
      rowCapacity: homogeneous ? capacity : 1,
      factorRows: factorRows(barriers > 0),
      earlyCapacity: early ? capacity : 1,
      policyCapacity: exercise === "policy" ? capacity : 1,
      factorCapacity: exercise === "policy" || knockIns > 0 ? capacity : 1,
      // Factored on the way, where there are two values.
      inverseCapacity: knockIns > 0 ? 1 : places * capacity,
      factorsCapacity: places * capacity,
      second: SECOND,
      min: ZERO_VALUE_GUARD,
      dormantCapacity: knockIns > 0 ? capacity : 1,
      matrixRow,
      rowWeight,
      policyStep,
      projectedStep: projectedStep(early && !dates, dates, timeDependent),
      exerciseOnDate,
      exerciseByHalves,
      barrierWords: barrierWords(barriers),
      knockOut: knockOut(barriers),
      readEnds: readEnds(barriers),
      holdEnd,
      liveObstacle,
      payDividend,
      payDividendBetween,
      cross: knockOut(barriers, true),
      crossWords: CROSSING_WORDS * barriers,
      knockInWords: knockInWords(barriers, knockIns),
      settleDormant: settleDormant(barriers, knockIns),
      dormantStep: dormantStep(barriers, knockIns),
      dormantDividend: dormantDividend(barriers, knockIns),
      crossDormant: settleDormant(barriers, knockIns, true),
      crossInWords: crossInWords(barriers, knockIns),
      rowsStep,
      reads: points,
      pointWords: pointWords(closed),
      pointValue: pointValue({ closed, american: early && !dates, timeDependent, hasKnockIns: knockIns > 0 }),
      ...(volatility === undefined ? {} : { volatility }),
    },
    body(
      {
        instances,
        pitch,
        nodes,
        runs,
        windows,
        points,
        obstacleColumn,
        scale,
        firstExercised,
        table,
        coefficients,
        flags,
        start,
        out,
      },
      gpu,
      env: any,
    ) {
      const instance = gpu.globalId();
      if (instance >= instances) return;
      const u = gpu.privateReal(env.capacity); // the solution
      const z = gpu.privateReal(env.capacity); // the right-hand side after elimination
      const inverse = gpu.privateReal(env.inverseCapacity); // 1 / pivot ("policy": not used)
      const lower = gpu.privateReal(env.factorsCapacity); // a / pivot ("policy", knock-ins: a)
      const upper = gpu.privateReal(env.factorsCapacity); // c / pivot ("policy", knock-ins: c)
      const x = gpu.privateReal(env.capacity); // the nodes
      const obstacle = gpu.privateReal(env.earlyCapacity); // "time-dependent": φ·x
      const active = gpu.privateReal(env.policyCapacity); // 1 where exercised
      const factor = gpu.privateReal(env.factorCapacity); // a / pivot of the current policy, or value
      const dormant = gpu.privateReal(env.dormantCapacity); // the solution before a knock-in
      const rowLower = gpu.privateReal(env.rowCapacity); // a of the first factorisation's rows
      const rowUpper = gpu.privateReal(env.rowCapacity); // c
      const last = nodes - 1;
      if (env.closed) {
        const { kink, width, meshStep, at, zeroAt, sign } = env.readClosed({ values: table, pitch, instance });
        const factor = Math.exp(meshStep);
        const inverseFactor = 1 / factor;
        let growth = 1.0; // e^{(i − at)·step}, again at every eighth node, lest rounding add up
        let decay = 1.0;
        for (let i = 0; i < nodes; i++) {
          if ((i & 7) === 0) {
            growth = Math.exp((gpu.real(i) - at) * meshStep);
            decay = 1 / growth;
          }
          const node = env.grownNode(i, kink, width, growth - decay, at, zeroAt);
          const payoff = Math.max(sign * (node - kink), 0);
          x[i] = node;
          u[i] = payoff + env.min;
          if (env.early) obstacle[i] = env.timeDependent ? sign * node : payoff;
          growth = growth * factor;
          decay = decay * inverseFactor;
        }
      } else {
        for (let i = 0; i < nodes; i++) {
          x[i] = table[i * pitch + instance];
          u[i] = table[(nodes + i) * pitch + instance] + env.min;
          if (env.early) obstacle[i] = table[(obstacleColumn * nodes + i) * pitch + instance];
        }
      }
      // A call's first node is exercised whatever the rate: its row would let it grow where the rate is negative.
      const isExercised =
        env.early && !env.dates && firstExercised && x[0] > x[1] && obstacle[0] > obstacle[1] && obstacle[1] > 0;
      if (env.policy) for (let i = 0; i < nodes; i++) active[i] = 0;
      const tail = (env.closed ? env.closedWords : (obstacleColumn + 1) * nodes) * pitch;
      const { slice, move, pieces } = env.readSurface({ values: table, pitch, instance }, tail);
      let pieceRow = tail + 2 * pitch + 1 + slice * pieces * env.sliceWords;
      let moves = env.closedWords * pitch + instance;
      // What exercise pays is φ·(slope·x) − kink where the obstacle moves.
      let slope = 1.0;
      let kink = 0.0;
      let row = 0;
      let hRate = 0.0;
      let hFirst = 1.0; // h of `rowLower` and `rowUpper`, and h·r
      let firstRate = 0.0;
      let dormantRow = row; // the last event's words
      if (env.hasKnockIns) {
        env.settleDormant(coefficients, row, pitch, instance, u, dormant, nodes, true);
        row += env.knockInWords;
      }
      // Knocked out at nodes up to `low` and from `high` on.
      let low = -1;
      let high = nodes;
      let lowHeld = false;
      let highHeld = false;
      let lowValue = 0.0;
      let highValue = 0.0;
      if (env.hasBarriers) {
        env.knockOut({ values: coefficients, pitch, instance }, row, u, nodes);
        const ends = env.readEnds({ values: coefficients, pitch, instance }, row);
        low = ends.low;
        high = ends.high;
        lowHeld = ends.lowHeld;
        highHeld = ends.highHeld;
        lowValue = ends.lowValue;
        highValue = ends.highValue;
        row += env.barrierWords;
        if (env.policy)
          env.liveObstacle(table, obstacleColumn, pitch, instance, obstacle, nodes, low, lowHeld, high, highHeld);
      }
      for (let run = 0; run < runs; run++) {
        const flag = flags[run];
        // Steady: rows once, at the first step.
        if ((flag & 1) !== 0 && (!env.homogeneous || run === 0)) {
          const {
            h,
            hVariance,
            hDrift,
            hRate: rate,
            time,
            shift,
          } = env.readCoefficients({ values: coefficients, pitch, instance }, row);
          hRate = rate;
          row += env.coefficientWords;
          let excess = 1.0; // 1 − lower[i + 1]
          let here = x[last];
          let below = x[last - 1];
          let hUp = here - below;
          let piece = 0;
          for (let i = last; i >= 0; i--) {
            const hDown = here - below;
            const drift = hDrift * here;
            let variance = hVariance * here * here;
            if (env.shape === "table")
              variance = hVariance * table[((obstacleColumn + 1) * nodes + i) * pitch + instance];
            if (env.shape === "formula" && here > 0) {
              const sigma = Math.max(env.volatility(here * scale, time) + shift, 0);
              variance = h * sigma * sigma * here * here;
            }
            if (env.shape === "surface") {
              const { piece: found, sigma } = env.surfaceSigma(table, pieceRow, pieces, move, piece, here);
              piece = found;
              variance = h * sigma * sigma * here * here;
            }
            const weight = env.rowWeight(hDown, hUp, i === 0, i === last);
            const entries = env.matrixRow(drift, variance, hDown, hUp, weight, i === 0, i === last, firstExercised);
            let a = entries.a;
            let c = entries.c;
            if (env.hasBarriers && !env.homogeneous && (i <= low || i >= high)) {
              a = 0.0;
              c = 0.0;
            }
            if (env.homogeneous) {
              rowLower[i] = a;
              rowUpper[i] = c;
            } else if (env.policy || env.hasKnockIns) {
              lower[i] = a;
              upper[i] = c;
            } else {
              const rest = 1 + hRate + c * excess;
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
          if (env.shape === "surface") pieceRow += pieces * env.sliceWords;
          if (env.homogeneous) {
            hFirst = h;
            firstRate = rate;
          }
        }
        // Where the factors of the run's steps stand.
        const place = env.homogeneous && (flag & env.second) !== 0 ? env.capacity : 0;
        if (env.homogeneous && (flag & 1) !== 0) {
          let ratio = 1.0;
          if (run > 0) {
            ratio = coefficients[row * pitch + instance] / hFirst;
            row += 1;
          }
          hRate = firstRate * ratio;
          env.factorRows(rowLower, rowUpper, ratio, hRate, low, high, nodes, inverse, lower, upper, place);
        }

        if (isExercised && !env.policy && !env.hasKnockIns) inverse[place] = Math.min(inverse[place], 1);
        const crankNicolson = (flag & 2) !== 0;
        const runLength = flag >> env.stepsShift;
        for (let step = 0; step < runLength; step++) {
          if (env.hasBarriers) {
            env.holdEnd(u, nodes, low, lowHeld, lowValue, hRate);
            env.holdEnd(u, nodes, high, highHeld, highValue, hRate);
          }
          if (env.policy) {
            env.policyStep(u, z, lower, upper, obstacle, active, factor, nodes, hRate, crankNicolson);
          } else if (env.hasKnockIns) {
            env.rowsStep(u, z, lower, upper, factor, nodes, -1, nodes, hRate, crankNicolson);
          } else {
            const alexander = env.dates && (flag & 32) !== 0;
            if (env.timeDependent) {
              slope = table[moves];
              kink = table[moves + pitch];
              moves += 2 * pitch;
            }
            env.projectedStep(
              u,
              z,
              inverse,
              lower,
              upper,
              obstacle,
              slope,
              kink,
              nodes,
              crankNicolson || alexander,
              alexander ? Math.SQRT2 : 1.0,
              place,
            );
          }

          if (env.hasBarriers) {
            env.holdEnd(u, nodes, low, lowHeld, lowValue, 0.0);
            env.holdEnd(u, nodes, high, highHeld, highValue, 0.0);
          }

          if (env.hasKnockIns)
            env.dormantStep(
              coefficients,
              dormantRow,
              pitch,
              instance,
              dormant,
              u,
              z,
              lower,
              upper,
              factor,
              nodes,
              hRate,
              crankNicolson,
            );
        }
        if (env.dates && (flag & 8) !== 0) {
          if (obstacleColumn === 1) env.exerciseOnDate(u, obstacle, z, nodes);
          else env.exerciseByHalves(u, table, 1, obstacleColumn, nodes, pitch, instance);
        }
        if (env.dividends && (flag & 4) !== 0) {
          const keep = coefficients[row * pitch + instance];
          const cash = coefficients[(row + 1) * pitch + instance];
          row += 2;
          if (env.hasBarriers) env.payDividendBetween(x, u, z, nodes, keep, cash, low, high);
          else env.payDividend(x, u, z, nodes, keep, cash);
          if (env.hasKnockIns) {
            // Knocked in after the dividend: nobody could exercise before it.
            env.dormantDividend(coefficients, dormantRow, pitch, instance, x, dormant, factor, nodes, keep, cash);
            env.crossDormant(coefficients, row, pitch, instance, z, dormant, nodes, false);
            row += env.crossInWords;
          }
          for (let i = 0; i < nodes; i++) {
            u[i] = z[i];
            // Before the date other nodes may be alive.
            if (env.hasBarriers && env.policy)
              u[i] = Math.max(u[i], table[(obstacleColumn * nodes + i) * pitch + instance]);
            else if (env.early && !env.dates) u[i] = Math.max(u[i], obstacle[i]);
          }
          if (env.hasBarriers) {
            env.cross({ values: coefficients, pitch, instance }, row, u, nodes);
            row += env.crossWords;
          }
        }
        if (env.hasKnockIns && (flag & 16) !== 0) {
          env.settleDormant(coefficients, row, pitch, instance, u, dormant, nodes, false);
          dormantRow = row;
          row += env.knockInWords;
        }
        if (env.hasBarriers && (flag & 16) !== 0) {
          env.knockOut({ values: coefficients, pitch, instance }, row, u, nodes);
          const ends = env.readEnds({ values: coefficients, pitch, instance }, row);
          low = ends.low;
          high = ends.high;
          lowHeld = ends.lowHeld;
          highHeld = ends.highHeld;
          lowValue = ends.lowValue;
          highValue = ends.highValue;
          row += env.barrierWords;
          if (env.policy) {
            env.liveObstacle(table, obstacleColumn, pitch, instance, obstacle, nodes, low, lowHeld, high, highHeld);
            for (let i = 0; i < nodes; i++) u[i] = Math.max(u[i], obstacle[i]);
          }
        }
      }
      for (let window = 0; window < windows; window++) {
        const first = start[window * pitch + instance];
        for (let k = 0; k < 6; k++) {
          if (env.hasKnockIns && first >= nodes) out[(window * 6 + k) * pitch + instance] = dormant[first - nodes + k];
          else out[(window * 6 + k) * pitch + instance] = u[first + k];
          if (env.closed) out[((windows + window) * 6 + k) * pitch + instance] = x[first + k];
        }
      }
      if (env.reads) {
        const read = (env.closed ? 2 : 1) * windows * 6;
        for (let point = 0; point < points; point++) {
          out[(read + point) * pitch + instance] = env.pointValue({
            of: {
              table: { values: table, pitch, instance },
              coefficients: { values: coefficients, pitch, instance },
              nodes,
              x,
              u: u,
              dormant: dormant,
              obstacleRow: obstacleColumn * nodes,
              slope,
              kink,
            },
            row: row,
          });
          row += env.pointWords;
        }
      }
    },
  });
}
