import { fn, i32 } from "../../../../kernel/index.ts";
import { type AxesVariant, axisRow, SHARED_INDEX, hasPinnedNodes, slotsOf } from "../../operator/axes-variant.ts";
import { coefficientFault } from "../../operator/status.ts";
import { isPinned } from "../../operator/state.ts";
import { atNode, nodeCountsOf, eachNode, linesAlong, LineSegment, lineSegmentOf, sidesOf, valuesAt } from "./node.ts";
import { inPhase, Launch, meshOffset, PADDING, roundsOf, coefficientStride } from "./context.ts";

/** `AxisPosition` of node i of n of an axis, whose arrays of `length` start at `at`. */
const axisPositionOf = fn({
  name: "axisPositionOf",
  params: { launch: Launch, at: i32, length: i32, i: i32, n: i32 },
  body({ launch: { table }, at, length, i, n }) {
    const before = Math.max(i - 1, 0);
    const after = Math.min(i + 1, n - 1);
    const x = table[at + i];
    return {
      isFirst: i === 0,
      isLast: i === n - 1,
      x,
      hDown: table[at + length + before],
      hUp: table[at + length + Math.min(i, n - 2)],
      down: x - table[at + before],
      up: table[at + after] - x,
    };
  },
});

/**
 * Returns the function that assembles the matrix rows of all hLⱼ, the mixed derivatives and the source at time t, for h
 * = θΔt. It runs once where nothing depends on time. Cost: that of the user's equation, and some 30 flops for each node
 * and axis.
 */
export function assemble(variant: AxesVariant) {
  const { axes, pairs, fitted, coefficients, hasSource } = variant;
  const slots = slotsOf(variant);
  const slotOf = (j: number, k: number): number => slots.mixed[j + k - 1];
  const atEach = fn({
    name: "assembleAxes",
    params: atNode,
    env: {
      count: axes.length,
      axes: axes.map((axis, k) => ({
        k,
        isFirst: k === 0,
        row: axisRow(axis, fitted),
        meshOffset: meshOffset(k),
        slotA: slots.rows[k].a,
        slotC: slots.rows[k].c,
      })),
      pairs: pairs.map(([j, k], m) => ({ j, k, m, logJ: axes[j].log, logK: axes[k].log, slot: slotOf(j, k) })),
      hasSource,
      pins: hasPinnedNodes(variant),
      slotDecay: slots.rows[0].decay,
      slotSource: slots.source,
      slotPinned: slots.pinned,
      coefficients,
      coefficientFault: coefficientFault(axes.length, pairs),
      isPinned: isPinned(variant),
      axisPositionOf,
      nodeCountsOf: nodeCountsOf(axes.length),
      valuesAt: valuesAt(axes.length),
      sidesOf: sidesOf(axes.length),
    },
    body({ launch, context, programRow, found, at: { index, isNode, number, own: to, pitch } }, gpu, env) {
      const { mesh, parameters } = context;
      const { work, stride } = launch;
      const { mask } = programRow;
      const { h, t, tEnd } = programRow.stage;
      const { count } = env;
      const counts = env.nodeCountsOf(launch);
      const c = gpu.privateReal(2 * count + 2 + env.pairs.length);
      const below = gpu.privateReal(count);
      const above = gpu.privateReal(count);
      const cross = gpu.privateReal(env.pairs.length + 1);
      const x = env.valuesAt({ launch, mesh, index });
      let { fault, node, row, growth } = found;
      let pinned = false;
      if (env.pins) {
        pinned = env.isPinned({ state: { t: tEnd, x, parameters }, side: env.sidesOf({ launch, index }), mask });
        work[to + env.slotPinned * pitch] = pinned ? 1.0 : 0.0;
      }
      for (const { k } of env.axes) {
        below[k] = 0.0;
        above[k] = 0.0;
      }
      for (const { m } of env.pairs) cross[m] = 0.0;
      let decay = 0.0;
      let source = 0.0;
      if (isNode && !pinned) {
        const state = { t, x, parameters };
        env.coefficients({ state, out: c });
        const bad = env.coefficientFault(c);
        if (bad !== 0 && fault === 0) {
          fault = bad;
          node = number;
          row = programRow.index;
        }
        decay = -h * c[2 * count];
        if (decay <= -1) growth = 1;
        source = h * c[2 * count + 1];
        for (const { k, isFirst, row, meshOffset } of env.axes) {
          const length = isFirst ? stride : counts[k];
          const at = env.axisPositionOf({
            launch,
            at: meshOffset({ launch, mesh }),
            length,
            i: index[k],
            n: counts[k],
          });
          const made = row({ at, h, a: c[k], b: c[count + k], state });
          below[k] = made.below;
          above[k] = made.above;
          source += h * made.slope;
        }
        // ∂/∂S = (1/S)·∂/∂x for x = ln S.
        for (const { j, k, m, logJ, logK } of env.pairs) {
          const ofJ = logJ ? h / x[j] : h;
          cross[m] = c[2 * count + 2 + m] * (logK ? ofJ / x[k] : ofJ);
        }
      }
      work[to + env.slotDecay * pitch] = decay;
      for (const { k, slotA, slotC } of env.axes) {
        work[to + slotA * pitch] = below[k];
        work[to + slotC * pitch] = above[k];
      }
      for (const { m, slot } of env.pairs) work[to + slot * pitch] = cross[m];
      if (env.hasSource) work[to + env.slotSource * pitch] = source;
      return { fault, node, row, growth, exponent: found.exponent };
    },
  });
  return eachNode(variant, atEach);
}

/**
 * Factors I − hLⱼ along one line from its last row up, rows (−a, 1 + decay/d + a + c, −c), into 1/pivot, a/pivot and
 * c/pivot. Row sums are carried (Grassmann, Taksar & Heyman 1985), so that nothing is subtracted.
 */
function factorLine(variant: AxesVariant, axis: number) {
  const slots = slotsOf(variant);
  return fn({
    name: "factorLine",
    params: { launch: Launch, line: LineSegment },
    env: {
      share: 1 / variant.axes.length,
      isFirst: axis === 0,
      row: slots.rows[axis],
      // Along the first axis the rows go through tiles.
      coefficientStride: coefficientStride(variant),
      PADDING,
      isUniform: variant.axes[axis].isUniform,
      common: slots.common[axis],
      SHARED_INDEX,
    },
    body(
      {
        launch: { work, stride },
        line: {
          part: { n: nodes },
          own,
          common,
          pitch,
          lane,
          rowStep,
        },
      },
      _gpu,
      env,
    ) {
      const n = env.isFirst ? stride : nodes;
      let excess = 1.0;
      let into = own + (n - 1) * rowStep;
      for (let i = n - 1; i >= 0; i--) {
        const inTile = i % env.PADDING;
        const k = env.isFirst ? common + env.coefficientStride(i - inTile) + inTile : into;
        const a = work[k + env.row.a * pitch];
        const c = work[k + env.row.c * pitch];
        const decay = work[k + env.row.decay * pitch];
        const rest = 1 + env.share * decay + c * excess;
        const pivot = 1 / (rest + a);
        excess = rest * pivot;
        if (!env.isUniform) {
          work[into + env.row.inverse * pitch] = pivot;
          work[into + env.row.lower * pitch] = a * pivot;
          work[into + env.row.upper * pitch] = c * pivot;
        } else if (lane === 0) {
          const words = into + env.common * pitch;
          work[words + env.SHARED_INDEX.a] = a;
          work[words + env.SHARED_INDEX.c] = c;
          work[words + env.SHARED_INDEX.decay] = decay;
          work[words + env.SHARED_INDEX.inverse] = pivot;
          work[words + env.SHARED_INDEX.lower] = a * pivot;
          work[words + env.SHARED_INDEX.upper] = c * pivot;
        }
        into -= rowStep;
      }
    },
  });
}

/**
 * Returns the function that factors I − hLⱼ along each axis. The factors of the first axis are stored with neighbouring
 * lines interleaved.
 */
export function factorAxes(variant: AxesVariant) {
  return fn({
    name: "factorAxes",
    params: inPhase,
    env: {
      axes: variant.axes.map((_, axis) => ({
        linesAlong: linesAlong(variant, axis),
        lineSegmentOf: lineSegmentOf(variant, axis, false),
        factor: factorLine(variant, axis),
      })),
      rounds: roundsOf(variant),
    },
    *body({ launch, context, found }, _gpu, env) {
      for (const { linesAlong, lineSegmentOf, factor } of env.axes) {
        const { count, n } = linesAlong(launch);
        const part = { lane: 0, segment: 0, start: 0, length: n, n };
        const rounds = env.rounds(count);
        for (let r = context.firstRound; r < rounds; r += context.everyRound) {
          const line = lineSegmentOf({ launch, context, r, part });
          if (line.inside) factor({ launch, line });
        }
      }
      return found;
    },
  });
}
