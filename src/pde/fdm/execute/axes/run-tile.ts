/**
 * Runs along the first axis, where an item's nodes are neighbours in memory: subgroups read and write `RUN_STEP` nodes
 * of each line at a time, and hand them on through the workgroup's memory.
 */
import { fn, i32, real, write } from "../../../../kernel/index.ts";
import { type AxesVariant, slotsOf } from "../../operator/axes-variant.ts";
import { Part, Piece } from "./piece.ts";
import { inPhase, LANES, Launch, RUN_STEP } from "./records.ts";
import { advanceNode, settleNode } from "./update.ts";

/** The parameters of the functions that read and store the values z of a work item's interval of a line. */
export const inRun = { ...inPhase, r: i32, at: Piece, z: write(real) };

/**
 * The place of an item's run in the tile, `own`, and that of the nodes that it moves: in the tile, `others`, and in
 * arrays, `from`, on `line` and every `linesAtOnce` further.
 */
const tilePlaceOf = fn({
  name: "tilePlaceOf",
  params: { launch: Launch, base: i32, r: i32, part: Part },
  env: { LANES, RUN_STEP },
  body({ launch: { stride }, base, r, part: { lane, run, start } }, _gpu, { LANES, RUN_STEP }) {
    const tile = run * LANES * (RUN_STEP + 1);
    const toLine = (lane / RUN_STEP) | 0;
    const toNode = lane - toLine * RUN_STEP;
    return {
      own: tile + lane * (RUN_STEP + 1),
      others: tile + toLine * (RUN_STEP + 1) + toNode,
      toNode,
      line: r * LANES + toLine,
      from: base + (r * LANES + toLine) * stride + start + toNode,
    };
  },
});

/** Returns the function that reads the intervals of a tile's lines into the work items. */
export function takeRun(variant: AxesVariant, corrects: boolean) {
  const slots = slotsOf(variant);
  return fn({
    name: "takeRun",
    params: inRun,
    env: { ...tileSizes(variant), into: corrects ? slots.second : slots.z },
    *body({ launch, place: { base, tile }, r, found, at, z }, _gpu, env) {
      const { work, stride, lines, size } = launch;
      const { RUN_STEP, linesAtOnce } = env;
      const { own, others, toNode, line, from } = env.tilePlaceOf({ launch, base, r, part: at.part });
      for (let p = 0; p < env.pieces; p++) {
        const near = p * RUN_STEP;
        if (toNode + near < at.part.length)
          for (let q = 0; q < RUN_STEP; q++)
            if (line + q * linesAtOnce < lines)
              tile[others + q * linesAtOnce * (RUN_STEP + 1)] =
                work[env.into * size + from + q * linesAtOnce * stride + near];
        yield;
        for (let j = 0; j < RUN_STEP; j++) z[near + j] = tile[own + j];
        yield;
      }
      return found;
    },
  });
}

/**
 * Returns the function that stores the intervals of a tile's lines; after the last sweep of a step it stores the values
 * of u.
 */
export function storeRun(variant: AxesVariant, corrects: boolean) {
  const slots = slotsOf(variant);
  return fn({
    name: "storeRun",
    params: inRun,
    env: {
      ...tileSizes(variant),
      corrects,
      into: corrects ? slots.second : slots.z,
      advanceNode: advanceNode(variant, corrects),
      settleNode: settleNode(variant),
    },
    *body({ launch, place: { base, tile }, step, r, at, z }, gpu, env) {
      const { work, stride, lines, size } = launch;
      const { RUN_STEP, linesAtOnce } = env;
      const { own, others, toNode, line, from } = env.tilePlaceOf({ launch, base, r, part: at.part });
      const values = gpu.privateReal(RUN_STEP);
      const lambdas = gpu.privateReal(RUN_STEP);
      const isLast = env.corrects || !step.corrected;
      for (let p = 0; p < env.pieces; p++) {
        const near = p * RUN_STEP;
        for (let j = 0; j < RUN_STEP; j++) tile[own + j] = z[near + j];
        yield;
        if (toNode + near < at.part.length) {
          // All reads before the first of the writes, for which the others would wait.
          for (let q = 0; q < RUN_STEP; q++) {
            values[q] = tile[others + q * linesAtOnce * (RUN_STEP + 1)];
            if (isLast && line + q * linesAtOnce < lines) {
              const k = from + q * linesAtOnce * stride + near;
              const { after, lambda } = env.advanceNode({ launch, step, k, value: values[q] });
              values[q] = after;
              lambdas[q] = lambda;
            }
          }
          for (let q = 0; q < RUN_STEP; q++)
            if (line + q * linesAtOnce < lines) {
              const k = from + q * linesAtOnce * stride + near;
              if (isLast) env.settleNode({ launch, k, after: values[q], lambda: lambdas[q] });
              else work[env.into * size + k] = values[q];
            }
        }
        yield;
      }
    },
  });
}

const tileSizes = (variant: AxesVariant) => ({
  tilePlaceOf,
  pieces: variant.runs!.length / RUN_STEP,
  linesAtOnce: Math.trunc(LANES / RUN_STEP),
  RUN_STEP,
});
