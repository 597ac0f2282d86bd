import { fn, i32, real, type ValueOf } from "../../../kernel/index.ts";
import { pinnedValueOnAxes } from "../../operator/assemble-axes.ts";
import { type AxesVariant, hasPins, slotsOf } from "../../operator/axes-variant.ts";
import { FAULT } from "../../operator/status.ts";
import { ZERO_VALUE_GUARD } from "../../operator/zero-value-guard.ts";
import { besideOf, explicitAt, type Fall, fallOf, rowAt, sliceOf } from "./explicit.ts";
import { nodeAt, sideOf, valuesAt } from "./factor.ts";
import { coefficientsAt, isExact, meshOf, nodeIn, roundsOf, shapeOf, strideOf } from "./place.ts";
import { inPhase, Launch, Place, Shape } from "./records.ts";

/** A pinned node's value at the end of a step. */
export function pinnedAt(variant: AxesVariant) {
  return fn({
    name: "pinnedAt",
    params: { launch: Launch, place: Place, shape: Shape, line: i32, lane: i32, t: real, mask: i32 },
    env: {
      nodeAt,
      sideOf,
      valuesAt: valuesAt(variant.axes.length),
      pinnedValue: pinnedValueOnAxes(variant),
    },
    body({ launch, place: { mesh, parameters }, shape, line, lane, t, mask }, _gpu, env) {
      const { i0, i1, i2 } = env.nodeAt({ line, lane, shape });
      const { x0, x1, x2 } = env.valuesAt({ launch, mesh, shape, node: { i0, i1, i2 } });
      const { n0, n1, n2 } = launch;
      const ends = { on0: env.sideOf(i0, n0), on1: env.sideOf(i1, n1), on2: env.sideOf(i2, n2) };
      return {
        value: env.pinnedValue({ state: { t, x0, x1, x2, parameters }, mask, ends }),
        node: (i2 * n1 + i1) * n0 + i0,
      };
    },
  });
}

/**
 * The right-hand side of a sweep, and the solution of its systems along the last axis: of the first sweep (`corrects`
 * false) D₀ = Δt·F(u), and for a pinned node the step to its value; of the second
 * E₀ = D₀ − keep·D + Δt·(mixed·L₀ + full·L)·D; see `Correction`.
 *
 * Slices of three planes are carried along the axis, so that each value is read once for each neighbour in its plane.
 * Cost of two axes: 24 flops a node with a mixed derivative, 11 without, and 5 for the solution; 12 words.
 */
export function sweepLast(variant: AxesVariant, corrects: boolean) {
  const { axes, correction = { keep: 0, mixed: 0, full: 0 }, obstacle, hasSource } = variant;
  const slots = slotsOf(variant);
  const last = axes.length - 1;
  return fn({
    name: corrects ? "sweepSecond" : "sweepFirst",
    params: inPhase,
    env: {
      corrects,
      badPinned: FAULT.pinned,
      three: axes.length > 2,
      hasSource: hasSource && !corrects,
      pins: hasPins(variant) && !corrects,
      early: obstacle !== undefined && !corrects,
      starts: variant.correction !== undefined && !corrects,
      keep: correction.keep,
      ofMixed: correction.mixed,
      ofFull: correction.full,
      from: corrects ? slots.z : slots.u,
      into: corrects ? slots.second : slots.z,
      start: slots.start,
      source: slots.source,
      pinned: slots.pinned,
      lambda: slots.lambda,
      rowAt: rowAt(variant, last),
      guard: ZERO_VALUE_GUARD,
      slice: sliceOf(variant),
      beside: besideOf(variant),
      fallOf,
      explicitAt: explicitAt(variant, !corrects || correction.full !== 0),
      pinnedAt: pinnedAt(variant),
      nodeIn: nodeIn(variant),
      coefficientsAt: coefficientsAt(variant),
      strideOf: strideOf(variant),
      rounds: roundsOf(variant),
      mesh1: meshOf(1),
      meshLast: meshOf(last),
      shapeOf,
    },
    body({ launch, place, step, found }, _gpu, env) {
      const { work, table, n1, n2, stride, plane: ofTwo, size } = launch;
      const { item, base, mesh, firstRound, everyRound } = place;
      const { h, e, tEnd, mask } = step;
      const shape = env.shapeOf(launch);
      const plane = env.three ? ofTwo : stride;
      const n = env.three ? n2 : n1;
      const onLast = env.meshLast({ mesh, shape });
      const onFirst = env.mesh1({ mesh, shape });
      let { fault, node, row } = found;
      const rounds = env.corrects && !step.corrected ? 0 : env.rounds(plane);
      for (let r = firstRound; r < rounds; r += everyRound) {
        const { line, first, lane, node: from, own, inside } = env.nodeIn(r, item, stride, plane);
        if (inside) {
          const w0 = { next: table[mesh + 2 * stride + lane], before: table[mesh + 3 * stride + lane] };
          let w1 = { next: 0.0, before: 0.0 };
          let south = 0;
          let north = 0;
          if (env.three) {
            w1 = { next: table[onFirst + 2 * n1 + line], before: table[onFirst + 3 * n1 + line] };
            south = line > 0 ? -stride : 0;
            north = line < n1 - 1 ? stride : 0;
          }
          const rowStep = env.strideOf(plane);
          const { at: own0, pitch } = env.coefficientsAt({ base, size, node: from, own });
          const { at: first0 } = env.coefficientsAt({ base, size, node: first, own: 0 });
          let rows = (n - 1) * rowStep;
          const values = env.from * size + base + first;
          let k = (n - 1) * plane;
          let here = env.slice({ values: work, place: { at: values + k, lane, south, north }, w0, w1 });
          let fell: ValueOf<typeof Fall> = { v: 0.0, p0: 0.0, p1: 0.0 };
          let y = 0.0;
          for (let i = n - 1; i >= 0; i--) {
            const to = i > 0 ? k - plane : 0;
            const before = env.slice({ values: work, place: { at: values + to, lane, south, north }, w0, w1 });
            const at = base + first + k;
            const w = { next: table[onLast + 2 * n + i], before: table[onLast + 3 * n + i] };
            const beside = env.beside({ values: work, from: values + k + lane - 1, slice: here });
            const falls = env.fallOf({ from: here, to: before });
            const at0 = { own: own0 + rows, first: first0 + rows, pitch };
            const part = env.explicitAt({ launch, rows: at0, here, beside, falls, fell, w });
            let right = 0.0;
            if (env.corrects) {
              right = work[env.start * size + at + lane];
              if (env.keep !== 0) right -= env.keep * here.here;
              if (env.ofMixed !== 0) right -= e * env.ofMixed * part.mixed;
              if (env.ofFull !== 0) right += e * env.ofFull * part.all;
            } else right = e * part.all;
            if (env.hasSource) right += e * work[at0.own + env.source * pitch];
            if (env.early) right += e * h * work[env.lambda * size + at + lane];
            if (env.pins) {
              if (work[at0.own + env.pinned * pitch] > 0.5) {
                const end = env.pinnedAt({
                  launch,
                  place,
                  shape,
                  line: env.three ? i * n1 + line : i,
                  lane,
                  t: tEnd,
                  mask,
                });
                right = end.value - here.here;
                if (!Number.isFinite(right) && fault === 0) {
                  fault = env.badPinned;
                  node = end.node;
                  row = step.run;
                }
              }
            }
            if (env.starts) work[env.start * size + at + lane] = right;
            const factors = env.rowAt(at0);
            y = (right + env.guard) * work[factors.inverse] + work[factors.upper] * y;
            work[env.into * size + at + lane] = y;
            fell = falls;
            here = before;
            k -= plane;
            rows -= rowStep;
          }
          k = env.into * size + base + first;
          rows = env.rowAt({ own: own0, first: first0, pitch }).lower;
          y = 0.0;
          for (let i = 0; i < n; i++) {
            y = work[k + lane] + work[rows] * y;
            work[k + lane] = y;
            k += plane;
            rows += rowStep;
          }
        }
      }
      return { fault, node, row, growth: found.growth };
    },
  });
}

/** Solves the systems of a sweep along the middle one of three axes, in place. */
export function sweepMiddle(variant: AxesVariant, corrects: boolean) {
  const slots = slotsOf(variant);
  return fn({
    name: "sweepMiddle",
    params: inPhase,
    env: {
      corrects,
      into: corrects ? slots.second : slots.z,
      rowAt: rowAt(variant, 1),
      nodeIn: nodeIn(variant),
      coefficientsAt: coefficientsAt(variant),
      strideOf: strideOf(variant),
      rounds: roundsOf(variant),
    },
    body({ launch: { work, n1, n2, stride, plane, size }, place, step, found }, _gpu, env) {
      const { item, base, firstRound, everyRound } = place;
      const rounds = env.corrects && !step.corrected ? 0 : env.rounds(stride * n2);
      for (let r = firstRound; r < rounds; r += everyRound) {
        const { line, lane, node: from, own, inside } = env.nodeIn(r, item, stride, stride * n2);
        if (inside) {
          const node = from + line * (plane - stride);
          const { at: own0, pitch } = env.coefficientsAt({ base, size, node, own });
          const { at: first0 } = env.coefficientsAt({ base, size, node: line * plane, own: 0 });
          const { inverse, lower, upper } = env.rowAt({ own: own0, first: first0, pitch });
          const rowStep = env.strideOf(stride);
          let k = env.into * size + base + line * plane + (n1 - 1) * stride;
          let rows = (n1 - 1) * rowStep;
          let y = 0.0;
          for (let i = n1 - 1; i >= 0; i--) {
            y = work[k + lane] * work[inverse + rows] + work[upper + rows] * y;
            work[k + lane] = y;
            k -= stride;
            rows -= rowStep;
          }
          y = 0.0;
          for (let i = 0; i < n1; i++) {
            k += stride;
            rows += rowStep;
            y = work[k + lane] + work[lower + rows] * y;
            work[k + lane] = y;
          }
        }
      }
      return found;
    },
  });
}

/**
 * The same along the first axis, a line an item. Factors lie line beside line; of the values an item reads and writes
 * two neighbours at a time, which a CPU takes as one vector.
 */
export function sweepLines(variant: AxesVariant, corrects: boolean) {
  const slots = slotsOf(variant);
  return fn({
    name: "sweepLines",
    params: inPhase,
    env: {
      corrects,
      into: corrects ? slots.second : slots.z,
      inverse: slots.inverse[0],
      lower: slots.lower[0],
      upper: slots.upper[0],
      exact: isExact(variant),
      group: variant.groupSize,
      coefficientsAt: coefficientsAt(variant),
      strideOf: strideOf(variant),
      rounds: roundsOf(variant),
    },
    body({ launch: { work, n0, stride, lines, size }, place, step, found }, _gpu, env) {
      const { item, base, firstRound, everyRound } = place;
      const rounds = env.corrects && !step.corrected ? 0 : env.rounds(lines);
      const pairs = (n0 + 1) >> 1;
      for (let r = firstRound; r < rounds; r += everyRound) {
        const node = env.exact ? r * env.group : r * env.group + item;
        const own = env.exact ? item : 0;
        const line = node + own;
        if (env.exact || line < lines) {
          const { at: first, pitch } = env.coefficientsAt({ base, size, node, own });
          const rowStep = env.strideOf(lines);
          const start = base + env.into * size + line * stride;
          let at = start + 2 * pairs - 2;
          let rows = first + (2 * pairs - 1) * rowStep;
          let y = 0.0;
          for (let i = 0; i < pairs; i++) {
            const z0 = work[at];
            const z1 = work[at + 1];
            const y1 = z1 * work[rows + env.inverse * pitch] + work[rows + env.upper * pitch] * y;
            rows -= rowStep;
            y = z0 * work[rows + env.inverse * pitch] + work[rows + env.upper * pitch] * y1;
            rows -= rowStep;
            work[at] = y;
            work[at + 1] = y1;
            at -= 2;
          }
          at = start;
          rows = first + env.lower * pitch;
          y = 0.0;
          for (let i = 0; i < pairs; i++) {
            const z0 = work[at];
            const z1 = work[at + 1];
            const y0 = z0 + work[rows] * y;
            rows += rowStep;
            y = z1 + work[rows] * y0;
            rows += rowStep;
            work[at] = y0;
            work[at + 1] = y;
            at += 2;
          }
        }
      }
      return found;
    },
  });
}
