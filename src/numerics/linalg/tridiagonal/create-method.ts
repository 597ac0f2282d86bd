import type { Device } from "../../../device/index.ts";
import { chooseAlgorithm } from "./auto.ts";
import type { Method, Problem } from "./method.ts";
import { partition } from "./partition.ts";
import { pivoting } from "./pivoting.ts";
import { registerHybrid } from "./register-hybrid.ts";
import type { Algorithm } from "./spec.ts";
import { streamedHybrid, streamShape } from "./streamed-hybrid.ts";
import { thomas } from "./thomas.ts";
import { thomasOnCpu } from "./thomas-cpu.ts";
import { workgroup } from "./workgroup.ts";

/** The algorithms except "auto". */
export type Chosen = Exclude<Algorithm, "auto">;

/** Creates the method of an algorithm. @throws SpecError (more rows than the algorithm has room for on this device) */
export function createMethod(device: Device, problem: Problem, algorithm: Chosen): Promise<Method> {
  switch (algorithm) {
    case "thomas":
      return thomasOnCpu(device, problem) ?? thomas(device, problem);
    case "pivoting":
      return pivoting(device, problem);
    case "cr":
    case "pcr":
    case "cr-pcr":
      return workgroup(device, problem, algorithm);
    case "register-hybrid": {
      const shape = streamShape(device, problem);
      return shape === undefined ? registerHybrid(device, problem) : streamedHybrid(device, problem, shape);
    }
    case "partition":
      return partition(device, problem, (on, reduced) => createMethod(on, reduced, chooseAlgorithm(on, reduced)));
    default:
      return Promise.reject(new TypeError(String(algorithm satisfies never)));
  }
}
