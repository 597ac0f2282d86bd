/**
 * Tridiagonal systems with one row per lane, by parallel cyclic reduction: by shuffles within a subgroup, or through
 * workgroup memory.
 */
import { fn, i32, real, write, record } from "../../../kernel/index.ts";
import { CODE_OK } from "./status.ts";

/**
 * Returns the kernel function that solves a·x₋ + b·x + c·x₊ = d, one row per lane, by parallel cyclic reduction; x₋ and
 * x₊ are the unknowns of the neighbouring lanes. It returns x, and as `code` the given row if a pivot is zero or has no
 * normal inverse. `lane` is the lane's number in its system and `item` its position in scratch memory, where the lanes
 * of a system are neighbours. Scratch memory has 2 × 3 × items words, two alternating halves, so that a round needs one
 * barrier.
 *
 * Cost per lane and round: 14 flops, and 6 shuffles or 3 words written and 6 read. There are log₂ lanes rounds.
 */
export function solveAcrossLanes(lanes: number, items: number, shuffles: boolean) {
  return fn({
    name: "solveLanes",
    params: [real, real, real, real, i32, i32, i32, write(real)],
    // Alone: neighbours beyond the ends are this system's too, items of its own, since there are no others.
    env: {
      lanes,
      items,
      levels: Math.log2(lanes),
      shuffles,
      alone: lanes === items || (shuffles && lanes === 32),
      ok: CODE_OK,
    },
    *body([startA, startB, startC, startD, lane, item, row, scratch], gpu, env) {
      const { lanes, items, levels, shuffles, alone, ok } = env;
      const scale = gpu.reciprocal(startB);
      let code = startB === 0 || scale === 0 ? row : ok;
      let a = startA * scale;
      let c = startC * scale;
      let d = startD * scale;
      for (let level = 0; level < levels; level++) {
        const distance = 1 << level;
        let belowA = 0.0;
        let belowC = 0.0;
        let belowD = 0.0;
        let aboveA = 0.0;
        let aboveC = 0.0;
        let aboveD = 0.0;
        if (shuffles) {
          belowA = yield gpu.shuffleUp(a, distance);
          belowC = yield gpu.shuffleUp(c, distance);
          belowD = yield gpu.shuffleUp(d, distance);
          aboveA = yield gpu.shuffleDown(a, distance);
          aboveC = yield gpu.shuffleDown(c, distance);
          aboveD = yield gpu.shuffleDown(d, distance);
        } else {
          const half = (level & 1) * 3 * items;
          scratch[half + item] = a;
          scratch[half + items + item] = c;
          scratch[half + 2 * items + item] = d;
          yield;
          const below = half + Math.max(item - distance, 0);
          const above = half + Math.min(item + distance, items - 1);
          belowA = scratch[below];
          belowC = scratch[items + below];
          belowD = scratch[2 * items + below];
          aboveA = scratch[above];
          aboveC = scratch[items + above];
          aboveD = scratch[2 * items + above];
        }
        // Beyond the ends stand rows that say x = 0, not another system's, which may have failed: 0 · NaN is NaN.
        if (!alone && lane < distance) {
          belowA = 0.0;
          belowC = 0.0;
          belowD = 0.0;
        }
        if (!alone && lane + distance >= lanes) {
          aboveA = 0.0;
          aboveC = 0.0;
          aboveD = 0.0;
        }
        const left = lane >= distance ? a : 0.0;
        const right = lane + distance < lanes ? c : 0.0;
        const pivot = 1 - left * belowC - right * aboveA;
        const inverse = gpu.reciprocal(pivot);
        if (pivot === 0 || inverse === 0) code = Math.min(code, row);
        d = (d - left * belowD - right * aboveD) * inverse;
        a = -left * belowA * inverse;
        c = -right * aboveC * inverse;
      }
      if (!shuffles) yield;
      return { x: d, code };
    },
  });
}

/** The values of a segment, as `solveAcrossSegments` says. */
const RunValues = record({ first: real, second: real, third: real, fourth: real, fifth: real, sixth: real });

/**
 * Returns the kernel function that computes the last unknowns of all segments of several systems. The segments of
 * system number `own` belong to the items lane·systems + own of a workgroup. An exchange in workgroup memory makes the
 * lanes of a system neighbours, `solveAcrossLanes` solves, and another exchange returns x and the last unknown of the
 * previous segment. The inputs are a, c, d of the segment's first row after `eliminateSegment`, and a, c, d of its
 * last. Segments of one row (`single`) pass a, b, c, d and two unused numbers. `scratch` has 7 words per item.
 */
export function solveAcrossSegments(lanes: number, systems: number, single: boolean, shuffles: boolean) {
  const items = lanes * systems;
  return fn({
    name: "solveRuns",
    params: { values: RunValues, lane: i32, own: i32, scratch: write(real) },
    env: { lanes, items, single, solveLanes: solveAcrossLanes(lanes, items, shuffles), ok: CODE_OK },
    *body({ values: { first, second, third, fourth, fifth, sixth }, lane, own, scratch }, gpu, env) {
      // What is item (lane, own) here is (own, lane) in the exchange.
      const items = env.items;
      const item = gpu.localId();
      const exchanged = own * env.lanes + lane;
      const otherLane = item % env.lanes;
      scratch[exchanged] = first;
      scratch[items + exchanged] = second;
      scratch[2 * items + exchanged] = third;
      scratch[3 * items + exchanged] = fourth;
      if (!env.single) {
        scratch[4 * items + exchanged] = fifth;
        scratch[5 * items + exchanged] = sixth;
      }
      yield;
      let a = scratch[item];
      let b = scratch[items + item];
      let c = scratch[2 * items + item];
      let d = scratch[3 * items + item];
      if (!env.single) {
        // The last row of a run, freed of the first rows of its own run and the next.
        const next = Math.min(item + 1, items - 1);
        const down = d;
        const up = scratch[4 * items + item];
        // After the last run comes another system, which may have failed: 0 · NaN is NaN.
        const inner = otherLane < env.lanes - 1;
        d = scratch[5 * items + item] - down * c - (inner ? up * scratch[2 * items + next] : 0.0);
        c = inner ? -up * scratch[items + next] : 0.0;
        b = 1 - down * b - (inner ? up * scratch[next] : 0.0);
        a = -down * a;
      }
      yield;
      const solved = yield* env.solveLanes(a, b, c, d, otherLane, item, 0, scratch);
      // The code is another system's: it goes with x, as a number that f32 holds exactly.
      scratch[item] = solved.x;
      scratch[items + item] = solved.code === env.ok ? 0.0 : 1.0;
      yield;
      const x = scratch[exchanged];
      const xBefore = scratch[Math.max(exchanged - 1, 0)];
      const broken = scratch[items + exchanged] !== 0;
      yield;
      return { x, xBefore, broken };
    },
  });
}
