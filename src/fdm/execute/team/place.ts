import { fn, i32 } from "../../../kernel/index.ts";
import { Launch } from "../variant.ts";
import type { TeamPlan } from "./plan.ts";
import { placeIn } from "./team.ts";

/**
 * Returns the function that locates a work item: a team solves one instance, and each item has a run of consecutive
 * nodes.
 */
export function placeOf({ team, rows }: TeamPlan) {
  return fn({
    name: "placeOf",
    params: { launch: Launch, globalId: i32 },
    env: { options: team.options, rows, placeIn: placeIn(team) },
    body({ launch: { instances, pitch, runs, table, coefficients } }, gpu, { options, rows, placeIn }) {
      const { item, option } = placeIn();
      const own = gpu.groupId() * options + option;
      // Without an instance of its own a group's second option does again what the first does, for both take part in
      // what is collective.
      const instance = options === 1 ? own : Math.min(own, instances - 1);
      return {
        isActive: gpu.groupId() * options < instances,
        firstRun: 0,
        endRun: runs,
        instance,
        isOwner: own < instances,
        table: { values: table, pitch, instance },
        coefficients: { values: coefficients, pitch, instance },
        item,
        option,
        first: item * rows,
      };
    },
  });
}
