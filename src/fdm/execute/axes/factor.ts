import { fn, i32, read } from "../../../kernel/index.ts";
import { axisRow } from "../../operator/assemble-axes.ts";
import { type AxesVariant, COMMON, hasPins, slotsOf } from "../../operator/axes-variant.ts";
import { coefficientFault } from "../../operator/coefficient-fault.ts";
import { isPinned } from "../../operator/pinned.ts";
import { linesAlong, Piece, pieceOf } from "./piece.ts";
import { coefficientsAt, meshOf, nodeIn, roundsOf, strideOf } from "./place.ts";
import { inPhase, Launch, PAD } from "./records.ts";

/** The axis numbers 0, 1, …, for use in a `for … of` loop. */
export const eachOf = (axes: number): readonly number[] => Array.from({ length: axes }, (_, k) => k);

/**
 * Returns the function that locates a node by its number on each axis and among all nodes, and tells padding from
 * nodes.
 */
export const nodeAt = (axes: number) =>
  fn({
    name: "nodeAt",
    params: { launch: Launch, line: i32, lane: i32 },
    env: { axes },
    body({ launch: { n0, n1, n2 }, line, lane }, gpu, { axes }) {
      const index = gpu.privateI32(axes);
      const i2 = Math.min((line / n1) | 0, n2 - 1);
      const i1 = Math.min(line - i2 * n1, n1 - 1);
      const i0 = Math.min(lane, n0 - 1);
      index[0] = i0;
      index[1] = i1;
      if (axes > 2) index[2] = i2;
      return { index, isNode: lane < n0 && line < n1 * n2, number: (i2 * n1 + i1) * n0 + i0 };
    },
  });

/** Returns the function for the number of nodes of each axis. */
export const countsOf = (axes: number) =>
  fn({
    name: "countsOf",
    params: [Launch],
    env: { axes },
    body([{ n0, n1, n2 }], gpu, { axes }) {
      const counts = gpu.privateI32(axes);
      counts[0] = n0;
      counts[1] = n1;
      if (axes > 2) counts[2] = n2;
      return counts;
    },
  });

/** Returns the function for the side of a node on each axis: −1 at the first node, 1 at the last one, 0 between. */
export const sidesOf = (axes: number) =>
  fn({
    name: "sidesOf",
    params: { launch: Launch, index: read(i32) },
    env: { axes, each: eachOf(axes), countsOf: countsOf(axes) },
    body({ launch, index }, gpu, env) {
      const side = gpu.privateI32(env.axes);
      const counts = env.countsOf(launch);
      for (const k of env.each) side[k] = index[k] === 0 ? -1 : index[k] === counts[k] - 1 ? 1 : 0;
      return side;
    },
  });

/** Returns the function for the coordinates of a node. */
export const valuesAt = (axes: number) =>
  fn({
    name: "valuesAt",
    params: { launch: Launch, mesh: i32, index: read(i32) },
    env: { axes, each: eachOf(axes).map((k) => ({ k, meshOf: meshOf(k) })) },
    body({ launch, mesh, index }, gpu, env) {
      const x = gpu.privateReal(env.axes);
      for (const { k, meshOf } of env.each) x[k] = launch.table[meshOf({ launch, mesh }) + index[k]];
      return x;
    },
  });

/** `AxisPlace` of node i of n of an axis, whose arrays of `length` start at `at`. */
const placeOnAxis = fn({
  name: "placeOnAxis",
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
 * Returns the function that assembles the rows of all hLⱼ, the mixed derivatives and the source at time t, times h =
 * θΔt; it runs once where nothing depends on time. Cost: the equation's own, and some 30 flops a node and axis.
 */
export function assemble(variant: AxesVariant) {
  const { axes, pairs, fitted, coefficients, hasSource } = variant;
  const slots = slotsOf(variant);
  const slotOf = (j: number, k: number): number => slots.mixed[j + k - 1];
  return fn({
    name: "assembleAxes",
    params: inPhase,
    env: {
      count: axes.length,
      axes: axes.map((axis, k) => ({
        k,
        isFirst: k === 0,
        row: axisRow(axis, fitted),
        meshOf: meshOf(k),
        slotA: slots.a[k],
        slotC: slots.c[k],
      })),
      pairs: pairs.map(([j, k], m) => ({ j, k, m, logJ: axes[j].log, logK: axes[k].log, slot: slotOf(j, k) })),
      hasSource,
      pins: hasPins(variant),
      slotDecay: slots.decay,
      slotSource: slots.source,
      slotPinned: slots.pinned,
      coefficients,
      coefficientFault: coefficientFault(axes.length, pairs),
      isPinned: isPinned(variant),
      placeOnAxis,
      nodeAt: nodeAt(axes.length),
      countsOf: countsOf(axes.length),
      nodeIn: nodeIn(variant),
      coefficientsAt: coefficientsAt(variant),
      rounds: roundsOf(variant),
      valuesAt: valuesAt(axes.length),
      sidesOf: sidesOf(axes.length),
    },
    *body({ launch, place, step, found }, gpu, env) {
      const { item, mesh, base, parameters, firstRound, everyRound } = place;
      const { work, stride, size } = launch;
      const { h, t, tEnd, mask } = step;
      const { count } = env;
      const counts = env.countsOf(launch);
      const c = gpu.privateReal(2 * count + 2 + env.pairs.length);
      const below = gpu.privateReal(count);
      const above = gpu.privateReal(count);
      const cross = gpu.privateReal(env.pairs.length + 1);
      let { fault, node, row, growth } = found;
      const rounds = env.rounds(size);
      for (let r = firstRound; r < rounds; r += everyRound) {
        const { line, lane, node: first, own, inside } = env.nodeIn(r, item, stride, size);
        if (inside) {
          const { at: to, pitch } = env.coefficientsAt({ base, size, node: first, own });
          const { index, isNode, number } = env.nodeAt({ launch, line, lane });
          const x = env.valuesAt({ launch, mesh, index });
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
              row = step.run;
            }
            decay = -h * c[2 * count];
            if (decay <= -1) growth = 1;
            source = h * c[2 * count + 1];
            for (const { k, isFirst, row, meshOf } of env.axes) {
              const length = isFirst ? stride : counts[k];
              const at = env.placeOnAxis({ launch, at: meshOf({ launch, mesh }), length, i: index[k], n: counts[k] });
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
        }
      }
      return { fault, node, row, growth };
    },
  });
}

/**
 * Factors I − hLⱼ along one line from its last row up, rows (−a, 1 + decay/d + a + c, −c), into 1/pivot, a/pivot and
 * c/pivot. Row sums are carried (Grassmann, Taksar & Heyman 1985), so that nothing is subtracted.
 */
function factorLine(variant: AxesVariant, axis: number) {
  const slots = slotsOf(variant);
  return fn({
    name: "factorLine",
    params: { launch: Launch, line: Piece },
    env: {
      share: 1 / variant.axes.length,
      isFirst: axis === 0,
      a: slots.a[axis],
      c: slots.c[axis],
      decay: slots.decay,
      inverse: slots.inverse[axis],
      lower: slots.lower[axis],
      upper: slots.upper[axis],
      // Along the first axis the rows go through tiles.
      strideOf: strideOf(variant),
      PAD,
      isUniform: variant.axes[axis].isUniform,
      common: slots.common[axis],
      COMMON,
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
        const inTile = i % env.PAD;
        const k = env.isFirst ? common + env.strideOf(i - inTile) + inTile : into;
        const a = work[k + env.a * pitch];
        const c = work[k + env.c * pitch];
        const decay = work[k + env.decay * pitch];
        const rest = 1 + env.share * decay + c * excess;
        const pivot = 1 / (rest + a);
        excess = rest * pivot;
        if (!env.isUniform) {
          work[into + env.inverse * pitch] = pivot;
          work[into + env.lower * pitch] = a * pivot;
          work[into + env.upper * pitch] = c * pivot;
        } else if (lane === 0) {
          const words = into + env.common * pitch;
          work[words + env.COMMON.a] = a;
          work[words + env.COMMON.c] = c;
          work[words + env.COMMON.decay] = decay;
          work[words + env.COMMON.inverse] = pivot;
          work[words + env.COMMON.lower] = a * pivot;
          work[words + env.COMMON.upper] = c * pivot;
        }
        into -= rowStep;
      }
    },
  });
}

/**
 * Returns the function that factors I − hLⱼ along each axis; the factors of the first axis are stored line beside line.
 */
export function factorAxes(variant: AxesVariant) {
  return fn({
    name: "factorAxes",
    params: inPhase,
    env: {
      axes: variant.axes.map((_, axis) => ({
        linesAlong: linesAlong(variant, axis),
        pieceOf: pieceOf(variant, axis, false),
        factor: factorLine(variant, axis),
      })),
      rounds: roundsOf(variant),
    },
    *body({ launch, place, found }, _gpu, env) {
      for (const { linesAlong, pieceOf, factor } of env.axes) {
        const { count, n } = linesAlong(launch);
        const part = { lane: 0, run: 0, start: 0, length: n, n };
        const rounds = env.rounds(count);
        for (let r = place.firstRound; r < rounds; r += place.everyRound) {
          const line = pieceOf({ launch, place, r, part });
          if (line.inside) factor({ launch, line });
        }
      }
      return found;
    },
  });
}
