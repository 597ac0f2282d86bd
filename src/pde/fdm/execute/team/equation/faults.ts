import { fn, i32, record } from "../../../../../kernel/index.ts";
import { FAULT } from "../../../operator/status.ts";
import { FAULT_WORDS, type TeamEquationPlan } from "../../equation/plan.ts";
import { Fault, Memory } from "../../equation/records.ts";
import { Place } from "../../place.ts";

const Pair = record({ one: Fault, other: Fault });

/** The order of faults within a row of the time program. */
const placeInRow = fn({
  name: "placeInRow",
  params: [i32],
  env: FAULT,
  body([fault], _gpu, { terminal, slope, negative, payoff, pinned, event }) {
    let place = 1; // coefficients, edges
    if (fault === terminal) place = 0;
    if (fault === slope) place = 2;
    if (fault === negative) place = 3;
    if (fault === payoff) place = 4;
    if (fault === pinned) place = 5;
    if (fault === event) place = 6;
    return place;
  },
});

/**
 * Tells whether the item executor finds fault `one` before the `other`: by the row of the time program, the place in
 * it, the node. Values that are not finite at the end come last. Of slopes, and of the lowest diffusion where several
 * nodes have it, the highest node counts, for the rows of a matrix are made from the last to the first.
 */
const isBefore = fn({
  name: "isBefore",
  params: { pair: Pair },
  env: { placeInRow, slope: FAULT.slope, negative: FAULT.negative, solution: FAULT.solution },
  body({ pair: { one, other } }, _gpu, { placeInRow, slope, negative, solution }) {
    const place = placeInRow(one.fault);
    const otherPlace = placeInRow(other.fault);
    let before = one.node < other.node;
    if (one.fault === slope || one.fault === negative) before = one.node > other.node;
    if (place !== otherPlace) before = place < otherPlace;
    if (one.row !== other.row) before = one.row < other.row;
    if (one.fault === solution && other.fault === solution) before = one.node < other.node;
    else if (one.fault === solution) before = false;
    else if (other.fault === solution) before = true;
    return before;
  },
});

/**
 * Returns the function that finds the first of the faults that the items have found; only the first item gets the
 * result.
 */
export function firstOfItems({ team }: TeamEquationPlan) {
  return fn({
    name: "firstOfItems",
    params: { place: Place, memory: Memory, found: Fault, endless: i32 },
    env: { items: team.items, FAULT_WORDS, isBefore },
    *body({ place: { item }, memory, found: own, endless: ownLoop }, _gpu, env) {
      const { faults } = memory.all;
      const at = env.FAULT_WORDS * item;
      faults[at] = own.fault;
      faults[at + 1] = own.node;
      faults[at + 2] = own.row;
      faults[at + 3] = ownLoop;
      yield;
      let found = { fault: 0, node: 0, row: 0 };
      let endless = 0;
      if (item === 0)
        for (let k = 0; k < env.FAULT_WORDS * env.items; k += env.FAULT_WORDS) {
          const other = { fault: faults[k], node: faults[k + 1], row: faults[k + 2] };
          if (other.fault !== 0 && (found.fault === 0 || env.isBefore({ pair: { one: other, other: found } })))
            found = other;
          if (endless === 0) endless = faults[k + 3];
        }
      return { found, endless };
    },
  });
}
