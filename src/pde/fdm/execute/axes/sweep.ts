import { fn, i32, real, type ValueOf, write } from "../../../../kernel/index.ts";
import { type AxesVariant, slotsOf } from "../../operator/axes-variant.ts";
import { matrixRowIndex } from "./explicit.ts";
import { axisNumbers, linesAlong, NodeSegment, segmentOf, LineSegment, lineSegmentOf } from "./node.ts";
import { AxesContext, type Findings, inPhase, LINES_PER_TILE, Launch, roundsOf, SEGMENT_MULTIPLE } from "./context.ts";
import { explicitSide, type RightHandSide, storedSide } from "./right-hand-side.ts";
import { advanceNode, storeNode } from "./update.ts";

/**
 * Returns the function that solves the linear systems of a sweep in round r, with one line for each work item, by the
 * factors of `factorAxes`. Along the first axis an item reads and writes two neighbouring nodes at a time, which a CPU
 * takes as one vector. Cost: 5 flops a node.
 */
function solveLines(variant: AxesVariant, axis: number, corrects: boolean, { begin, next }: RightHandSide) {
  const slots = slotsOf(variant);
  const nodes = axisNumbers(axis === 0 ? 2 : 1);
  return fn({
    name: "solveLines",
    params: { ...inPhase, r: i32, part: NodeSegment },
    env: {
      into: corrects ? slots.second : slots.z,
      nodes,
      fromLast: nodes.toReversed(),
      lineSegmentOf: lineSegmentOf(variant, axis, false),
      matrixRowIndex: matrixRowIndex(variant, axis),
      begin,
      next,
    },
    *body({ launch, context, programRow, r, part, found }, gpu, env) {
      const { work, size } = launch;
      const at = env.lineSegmentOf({ launch, context, r, part });
      const { first, lane, own, common, pitch, rowStep } = at;
      const count = env.nodes.length;
      const z = gpu.privateReal(count);
      const solved = gpu.privateReal(count);
      let now: ValueOf<typeof Findings> = found;
      if (at.inside) {
        let carried = env.begin({ launch, context, at, found });
        const { inverse, lower, upper } = env.matrixRowIndex({ own, first: common, pitch });
        const into = env.into * size + context.base + first;
        const blocks = ((part.n + count - 1) / count) | 0;
        const apart = count * at.step;
        let k = (blocks - 1) * apart;
        let rows = (blocks * count - 1) * rowStep;
        let y = 0.0;
        for (let i = (blocks - 1) * count; i >= 0; i -= count) {
          const here = into + k + lane;
          for (const d of env.nodes) {
            const got = env.next({ launch, context, at, programRow, i, k, rows, stored: here, d, carried });
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
const inTile = { ...inPhase, r: i32, at: LineSegment, z: write(real) };

/**
 * The place of an item's segment in the tile, `own`, and that of the nodes that it moves: in the tile, `others`, and in
 * arrays, `from`, on `line` and every `linesAtOnce` further.
 */
const tileOffsets = fn({
  name: "tileOffsets",
  params: { launch: Launch, base: i32, r: i32, part: NodeSegment },
  env: { LINES_PER_TILE, SEGMENT_MULTIPLE },
  body({ launch: { stride }, base, r, part: { lane, segment, start } }, _gpu, { LINES_PER_TILE, SEGMENT_MULTIPLE }) {
    const tile = segment * LINES_PER_TILE * (SEGMENT_MULTIPLE + 1);
    const toLine = (lane / SEGMENT_MULTIPLE) | 0;
    const toNode = lane - toLine * SEGMENT_MULTIPLE;
    return {
      own: tile + lane * (SEGMENT_MULTIPLE + 1),
      others: tile + toLine * (SEGMENT_MULTIPLE + 1) + toNode,
      toNode,
      line: r * LINES_PER_TILE + toLine,
      from: base + (r * LINES_PER_TILE + toLine) * stride + start + toNode,
    };
  },
});

/** Returns the function that reads the intervals of a tile's lines into the work items. */
function loadTile(variant: AxesVariant, corrects: boolean) {
  const slots = slotsOf(variant);
  return fn({
    name: "loadTile",
    params: inTile,
    env: { ...tileSizes(variant), into: corrects ? slots.second : slots.z },
    *body({ launch, context: { base, tile }, r, found, at, z }, _gpu, env) {
      const { work, stride, lines, size } = launch;
      const { SEGMENT_MULTIPLE, linesAtOnce } = env;
      const { own, others, toNode, line, from } = env.tileOffsets({ launch, base, r, part: at.part });
      for (let p = 0; p < env.pieces; p++) {
        const near = p * SEGMENT_MULTIPLE;
        if (toNode + near < at.part.length)
          for (let q = 0; q < SEGMENT_MULTIPLE; q++)
            if (line + q * linesAtOnce < lines)
              tile[others + q * linesAtOnce * (SEGMENT_MULTIPLE + 1)] =
                work[env.into * size + from + q * linesAtOnce * stride + near];
        yield;
        for (let j = 0; j < SEGMENT_MULTIPLE; j++) z[near + j] = tile[own + j];
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
function storeTile(variant: AxesVariant, corrects: boolean) {
  const slots = slotsOf(variant);
  return fn({
    name: "storeTile",
    params: inTile,
    env: {
      ...tileSizes(variant),
      corrects,
      into: corrects ? slots.second : slots.z,
      advanceNode: advanceNode(variant, corrects),
      storeNode: storeNode(variant),
    },
    *body({ launch, context: { base, tile }, programRow, r, at, z }, gpu, env) {
      const { work, stride, lines, size } = launch;
      const { SEGMENT_MULTIPLE, linesAtOnce } = env;
      const { own, others, toNode, line, from } = env.tileOffsets({ launch, base, r, part: at.part });
      const values = gpu.privateReal(SEGMENT_MULTIPLE);
      const lambdas = gpu.privateReal(SEGMENT_MULTIPLE);
      const isLast = env.corrects || !programRow.corrected;
      for (let p = 0; p < env.pieces; p++) {
        const near = p * SEGMENT_MULTIPLE;
        for (let j = 0; j < SEGMENT_MULTIPLE; j++) tile[own + j] = z[near + j];
        yield;
        if (toNode + near < at.part.length) {
          // All reads before the first of the writes, for which the others would wait.
          for (let q = 0; q < SEGMENT_MULTIPLE; q++) {
            values[q] = tile[others + q * linesAtOnce * (SEGMENT_MULTIPLE + 1)];
            if (isLast && line + q * linesAtOnce < lines) {
              const k = from + q * linesAtOnce * stride + near;
              const { after, lambda } = env.advanceNode({ launch, programRow, k, value: values[q] });
              values[q] = after;
              lambdas[q] = lambda;
            }
          }
          for (let q = 0; q < SEGMENT_MULTIPLE; q++)
            if (line + q * linesAtOnce < lines) {
              const k = from + q * linesAtOnce * stride + near;
              if (isLast) env.storeNode({ launch, k, after: values[q], lambda: lambdas[q] });
              else work[env.into * size + k] = values[q];
            }
        }
        yield;
      }
    },
  });
}

const tileSizes = (variant: AxesVariant) => ({
  tileOffsets,
  pieces: variant.segments!.length / SEGMENT_MULTIPLE,
  linesAtOnce: Math.trunc(LINES_PER_TILE / SEGMENT_MULTIPLE),
  SEGMENT_MULTIPLE,
});

/**
 * Returns the function that solves the linear systems of a sweep with several work items for each line
 * (`LineDivision`), those of `LINES_PER_TILE` lines in round r. Along the first axis it also computes the values of u
 * after the step.
 */
function solveSegments(variant: AxesVariant, axis: number, corrects: boolean, side: RightHandSide) {
  const isFirst = axis === 0;
  return fn({
    name: "solveSegments",
    params: { ...inPhase, r: i32, part: NodeSegment },
    env: {
      most: variant.segments!.length,
      lineSegmentOf: lineSegmentOf(variant, axis, true),
      take: isFirst ? loadTile(variant, corrects) : sideOfRun(variant, corrects, side),
      solveRun: solveRun(variant, axis),
      store: isFirst ? storeTile(variant, corrects) : storeColumn(variant, corrects),
    },
    *body({ launch, context, programRow, r, part, found }, gpu, env) {
      const at = env.lineSegmentOf({ launch, context, r, part });
      const z = gpu.privateReal(env.most);
      const now = yield* env.take({ launch, context, programRow, r, found, at, z });
      yield* env.solveRun({ launch, context, at, z });
      yield* env.store({ launch, context, programRow, r, found: now, at, z });
      return now;
    },
  });
}

/** Returns the function that computes a segment's right-hand side along another axis than the first. */
function sideOfRun(variant: AxesVariant, corrects: boolean, { begin, next }: RightHandSide) {
  const slots = slotsOf(variant);
  return fn({
    name: "sideOfRun",
    params: inTile,
    env: { begin, next, most: variant.segments!.length, into: corrects ? slots.second : slots.z },
    *body({ launch, context, programRow, found, at, z }, _gpu, env) {
      const { start, length } = at.part;
      const into = env.into * launch.size + context.base + at.first + at.lane;
      let now: ValueOf<typeof Findings> = found;
      if (at.inside && length > 0) {
        let carried = env.begin({ launch, context, at, found });
        for (let j = env.most - 1; j >= 0; j--)
          if (j < length) {
            const i = start + j;
            const k = i * at.step;
            const got = env.next({ launch, context, at, programRow, i, k, rows: k, stored: into + k, d: 0, carried });
            z[j] = got.right;
            carried = got.carried;
          }
        now = carried.found;
      }
      return now;
    },
  });
}

/** Returns the function that stores a segment along another axis than the first. */
function storeColumn(variant: AxesVariant, corrects: boolean) {
  const slots = slotsOf(variant);
  return fn({
    name: "storeColumn",
    params: inTile,
    env: { into: corrects ? slots.second : slots.z, most: variant.segments!.length },
    *body({ launch: { work, size }, context: { base }, at, z }, _gpu, env) {
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
  const { count, length: most } = variant.segments!;
  return fn({
    name: "solveRun",
    params: { launch: Launch, context: AxesContext, at: LineSegment, z: write(real) },
    env: { count, most, LINES_PER_TILE, matrixRowIndex: matrixRowIndex(variant, axis) },
    *body({ launch: { work }, context: { tile }, at, z }, _gpu, env) {
      const { count, most, LINES_PER_TILE } = env;
      const { rowStep: step, pitch } = at;
      const { lane, segment, start } = at.part;
      const length = at.inside ? at.part.length : 0;
      const { inverse, lower, upper } = env.matrixRowIndex({
        own: at.own + start * step,
        first: at.common + start * step,
        pitch,
      });
      const own = segment * LINES_PER_TILE + lane;
      const products = count * LINES_PER_TILE;
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
      for (let k = count - 1; k > segment; k--)
        e = tile[k * LINES_PER_TILE + lane] + tile[products + k * LINES_PER_TILE + lane] * e;
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
      for (let k = 0; k < segment; k++)
        e = tile[k * LINES_PER_TILE + lane] + tile[products + k * LINES_PER_TILE + lane] * e;
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
 * Work items solve whole lines, or segments of lines (`LineDivision`).
 */
export function sweep(variant: AxesVariant, axis: number, corrects: boolean) {
  const bySegments = variant.segments !== undefined;
  const side = axis === variant.axes.length - 1 ? explicitSide(variant, corrects) : storedSide;
  return fn({
    name: `sweep${axis}`,
    params: inPhase,
    env: {
      corrects,
      finds: side.finds,
      linesAlong: linesAlong(variant, axis),
      segmentOf: segmentOf(variant),
      rounds: roundsOf(bySegments ? { groupSize: LINES_PER_TILE } : variant),
      solve: bySegments ? solveSegments(variant, axis, corrects, side) : solveLines(variant, axis, corrects, side),
    },
    *body({ launch, context, programRow, found }, _gpu, env) {
      let now: ValueOf<typeof Findings> = found;
      const { count, n } = env.linesAlong(launch);
      const part = env.segmentOf({ item: context.item, n });
      const rounds = env.corrects && !programRow.corrected ? 0 : env.rounds(count);
      for (let r = context.firstRound; r < rounds; r += context.everyRound)
        now = yield* env.solve({ launch, context, programRow, r, part, found: now });
      // What is known to have found nothing is not looked at.
      return env.finds ? now : found;
    },
  });
}
