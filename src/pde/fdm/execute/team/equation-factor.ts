import { bool, fn, i32, real, record } from "../../../../kernel/index.ts";
import { FAULT, STATUS } from "../../operator/status.ts";
import {
  AllNodes,
  atRow,
  FirstFault,
  FAULT_INTEGERS,
  Launch,
  Memory,
  type TeamEquationPlan,
} from "../equation/memory.ts";
import { ItemContext } from "../rollback.ts";
import { diffusionTolerance, equationRow } from "../../operator/equation-row.ts";
import { groupReduction, partsOf } from "./team.ts";
import { factorSegment } from "./factor.ts";
import { Factors, Products, Scans } from "./records.ts";
import { scanRounds, scanProducts } from "./scan.ts";

const Pair = record({ one: FirstFault, other: FirstFault });

/** The order of faults within a row of the time program. */
const orderInRow = fn({
  name: "orderInRow",
  params: [i32],
  env: FAULT,
  body([fault], _gpu, { terminal, slope, negative, payoff, pinned, event }) {
    let order = 1; // coefficients, edges
    if (fault === terminal) order = 0;
    if (fault === slope) order = 2;
    if (fault === negative) order = 3;
    if (fault === payoff) order = 4;
    if (fault === pinned) order = 5;
    if (fault === event) order = 6;
    return order;
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
  env: { orderInRow, slope: FAULT.slope, negative: FAULT.negative, solution: FAULT.solution },
  body({ pair: { one, other } }, _gpu, { orderInRow, slope, negative, solution }) {
    const order = orderInRow(one.fault);
    const otherOrder = orderInRow(other.fault);
    let before = one.node < other.node;
    if (one.fault === slope || one.fault === negative) before = one.node > other.node;
    if (order !== otherOrder) before = order < otherOrder;
    if (one.row !== other.row) before = one.row < other.row;
    if (one.fault === solution && other.fault === solution) before = one.node < other.node;
    else if (one.fault === solution) before = false;
    else if (other.fault === solution) before = true;
    return before;
  },
});

/**
 * Returns the function that computes the first of all faults in a team's items. Only the first item gets the result.
 */
export function firstOfItems({ team }: TeamEquationPlan) {
  return fn({
    name: "firstOfItems",
    params: { context: ItemContext, memory: Memory, found: FirstFault, endless: i32 },
    env: { items: team.items, FAULT_INTEGERS, isBefore },
    *body({ context: { item }, memory, found: own, endless: ownLoop }, _gpu, env) {
      const { faults } = memory.all;
      const at = env.FAULT_INTEGERS * item;
      faults[at] = own.fault;
      faults[at + 1] = own.node;
      faults[at + 2] = own.row;
      faults[at + 3] = ownLoop;
      yield;
      let found = { fault: 0, node: 0, row: 0 };
      let endless = 0;
      if (item === 0)
        for (let k = 0; k < env.FAULT_INTEGERS * env.items; k += env.FAULT_INTEGERS) {
          const other = { fault: faults[k], node: faults[k + 1], row: faults[k + 2] };
          if (other.fault !== 0 && (found.fault === 0 || env.isBefore({ pair: { one: other, other: found } })))
            found = other;
          if (endless === 0) endless = faults[k + 3];
        }
      return { found, endless };
    },
  });
}

/**
 * The units of a word in which several counts over the items are made at once: limited rows, items that found a
 * negative diffusion, items that found growth, or entries that are too large.
 */
const NEGATIVE = 1 << 12;
const GROWTH = 1 << 20;

/** Products of larger entries over a segment might overflow. */
const MAX_ENTRY = 1e15;

/** An item's findings about the rows that it has evaluated; limited rows are `limitedRows` between two nodes. */
const RowFindings = record({
  found: FirstFault,
  lowest: real,
  lowestNode: i32,
  largest: real,
  limitedRows: i32,
  limitedLow: i32,
  limitedHigh: i32,
  growth: bool,
});

/** The most limited rows of a matrix before, and the row of the time program. */
const FactorReport = record({ limitedRows: i32, row: i32 });

/**
 * Evaluates the rows of all nodes into workgroup memory and takes those of the segment from there: divided by 1 + hc,
 * whose reciprocal stays in `third`, which leaves `factorSegment` rows (−a, 1 + a + c, −c). Policy iteration takes them
 * as they are.
 */
function layRows({ team, rows, variant, penalty }: TeamEquationPlan) {
  return fn({
    name: "layRows",
    params: atRow,
    env: {
      items: team.items,
      count: rows,
      isPenalty: penalty,
      hasSource: variant.hasSource,
      hasSlopes: variant.first.kind === "neumann" || variant.last.kind === "neumann",
      equationRow: equationRow(variant),
      badSlope: FAULT.slope,
      MAX_ENTRY,
    },
    *body({ launch: { nodes }, context, memory, loopState, programRow }, gpu, env) {
      const { parameters, item, first } = context;
      const { table, state, rows, penalty } = memory;
      const { u: values, beside, third, fourth } = memory.all;
      const { mask, stage } = programRow;
      let { fault, node, row: foundRow } = loopState.found;
      let lowest = 0.0; // a
      let lowestNode = 0;
      let largest = 0.0;
      let limitedRows = 0;
      let limitedLow = nodes - 1;
      let limitedHigh = 0;
      let growth = false;
      for (let i = item; i < nodes; i += env.items) {
        const row = env.equationRow({ i, nodes, table, parameters, mask, stage });
        const { below, above, decay } = row;
        let found = row.fault;
        if (env.hasSlopes && row.badSlope && found === 0) found = env.badSlope;
        // A slope is looked at last, that of the last node first.
        const yields = env.hasSlopes && fault === env.badSlope && foundRow === programRow.index;
        if (found !== 0 && (fault === 0 || yields)) {
          fault = found;
          node = i;
          foundRow = programRow.index;
        }
        if (row.a <= lowest) {
          lowest = row.a;
          lowestNode = i;
        }
        largest = Math.max(largest, row.a);
        if (row.limited) {
          limitedRows++;
          limitedLow = Math.min(limitedLow, i);
          limitedHigh = Math.max(limitedHigh, i);
        }
        const own = env.isPenalty ? 1.0 : gpu.reciprocal(1 + decay);
        const a = below * own;
        const c = above * own;
        growth = growth || decay <= -1 || Math.max(a, c) > env.MAX_ENTRY;
        if (env.isPenalty) growth = growth || decay > env.MAX_ENTRY;
        values[i] = a;
        beside[i] = c;
        third[i] = env.isPenalty ? 1 + decay : own;
        if (env.hasSource) fourth[i] = row.source;
      }
      yield;
      for (let k = 0; k < env.count; k++) {
        const inside = first + k < nodes;
        const i = Math.min(first + k, nodes - 1);
        rows.a[k] = inside ? values[i] : 0.0;
        rows.c[k] = inside ? beside[i] : 0.0;
        if (env.isPenalty) penalty.decays[k] = inside ? third[i] : 1.0;
        if (env.hasSource) state.source[k] = inside ? fourth[i] : 0.0;
      }
      return {
        found: { fault, node, row: foundRow },
        lowest,
        lowestNode,
        largest,
        limitedRows,
        limitedLow,
        limitedHigh,
        growth,
      };
    },
  });
}

/**
 * The matrix with the most limited rows so far, and growth, go to the status; a diffusion that is negative by more than
 * rounding becomes the fault of the item whose node has the lowest. Returns that item's fault, and the loopState's
 * limitedRows. Cost: two barriers, and more only where there is something to tell.
 */
function tellFindings({ team }: TeamEquationPlan) {
  return fn({
    name: "tellFindings",
    params: {
      launch: Launch,
      instance: i32,
      item: i32,
      all: AllNodes,
      scans: Scans,
      findings: RowFindings,
      before: FactorReport,
    },
    env: {
      ...STATUS,
      items: team.items,
      NEGATIVE,
      GROWTH,
      negative: FAULT.negative,
      total: groupReduction("add"),
      largest: groupReduction("max"),
      diffusionTolerance,
    },
    *body({ launch, instance, item, all: { u: values }, scans, findings, before }, _gpu, env) {
      const { nodes, pitch, status } = launch;
      const { counter, result } = scans;
      const { lowest, lowestNode, limitedLow, limitedHigh } = findings;
      let { fault, node, row } = findings.found;
      const mine = findings.limitedRows + (lowest < 0 ? env.NEGATIVE : 0) + (findings.growth ? env.GROWTH : 0);
      const counts = yield* env.total(mine, counter, result);
      const limitedRows = counts & (env.NEGATIVE - 1);
      if (limitedRows > before.limitedRows) {
        const low = nodes - (yield* env.largest(nodes - limitedLow, counter, result));
        const high = yield* env.largest(limitedHigh, counter, result);
        const at = env.limitedRows * pitch + instance;
        if (item === 0 && limitedRows > status[at]) {
          status[at] = limitedRows;
          status[env.limitedLow * pitch + instance] = low;
          status[env.limitedHigh * pitch + instance] = high;
        }
      }
      if (counts >= env.GROWTH && item === 0) status[env.growth * pitch + instance] = 1;
      if ((counts & (env.GROWTH - env.NEGATIVE)) !== 0) {
        values[item] = lowest;
        values[env.items + item] = findings.largest;
        yield;
        let least = 0.0;
        let most = 0.0;
        for (let other = 0; other < env.items; other++) {
          least = Math.min(least, values[other]);
          most = Math.max(most, values[env.items + other]);
        }
        yield;
        if (lowest === least && least < -env.diffusionTolerance() * most && fault === 0) {
          fault = env.negative;
          node = lowestNode;
          row = before.row;
        }
      }
      return { fault, node, row, limitedRows: Math.max(limitedRows, before.limitedRows) };
    },
  });
}

/** Returns the function that assembles and factors I − hL. */
export function factor(plan: TeamEquationPlan) {
  const { team, rows, penalty } = plan;
  return fn({
    name: "factor",
    params: atRow,
    env: {
      rows,
      isPenalty: penalty,
      layRows: layRows(plan),
      tellFindings: tellFindings(plan),
      factorSegment: factorSegment(team, rows, { reusesFactors: false, scaled: false, summed: false }),
      scanRounds: scanRounds(team),
    },
    *body({ launch, context, memory, loopState, programRow }, _gpu, env) {
      const { item, instance, first } = context;
      const { all, rows, factors, products, scans } = memory;
      const findings = yield* env.layRows({ launch, context, memory, loopState, programRow });
      let { reach } = loopState;
      if (!env.isPenalty) {
        const diagonal = { active: rows.a, decays: rows.a, decay: 1 }; // not looked at
        const of = { rows, diagonal, numerator: 1, near: false, factors, products, scans };
        reach = env.scanRounds(yield* env.factorSegment(of));
        const last = launch.nodes - 1;
        for (let k = 0; k < env.rows; k++)
          factors.gain[k] *= first + k <= last ? all.third[Math.min(first + k, last)] : 1.0;
      }
      yield;
      const before = { limitedRows: loopState.limitedRows, row: programRow.index };
      const told = yield* env.tellFindings({ launch, instance, item, all, scans, findings, before });
      return {
        found: { fault: told.fault, node: told.node, row: told.row },
        isNew: loopState.isNew,
        record: loopState.record,
        reach,
        limitedRows: told.limitedRows,
      };
    },
  });
}

/**
 * Returns the function that restores the products of scans from the factors of an earlier launch, bit for bit as
 * `factorSegment` left them. It returns the reach of scans
 * (`scanRounds`).
 */
export function scansOf({ team, rows }: TeamEquationPlan) {
  return fn({
    name: "scansOf",
    params: { factors: Factors, products: Products, scans: Scans },
    env: { rows, size: partsOf(rows).size, scanProducts: scanProducts(team, false), scanRounds: scanRounds(team) },
    *body({ factors: { lower, upper }, products: { downProduct, upProduct }, scans }, _gpu, env) {
      let down = 1.0;
      let up = 1.0;
      let partDown = 1.0;
      let partUp = 1.0;
      for (let k = env.rows - 1; k >= 0; k--) {
        partDown *= upper[k];
        partUp *= lower[k];
        if (k % env.size === 0) {
          downProduct[(k / env.size) | 0] = partDown;
          upProduct[(k / env.size) | 0] = partUp;
          down *= partDown;
          up *= partUp;
          partDown = 1.0;
          partUp = 1.0;
        }
      }
      return env.scanRounds(yield* env.scanProducts(down, up, scans));
    },
  });
}
