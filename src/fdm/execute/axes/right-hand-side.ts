/** The right-hand side of a sweep at a node. */
import { fn, i32, real, record } from "../../../kernel/index.ts";
import { type AxesVariant, hasPins, slotsOf } from "../../operator/axes-variant.ts";
import { pinnedValue } from "../../operator/pinned.ts";
import { Rows } from "./explicit.ts";
import { nodeAt, sidesOf, valuesAt } from "./factor.ts";
import { shapeOf } from "./place.ts";
import { Launch, AxesPlace, Row, Shape } from "./records.ts";

/** Returns the function for a pinned node's value at the end of a step. */
export function pinnedAt(variant: AxesVariant) {
  return fn({
    name: "pinnedAt",
    params: { launch: Launch, place: AxesPlace, shape: Shape, line: i32, lane: i32, t: real, mask: i32 },
    env: {
      nodeAt: nodeAt(variant.axes.length),
      sidesOf: sidesOf(variant.axes.length),
      valuesAt: valuesAt(variant.axes.length),
      pinnedValue: pinnedValue(variant),
    },
    body({ launch, place: { mesh, parameters }, shape, line, lane, t, mask }, _gpu, env) {
      const { index, number } = env.nodeAt({ line, lane, shape });
      const state = { t, x: env.valuesAt({ launch, mesh, shape, index }), parameters };
      return { value: env.pinnedValue({ state, side: env.sidesOf({ index, shape }), mask }), node: number };
    },
  });
}

/** A node's value and what `explicitAt` gives for it. */
const Explicit = record({ here: real, all: real, mixed: real });

/**
 * Returns the function that computes D₀ = Δt·F(u) of the first sweep, and for a pinned node the step to its value; in
 * the second sweep (`corrects`) E₀ = D₀ − keep·D + Δt·(mixed·L₀ + full·L)·D; see `Correction`. The node is `lane` of
 * `line`, at index `at` + `lane`.
 */
export function rightAt(variant: AxesVariant, corrects: boolean) {
  const { correction = { keep: 0, mixed: 0, full: 0 }, obstacle, hasSource } = variant;
  const slots = slotsOf(variant);
  return fn({
    name: "rightAt",
    params: { launch: Launch, place: AxesPlace, step: Row, rows: Rows, of: Explicit, at: i32, lane: i32, line: i32 },
    env: {
      corrects,
      hasSource: hasSource && !corrects,
      pins: hasPins(variant) && !corrects,
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
      shapeOf,
    },
    body({ launch, place, step: { h, e, tEnd, mask }, rows, of, at, lane, line }, _gpu, env) {
      const { work, size } = launch;
      const { own, pitch } = rows;
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
          const end = env.pinnedAt({ launch, place, shape: env.shapeOf(launch), line, lane, t: tEnd, mask });
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
