import { placeOf } from "../option/place.ts";
import type { TeamPlan } from "../option/plan.ts";
import { advance } from "./advance.ts";
import { begin } from "./begin.ts";
import { applyEvents } from "./events.ts";
import { allocate } from "./memory.ts";
import { readSolution } from "./read.ts";
import { factor } from "./refactor.ts";
import { runAt } from "./run.ts";

/** Returns the functions of the time loop (`RollbackParts`) with which a team of items solves an instance. */
export const teamParts = (plan: TeamPlan) => ({
  placeOf: placeOf(plan),
  allocate: allocate(plan),
  begin: begin(plan),
  runAt: runAt(plan),
  factor: factor(plan),
  advance: advance(plan),
  applyEvents: applyEvents(plan),
  read: readSolution(plan),
});
