import { fn, i32, read, real, record } from "../../../kernel/index.ts";
import { axisRow } from "../../operator/assemble-axes.ts";
import { type AxesVariant, COMMON, hasPins, slotsOf } from "../../operator/axes-variant.ts";
import { coefficientFault } from "../../operator/coefficient-fault.ts";
import { isPinned } from "../../operator/pinned.ts";
import { coefficientsAt, isExact, meshOf, nodeIn, roundsOf, shapeOf, strideOf } from "./place.ts";
import { inPhase, Launch, PAD, Shape } from "./records.ts";

/** The axis numbers 0, 1, …, for use in a `for … of` loop. */
export const eachOf = (axes: number): readonly number[] => Array.from({ length: axes }, (_, k) => k);

/**
 * Returns the function that locates a node by its number on each axis and among all nodes, and tells padding from
 * nodes.
 */
export const nodeAt = (axes: number) =>
  fn({
    name: "nodeAt",
    params: { line: i32, lane: i32, shape: Shape },
    env: { axes },
    body({ line, lane, shape: { n0, n1, n2 } }, gpu, { axes }) {
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
    params: [Shape],
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
    params: { index: read(i32), shape: Shape },
    env: { axes, each: eachOf(axes), countsOf: countsOf(axes) },
    body({ index, shape }, gpu, env) {
      const side = gpu.privateI32(env.axes);
      const counts = env.countsOf(shape);
      for (const k of env.each) side[k] = index[k] === 0 ? -1 : index[k] === counts[k] - 1 ? 1 : 0;
      return side;
    },
  });

/** Returns the function for the coordinates of a node. */
export const valuesAt = (axes: number) =>
  fn({
    name: "valuesAt",
    params: { launch: Launch, mesh: i32, shape: Shape, index: read(i32) },
    env: { axes, each: eachOf(axes).map((k) => ({ k, meshOf: meshOf(k) })) },
    body({ launch: { table }, mesh, shape, index }, gpu, env) {
      const x = gpu.privateReal(env.axes);
      for (const { k, meshOf } of env.each) x[k] = table[meshOf({ mesh, shape }) + index[k]];
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
      shapeOf,
    },
    *body({ launch, place, step, found }, gpu, env) {
      const { item, mesh, base, parameters, firstRound, everyRound } = place;
      const { work, stride, size } = launch;
      const { h, t, tEnd, mask } = step;
      const { count } = env;
      const shape = env.shapeOf(launch);
      const counts = env.countsOf(shape);
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
          const { index, isNode, number } = env.nodeAt({ line, lane, shape });
          const x = env.valuesAt({ launch, mesh, shape, index });
          let pinned = false;
          if (env.pins) {
            pinned = env.isPinned({ state: { t: tEnd, x, parameters }, side: env.sidesOf({ index, shape }), mask });
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
              const at = env.placeOnAxis({ launch, at: meshOf({ mesh, shape }), length, i: index[k], n: counts[k] });
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
 * The place of a system of rows: row 0 at `first`, its factors at `to`; array s of each is s·`pitch` further. `column`:
 * its number on the first axis.
 */
const System = record({ first: i32, step: i32, to: i32, toStep: i32, pitch: i32, n: i32, column: i32 });

/**
 * Factors I − hLⱼ along one line from its last row up, rows (−a, 1 + decay/d + a + c, −c), into 1/pivot, a/pivot and
 * c/pivot. Row sums are carried (Grassmann, Taksar & Heyman 1985), so that nothing is subtracted.
 */
function factorLine(variant: AxesVariant, axis: number) {
  const slots = slotsOf(variant);
  return fn({
    name: "factorLine",
    params: { launch: Launch, system: System, part: real },
    env: {
      a: slots.a[axis],
      c: slots.c[axis],
      decay: slots.decay,
      inverse: slots.inverse[axis],
      lower: slots.lower[axis],
      upper: slots.upper[axis],
      // Along the first axis the rows go through tiles.
      tiled: axis === 0 && isExact(variant),
      strideOf: strideOf(variant),
      PAD,
      isUniform: variant.axes[axis].isUniform,
      common: slots.common[axis],
      COMMON_A: COMMON.a,
      COMMON_C: COMMON.c,
      COMMON_DECAY: COMMON.decay,
      COMMON_INVERSE: COMMON.inverse,
      COMMON_LOWER: COMMON.lower,
      COMMON_UPPER: COMMON.upper,
    },
    body({ launch: { work }, system: { first, step, to, toStep, pitch, n, column }, part }, _gpu, env) {
      let excess = 1.0;
      let into = to + (n - 1) * toStep;
      for (let i = n - 1; i >= 0; i--) {
        const inTile = i % env.PAD;
        const k = first + (env.tiled ? env.strideOf(i - inTile) + inTile : i * step);
        const a = work[k + env.a * pitch];
        const c = work[k + env.c * pitch];
        const decay = work[k + env.decay * pitch];
        const rest = 1 + part * decay + c * excess;
        const pivot = 1 / (rest + a);
        excess = rest * pivot;
        if (!env.isUniform) {
          work[into + env.inverse * pitch] = pivot;
          work[into + env.lower * pitch] = a * pivot;
          work[into + env.upper * pitch] = c * pivot;
        } else if (column === 0) {
          const words = into + env.common * pitch;
          work[words + env.COMMON_A] = a;
          work[words + env.COMMON_C] = c;
          work[words + env.COMMON_DECAY] = decay;
          work[words + env.COMMON_INVERSE] = pivot;
          work[words + env.COMMON_LOWER] = a * pivot;
          work[words + env.COMMON_UPPER] = c * pivot;
        }
        into -= toStep;
      }
    },
  });
}

/**
 * Returns the function that factors I − hLⱼ along each axis; the factors of the first axis are stored line beside line.
 */
export function factorAxes(variant: AxesVariant) {
  const three = variant.axes.length > 2;
  return fn({
    name: "factorAxes",
    params: inPhase,
    env: {
      three,
      part: 1 / variant.axes.length,
      factor0: factorLine(variant, 0),
      factor1: factorLine(variant, 1),
      factor2: three ? factorLine(variant, 2) : undefined,
      nodeIn: nodeIn(variant),
      coefficientsAt: coefficientsAt(variant),
      strideOf: strideOf(variant),
      rounds: roundsOf(variant),
      exact: isExact(variant),
      group: variant.groupSize,
    },
    *body({ launch, place, found }, _gpu, env) {
      const { n1, n2, stride, plane, lines, size } = launch;
      const { item, base, firstRound, everyRound } = place;
      const { part } = env;
      const rounds0 = env.rounds(lines);
      for (let r = firstRound; r < rounds0; r += everyRound) {
        const node = env.exact ? r * env.group : r * env.group + item;
        const own = env.exact ? item : 0;
        const line = node + own;
        if (line < lines) {
          const { at: first } = env.coefficientsAt({ base, size, node: line * stride, own: 0 });
          const { at: to, pitch } = env.coefficientsAt({ base, size, node, own });
          env.factor0({
            launch,
            system: { first, step: 1, to, toStep: env.strideOf(lines), pitch, n: stride, column: 0 },
            part,
          });
        }
      }
      const columns = env.three ? stride * n2 : stride;
      const rounds1 = env.rounds(columns);
      for (let r = firstRound; r < rounds1; r += everyRound) {
        const { line, lane, node, own, inside } = env.nodeIn(r, item, stride, columns);
        if (inside) {
          const { at, pitch } = env.coefficientsAt({ base, size, node: node + line * (plane - stride), own });
          const step = env.strideOf(stride);
          env.factor1({ launch, system: { first: at, step, to: at, toStep: step, pitch, n: n1, column: lane }, part });
        }
      }
      if (env.factor2 !== undefined) {
        const rounds2 = env.rounds(plane);
        for (let r = firstRound; r < rounds2; r += everyRound) {
          const { lane, node, own, inside } = env.nodeIn(r, item, stride, plane);
          if (inside) {
            const { at, pitch } = env.coefficientsAt({ base, size, node, own });
            const step = env.strideOf(plane);
            env.factor2({
              launch,
              system: { first: at, step, to: at, toStep: step, pitch, n: n2, column: lane },
              part,
            });
          }
        }
      }
      return found;
    },
  });
}
