import { fn, i32 } from "../../../../kernel/index.ts";
import { type AxesVariant, slotsOf } from "../../operator/axes-variant.ts";
import { rowAt } from "../row.ts";
import { atStart, Fault, LANES, Launch, PAD, AxesPlace, PLACES, RUN_STEP } from "./records.ts";

/**
 * The number of arrays of an axis in the table: its values, the distances to the next node's coordinate, and two arrays
 * of weights of ∂/∂x (`Weights`).
 */
export const AXIS_ARRAYS = 4;

/** The number of node arrays of an instance in device memory. */
export function arraysOf(variant: AxesVariant): number {
  const { states, coefficients } = slotsOf(variant);
  return states + coefficients;
}

/**
 * The number of words of a workgroup's memory: `RUN_STEP` nodes of each line of a run, and one that spreads them over
 * its banks.
 */
const tileWords = ({ runs }: AxesVariant): number => (runs === undefined ? 1 : runs.count * LANES * (RUN_STEP + 1));

/**
 * Returns the function that finds the instance of a work item: there is one workgroup for each instance or, if
 * `shared`, several that take turns.
 */
export function placeOf(variant: AxesVariant, shared: boolean) {
  return fn({
    name: "placeOf",
    params: { launch: Launch, globalId: i32 },
    env: { PLACES, slots: arraysOf(variant), PAD, shared, words: tileWords(variant) },
    body({ launch: { instances, parts, size, first, end, parameters, places } }, gpu, env) {
      const { PLACES, slots, PAD, shared, words } = env;
      const group = gpu.groupId();
      const instance = shared ? (group / parts) | 0 : group;
      const isActive = instance < instances;
      return {
        isActive,
        firstRun: first,
        endRun: end,
        instance,
        item: gpu.localId(),
        firstRound: shared ? group - instance * parts : 0,
        everyRound: shared ? parts : 1,
        mesh: places[PLACES * (isActive ? instance : 0)],
        // The words before the first node are read, and count for nothing.
        base: PAD + instance * (slots * size + PAD),
        parameters: { values: parameters, pitch: instances, instance },
        tile: gpu.sharedReal(words),
      };
    },
  });
}

/** Finds the start of an instance's node arrays in device memory. */
export const allocate = fn({
  name: "allocate",
  params: [AxesPlace],
  body([{ base }]) {
    return { base };
  },
});

/** Returns the function that reads a row of the time program (`TimeProgram`). */
export function runAt({ parameters }: AxesVariant) {
  return fn({
    name: "runAt",
    params: { ...atStart, cursor: Fault, run: i32 },
    env: { rowAt: rowAt(parameters) },
    body({ launch: { words, reals }, place: { parameters }, run }, _gpu, { rowAt }) {
      return rowAt({ words, reals, parameters, run });
    },
  });
}

/**
 * Tells whether the work items of a group are exactly as many as the nodes that are padded together (`PAD`), as on a
 * CPU.
 */
export const isExact = ({ groupSize }: AxesVariant): boolean => groupSize === PAD;

/**
 * Returns the function for the array index of the coefficients of node `node` + `own`: array s of them is at `at` +
 * s·`pitch`. On a CPU, where all items of a group have the same `node`, the arrays of `PAD` neighbouring nodes are
 * interleaved, so that one address serves all of them at constant offsets. On other devices each array is contiguous.
 */
export function coefficientsAt(variant: AxesVariant) {
  const { states, coefficients } = slotsOf(variant);
  return fn({
    name: "coefficientsAt",
    params: { base: i32, size: i32, node: i32, own: i32 },
    env: { states, tiled: isExact(variant), arrays: coefficients, PAD },
    body({ base, size, node, own }, _gpu, { states, tiled, arrays, PAD }) {
      return {
        at: base + states * size + (tiled ? node * arrays : node) + own,
        pitch: tiled ? PAD : size,
      };
    },
  });
}

/**
 * Returns the function for the distance between the coefficients of two nodes that are `nodes`, a multiple of `PAD`,
 * apart.
 */
export function strideOf(variant: AxesVariant) {
  return fn({
    name: "strideOf",
    params: [i32],
    env: { tiled: isExact(variant), arrays: slotsOf(variant).coefficients },
    body([nodes], _gpu, { tiled, arrays }) {
      return tiled ? nodes * arrays : nodes;
    },
  });
}

/**
 * Returns the function for the node of a work item in round r of a loop over the first `count` nodes, `first` + `lane`,
 * and its index on the first axis. In groups of `PAD` items `first` is the same for all, so that they read neighbouring
 * numbers. The node is also `node` + `own`, as `coefficientsAt` takes it.
 */
export function nodeIn(variant: AxesVariant) {
  return fn({
    name: "nodeIn",
    params: [i32, i32, i32, i32],
    env: { exact: isExact(variant), size: variant.groupSize },
    body([r, item, stride, count], _gpu, { exact, size }) {
      const from = exact ? r * size : r * size + item;
      const line = (from / stride) | 0;
      return {
        line,
        first: line * stride,
        lane: from - line * stride + (exact ? item : 0),
        node: from,
        own: exact ? item : 0,
        inside: exact ? true : from < count,
      };
    },
  });
}

/**
 * Returns the function for the number of rounds in which a group's items work on `count` nodes or lines, padded to a
 * multiple of `PAD`.
 */
export const roundsOf = ({ groupSize }: Pick<AxesVariant, "groupSize">) =>
  fn({
    name: "roundsOf",
    params: [i32],
    env: { size: groupSize },
    body([count], _gpu, { size }) {
      return ((count + size - 1) / size) | 0;
    },
  });

/** Returns the function for the index in the table at which the arrays of an axis start. */
export const meshOf = (axis: number) =>
  fn({
    name: "meshOf",
    params: { launch: Launch, mesh: i32 },
    env: { axis, arrays: AXIS_ARRAYS },
    body({ launch: { n1, stride }, mesh }, _gpu, { axis, arrays }) {
      return mesh + (axis === 0 ? 0 : axis === 1 ? arrays * stride : arrays * (stride + n1));
    },
  });
