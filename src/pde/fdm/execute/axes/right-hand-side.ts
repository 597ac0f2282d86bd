/** The right-hand sides of sweeps, node after node of a line from its last one on. */
import { fn, i32, real, record, type ValueOf } from "../../../../kernel/index.ts";
import { type AxesVariant, hasPinnedNodes, slotsOf } from "../../operator/axes-variant.ts";
import { prescribedValue } from "../../operator/state.ts";
import { FAULT } from "../../operator/status.ts";
import { SUBNORMAL_GUARD } from "../../operator/matrix.ts";
import {
  westAndEast,
  explicitAt,
  PlaneDifferences,
  planeDifferences,
  Neighbours,
  CoefficientIndices,
  coefficientIndices,
  neighboursInPlane,
  Stencil,
  stencilOf,
} from "./explicit.ts";
import { nodeAt, LineSegment, sidesOf, valuesAt } from "./node.ts";
import { ProgramRow } from "../rollback.ts";
import { AxesContext, Findings, Launch, withFault } from "./context.ts";

/**
 * Returns the function that computes a pinned node's value at the end of a step, and its number; the node is `lane`
 * after `first` of its line along the first axis.
 */
function pinnedAt(variant: AxesVariant) {
  return fn({
    name: "pinnedAt",
    params: { launch: Launch, context: AxesContext, first: i32, lane: i32, t: real, mask: i32 },
    env: {
      nodeAt: nodeAt(variant.axes.length),
      sidesOf: sidesOf(variant.axes.length),
      valuesAt: valuesAt(variant.axes.length),
      prescribedValue: prescribedValue(variant),
    },
    body({ launch, context: { mesh, parameters }, first, lane, t, mask }, _gpu, env) {
      const { index, number } = env.nodeAt({ launch, line: (first / launch.stride) | 0, lane });
      const state = { t, x: env.valuesAt({ launch, mesh, index }), parameters };
      return { value: env.prescribedValue({ state, side: env.sidesOf({ launch, index }), mask }), node: number };
    },
  });
}

/** A node's value and what `explicitAt` gives for it. */
const Explicit = record({ here: real, all: real, mixed: real });

/**
 * Returns the function that computes D₀ = Δt·F(u) of the first sweep, and for a pinned node the step to its value; in
 * the second sweep (`corrects`) E₀ = D₀ − keep·D + Δt·(mixed·L₀ + full·L)·D; see `Correction`. The node is `lane` after
 * `first` of its line along the first axis.
 */
function rightAt(variant: AxesVariant, corrects: boolean) {
  const { correction = { keep: 0, mixed: 0, full: 0 }, obstacle, hasSource } = variant;
  const slots = slotsOf(variant);
  return fn({
    name: "rightAt",
    params: {
      launch: Launch,
      context: AxesContext,
      programRow: ProgramRow,
      rows: CoefficientIndices,
      of: Explicit,
      first: i32,
      lane: i32,
    },
    env: {
      corrects,
      hasSource: hasSource && !corrects,
      pins: hasPinnedNodes(variant) && !corrects,
      early: obstacle !== undefined && !corrects,
      starts: variant.correction !== undefined && !corrects,
      keep: correction.keep,
      ofMixed: correction.mixed,
      ofFull: correction.full,
      start: slots.start,
      source: slots.source,
      pinned: slots.pinned,
      lambda: slots.lambda,
      pinnedAt: pinnedAt(variant),
    },
    body({ launch, context, programRow: { mask, stage }, rows, of, first, lane }, _gpu, env) {
      const { work, size } = launch;
      const { own, pitch } = rows;
      const { h, tEnd, extrapolation: e } = stage;
      const at = context.base + first;
      let right = 0.0;
      let isBad = false;
      let node = 0;
      if (env.corrects) {
        right = work[env.start * size + at + lane];
        if (env.keep !== 0) right -= env.keep * of.here;
        if (env.ofMixed !== 0) right -= e * env.ofMixed * of.mixed;
        if (env.ofFull !== 0) right += e * env.ofFull * of.all;
      } else right = e * of.all;
      if (env.hasSource) right += e * work[own + env.source * pitch];
      if (env.early) right += e * h * work[env.lambda * size + at + lane];
      if (env.pins) {
        if (work[own + env.pinned * pitch] > 0.5) {
          const end = env.pinnedAt({ launch, context, first, lane, t: tEnd, mask });
          right = end.value - of.here;
          isBad = !Number.isFinite(right);
          node = end.node;
        }
      }
      if (env.starts) work[env.start * size + at + lane] = right;
      return { right, isBad, node };
    },
  });
}

/**
 * The numbers that a node of a line hands to the one before it, with the difference of the plane after it to its own.
 */
const Carried = record({ stencil: Stencil, here: Neighbours, fell: PlaneDifferences, found: Findings });

/**
 * The right-hand side of the tridiagonal systems of an ADI sweep along one axis, as functions for their solver. The
 * nodes of a line are visited from the last to the first. `begin` returns what the last node of an interval of a line
 * needs of the node after it (`Carried`). `next` returns the right-hand side of node i. In `next`, k and `rows` are the
 * offsets of the node's values and coefficients from those of the line's first node. Along axes other than the last the
 * right-hand side is also stored, at index `stored` + d. `finds` tells whether the functions may report values that are
 * not finite.
 */
export type RightHandSide = ReturnType<typeof explicitSide>;

const onSegment = { launch: Launch, context: AxesContext, at: LineSegment };
const inBegin = { ...onSegment, found: Findings };
const onSegmentNode = {
  ...onSegment,
  programRow: ProgramRow,
  i: i32,
  k: i32,
  rows: i32,
  stored: i32,
  d: i32,
  carried: Carried,
};

/**
 * Returns the right-hand side along the last axis, which computes the explicit part. The neighbours in three successive
 * planes are carried along the axis, so that each value is read once for each neighbour in its plane. Cost on two axes:
 * 24 flops for each node with a mixed derivative, 11 without.
 */
export function explicitSide(variant: AxesVariant, corrects: boolean) {
  const { correction = { full: 0 } } = variant;
  const slots = slotsOf(variant);
  const slice = neighboursInPlane(variant);
  return {
    finds: hasPinnedNodes(variant) && !corrects,
    begin: fn({
      name: "beginSide",
      params: inBegin,
      env: {
        stencilOf: stencilOf(variant, corrects ? slots.z : slots.u),
        slice,
        planeDifferences,
        isCut: variant.segments !== undefined,
      },
      body({ launch, context, at, found }, _gpu, env) {
        const { lane, step } = at;
        const { start, length, n } = at.part;
        const stencil = env.stencilOf({ launch, context, at });
        const here = env.slice({
          values: launch.work,
          at: stencil.values + (start + length - 1) * step,
          lane,
          stencil,
        });
        let fell: ValueOf<typeof PlaneDifferences> = { v: 0.0, p0: 0.0, p1: 0.0 };
        if (env.isCut) {
          const after = Math.min(start + length, n - 1) * step;
          const behind = env.slice({ values: launch.work, at: stencil.values + after, lane, stencil });
          fell = env.planeDifferences({ from: behind, to: here });
        }
        return { stencil, here, fell, found };
      },
    }),
    next: fn({
      name: "nextSide",
      params: onSegmentNode,
      env: {
        slice,
        planeDifferences,
        beside: westAndEast(variant),
        coefficientIndices: coefficientIndices(variant),
        explicitAt: explicitAt(variant, !corrects || correction.full !== 0),
        rightAt: rightAt(variant, corrects),
        guard: SUBNORMAL_GUARD,
        badPinned: FAULT.pinned,
        withFault,
      },
      body({ launch, context, at, programRow, i, k, rows: toRow, carried }, _gpu, env) {
        const { work, table } = launch;
        const { first, lane, own, common, pitch, part } = at;
        const { stencil, here, fell } = carried;
        const { values, weights } = stencil;
        const to = Math.max(k - at.step, 0);
        const before = env.slice({ values: work, at: values + to, lane, stencil });
        const w = { next: table[weights + i], before: table[weights + part.n + i] };
        const beside = env.beside({ values: work, from: values + k + lane - 1, slice: here });
        const falls = env.planeDifferences({ from: here, to: before });
        const rows = env.coefficientIndices({
          own: own + toRow,
          first: common + toRow,
          pitch,
          toLine: first,
          toPlane: k,
        });
        const { all, mixed } = env.explicitAt({ launch, rows, here, beside, falls, fell, w });
        const of = { here: here.here, all, mixed };
        const got = env.rightAt({ launch, context, programRow, rows, of, first: first + k, lane });
        const { isBad, node } = got;
        const found = env.withFault({ found: carried.found, isBad, fault: env.badPinned, node, row: programRow.index });
        return { right: got.right + env.guard, carried: { stencil, here: before, fell: falls, found } };
      },
    }),
  };
}

/** The right-hand side along axes other than the last: the stored solution of the sweep along the axis before. */
export const storedSide: RightHandSide = {
  finds: false,
  begin: fn({
    name: "beginStored",
    params: inBegin,
    body({ found }) {
      const none = { next: 0.0, before: 0.0 };
      const stencil = { w0: none, w1: none, south: 0, north: 0, values: 0, weights: 0 };
      const here = { here: 0.0, west: 0.0, east: 0.0, below: 0.0, above: 0.0, p0: 0.0, p1: 0.0, p01: 0.0 };
      return { stencil, here, fell: { v: 0.0, p0: 0.0, p1: 0.0 }, found };
    },
  }),
  next: fn({
    name: "nextStored",
    params: onSegmentNode,
    body({ launch: { work }, stored, d, carried }) {
      return { right: work[stored + d], carried };
    },
  }),
};
