import { type Device, isGpu } from "../../device/index.ts";
import type { Problem } from "./method.ts";
import { runShape } from "./register-hybrid.ts";
import type { Algorithm } from "./spec.ts";

/** Shorter systems are done before cutting them up is. */
const MIN_PARTITIONED = 4096;

/**
 * Returns the algorithm for a problem. A CPU or software adapter is filled by a few systems, one a SIMD lane; a GPU
 * keeps a system on the chip while it has room. Longer systems are solved one an item if there are enough to fill the
 * device and neighbouring items read neighbouring words, otherwise in chunks.
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
