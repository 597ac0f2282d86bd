import { type Kernel, kernel } from "../../../kernel/index.ts";
import { solverParams, type SolverVariant, variantName } from "../kernel.ts";
import { rowWeight } from "../matrix.ts";
import { CLOSED_WORDS, closedNode, coefficientWords, readClosed, readCoefficients } from "../rows.ts";
import { PIECE_WORDS, readSurface } from "../surface.ts";
import { assembleRuns } from "./assemble.ts";
import { payRuns } from "./dividend.ts";
import { factorRuns } from "./factor.ts";
import { policyRuns } from "./policy.ts";
import { stepRuns } from "./step.ts";
import { multipliers, multiplierWords, scratchWords, type Team } from "./team.ts";

/** Subgroups of one multiprocessor that 2,048 options give an H200, whose registers hold them with 128 each: with more, the sixteenth would wait for the first. */
const RESIDENT = 16;
/** Of longer runs too much would be spilled. */
const MOST_RESIDENT_ROWS = 9;

/**
 * The same time loop, tables and results as `solverKernel`, split the other way: one team of items an option, a workgroup each, launched
 * with as many groups as lanes. Each item has a run of capacity/items consecutive nodes, in private arrays short enough for registers.
 *
 * Both sweeps of Thomas' algorithm, and the recurrence of its pivots, are scans over the items (Stone 1973; `scan.ts`, `factor.ts`): an
 * item needs what enters its run, no more. So it is the same elimination, with the same pivots and the same projection, not another
 * algorithm, and its results differ by rounding only.
 *
 * Cost of a step: 12 flops a node (early exercise 22), no workgroup memory a node; an item has 24 (42) flops beside, and either 12 (17)
 * shuffles, or 28 (40) words of workgroup memory and 14 barriers. Policy iteration: see `policyRuns`, a round.
 * Workgroup memory: `teamWords`.
 */
export function teamKernel(variant: SolverVariant, team: Team, steady: boolean): Kernel {
  if (variant.volatility !== undefined) return makeKernel(variant, team, steady);
  const name = `${team.items} ${steady} ${variantName(variant)}`;
  let made = kernels.get(name);
  if (made === undefined) kernels.set(name, (made = makeKernel(variant, team, steady)));
  return made;
}

/** One kernel a variant, as for the other split. A pure function's memory. */
const kernels = new Map<string, Kernel>();

/** Words of workgroup memory: the nodes, their weights and values, what scans pass on, two counters. */
export function teamWords(team: Team, capacity: number): number {
  return 3 * capacity + scratchWords(team) + 2 * multiplierWords(team) + 2;
}

function makeKernel(variant: SolverVariant, team: Team, steady: boolean): Kernel {
  const { exercise, shape, dividends, closed, capacity, volatility } = variant;
  const rows = Math.ceil(capacity / team.items);
  const early = exercise !== "none";
  const policy = exercise === "policy";
  const scaled = steady && !early;
  return kernel({
    name: `fdm-${team.shuffles ? "subgroup" : "workgroup"}-${variantName(variant)}${scaled ? "-scaled" : ""}`,
    groupSize: team.items,
    ...(team.shuffles && rows <= MOST_RESIDENT_ROWS ? { residentGroups: RESIDENT } : {}),
    params: solverParams,
    env: {
      early,
      shape,
      dividends,
      policy,
      closed,
      capacity,
      rows,
      items: team.items,
      scratchWords: scratchWords(team),
      policyRows: policy ? rows : 1,
      scaled,
      // In registers for a step, which factors that last have no use for.
      readAhead: !steady,
      multipliers: multipliers(team),
      multiplierWords: multiplierWords(team),
      closedNode,
      rowWeight,
      readClosed,
      closedWords: CLOSED_WORDS,
      readSurface: readSurface(shape),
      sliceWords: PIECE_WORDS,
      readCoefficients: readCoefficients(shape === "formula"),
      coefficientWords: coefficientWords(shape === "formula"),
      assembleRuns: assembleRuns({ rows, shape, ...(volatility === undefined ? {} : { volatility }) }),
      payRuns: payRuns(rows),
      factorRuns: factorRuns(team, rows, { policy: false, gain: 2, adaptive: steady }),
      stepRuns: stepRuns(team, rows, early, scaled),
      policyRuns: policyRuns(team, rows),
    },
    *body(
      { lanes, pitch, nodes, steps, windows, obstacleColumn, scale, fixed, table, coefficients, flags, start, out },
      gpu,
      env: any,
    ) {
      const lane = gpu.groupId();
      if (lane >= lanes) return;
      const item = gpu.localId();
      const x = gpu.sharedReal(env.capacity); // the nodes
      const weights = gpu.sharedReal(env.capacity); // of the rows, see `rowWeight`
      const values = gpu.sharedReal(env.capacity); // the solution, where items need more than their own
      const scratch = gpu.sharedReal(env.scratchWords);
      const count = gpu.sharedI32(1);
      const sum = gpu.sharedI32(1);
      const u = gpu.privateReal(env.rows); // the solution; `scaled`, after the first factorisation, times 2 / pivot
      const z = gpu.privateReal(env.rows); // after elimination
      const a = gpu.privateReal(env.rows);
      const c = gpu.privateReal(env.rows);
      const inverse = gpu.privateReal(env.rows); // 2 / pivot ("policy": 1 / pivot)
      const lower = gpu.privateReal(env.rows); // a / pivot
      const upper = gpu.privateReal(env.rows); // c / pivot
      const obstacle = gpu.privateReal(env.rows);
      const active = gpu.privateReal(env.policyRows); // 1 where exercised
      const rhs = gpu.privateReal(env.policyRows);
      // Multipliers of the scans.
      const above = gpu.precision === "f32" ? gpu.privateReal(env.multipliers) : gpu.sharedReal(env.multiplierWords);
      const below = gpu.precision === "f32" ? gpu.privateReal(env.multipliers) : gpu.sharedReal(env.multiplierWords);
      const first = item * env.rows;
      if (env.closed) {
        const { kink, width, meshStep, at, zeroAt, sign } = env.readClosed(table, pitch, lane);
        for (let i = item; i < nodes; i += env.items) {
          x[i] = env.closedNode(i, kink, width, meshStep, at, zeroAt);
        }
        yield;
        for (let k = 0; k < env.rows; k++) {
          u[k] = first + k < nodes ? Math.max(sign * (x[Math.min(first + k, nodes - 1)] - kink), 0) : 0.0;
          obstacle[k] = u[k];
        }
      } else {
        for (let i = item; i < nodes; i += env.items) x[i] = table[i * pitch + lane];
        for (let k = 0; k < env.rows; k++) {
          const i = first + k;
          u[k] = i < nodes ? table[(nodes + Math.min(i, nodes - 1)) * pitch + lane] : 0.0;
          obstacle[k] = 0.0;
          if (env.early && i < nodes) obstacle[k] = table[(obstacleColumn * nodes + i) * pitch + lane];
        }
        yield;
      }
      if (env.policy) for (let k = 0; k < env.rows; k++) active[k] = 0.0;
      for (let i = item; i < nodes; i += env.items) {
        const hDown = x[i] - x[Math.max(i - 1, 0)];
        const hUp = x[Math.min(i + 1, nodes - 1)] - x[i];
        weights[i] = env.rowWeight(hDown, hUp, i === 0, i === nodes - 1);
      }
      if (item === 0) gpu.atomicStore(count, 0, 0);
      yield;
      const tail = (env.closed ? env.closedWords : (obstacleColumn + 1) * nodes) * pitch;
      const { slice, move, pieces } = env.readSurface(table, tail, pitch, lane);
      let pieceRow = tail + 2 * pitch + 1 + slice * pieces * env.sliceWords;
      let piece = 0;
      let row = 0;
      let hRate = 0.0;
      let reach = 0;
      let flag = 0;
      let nextFlag = flags[0];
      const firstRow = env.readCoefficients(coefficients, 0, pitch, lane);
      let nextH = firstRow.h;
      let nextVariance = firstRow.hVariance;
      let nextDrift = firstRow.hDrift;
      let nextRate = firstRow.hRate;
      let nextTime = firstRow.time;
      let nextShift = firstRow.shift;
      for (let step = 0; step < steps; step++) {
        // Read a step ahead, as nothing can go on without it.
        flag = nextFlag;
        nextFlag = step + 1 < steps ? flags[step + 1] : 0;
        if (!env.readAhead && (flag & 1) !== 0) {
          const now = env.readCoefficients(coefficients, row, pitch, lane);
          nextH = now.h;
          nextVariance = now.hVariance;
          nextDrift = now.hDrift;
          nextRate = now.hRate;
          nextTime = now.time;
          nextShift = now.shift;
        }
        const h = nextH;
        const hVariance = nextVariance;
        const hDrift = nextDrift;
        const rate = nextRate;
        const time = nextTime;
        const shift = nextShift;
        if ((flag & 1) !== 0) row += env.coefficientWords;
        if (env.readAhead && (nextFlag & 1) !== 0) {
          const next = env.readCoefficients(coefficients, row + ((flag & 4) === 0 ? 0 : 2), pitch, lane);
          nextH = next.h;
          nextVariance = next.hVariance;
          nextDrift = next.hDrift;
          nextRate = next.hRate;
          nextTime = next.time;
          nextShift = next.shift;
        }
        if ((flag & 1) !== 0) {
          hRate = rate;
          const varianceRow = (obstacleColumn + 1) * nodes;
          const { piece: found } = env.assembleRuns(
            x,
            weights,
            table,
            a,
            c,
            nodes,
            pitch,
            lane,
            fixed,
            h,
            hVariance,
            hDrift,
            time,
            shift,
            scale,
            varianceRow,
            pieceRow,
            pieces,
            move,
            piece,
          );
          if (env.shape === "surface") {
            piece = found;
            pieceRow += pieces * env.sliceWords;
          }
          if (env.scaled && step > 0) for (let k = 0; k < env.rows; k++) u[k] *= gpu.reciprocal(inverse[k]);
          if (!env.policy)
            reach = yield* env.factorRuns(
              a,
              c,
              active,
              inverse,
              lower,
              upper,
              above,
              below,
              scratch,
              hRate,
              count,
              sum,
            );
          if (env.scaled) for (let k = 0; k < env.rows; k++) u[k] *= inverse[k];
        }

        const crankNicolson = (flag & 2) !== 0;
        if (env.policy) {
          yield* env.policyRuns(
            u,
            z,
            a,
            c,
            obstacle,
            active,
            rhs,
            inverse,
            lower,
            upper,
            above,
            below,
            scratch,
            count,
            sum,
            hRate,
            crankNicolson,
          );
        } else {
          yield* env.stepRuns(u, z, inverse, lower, upper, obstacle, above, below, scratch, reach, crankNicolson);
        }

        if (env.dividends && (flag & 4) !== 0) {
          const keep = coefficients[row * pitch + lane];
          const cash = coefficients[(row + 1) * pitch + lane];
          row += 2;
          if (env.scaled) for (let k = 0; k < env.rows; k++) u[k] *= gpu.reciprocal(inverse[k]);
          for (let k = 0; k < env.rows; k++) if (first + k < nodes) values[first + k] = u[k];
          yield;
          env.payRuns(x, values, u, nodes, keep, cash);
          if (env.scaled) for (let k = 0; k < env.rows; k++) u[k] *= inverse[k];
          if (env.early) for (let k = 0; k < env.rows; k++) u[k] = Math.max(u[k], obstacle[k]);
          yield;
        }
      }
      for (let k = 0; k < env.rows; k++)
        if (first + k < nodes) values[first + k] = env.scaled && steps > 0 ? u[k] * gpu.reciprocal(inverse[k]) : u[k];
      yield;
      for (let k = item; k < windows * 6; k += env.items) {
        const window = (k / 6) | 0;
        const i = start[window * pitch + lane] + k - window * 6;
        out[k * pitch + lane] = values[i];
        if (env.closed) out[(windows * 6 + k) * pitch + lane] = x[i];
      }
    },
  });
}
