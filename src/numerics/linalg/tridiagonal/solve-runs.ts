import { fn, i32, real, record, write } from "../../../kernel/index.ts";
import { solveLanes } from "./lanes.ts";
import { CODE_OK } from "./status.ts";

/** The values of a run, as `solveRuns` says. */
const RunValues = record({ first: real, second: real, third: real, fourth: real, fifth: real, sixth: real });

/**
 * Returns the function for the last unknowns of all runs of several systems, neighbours in a workgroup of `lanes` ×
 * `systems` items, with item lane·systems + own: an exchange in workgroup memory makes lanes of a system neighbours,
 * parallel cyclic reduction solves (`lanes.ts`), and another exchange returns x with that of the previous run. The
 * inputs are the run's first row as `eliminateRun` leaves it, a, c, d, and its last, a, c, d; runs of one row
 * (`single`) pass a, b, c, d and two unused numbers. `scratch` has 7 words an item.
 */
export function solveRuns(lanes: number, systems: number, single: boolean, shuffles: boolean) {
  const items = lanes * systems;
  return fn({
    name: "solveRuns",
    params: { values: RunValues, lane: i32, own: i32, scratch: write(real) },
    env: { lanes, items, single, solveLanes: solveLanes(lanes, items, shuffles), ok: CODE_OK },
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
