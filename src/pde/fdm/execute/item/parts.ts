import { itemPlan } from "../option/plan.ts";
import { placeOf } from "../option/place.ts";
import type { SolverVariant } from "../variant.ts";
import { advance } from "./advance.ts";
import { allocate, begin, runAt } from "./begin.ts";
import { applyEvents } from "./events.ts";
import { factor } from "./factor.ts";
import { readSolution } from "./read.ts";

/** Returns the functions of the time loop (`RollbackParts`) with which a single item solves an instance. */
export const itemParts = (variant: SolverVariant) => ({
  placeOf: placeOf(itemPlan(variant)),
  allocate: allocate(variant),
  begin: begin(variant),
  runAt: runAt(variant),
  factor: factor(variant),
  advance: advance(variant),
  applyEvents: applyEvents(variant),
  read: readSolution(variant),
});
