import { fn } from "../../../../kernel/index.ts";
import { itemPlan } from "../option/plan.ts";
import { readValues } from "../option/read.ts";
import type { SolverVariant } from "../variant.ts";
import { atStart, Cursor } from "./records.ts";

/**
 * Returns the function that writes the values of the six nodes about a spot, with the nodes themselves where the device
 * made the mesh, and the values at points.
 */
export const readSolution = (variant: SolverVariant) =>
  fn({
    name: "readSolution",
    params: { ...atStart, cursor: Cursor },
    env: { readValues: readValues(itemPlan(variant)) },
    *body({ launch, place, memory: { x, u, dormant }, cursor: { row, exercise } }, _gpu, { readValues }) {
      readValues({ launch, place, x, u, dormant, row, slope: exercise.slope, kink: exercise.kink });
    },
  });
