import { type Device, isGpu } from "../../../device/index.ts";
import type { Method, TridiagonalBatch } from "./method.ts";
import { partition } from "./partition.ts";
import { pivoting } from "./pivoting.ts";
import { registerHybrid, registerHybridSettings } from "./register-hybrid.ts";
import type { Algorithm } from "./spec.ts";
import { streamedHybrid, streamedHybridSettings } from "./streamed-hybrid.ts";
import { thomas } from "./thomas.ts";
import { thomasOnCpu } from "./thomas-cpu.ts";
import { workgroupMethod } from "./workgroup.ts";

/** The algorithms except "auto". */
export type ConcreteAlgorithm = Exclude<Algorithm, "auto">;

/**
 * Prepares an algorithm for a problem on a device. @throws SpecError (more rows than the algorithm has room for on this
 * device)
 */
export function createMethod(device: Device, problem: TridiagonalBatch, algorithm: ConcreteAlgorithm): Promise<Method> {
  switch (algorithm) {
    case "thomas":
      return thomasOnCpu(device, problem) ?? thomas(device, problem);
    case "pivoting":
      return pivoting(device, problem);
    case "cr":
    case "pcr":
    case "cr-pcr":
      return workgroupMethod(device, problem, algorithm);
    case "register-hybrid": {
      const shape = streamedHybridSettings(device, problem);
      return shape === undefined ? registerHybrid(device, problem) : streamedHybrid(device, problem, shape);
    }
    case "partition":
      return partition(device, problem, (on, reduced) => createMethod(on, reduced, chooseAlgorithm(on, reduced)));
    default:
      return Promise.reject(new TypeError(String(algorithm satisfies never)));
  }
}

/** Shorter systems are done before cutting them up is. */
const MIN_PARTITIONED = 4096;

/**
 * Returns the algorithm for a problem. On a CPU or a software adapter it is Thomas' algorithm with one system in each
 * SIMD lane or, for few long systems, the partition method. On a GPU a system that fits into registers takes the
 * register hybrid. A longer one takes Thomas' algorithm, one system per work item, if there are enough of them to fill
 * the device and neighbouring items read neighbouring words; otherwise it takes the partition method.
 */
export function chooseAlgorithm(device: Device, problem: TridiagonalBatch): Exclude<Algorithm, "auto"> {
  const { rows, batch, stride } = problem;
  if (!isGpu(device)) return rows >= MIN_PARTITIONED && 2 * batch <= device.parallelism ? "partition" : "thomas";
  const contiguous = stride === 1;
  // One an item is faster for short ones, once they fill the device: see the figure of docs/linear-algebra.md.
  if (rows <= 2 || (rows <= (contiguous ? 8 : 64) && batch >= device.parallelism)) return "thomas";
  if (registerHybridSettings(device, problem) !== undefined) return "register-hybrid";
  return !contiguous && batch >= device.parallelism ? "thomas" : "partition";
}
