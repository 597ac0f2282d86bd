import { fn, i32, real, type ValueOf, write } from "../../../../kernel/index.ts";
import { type AxesVariant, slotsOf } from "../../operator/axes-variant.ts";
import { rowAt } from "./explicit.ts";
import { eachOf, linesAlong, Part, partOf, Piece, pieceOf } from "./node.ts";
import { AxesPlace, type Fault, inPhase, LANES, Launch, roundsOf, RUN_STEP } from "./place.ts";
import { explicitSide, type RightHandSide, storedSide } from "./right-hand-side.ts";
import { advanceNode, settleNode } from "./update.ts";

/**
 * Returns the function that solves the linear systems of a sweep in round r, with one line for each work item, by the
 * factors of `factorAxes`. Along the first axis an item reads and writes two neighbouring nodes at a time, which a CPU
 * takes as one vector. Cost: 5 flops a node.
 */
function solveLines(variant: AxesVariant, axis: number, corrects: boolean, { begin, next }: RightHandSide) {
  const slots = slotsOf(variant);
  const nodes = eachOf(axis === 0 ? 2 : 1);
  return fn({
    name: "solveLines",
    params: { ...inPhase, r: i32, part: Part },
    env: {
      into: corrects ? slots.second : slots.z,
      nodes,
      fromLast: nodes.toReversed(),
      pieceOf: pieceOf(variant, axis, false),
      rowAt: rowAt(variant, axis),
      begin,
      next,
    },
    *body({ launch, place, step, r, part, found }, gpu, env) {
      const { work, size } = launch;
      const at = env.pieceOf({ launch, place, r, part });
      const { first, lane, own, common, pitch, rowStep } = at;
      const count = env.nodes.length;
      const z = gpu.privateReal(count);
      const solved = gpu.privateReal(count);
      let now: ValueOf<typeof Fault> = found;
      if (at.inside) {
        let carried = env.begin({ launch, place, at, found });
        const { inverse, lower, upper } = env.rowAt({ own, first: common, pitch });
        const into = env.into * size + place.base + first;
        const blocks = ((part.n + count - 1) / count) | 0;
        const apart = count * at.step;
        let k = (blocks - 1) * apart;
        let rows = (blocks * count - 1) * rowStep;
        let y = 0.0;
        for (let i = (blocks - 1) * count; i >= 0; i -= count) {
          const here = into + k + lane;
          for (const d of env.nodes) {
            const got = env.next({ launch, place, at, step, i, k, rows, stored: here, d, carried });
            z[d] = got.right;
            carried = got.carried;
          }
          for (const d of env.fromLast) {
            y = z[d] * work[inverse + rows] + work[upper + rows] * y;
            solved[d] = y;
            rows -= rowStep;
          }
          for (const d of env.nodes) work[here + d] = solved[d];
          k -= apart;
        }
        now = carried.found;
        k = 0;
        rows = 0;
        y = 0.0;
        for (let i = 0; i < blocks; i++) {
          const here = into + k + lane;
          for (const d of env.nodes) z[d] = work[here + d];
          for (const d of env.nodes) {
            y = z[d] + work[lower + rows] * y;
            solved[d] = y;
            rows += rowStep;
          }
          for (const d of env.nodes) work[here + d] = solved[d];
          k += apart;
        }
      }
      return now;
    },
  });
}

/** The parameters of the functions that read and store the values z of a work item's interval of a line. */
const inRun = { ...inPhase, r: i32, at: Piece, z: write(real) };

/**
 * The place of an item's run in the tile, `own`, and that of the nodes that it moves: in the tile, `others`, and in
 * arrays, `from`, on `line` and every `linesAtOnce` further.
 */
const tilePlaceOf = fn({
  name: "tilePlaceOf",
  params: { launch: Launch, base: i32, r: i32, part: Part },
  env: { LANES, RUN_STEP },
  body({ launch: { stride }, base, r, part: { lane, run, start } }, _gpu, { LANES, RUN_STEP }) {
    const tile = run * LANES * (RUN_STEP + 1);
    const toLine = (lane / RUN_STEP) | 0;
    const toNode = lane - toLine * RUN_STEP;
    return {
      own: tile + lane * (RUN_STEP + 1),
      others: tile + toLine * (RUN_STEP + 1) + toNode,
      toNode,
      line: r * LANES + toLine,
      from: base + (r * LANES + toLine) * stride + start + toNode,
    };
  },
});

/** Returns the function that reads the intervals of a tile's lines into the work items. */
function takeRun(variant: AxesVariant, corrects: boolean) {
  const slots = slotsOf(variant);
  return fn({
    name: "takeRun",
    params: inRun,
    env: { ...tileSizes(variant), into: corrects ? slots.second : slots.z },
    *body({ launch, place: { base, tile }, r, found, at, z }, _gpu, env) {
      const { work, stride, lines, size } = launch;
      const { RUN_STEP, linesAtOnce } = env;
      const { own, others, toNode, line, from } = env.tilePlaceOf({ launch, base, r, part: at.part });
      for (let p = 0; p < env.pieces; p++) {
        const near = p * RUN_STEP;
        if (toNode + near < at.part.length)
          for (let q = 0; q < RUN_STEP; q++)
            if (line + q * linesAtOnce < lines)
              tile[others + q * linesAtOnce * (RUN_STEP + 1)] =
                work[env.into * size + from + q * linesAtOnce * stride + near];
        yield;
        for (let j = 0; j < RUN_STEP; j++) z[near + j] = tile[own + j];
        yield;
      }
      return found;
    },
  });
}

/**
 * Returns the function that stores the intervals of a tile's lines; after the last sweep of a step it stores the values
 * of u.
 */
function storeRun(variant: AxesVariant, corrects: boolean) {
  const slots = slotsOf(variant);
  return fn({
    name: "storeRun",
    params: inRun,
    env: {
      ...tileSizes(variant),
      corrects,
      into: corrects ? slots.second : slots.z,
      advanceNode: advanceNode(variant, corrects),
      settleNode: settleNode(variant),
    },
    *body({ launch, place: { base, tile }, step, r, at, z }, gpu, env) {
      const { work, stride, lines, size } = launch;
      const { RUN_STEP, linesAtOnce } = env;
      const { own, others, toNode, line, from } = env.tilePlaceOf({ launch, base, r, part: at.part });
      const values = gpu.privateReal(RUN_STEP);
      const lambdas = gpu.privateReal(RUN_STEP);
      const isLast = env.corrects || !step.corrected;
      for (let p = 0; p < env.pieces; p++) {
        const near = p * RUN_STEP;
        for (let j = 0; j < RUN_STEP; j++) tile[own + j] = z[near + j];
        yield;
        if (toNode + near < at.part.length) {
          // All reads before the first of the writes, for which the others would wait.
          for (let q = 0; q < RUN_STEP; q++) {
            values[q] = tile[others + q * linesAtOnce * (RUN_STEP + 1)];
            if (isLast && line + q * linesAtOnce < lines) {
              const k = from + q * linesAtOnce * stride + near;
              const { after, lambda } = env.advanceNode({ launch, step, k, value: values[q] });
              values[q] = after;
              lambdas[q] = lambda;
            }
          }
          for (let q = 0; q < RUN_STEP; q++)
            if (line + q * linesAtOnce < lines) {
              const k = from + q * linesAtOnce * stride + near;
              if (isLast) env.settleNode({ launch, k, after: values[q], lambda: lambdas[q] });
              else work[env.into * size + k] = values[q];
            }
        }
        yield;
      }
    },
  });
}

const tileSizes = (variant: AxesVariant) => ({
  tilePlaceOf,
  pieces: variant.runs!.length / RUN_STEP,
  linesAtOnce: Math.trunc(LANES / RUN_STEP),
  RUN_STEP,
});

/**
 * Returns the function that solves the linear systems of a sweep with several work items for each line (`Runs`), those
 * of `LANES` lines in round r. Along the first axis it also computes the values of u after the step.
 */
function solveRuns(variant: AxesVariant, axis: number, corrects: boolean, side: RightHandSide) {
  const isFirst = axis === 0;
  return fn({
    name: "solveRuns",
    params: { ...inPhase, r: i32, part: Part },
    env: {
      most: variant.runs!.length,
      pieceOf: pieceOf(variant, axis, true),
      take: isFirst ? takeRun(variant, corrects) : sideOfRun(variant, corrects, side),
      solveRun: solveRun(variant, axis),
      store: isFirst ? storeRun(variant, corrects) : storeColumn(variant, corrects),
    },
    *body({ launch, place, step, r, part, found }, gpu, env) {
      const at = env.pieceOf({ launch, place, r, part });
      const z = gpu.privateReal(env.most);
      const now = yield* env.take({ launch, place, step, r, found, at, z });
      yield* env.solveRun({ launch, place, at, z });
      yield* env.store({ launch, place, step, r, found: now, at, z });
      return now;
    },
  });
}

/** Returns the function for a run's right-hand side, along another axis than the first. */
function sideOfRun(variant: AxesVariant, corrects: boolean, { begin, next }: RightHandSide) {
  const slots = slotsOf(variant);
  return fn({
    name: "sideOfRun",
    params: inRun,
    env: { begin, next, most: variant.runs!.length, into: corrects ? slots.second : slots.z },
    *body({ launch, place, step, found, at, z }, _gpu, env) {
      const { start, length } = at.part;
      const into = env.into * launch.size + place.base + at.first + at.lane;
      let now: ValueOf<typeof Fault> = found;
      if (at.inside && length > 0) {
        let carried = env.begin({ launch, place, at, found });
        for (let j = env.most - 1; j >= 0; j--)
          if (j < length) {
            const i = start + j;
            const k = i * at.step;
            const got = env.next({ launch, place, at, step, i, k, rows: k, stored: into + k, d: 0, carried });
            z[j] = got.right;
            carried = got.carried;
          }
        now = carried.found;
      }
      return now;
    },
  });
}

/** Returns the function that stores a run along another axis than the first. */
function storeColumn(variant: AxesVariant, corrects: boolean) {
  const slots = slotsOf(variant);
  return fn({
    name: "storeColumn",
    params: inRun,
    env: { into: corrects ? slots.second : slots.z, most: variant.runs!.length },
    *body({ launch: { work, size }, place: { base }, at, z }, _gpu, env) {
      const { inside, first, lane, step } = at;
      const { start, length } = at.part;
      const into = env.into * size + base + first + lane;
      if (inside) for (let j = 0; j < env.most; j++) if (j < length) work[into + (start + j) * step] = z[j];
    },
  });
}

/**
 * Returns the function that solves the systems of a tile, (I − hL)·y = z, in place from the factors of `factorLine`.
 * Every item of the workgroup must call it. Cost: 8 flops a node.
 */
function solveRun(variant: AxesVariant, axis: number) {
  const { count, length: most } = variant.runs!;
  return fn({
    name: "solveRun",
    params: { launch: Launch, place: AxesPlace, at: Piece, z: write(real) },
    env: { count, most, LANES, rowAt: rowAt(variant, axis) },
    *body({ launch: { work }, place: { tile }, at, z }, _gpu, env) {
      const { count, most, LANES } = env;
      const { rowStep: step, pitch } = at;
      const { lane, run, start } = at.part;
      const length = at.inside ? at.part.length : 0;
      const { inverse, lower, upper } = env.rowAt({
        own: at.own + start * step,
        first: at.common + start * step,
        pitch,
      });
      const own = run * LANES + lane;
      const products = count * LANES;
      // From the last node up.
      let y = 0.0;
      let w = 1.0;
      for (let j = most - 1; j >= 0; j--)
        if (j < length) {
          const factor = work[upper + j * step];
          y = z[j] * work[inverse + j * step] + factor * y;
          w *= factor;
          z[j] = y;
        }
      tile[own] = y;
      tile[products + own] = w;
      yield;
      let e = 0.0;
      for (let k = count - 1; k > run; k--) e = tile[k * LANES + lane] + tile[products + k * LANES + lane] * e;
      for (let j = most - 1; j >= 0; j--)
        if (j < length) {
          e *= work[upper + j * step];
          z[j] += e;
        }
      // And back down.
      y = 0.0;
      w = 1.0;
      for (let j = 0; j < most; j++)
        if (j < length) {
          const factor = work[lower + j * step];
          y = z[j] + factor * y;
          w *= factor;
          z[j] = y;
        }
      yield;
      tile[own] = y;
      tile[products + own] = w;
      yield;
      e = 0.0;
      for (let k = 0; k < run; k++) e = tile[k * LANES + lane] + tile[products + k * LANES + lane] * e;
      for (let j = 0; j < most; j++)
        if (j < length) {
          e *= work[lower + j * step];
          z[j] += e;
        }
      yield;
    },
  });
}

/**
 * Returns the phase that sweeps along an axis, (I − θΔtLⱼ)·Dⱼ = Dⱼ₋₁. The first sweep of a step is along the last axis,
 * whose right-hand side is the explicit part. With `corrects` it belongs to the second series of sweeps (`Correction`).
 * Work items solve whole lines, or intervals of lines (`Runs`).
 */
export function sweep(variant: AxesVariant, axis: number, corrects: boolean) {
  const byRuns = variant.runs !== undefined;
  const side = axis === variant.axes.length - 1 ? explicitSide(variant, corrects) : storedSide;
  return fn({
    name: `sweep${axis}`,
    params: inPhase,
    env: {
      corrects,
      finds: side.finds,
      linesAlong: linesAlong(variant, axis),
      partOf: partOf(variant),
      rounds: roundsOf(byRuns ? { groupSize: LANES } : variant),
      solve: byRuns ? solveRuns(variant, axis, corrects, side) : solveLines(variant, axis, corrects, side),
    },
    *body({ launch, place, step, found }, _gpu, env) {
      let now: ValueOf<typeof Fault> = found;
      const { count, n } = env.linesAlong(launch);
      const part = env.partOf({ item: place.item, n });
      const rounds = env.corrects && !step.corrected ? 0 : env.rounds(count);
      for (let r = place.firstRound; r < rounds; r += place.everyRound)
        now = yield* env.solve({ launch, place, step, r, part, found: now });
      // What is known to have found nothing is not looked at.
      return env.finds ? now : found;
    },
  });
}
