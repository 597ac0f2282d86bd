import { bool, fn, i32, read, real, record } from "../../../kernel/index.ts";
import { Column } from "../operator/column.ts";
import { placeIn, type Team } from "./team/team.ts";

/** The instance of a work item, its columns in the launch's buffers, and the nodes that the item has. */
export const Place = record({
  isActive: bool,
  firstRun: i32,
  endRun: i32,
  instance: i32,
  /** True where the item writes results: not where it does again what others do. */
  isOwner: bool,
  table: Column,
  parameters: Column,
  /** The number of the item among the instance's, and of the instance among the group's. */
  item: i32,
  option: i32,
  /** The first node that the item holds. */
  first: i32,
});

/** The arguments of a launch that decide on places: runs `first` … `end` − 1, and buffers of columns. */
const placing = { instances: i32, pitch: i32, first: i32, end: i32, table: read(real), parameters: read(real) };

/**
 * Returns the function that finds the instance of a work item and its nodes: a single item solves an instance, or a
 * team does, each item of which has `rows` consecutive nodes.
 */
export function itemAt(team: Team | undefined, rows: number | undefined) {
  return fn({
    name: "itemAt",
    params: { ...placing, globalId: i32 },
    env: { options: team?.options ?? 1, rows, placeIn: team && placeIn(team) },
    body({ instances, pitch, first, end, table, parameters, globalId }, gpu, { options, rows, placeIn }) {
      const { item, option } = placeIn === undefined ? { item: 0, option: 0 } : placeIn();
      const own = placeIn === undefined ? globalId : gpu.groupId() * options + option;
      // Without an instance of its own a group's second option does again what the first does, for both take part in
      // what is collective.
      const instance = options === 1 ? own : Math.min(own, instances - 1);
      return {
        isActive: (placeIn === undefined ? globalId : gpu.groupId() * options) < instances,
        firstRun: first,
        endRun: end,
        instance,
        isOwner: options === 1 || own < instances,
        table: { values: table, pitch, instance },
        parameters: { values: parameters, pitch, instance },
        item,
        option,
        first: item * (rows ?? 0),
      };
    },
  });
}
