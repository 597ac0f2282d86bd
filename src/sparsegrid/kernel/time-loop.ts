/** The kernel: the whole backward time loop of a grid by one workgroup. */
import { fn, i32, kernel, real, record } from "../../kernel/index.ts";
import { CONDITION_SHIFT, FAULT, LOOP_BUDGET, MASK_SHIFT, PROGRAM_BITS, valueAt } from "../../fdm/index.ts";
import { assemble } from "./assemble.ts";
import { expire } from "./expire.ts";
import { beginSystem, iterate } from "./krylov.ts";
import { nodeOf, numberOf, offsetsAt } from "./place.ts";
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

/** What a condition on a date makes of the solution. */
const applyCondition = (variant: GridVariant) =>
  fn({
    name: "applyCondition",
    params: { launch: Launch, grid: Grid, t: real, condition: i32, row: i32, found: Fault },
    env: {
      axes: variant.axes,
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

/** u after a stage, the rate of change for the next guess, and exercise at all times. */
const endStage = (variant: GridVariant) =>
  fn({
    name: "endStage",
    params: {
      launch: Launch,
      grid: Grid,
      stage: record({ row: i32, end: real, advance: real, extrapolation: real, keeps: i32 }),
      found: Fault,
    },
    env: {
      axes: variant.axes,
      GROUP: variant.groupSize,
      obstacle: variant.obstacle,
      nodeOf: nodeOf(variant),
      numberOf: numberOf(variant),
      badPayoff: FAULT.payoff,
      badSolution: FAULT.solution,
      U: slot.U,
      V: slot.V,
      Y: slot.Y,
      RATE: slot.RATE,
    },
    body({ launch, grid, stage: { row, end, advance, extrapolation, keeps }, found }, gpu, env) {
      const { work, parameters, instances } = launch;
      const { base, pitch, unknowns, rounds, item, instance } = grid;
      let { fault, node: faulty, row: faultRow } = found;
      const node = { index: gpu.privateI32(env.axes), x: gpu.privateReal(env.axes) };
      for (let r = 0; r < rounds; r++) {
        const i = r * env.GROUP + item;
        const at = base + i;
        const u = work[env.U * pitch + at];
        const change = work[env.Y * pitch + at] - u;
        let after = u + extrapolation * change;
        if (keeps === 1) work[env.V * pitch + at] = u;
        if (env.obstacle !== undefined && keeps === 0) {
          env.nodeOf({ launch, grid, i, node });
          const state = { t: end, x: node.x, parameters: { values: parameters, pitch: instances, instance } };
          const payoff = env.obstacle(state);
          if (!Number.isFinite(payoff) && fault === 0) {
            fault = env.badPayoff;
            faulty = env.numberOf({ launch, grid, index: node.index });
            faultRow = row;
          }
          after = i < unknowns ? Math.max(after, payoff) : 0.0;
        }
        work[env.RATE * pitch + at] = change / advance;
        work[env.U * pitch + at] = after;
      }
      return { fault, node: faulty, row: faultRow };
    },
  });

/**
 * The whole backward time loop of the grids of a combination, one workgroup a grid.
 *
 *   (I − hL)·y = fromU·u + fromV·v + h·d   by BiCGStab or CGS,   u ← u + e·(y − u)   for each stage,
 *
 * and conditions between them. The matrix is made on the device, one array for each neighbour of the stencil, when its
 * step or its coefficients change. Layout: see `variant.ts`; behind every array are as many zeros as the farthest
 * neighbour is away.
 */
export function gridKernel(variant: GridVariant) {
  return kernel({
    name: `sparse-grid-${variant.axes}`,
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
      beginSystem: beginSystem(variant),
      iterate: iterate(variant),
      endStage: endStage(variant),
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
      const scratch = gpu.sharedReal(2 * env.GROUP);
      const column = { values: parameters, pitch: instances, instance: grid.instance };
      const { base, pitch, rounds } = grid;
      const system = { work, table, base, pitch, offsets: at + env.offsetsAt, rounds, item, scratch };
      const out = (group * env.GROUP + item) * env.REPORT_WORDS;
      let found = { fault: report[out + env.fault], node: report[out + env.node], row: report[out + env.row] };
      let unsolved = report[out + env.unsolved];
      let unsolvedRow = report[out + env.unsolvedRow];
      let iterations = report[out + env.iterations];
      let systems = report[out + env.systems];
      if (launch.first === 0) found = env.expire({ launch, grid, found });
      yield;
      for (let run = launch.first; run < launch.end; run++) {
        const flags = words[2 * run];
        const segment = words[2 * run + 1];
        const date = env.valueAt(column, env.dates + segment);
        if ((flags & env.EVENT) !== 0) {
          if (env.hasEvents) {
            const condition = (flags >> env.CONDITION_SHIFT) & 255;
            found = env.applyCondition({ launch, grid, t: date, condition, row: run, found });
          }
        } else {
          const length = env.valueAt(column, env.dates + segment + 1) - date;
          const row = env.ROW_WORDS * run;
          const t = date + reals[row + env.AT] * length;
          const h = reals[row + env.H] * length;
          if ((flags & env.FACTOR) !== 0) {
            const mask = (flags >> env.MASK_SHIFT) & 255;
            found = env.assemble({ launch, grid, t, h, mask, row: run, found });
            yield;
          }
          const advance = reals[row + env.ADVANCE] * length;
          const stage = { fromU: reals[row + env.FROM_U], fromV: reals[row + env.FROM_V], advance };
          const { rr, bb } = yield* env.beginSystem({ system, stage });
          const threshold = relative * relative * bb;
          const solved = yield* env.iterate({ system, rr, threshold, maxIterations });
          iterations += solved.iterations;
          systems++;
          if (!(solved.residual <= threshold)) {
            if (unsolved === 0) unsolvedRow = run;
            unsolved++;
          }
          const ending = {
            row: run,
            end: date + reals[row + env.END] * length,
            advance,
            extrapolation: reals[row + env.EXTRAPOLATION],
            keeps: (flags & env.KEEP) !== 0 ? 1 : 0,
          };
          found = env.endStage({ launch, grid, stage: ending, found });
        }
        yield;
      }
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
