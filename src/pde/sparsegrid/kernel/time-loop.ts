/** The kernel: the whole backward time loop of a grid by one workgroup. */
import { kernel, memoizeByCode } from "../../../kernel/index.ts";
import { CONDITION_SHIFT, LOOP_BUDGET, MASK_SHIFT, PROGRAM_BITS, valueAt } from "../../fdm/index.ts";
import { assemble } from "./assemble.ts";
import { scratchReals, solveStage } from "./krylov.ts";
import { applyCondition, exercise, setTerminalValues } from "./on-dates.ts";
import { offsetsAt } from "./node.ts";
import { beginResident, loadRows, residentSizes, storeRows } from "./resident.ts";
import {
  type GridVariant,
  header,
  launchParams,
  REPORT,
  REPORT_INTEGERS,
  ROW_FIELD,
  slot,
  tableIntegers,
} from "./variant.ts";

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
      WORDS: tableIntegers(variant),
      offsetsAt: offsetsAt(variant),
      dates: variant.parameters,
      setTerminalValues: setTerminalValues(variant),
      assemble: assemble(variant),
      applyCondition: applyCondition(variant),
      solveStage: solveStage(variant),
      exercise: exercise(variant),
      ROWS: variant.residentRows,
      SCRATCH: scratchReals(variant),
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
      ROW_WORDS: ROW_FIELD.WORDS,
      AT: ROW_FIELD.AT,
      END: ROW_FIELD.END,
      H: ROW_FIELD.H,
      FROM_U: ROW_FIELD.FROM_U,
      FROM_V: ROW_FIELD.FROM_V,
      EXTRAPOLATION: ROW_FIELD.EXTRAPOLATION,
      ADVANCE: ROW_FIELD.ADVANCE,
      REPORT_INTEGERS,
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
      const out = (group * env.GROUP + item) * env.REPORT_INTEGERS;
      let found = { fault: report[out + env.fault], node: report[out + env.node], row: report[out + env.row] };
      let unsolved = report[out + env.unsolved];
      let unsolvedRow = report[out + env.unsolvedRow];
      let iterations = report[out + env.iterations];
      let systems = report[out + env.systems];
      if (launch.first === 0) {
        const t = env.valueAt(column, env.dates + launch.dates - 1);
        found = env.setTerminalValues({ launch, grid, t, k: 0, row: 0, found });
      }
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
          if (env.applyCondition !== undefined) {
            const k = (flags >> env.CONDITION_SHIFT) & 255;
            found = env.applyCondition({ launch, grid, t: date, k, row: run, found });
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
          if (env.exercise !== undefined && !keeps)
            found = env.exercise({ launch, grid, t: date + reals[row + env.END] * length, k: 0, row: run, found });
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
export const sharedGridKernel = memoizeByCode(gridKernel);
