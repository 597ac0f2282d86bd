/** The sweeps of `sweep.ts` on a GPU, by runs: every value is read and written once (`runs.ts`). */
import { fn, type ValueOf } from "../../../kernel/index.ts";
import { type AxesVariant, slotsOf } from "../../operator/axes-variant.ts";
import { FAULT } from "../../operator/status.ts";
import { ZERO_VALUE_GUARD } from "../../operator/zero-value-guard.ts";
import { besideOf, explicitAt, type Fall, fallOf, rowAt, rowsOf, sliceOf } from "./explicit.ts";
import { coefficientsAt, meshOf, shapeOf } from "./place.ts";
import { inPhase, LANES, RUN_STEP } from "./records.ts";
import { rightAt } from "./right-hand-side.ts";
import { runOf, solveRun } from "./runs.ts";
import { advanceNode, settleNode } from "./update.ts";

/**
 * Returns the function that computes the right-hand side and solves along the last axis with split lines; see
 * `sweepLast`.
 */
export function runsOfLast(variant: AxesVariant, corrects: boolean) {
  const { axes, correction = { full: 0 } } = variant;
  const slots = slotsOf(variant);
  const last = axes.length - 1;
  return fn({
    name: corrects ? "runsOfSecond" : "runsOfFirst",
    params: inPhase,
    env: {
      corrects,
      badPinned: FAULT.pinned,
      three: axes.length > 2,
      from: corrects ? slots.z : slots.u,
      into: corrects ? slots.second : slots.z,
      most: variant.runs!.length,
      LANES,
      rowAt: rowAt(variant, last),
      guard: ZERO_VALUE_GUARD,
      slice: sliceOf(variant),
      beside: besideOf(variant),
      fallOf,
      explicitAt: explicitAt(variant, !corrects || correction.full !== 0),
      rightAt: rightAt(variant, corrects),
      rowsOf: rowsOf(variant),
      coefficientsAt: coefficientsAt(variant),
      runOf: runOf(variant),
      solveRun: solveRun(variant),
      mesh1: meshOf(1),
      meshLast: meshOf(last),
      shapeOf,
    },
    *body({ launch, place, step, found }, gpu, env) {
      const { work, table, n1, n2, stride, plane: ofTwo, size } = launch;
      const { item, base, mesh, firstRound, everyRound, tile } = place;
      const shape = env.shapeOf(launch);
      const plane = env.three ? ofTwo : stride;
      const n = env.three ? n2 : n1;
      const onLast = env.meshLast({ mesh, shape });
      const onFirst = env.mesh1({ mesh, shape });
      const at = env.runOf({ item, n });
      const { start, length } = at;
      const z = gpu.privateReal(env.most);
      let { fault, node, row } = found;
      const rounds = env.corrects && !step.corrected ? 0 : ((plane + env.LANES - 1) / env.LANES) | 0;
      for (let r = firstRound; r < rounds; r += everyRound) {
        const column = r * env.LANES + at.lane;
        const inside = column < plane;
        // Items without a column of their own read that of another.
        const own = Math.min(column, plane - 1);
        const line = (own / stride) | 0;
        const first = line * stride;
        const lane = own - first;
        const { at: own0, pitch } = env.coefficientsAt({ base, size, node: own, own: 0 });
        const { at: first0 } = env.coefficientsAt({ base, size, node: first, own: 0 });
        const into = env.into * size + base + own;
        if (inside && length > 0) {
          const w0 = { next: table[mesh + 2 * stride + lane], before: table[mesh + 3 * stride + lane] };
          let w1 = { next: 0.0, before: 0.0 };
          let south = 0;
          let north = 0;
          if (env.three) {
            w1 = { next: table[onFirst + 2 * n1 + line], before: table[onFirst + 3 * n1 + line] };
            south = line > 0 ? -stride : 0;
            north = line < n1 - 1 ? stride : 0;
          }
          const values = env.from * size + base + first;
          const end = (start + length - 1) * plane;
          const after = Math.min(start + length, n - 1) * plane;
          let here = env.slice({ values: work, place: { at: values + end, lane, south, north }, w0, w1 });
          const behind = env.slice({ values: work, place: { at: values + after, lane, south, north }, w0, w1 });
          let fell: ValueOf<typeof Fall> = env.fallOf({ from: behind, to: here });
          for (let j = env.most - 1; j >= 0; j--)
            if (j < length) {
              const i = start + j;
              const k = i * plane;
              const to = i > 0 ? k - plane : 0;
              const before = env.slice({ values: work, place: { at: values + to, lane, south, north }, w0, w1 });
              const w = { next: table[onLast + 2 * n + i], before: table[onLast + 3 * n + i] };
              const beside = env.beside({ values: work, from: values + k + lane - 1, slice: here });
              const falls = env.fallOf({ from: here, to: before });
              const rows = env.rowsOf({ own: own0 + k, first: first0 + k, pitch, toLine: first, toPlane: k });
              const part = env.explicitAt({ launch, rows, here, beside, falls, fell, w });
              const got = env.rightAt({
                launch,
                place,
                step,
                rows,
                of: { here: here.here, all: part.all, mixed: part.mixed },
                at: base + first + k,
                lane,
                line: env.three ? i * n1 + line : i,
              });
              if (got.isBad && fault === 0) {
                fault = env.badPinned;
                node = got.node;
                row = step.run;
              }
              z[j] = got.right + env.guard;
              fell = falls;
              here = before;
            }
        }
        const factors = env.rowAt({ own: own0 + start * plane, first: first0 + start * plane, pitch });
        const { inverse, lower, upper } = factors;
        yield* env.solveRun({ work, z, tile, rows: { inverse, lower, upper, step: plane }, at, inside });
        if (inside) for (let j = 0; j < env.most; j++) if (j < length) work[into + (start + j) * plane] = z[j];
      }
      return { fault, node, row, growth: found.growth };
    },
  });
}

/** Returns the function that solves along the middle one of three axes in place, with split lines. */
export function runsOfMiddle(variant: AxesVariant, corrects: boolean) {
  const slots = slotsOf(variant);
  return fn({
    name: "runsOfMiddle",
    params: inPhase,
    env: {
      corrects,
      into: corrects ? slots.second : slots.z,
      most: variant.runs!.length,
      LANES,
      rowAt: rowAt(variant, 1),
      coefficientsAt: coefficientsAt(variant),
      runOf: runOf(variant),
      solveRun: solveRun(variant),
    },
    *body({ launch: { work, n1, n2, stride, plane, size }, place, step, found }, gpu, env) {
      const { item, base, firstRound, everyRound, tile } = place;
      const at = env.runOf({ item, n: n1 });
      const { start, length } = at;
      const z = gpu.privateReal(env.most);
      const columns = stride * n2;
      const rounds = env.corrects && !step.corrected ? 0 : ((columns + env.LANES - 1) / env.LANES) | 0;
      for (let r = firstRound; r < rounds; r += everyRound) {
        const column = r * env.LANES + at.lane;
        const inside = column < columns;
        const own = Math.min(column, columns - 1);
        const i2 = (own / stride) | 0;
        const first = i2 * plane + start * stride;
        const node = first + own - i2 * stride;
        const { at: own0, pitch } = env.coefficientsAt({ base, size, node, own: 0 });
        const { at: first0 } = env.coefficientsAt({ base, size, node: first, own: 0 });
        const { inverse, lower, upper } = env.rowAt({ own: own0, first: first0, pitch });
        const into = env.into * size + base + node;
        if (inside) for (let j = 0; j < env.most; j++) if (j < length) z[j] = work[into + j * stride];
        yield* env.solveRun({ work, z, tile, rows: { inverse, lower, upper, step: stride }, at, inside });
        if (inside) for (let j = 0; j < env.most; j++) if (j < length) work[into + j * stride] = z[j];
      }
      return found;
    },
  });
}

/**
 * Returns the function that solves along the first axis with split lines and computes the values after the step. An
 * item's nodes are neighbours in memory: subgroups read and write `RUN_STEP` nodes of each line at a time and exchange
 * them through workgroup memory.
 */
export function runsOfLines(variant: AxesVariant, corrects: boolean) {
  const slots = slotsOf(variant);
  return fn({
    name: "runsOfLines",
    params: inPhase,
    env: {
      corrects,
      into: corrects ? slots.second : slots.z,
      inverse: slots.inverse[0],
      lower: slots.lower[0],
      upper: slots.upper[0],
      isUniform: variant.isFirstUniform,
      pieces: variant.runs!.length / RUN_STEP,
      most: variant.runs!.length,
      LANES,
      RUN_STEP,
      coefficientsAt: coefficientsAt(variant),
      runOf: runOf(variant),
      solveRun: solveRun(variant),
      advanceNode: advanceNode(variant, corrects),
      settleNode: settleNode(variant),
    },
    *body({ launch, place, step, found }, gpu, env) {
      const { work, n0, stride, lines, size } = launch;
      const { LANES, RUN_STEP } = env;
      const { item, base, firstRound, everyRound, tile } = place;
      const at = env.runOf({ item, n: n0 });
      const { lane, run, start, length } = at;
      const z = gpu.privateReal(env.most);
      const values = gpu.privateReal(RUN_STEP);
      const lambdas = gpu.privateReal(RUN_STEP);
      // Where a subgroup's lines stand in the tile, and what an item brings into it: four lines at a time.
      const part = run * LANES * (RUN_STEP + 1);
      const own = part + lane * (RUN_STEP + 1);
      const toLine = (lane / RUN_STEP) | 0;
      const toNode = lane - toLine * RUN_STEP;
      const others = part + toLine * (RUN_STEP + 1) + toNode;
      const linesAtOnce = (LANES / RUN_STEP) | 0;
      const isLast = env.corrects || !step.corrected;
      const rounds = env.corrects && !step.corrected ? 0 : ((lines + LANES - 1) / LANES) | 0;
      for (let r = firstRound; r < rounds; r += everyRound) {
        const line = r * LANES + lane;
        const inside = line < lines;
        const from = base + (r * LANES + toLine) * stride + start + toNode;
        for (let p = 0; p < env.pieces; p++) {
          const near = p * RUN_STEP;
          if (toNode + near < length)
            for (let q = 0; q < RUN_STEP; q++)
              if (r * LANES + toLine + q * linesAtOnce < lines)
                tile[others + q * linesAtOnce * (RUN_STEP + 1)] =
                  work[env.into * size + from + q * linesAtOnce * stride + near];
          yield;
          for (let j = 0; j < RUN_STEP; j++) z[near + j] = tile[own + j];
          yield;
        }
        const { at: first, pitch } = env.coefficientsAt({
          base,
          size,
          node: env.isUniform ? start * lines : start * lines + Math.min(line, lines - 1),
          own: 0,
        });
        const rows = {
          inverse: first + env.inverse * pitch,
          lower: first + env.lower * pitch,
          upper: first + env.upper * pitch,
          step: lines,
        };
        yield* env.solveRun({ work, z, tile, rows, at, inside });
        for (let p = 0; p < env.pieces; p++) {
          const near = p * RUN_STEP;
          for (let j = 0; j < RUN_STEP; j++) tile[own + j] = z[near + j];
          yield;
          if (toNode + near < length) {
            // All reads before the first of the writes, for which the others would wait.
            for (let q = 0; q < RUN_STEP; q++) {
              values[q] = tile[others + q * linesAtOnce * (RUN_STEP + 1)];
              if (isLast && r * LANES + toLine + q * linesAtOnce < lines) {
                const k = from + q * linesAtOnce * stride + near;
                const { after, lambda } = env.advanceNode({ launch, step, k, value: values[q] });
                values[q] = after;
                lambdas[q] = lambda;
              }
            }
            for (let q = 0; q < RUN_STEP; q++)
              if (r * LANES + toLine + q * linesAtOnce < lines) {
                const k = from + q * linesAtOnce * stride + near;
                if (isLast) env.settleNode({ launch, k, after: values[q], lambda: lambdas[q] });
                else work[env.into * size + k] = values[q];
              }
          }
          yield;
        }
      }
      return found;
    },
  });
}
