import { type Device, isGpu } from "../../../device/index.ts";
import type { Problem } from "./method.ts";
import { runShape } from "./register-hybrid.ts";
import type { Algorithm } from "./spec.ts";

/** Shorter systems are done before cutting them up is. */
const MIN_PARTITIONED = 4096;

/**
 * Returns the algorithm for a problem. On a CPU or a software adapter it is Thomas' algorithm with one system in each
 * SIMD lane, or the partition method for a long system alone. On a GPU a system that fits into registers takes the
 * hybrid method. A longer one takes Thomas' algorithm in one work item if there are enough of them to fill the device
 * and neighbouring items read neighbouring words, and otherwise the partition method.
 */
export function chooseAlgorithm(device: Device, problem: Problem): Exclude<Algorithm, "auto"> {
  const { rows, batch, stride } = problem;
  if (!isGpu(device)) return rows >= MIN_PARTITIONED && 2 * batch <= device.parallelism ? "partition" : "thomas";
  const contiguous = stride === 1;
  // One an item is faster for short ones, once they fill the device: see the figure of docs/linear-algebra.md.
  if (rows <= 2 || (rows <= (contiguous ? 8 : 64) && batch >= device.parallelism)) return "thomas";
  if (runShape(device, problem) !== undefined) return "register-hybrid";
  return !contiguous && batch >= device.parallelism ? "thomas" : "partition";
}
