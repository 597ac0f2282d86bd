import { fn, type ValueOf } from "../../../kernel/index.ts";
import { type AxesVariant, slotsOf } from "../../operator/axes-variant.ts";
import { FAULT } from "../../operator/status.ts";
import { ZERO_VALUE_GUARD } from "../../operator/zero-value-guard.ts";
import { besideOf, explicitAt, type Fall, fallOf, rowAt, rowsOf, sliceOf } from "./explicit.ts";
import { coefficientsAt, isExact, meshOf, nodeIn, roundsOf, shapeOf, strideOf } from "./place.ts";
import { inPhase } from "./records.ts";
import { rightAt } from "./right-hand-side.ts";

/**
 * Returns the function that computes the right-hand side of a sweep (`rightAt`) and solves its systems along the last
 * axis. The second sweep `corrects`.
 *
 * Slices of three planes are carried along the axis, so that each value is read once for each neighbour in its plane.
 * Cost of two axes: 24 flops a node with a mixed derivative, 11 without, and 5 for the solution; 12 words.
 */
export function sweepLast(variant: AxesVariant, corrects: boolean) {
  const { axes, correction = { full: 0 } } = variant;
  const slots = slotsOf(variant);
  const last = axes.length - 1;
  return fn({
    name: corrects ? "sweepSecond" : "sweepFirst",
    params: inPhase,
    env: {
      corrects,
      badPinned: FAULT.pinned,
      three: axes.length > 2,
      from: corrects ? slots.z : slots.u,
      into: corrects ? slots.second : slots.z,
      rowAt: rowAt(variant, last),
      guard: ZERO_VALUE_GUARD,
      slice: sliceOf(variant),
      beside: besideOf(variant),
      fallOf,
      explicitAt: explicitAt(variant, !corrects || correction.full !== 0),
      rightAt: rightAt(variant, corrects),
      rowsOf: rowsOf(variant),
      nodeIn: nodeIn(variant),
      coefficientsAt: coefficientsAt(variant),
      strideOf: strideOf(variant),
      rounds: roundsOf(variant),
      mesh1: meshOf(1),
      meshLast: meshOf(last),
      shapeOf,
    },
    *body({ launch, place, step, found }, _gpu, env) {
      const { work, table, n1, n2, stride, plane: ofTwo, size } = launch;
      const { item, base, mesh, firstRound, everyRound } = place;
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
            const at0 = env.rowsOf({
              own: own0 + rows,
              first: first0 + rows,
              pitch,
              toLine: line * stride,
              toPlane: k,
            });
            const part = env.explicitAt({ launch, rows: at0, here, beside, falls, fell, w });
            const of = { here: here.here, all: part.all, mixed: part.mixed };
            const onLine = env.three ? i * n1 + line : i;
            const got = env.rightAt({ launch, place, step, rows: at0, of, at, lane, line: onLine });
            if (got.isBad && fault === 0) {
              fault = env.badPinned;
              node = got.node;
              row = step.run;
            }
            const factors = env.rowAt(at0);
            y = (got.right + env.guard) * work[factors.inverse] + work[factors.upper] * y;
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

/** Returns the function that solves the systems of a sweep along the middle one of three axes, in place. */
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
    *body({ launch: { work, n1, n2, stride, plane, size }, place, step, found }, _gpu, env) {
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
 * Returns the function that solves the systems of a sweep along the first axis, one line an item. Factors are stored
 * line beside line; an item reads and writes two neighbouring values at a time, which a CPU handles as one vector.
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
    *body({ launch: { work, n0, stride, lines, size }, place, step, found }, _gpu, env) {
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
