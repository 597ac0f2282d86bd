import { fn, i32, record } from "../../../../kernel/index.ts";
import { FAULT, STATUS } from "../../../operator/status.ts";
import { Fault } from "../../item/equation/records.ts";
import { type EquationPlan, FAULT_WORDS } from "./plan.ts";
import { atStart, Cursor } from "./records.ts";
import { copyState } from "./state.ts";

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
 * Returns the function that writes the solution at the nodes, or the state for the next launch, and the first fault.
 */
export function readSolution(plan: EquationPlan) {
  const { team, rows } = plan;
  return fn({
    name: "readSolution",
    params: { ...atStart, cursor: Cursor },
    env: {
      rows,
      items: team.items,
      FAULT_WORDS,
      faultWord: STATUS.fault,
      nodeWord: STATUS.node,
      rowWord: STATUS.row,
      endlessWord: STATUS.endless,
      save: copyState(plan, false),
      badSolution: FAULT.solution,
      isBefore,
    },
    *body({ launch, place, memory, cursor }, gpu, env) {
      const { nodes, pitch, rows, end, out, status } = launch;
      const { instance, item, first } = place;
      const { faults } = memory.shared;
      const { u } = memory.state;
      const { row } = cursor.found;
      let { fault, node } = cursor.found;
      if (end < rows) env.save({ launch, place, memory });
      else {
        for (let k = 0; k < env.rows; k++) {
          const i = Math.min(first + k, nodes - 1);
          if (first + k < nodes) out[i * pitch + instance] = u[k];
          if (first + k < nodes && !Number.isFinite(u[k]) && fault === 0) {
            fault = env.badSolution;
            node = i;
          }
        }
      }
      const at = env.FAULT_WORDS * item;
      faults[at] = fault;
      faults[at + 1] = node;
      faults[at + 2] = row;
      faults[at + 3] = gpu.endlessLoop();
      yield;
      if (item === 0) {
        let first = { fault: 0, node: 0, row: 0 };
        let endless = 0;
        for (let k = 0; k < env.FAULT_WORDS * env.items; k += env.FAULT_WORDS) {
          const other = { fault: faults[k], node: faults[k + 1], row: faults[k + 2] };
          if (other.fault !== 0 && (first.fault === 0 || env.isBefore({ pair: { one: other, other: first } })))
            first = other;
          if (endless === 0) endless = faults[k + 3];
        }
        if (first.fault !== 0 && status[env.faultWord * pitch + instance] === 0) {
          status[env.faultWord * pitch + instance] = first.fault;
          status[env.nodeWord * pitch + instance] = first.node;
          status[env.rowWord * pitch + instance] = first.row;
        }
        if (endless !== 0) status[env.endlessWord * pitch + instance] = endless;
      }
    },
  });
}
