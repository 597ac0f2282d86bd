/** The kernel: the whole backward time loop of a grid by one workgroup. */
import { fn, i32, kernel, real, sharing } from "../../../kernel/index.ts";
import { CONDITION_SHIFT, FAULT, LOOP_BUDGET, MASK_SHIFT, PROGRAM_BITS, valueAt } from "../../fdm/index.ts";
import { assemble } from "./assemble.ts";
import { expire } from "./expire.ts";
import { scratchOf, solveStage } from "./krylov.ts";
import { nodeOf, numberOf, offsetsAt } from "./place.ts";
import { beginResident, loadRows, residentSizes, storeRows } from "./resident.ts";
import {
  Fault,
  Grid,
  type GridVariant,
  header,
  Launch,
  launchParams,
  REPORT,
  REPORT_WORDS,
  ROW,
  slot,
  tableWords,
} from "./variant.ts";

/** Applies a condition on a date to the solution. */
const applyCondition = (variant: GridVariant) =>
  fn({
    name: "applyCondition",
    params: { launch: Launch, grid: Grid, t: real, condition: i32, row: i32, found: Fault },
    env: {
      axes: variant.axes.length,
      GROUP: variant.groupSize,
      pointwise: variant.pointwise,
      nodeOf: nodeOf(variant),
      numberOf: numberOf(variant),
      badEvent: FAULT.event,
      U: slot.U,
    },
    body({ launch, grid, t, condition, row, found }, gpu, env) {
      const { work, parameters, instances } = launch;
      const { base, pitch, unknowns, rounds, item, instance } = grid;
      const node = { index: gpu.privateI32(env.axes), x: gpu.privateReal(env.axes) };
      let { fault, node: faulty, row: faultRow } = found;
      if (env.pointwise !== undefined) {
        for (let r = 0; r < rounds; r++) {
          const i = r * env.GROUP + item;
          env.nodeOf({ launch, grid, i, node });
          const state = { t, x: node.x, parameters: { values: parameters, pitch: instances, instance } };
          const { value, ok } = env.pointwise({ state, k: condition, u: work[base + env.U * pitch + i] });
          if (!ok && fault === 0) {
            fault = env.badEvent;
            faulty = env.numberOf({ launch, grid, index: node.index });
            faultRow = row;
          }
          work[base + env.U * pitch + i] = i < unknowns ? value : 0.0;
        }
      }
      return { fault, node: faulty, row: faultRow };
    },
  });

/** Exercise at all times: u is at least the payoff. */
const exercise = (variant: GridVariant) =>
  fn({
    name: "exercise",
    params: { launch: Launch, grid: Grid, t: real, row: i32, found: Fault },
    env: {
      axes: variant.axes.length,
      GROUP: variant.groupSize,
      obstacle: variant.obstacle,
      nodeOf: nodeOf(variant),
      numberOf: numberOf(variant),
      badPayoff: FAULT.payoff,
      U: slot.U,
    },
    body({ launch, grid, t, row, found }, gpu, env) {
      const { work, parameters, instances } = launch;
      const { base, pitch, unknowns, rounds, item, instance } = grid;
      let { fault, node: faulty, row: faultRow } = found;
      const node = { index: gpu.privateI32(env.axes), x: gpu.privateReal(env.axes) };
      if (env.obstacle !== undefined) {
        for (let r = 0; r < rounds; r++) {
          const i = r * env.GROUP + item;
          env.nodeOf({ launch, grid, i, node });
          const state = { t, x: node.x, parameters: { values: parameters, pitch: instances, instance } };
          const payoff = env.obstacle(state);
          if (!Number.isFinite(payoff) && fault === 0) {
            fault = env.badPayoff;
            faulty = env.numberOf({ launch, grid, index: node.index });
            faultRow = row;
          }
          const at = base + env.U * pitch + i;
          work[at] = i < unknowns ? Math.max(work[at], payoff) : 0.0;
        }
      }
      return { fault, node: faulty, row: faultRow };
    },
  });

/**
 * Returns the kernel of the whole backward time loop of the grids of a combination, with one workgroup for each grid.
 * It solves
 *
 *   (I − hL)·y = fromU·u + fromV·v + h·d   by BiCGStab or CGS,   u ← u + e·(y − u)   for each stage,
 *
 * and applies the conditions between them. The matrix is assembled on the device when the step or the coefficients
 * change, with one array for each neighbour of the stencil. The memory layout is in `variant.ts`. Every array is
 * followed by as many zeros as the distance of the farthest neighbour.
 */
export function gridKernel(variant: GridVariant) {
  return kernel({
    name: `sparse-grid-${variant.axes.length}`,
    loopBudget: LOOP_BUDGET,
    groupSize: variant.groupSize,
    params: launchParams,
    env: {
      GROUP: variant.groupSize,
      WORDS: tableWords(variant),
      offsetsAt: offsetsAt(variant),
      dates: variant.parameters,
      hasEvents: variant.pointwise !== undefined,
      expire: expire(variant),
      assemble: assemble(variant),
      applyCondition: applyCondition(variant),
      solveStage: solveStage(variant),
      exercise: exercise(variant),
      exercises: variant.obstacle !== undefined,
      ROWS: variant.residentRows,
      SCRATCH: scratchOf(variant),
      ...residentSizes(variant),
      beginResident: beginResident(variant),
      loadKept: loadRows(variant, slot.V),
      loadSolution: loadRows(variant, slot.U),
      storeKept: storeRows(variant, slot.V),
      storeSolution: storeRows(variant, slot.U),
      valueAt,
      HEAD: header.BASE,
      UNKNOWNS: header.UNKNOWNS,
      PITCH: header.PITCH,
      INSTANCE: header.INSTANCE,
      ROUNDS: header.ROUNDS,
      ...PROGRAM_BITS,
      CONDITION_SHIFT,
      MASK_SHIFT,
      ROW_WORDS: ROW.WORDS,
      AT: ROW.AT,
      END: ROW.END,
      H: ROW.H,
      FROM_U: ROW.FROM_U,
      FROM_V: ROW.FROM_V,
      EXTRAPOLATION: ROW.EXTRAPOLATION,
      ADVANCE: ROW.ADVANCE,
      REPORT_WORDS,
      ...REPORT,
    },
    *body(launch, gpu, env) {
      const { table, parameters, instances, words, reals, work, report, relative, maxIterations } = launch;
      const item = gpu.localId();
      const group = gpu.groupId();
      const at = group * env.WORDS;
      const grid = {
        base: table[at + env.HEAD],
        unknowns: table[at + env.UNKNOWNS],
        pitch: table[at + env.PITCH],
        rounds: table[at + env.ROUNDS],
        instance: table[at + env.INSTANCE],
        words: at,
        item,
      };
      const { ROWS, GROUP } = env;
      const scratch = gpu.sharedReal(env.SCRATCH);
      const registers = gpu.privateReal(env.registers);
      const shown = gpu.sharedReal(env.seen);
      const distances = gpu.privateI32(env.distances);
      const column = { values: parameters, pitch: instances, instance: grid.instance };
      const out = (group * env.GROUP + item) * env.REPORT_WORDS;
      let found = { fault: report[out + env.fault], node: report[out + env.node], row: report[out + env.row] };
      let unsolved = report[out + env.unsolved];
      let unsolvedRow = report[out + env.unsolvedRow];
      let iterations = report[out + env.iterations];
      let systems = report[out + env.systems];
      if (launch.first === 0) found = env.expire({ launch, grid, found });
      if (ROWS > 0) {
        env.beginResident({ launch, grid, seen: shown, distances });
        env.loadKept({ launch, grid, own: registers });
      }
      yield;
      for (let run = launch.first; run < launch.end; run++) {
        const flags = words[2 * run];
        const segment = words[2 * run + 1];
        const date = env.valueAt(column, env.dates + segment);
        const inMemory = ROWS > 0 && (flags & (env.EVENT | env.FACTOR)) !== 0;
        if (inMemory) env.storeSolution({ launch, grid, own: registers });
        if ((flags & env.EVENT) !== 0) {
          if (env.hasEvents) {
            const condition = (flags >> env.CONDITION_SHIFT) & 255;
            found = env.applyCondition({ launch, grid, t: date, condition, row: run, found });
            if (ROWS > 0) env.loadSolution({ launch, grid, own: registers });
          }
        } else {
          const length = env.valueAt(column, env.dates + segment + 1) - date;
          const row = env.ROW_WORDS * run;
          const t = date + reals[row + env.AT] * length;
          const h = reals[row + env.H] * length;
          if ((flags & env.FACTOR) !== 0) {
            const mask = (flags >> env.MASK_SHIFT) & 255;
            found = env.assemble({ launch, grid, t, h, mask, row: run, found });
            if (ROWS > 0) env.loadSolution({ launch, grid, own: registers });
          }
          const keeps = (flags & env.KEEP) !== 0;
          const solved = yield* env.solveStage({
            system: {
              own: ROWS > 0 ? registers : work,
              base: grid.base,
              pitch: ROWS > 0 ? ROWS : grid.pitch,
              seen: ROWS > 0 ? shown : work,
              seenBase: ROWS > 0 ? ROWS * GROUP : grid.base,
              seenPitch: ROWS > 0 ? 2 * ROWS * GROUP : grid.pitch,
              distances: ROWS > 0 ? distances : table,
              offsets: ROWS > 0 ? 0 : at + env.offsetsAt,
              rounds: grid.rounds,
              item,
              scratch,
            },
            stage: {
              fromU: reals[row + env.FROM_U],
              fromV: reals[row + env.FROM_V],
              advance: reals[row + env.ADVANCE] * length,
              extrapolation: reals[row + env.EXTRAPOLATION],
              keeps,
            },
            relative,
            maxIterations,
          });
          iterations += solved.iterations;
          systems++;
          if (!solved.isSolved) {
            if (unsolved === 0) unsolvedRow = run;
            unsolved++;
          }
          if (env.exercises && !keeps)
            found = env.exercise({ launch, grid, t: date + reals[row + env.END] * length, row: run, found });
        }
      }
      if (ROWS > 0) env.storeKept({ launch, grid, own: registers });
      report[out + env.fault] = found.fault;
      report[out + env.node] = found.node;
      report[out + env.row] = found.row;
      report[out + env.endless] = gpu.endlessLoop();
      report[out + env.unsolved] = unsolved;
      report[out + env.unsolvedRow] = unsolvedRow;
      report[out + env.iterations] = iterations;
      report[out + env.systems] = systems;
    },
  });
}

/**
 * Returns the kernel of a variant; variants that lower to the same code share one, whatever the literals of their
 * functions.
 */
export const sharedGridKernel = sharing(gridKernel);
