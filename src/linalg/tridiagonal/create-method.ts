import type { Device } from "../../device/index.ts";
import { chooseAlgorithm } from "./auto.ts";
import type { Method, Problem } from "./method.ts";
import { Partition } from "./partition.ts";
import { Pivoting } from "./pivoting.ts";
import { RegisterHybrid } from "./register-hybrid.ts";
import type { Algorithm } from "./spec.ts";
import { StreamedHybrid, streamShape } from "./streamed-hybrid.ts";
import { Thomas } from "./thomas.ts";
import { CpuThomas } from "./thomas-cpu.ts";
import { Workgroup } from "./workgroup.ts";

/** The algorithms except "auto". */
export type Chosen = Exclude<Algorithm, "auto">;

/** Creates the method of an algorithm. @throws SpecError (more rows than the algorithm has room for on this device) */
export function createMethod(device: Device, problem: Problem, algorithm: Chosen): Promise<Method> {
  switch (algorithm) {
    case "thomas":
      return CpuThomas.create(device, problem) ?? Thomas.create(device, problem);
    case "pivoting":
      return Pivoting.create(device, problem);
    case "cr":
    case "pcr":
    case "cr-pcr":
      return Workgroup.create(device, problem, algorithm);
    case "register-hybrid": {
      const shape = streamShape(device, problem);
      return shape === undefined
        ? RegisterHybrid.create(device, problem)
        : StreamedHybrid.create(device, problem, shape);
    }
    case "partition":
      return Partition.create(device, problem, (on, reduced) =>
        createMethod(on, reduced, chooseAlgorithm(on, reduced)),
      );
    default:
      return Promise.reject(new TypeError(String(algorithm satisfies never)));
  }
}
