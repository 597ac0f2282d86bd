import { fn, i32, real, record } from "../../../kernel/index.ts";
import { axisRow, coefficientFault, isPinnedOnAxes } from "../../operator/assemble-axes.ts";
import { type AxesVariant, COMMON, hasPins, slotsOf } from "../../operator/axes-variant.ts";
import { FAULT } from "../../operator/status.ts";
import { coefficientsAt, isExact, meshOf, nodeIn, roundsOf, shapeOf, strideOf } from "./place.ts";
import { inPhase, Launch, PAD, Shape } from "./records.ts";

/** A node: its numbers on the axes, whether it is none but padding, and its state. */
export const nodeAt = fn({
  name: "nodeAt",
  params: { line: i32, lane: i32, shape: Shape },
  body({ line, lane, shape: { n0, n1, n2 } }) {
    const i2 = Math.min((line / n1) | 0, n2 - 1);
    const i1 = Math.min(line - i2 * n1, n1 - 1);
    const i0 = Math.min(lane, n0 - 1);
    return { i0, i1, i2, isNode: lane < n0 && line < n1 * n2 };
  },
});

/** Returns −1 at the first node of an axis, 1 at the last one, 0 between. */
export const sideOf = fn({
  name: "sideOf",
  params: [i32, i32],
  body([i, n]) {
    return i === 0 ? -1 : i === n - 1 ? 1 : 0;
  },
});

/** The values of the axes at a node. */
export const valuesAt = (axes: number) =>
  fn({
    name: "valuesAt",
    params: { launch: Launch, mesh: i32, shape: Shape, node: record({ i0: i32, i1: i32, i2: i32 }) },
    env: { three: axes > 2, mesh1: meshOf(1), mesh2: meshOf(2) },
    body({ launch: { table }, mesh, shape, node: { i0, i1, i2 } }, _gpu, env) {
      let x2 = 0.0;
      if (env.three) x2 = table[env.mesh2({ mesh, shape }) + i2];
      return { x0: table[mesh + i0], x1: table[env.mesh1({ mesh, shape }) + i1], x2 };
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
 * The rows of all hLⱼ, the mixed derivatives and the source, at time t, times h = θΔt: once where nothing depends on
 * time. Cost: the equation's own, and some 30 flops a node and axis.
 */
export function assemble(variant: AxesVariant) {
  const { axes, mixed, fitted, coefficients, hasSource } = variant;
  const slots = slotsOf(variant);
  return fn({
    name: "assembleAxes",
    params: inPhase,
    env: {
      ...FAULT,
      three: axes.length > 2,
      hasSource,
      pins: hasPins(variant),
      m01: mixed[0],
      m02: mixed[1],
      m12: mixed[2],
      log0: axes[0].log,
      log1: axes[1].log,
      log2: axes[2]?.log ?? false,
      slotA0: slots.a[0],
      slotC0: slots.c[0],
      slotA1: slots.a[1],
      slotC1: slots.c[1],
      slotA2: slots.a[2] ?? 0,
      slotC2: slots.c[2] ?? 0,
      slot01: slots.mixed[0],
      slot02: slots.mixed[1],
      slot12: slots.mixed[2],
      slotDecay: slots.decay,
      slotSource: slots.source,
      slotPinned: slots.pinned,
      row0: axisRow(axes[0], fitted),
      row1: axisRow(axes[1], fitted),
      row2: axes[2] === undefined ? undefined : axisRow(axes[2], fitted),
      coefficients,
      coefficientFault,
      isPinned: isPinnedOnAxes(variant),
      placeOnAxis,
      nodeAt,
      nodeIn: nodeIn(variant),
      coefficientsAt: coefficientsAt(variant),
      rounds: roundsOf(variant),
      valuesAt: valuesAt(axes.length),
      sideOf,
      shapeOf,
      mesh1: meshOf(1),
      mesh2: meshOf(2),
    },
    *body({ launch, place, step, found }, _gpu, env) {
      const { item, mesh, base, parameters, firstRound, everyRound } = place;
      const { work, n0, n1, n2, stride, size } = launch;
      const { h, t, tEnd, mask } = step;
      const shape = env.shapeOf(launch);
      let { fault, node, row, growth } = found;
      const rounds = env.rounds(size);
      for (let r = firstRound; r < rounds; r += everyRound) {
        const { line, lane, node: first, own, inside } = env.nodeIn(r, item, stride, size);
        if (inside) {
          const { at: k, pitch } = env.coefficientsAt({ base, size, node: first, own });
          const at = env.nodeAt({ line, lane, shape });
          const { i0, i1, i2 } = at;
          const { x0, x1, x2 } = env.valuesAt({ launch, mesh, shape, node: { i0, i1, i2 } });
          let pinned = false;
          if (env.pins) {
            const ends = { on0: env.sideOf(i0, n0), on1: env.sideOf(i1, n1), on2: env.sideOf(i2, n2) };
            pinned = env.isPinned({ state: { t: tEnd, x0, x1, x2, parameters }, mask, ends });
            work[k + env.slotPinned * pitch] = pinned ? 1.0 : 0.0;
          }
          let below0 = 0.0;
          let above0 = 0.0;
          let below1 = 0.0;
          let above1 = 0.0;
          let below2 = 0.0;
          let above2 = 0.0;
          let c01 = 0.0;
          let c02 = 0.0;
          let c12 = 0.0;
          let decay = 0.0;
          let source = 0.0;
          if (at.isNode && !pinned) {
            const state = { t, x0, x1, x2, parameters };
            const of = env.coefficients(state);
            const bad = env.coefficientFault(of);
            if (bad !== 0 && fault === 0) {
              fault = bad;
              node = (i2 * n1 + i1) * n0 + i0;
              row = step.run;
            }
            decay = -h * of.c;
            if (decay <= -1) growth = 1;
            const on0 = env.placeOnAxis({ launch, at: mesh, length: stride, i: i0, n: n0 });
            const r0 = env.row0({ at: on0, h, a: of.a00, b: of.b0, state });
            below0 = r0.below;
            above0 = r0.above;
            const on1 = env.placeOnAxis({ launch, at: env.mesh1({ mesh, shape }), length: n1, i: i1, n: n1 });
            const r1 = env.row1({ at: on1, h, a: of.a11, b: of.b1, state });
            below1 = r1.below;
            above1 = r1.above;
            source = h * (of.d + r0.slope + r1.slope);
            if (env.row2 !== undefined) {
              const on2 = env.placeOnAxis({ launch, at: env.mesh2({ mesh, shape }), length: n2, i: i2, n: n2 });
              const r2 = env.row2({ at: on2, h, a: of.a22, b: of.b2, state });
              below2 = r2.below;
              above2 = r2.above;
              source += h * r2.slope;
            }
            // ∂/∂S = (1/S)·∂/∂x for x = ln S.
            const s0 = env.log0 ? h / x0 : h;
            c01 = of.a01 * (env.log1 ? s0 / x1 : s0);
            c02 = of.a02 * (env.log2 ? s0 / x2 : s0);
            const s1 = env.log1 ? h / x1 : h;
            c12 = of.a12 * (env.log2 ? s1 / x2 : s1);
          }
          work[k + env.slotDecay * pitch] = decay;
          work[k + env.slotA0 * pitch] = below0;
          work[k + env.slotC0 * pitch] = above0;
          work[k + env.slotA1 * pitch] = below1;
          work[k + env.slotC1 * pitch] = above1;
          if (env.three) {
            work[k + env.slotA2 * pitch] = below2;
            work[k + env.slotC2 * pitch] = above2;
          }
          if (env.m01) work[k + env.slot01 * pitch] = c01;
          if (env.m02) work[k + env.slot02 * pitch] = c02;
          if (env.m12) work[k + env.slot12 * pitch] = c12;
          if (env.hasSource) work[k + env.slotSource * pitch] = source;
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

/** Factors I − hLⱼ along each axis; the factors of the first lie line beside line. */
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
