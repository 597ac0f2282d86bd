import { fn, i32, read, real, record } from "../../../kernel/index.ts";
import { pinnedValueOnAxes } from "../../operator/assemble-axes.ts";
import { type AxesVariant, hasPins, slotsOf } from "../../operator/axes-variant.ts";
import { FAULT } from "../../operator/status.ts";
import { ZERO_VALUE_GUARD } from "../../operator/zero-value-guard.ts";
import { nodeAt, sideOf, valuesAt } from "./factor.ts";
import { isExact, meshOf, nodeIn, roundsOf, shapeOf } from "./place.ts";
import { inPhase, Launch, Place, Shape } from "./records.ts";

/** Weights of ∂/∂x at a node: Dv = next·(v₊ − v) + before·(v − v₋). */
const Weights = record({ next: real, before: real });

/** Where a slice is: node `at` + `lane` of an array, and what the nodes beside it on the second axis are further. */
const SlicePlace = record({ at: i32, lane: i32, south: i32, north: i32 });

/**
 * What a node's neighbours in a plane give: v, its differences to them, and D₀v, D₁v and D₁D₀v for mixed derivatives.
 */
function sliceOf({ axes, mixed: [m01, m02, m12] }: AxesVariant) {
  return fn({
    name: "slice",
    params: { values: read(real), place: SlicePlace, w0: Weights, w1: Weights },
    env: { three: axes.length > 2, p0: axes.length === 2 ? m01 : m02, p1: m12, p01: axes.length > 2 && m01 },
    body({ values, place: { at, lane, south, north }, w0, w1 }, _gpu, env) {
      const here = values[at + lane];
      const west = values[at + lane - 1] - here;
      const east = values[at + lane + 1] - here;
      let p0 = 0.0;
      if (env.p0 || env.p01) p0 = w0.next * east - w0.before * west;
      let below = 0.0;
      let above = 0.0;
      let p1 = 0.0;
      let p01 = 0.0;
      if (env.three) {
        const low = values[at + south + lane];
        const high = values[at + north + lane];
        below = low - here;
        above = high - here;
        if (env.p1) p1 = w1.next * above - w1.before * below;
        if (env.p01) {
          const lowD =
            w0.next * (values[at + south + lane + 1] - low) - w0.before * (values[at + south + lane - 1] - low);
          const highD =
            w0.next * (values[at + north + lane + 1] - high) - w0.before * (values[at + north + lane - 1] - high);
          p01 = w1.next * (highD - p0) - w1.before * (lowD - p0);
        }
      }
      return { here, west, east, below, above, p0, p1, p01 };
    },
  });
}

const Neighbours = record({
  here: real,
  west: real,
  east: real,
  below: real,
  above: real,
  p0: real,
  p1: real,
  p01: real,
});

function explicitAt(variant: AxesVariant) {
  const { axes, mixed } = variant;
  const slots = slotsOf(variant);
  const last = axes.length - 1;
  return fn({
    name: "explicitAt",
    params: { launch: Launch, k: i32, lane: i32, here: Neighbours, before: Neighbours, after: Neighbours, w: Weights },
    env: {
      three: axes.length > 2,
      m0L: axes.length === 2 ? mixed[0] : mixed[1],
      m1L: mixed[2],
      m01: axes.length > 2 && mixed[0],
      slot0L: axes.length === 2 ? slots.mixed[0] : slots.mixed[1],
      slot1L: slots.mixed[2],
      slot01: slots.mixed[0],
      decay: slots.decay,
      a0: slots.a[0],
      c0: slots.c[0],
      a1: slots.a[1],
      c1: slots.c[1],
      aL: slots.a[last],
      cL: slots.c[last],
    },
    body({ launch: { work, size }, k, lane, here, before, after, w }, _gpu, env) {
      let linear =
        work[k + env.a0 * size + lane] * here.west +
        work[k + env.c0 * size + lane] * here.east +
        work[k + env.aL * size + lane] * (before.here - here.here) +
        work[k + env.cL * size + lane] * (after.here - here.here) -
        work[k + env.decay * size + lane] * here.here;
      if (env.three)
        linear += work[k + env.a1 * size + lane] * here.below + work[k + env.c1 * size + lane] * here.above;
      let mixed = 0.0;
      if (env.m0L)
        mixed = work[k + env.slot0L * size + lane] * (w.next * (after.p0 - here.p0) - w.before * (before.p0 - here.p0));
      if (env.m1L)
        mixed +=
          work[k + env.slot1L * size + lane] * (w.next * (after.p1 - here.p1) - w.before * (before.p1 - here.p1));
      if (env.m01) mixed += work[k + env.slot01 * size + lane] * here.p01;
      return { linear: linear + mixed, mixed };
    },
  });
}

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
      inverse: slots.inverse[last],
      lower: slots.lower[last],
      upper: slots.upper[last],
      guard: ZERO_VALUE_GUARD,
      slice: sliceOf(variant),
      explicitAt: explicitAt(variant),
      pinnedAt: pinnedAt(variant),
      nodeIn: nodeIn(variant),
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
        const { line, first, lane, inside } = env.nodeIn(r, item, stride, plane);
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
          const values = env.from * size + base + first;
          let k = (n - 1) * plane;
          let here = env.slice({ values: work, place: { at: values + k, lane, south, north }, w0, w1 });
          let after = here;
          let y = 0.0;
          for (let i = n - 1; i >= 0; i--) {
            const to = i > 0 ? k - plane : 0;
            const before = env.slice({ values: work, place: { at: values + to, lane, south, north }, w0, w1 });
            const at = base + first + k;
            const w = { next: table[onLast + 2 * n + i], before: table[onLast + 3 * n + i] };
            const part = env.explicitAt({ launch, k: at, lane, here, before, after, w });
            let right = e * part.linear;
            if (env.corrects)
              right =
                work[env.start * size + at + lane] -
                env.keep * here.here +
                e * (env.ofMixed * part.mixed + env.ofFull * part.linear);
            if (env.hasSource) right += e * work[env.source * size + at + lane];
            if (env.early) right += e * h * work[env.lambda * size + at + lane];
            if (env.pins) {
              if (work[env.pinned * size + at + lane] > 0.5) {
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
            y = (right + env.guard) * work[env.inverse * size + at + lane] + work[env.upper * size + at + lane] * y;
            work[env.into * size + at + lane] = y;
            after = here;
            here = before;
            k -= plane;
          }
          k = base + first;
          y = 0.0;
          for (let i = 0; i < n; i++) {
            y = work[env.into * size + k + lane] + work[env.lower * size + k + lane] * y;
            work[env.into * size + k + lane] = y;
            k += plane;
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
      inverse: slots.inverse[1],
      lower: slots.lower[1],
      upper: slots.upper[1],
      nodeIn: nodeIn(variant),
      rounds: roundsOf(variant),
    },
    body({ launch: { work, n1, n2, stride, plane, size }, place, step, found }, _gpu, env) {
      const { item, base, firstRound, everyRound } = place;
      const rounds = env.corrects && !step.corrected ? 0 : env.rounds(stride * n2);
      for (let r = firstRound; r < rounds; r += everyRound) {
        const { line, lane, inside } = env.nodeIn(r, item, stride, stride * n2);
        if (inside) {
          let k = base + line * plane + (n1 - 1) * stride;
          let y = 0.0;
          for (let i = n1 - 1; i >= 0; i--) {
            y =
              work[env.into * size + k + lane] * work[env.inverse * size + k + lane] +
              work[env.upper * size + k + lane] * y;
            work[env.into * size + k + lane] = y;
            k -= stride;
          }
          k = base + line * plane;
          y = 0.0;
          for (let i = 0; i < n1; i++) {
            y = work[env.into * size + k + lane] + work[env.lower * size + k + lane] * y;
            work[env.into * size + k + lane] = y;
            k += stride;
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
      rounds: roundsOf(variant),
    },
    body({ launch: { work, n0, stride, lines, size }, place, step, found }, _gpu, env) {
      const { item, base, firstRound, everyRound } = place;
      const rounds = env.corrects && !step.corrected ? 0 : env.rounds(lines);
      const pairs = (n0 + 1) >> 1;
      for (let r = firstRound; r < rounds; r += everyRound) {
        const line = r * env.group + item;
        if (env.exact || line < lines) {
          const start = base + env.into * size + line * stride;
          let at = start + 2 * pairs - 1;
          let k = base + (2 * pairs - 1) * lines;
          let y = 0.0;
          for (let i = 0; i < pairs; i++) {
            const z1 = work[at];
            const z0 = work[at - 1];
            const y1 = z1 * work[env.inverse * size + k + line] + work[env.upper * size + k + line] * y;
            k -= lines;
            y = z0 * work[env.inverse * size + k + line] + work[env.upper * size + k + line] * y1;
            k -= lines;
            work[at] = y1;
            work[at - 1] = y;
            at -= 2;
          }
          at = start;
          k = base;
          y = 0.0;
          for (let i = 0; i < pairs; i++) {
            const z0 = work[at];
            const z1 = work[at + 1];
            const y0 = z0 + work[env.lower * size + k + line] * y;
            k += lines;
            y = z1 + work[env.lower * size + k + line] * y0;
            k += lines;
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
