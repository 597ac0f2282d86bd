import { bool, fn, i32, record } from "../../../kernel/index.ts";
import { Column } from "../../operator/column.ts";
import { placeIn } from "../team/team.ts";
import { Launch } from "../variant.ts";
import type { OptionPlan } from "./plan.ts";

/** The instance of a work item, its columns in the launch's buffers, and the nodes whose values the item holds. */
export const Place = record({
  isActive: bool,
  firstRun: i32,
  endRun: i32,
  instance: i32,
  /** True where the item writes results: not where it does again what others do. */
  isOwner: bool,
  table: Column,
  coefficients: Column,
  /** The number of the item among the instance's, and of the instance among the group's. */
  item: i32,
  option: i32,
  /** The first node that the item holds. */
  first: i32,
});

/**
 * Returns the function that locates a work item: an item solves one instance, or a team does, each item of which has a
 * run of consecutive nodes.
 */
export function placeOf({ team, rows }: OptionPlan) {
  return fn({
    name: "placeOf",
    params: { launch: Launch, globalId: i32 },
    env: { options: team?.options ?? 1, rows, placeIn: team && placeIn(team) },
    body({ launch: { instances, pitch, runs, table, coefficients }, globalId }, gpu, { options, rows, placeIn }) {
      const { item, option } = placeIn === undefined ? { item: 0, option: 0 } : placeIn();
      const own = placeIn === undefined ? globalId : gpu.groupId() * options + option;
      // Without an instance of its own a group's second option does again what the first does, for both take part in
      // what is collective.
      const instance = options === 1 ? own : Math.min(own, instances - 1);
      return {
        isActive: (placeIn === undefined ? globalId : gpu.groupId() * options) < instances,
        firstRun: 0,
        endRun: runs,
        instance,
        isOwner: options === 1 || own < instances,
        table: { values: table, pitch, instance },
        coefficients: { values: coefficients, pitch, instance },
        item,
        option,
        first: item * (rows ?? 0),
      };
    },
  });
}
