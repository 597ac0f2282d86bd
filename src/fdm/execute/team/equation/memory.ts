import { fn, i32, read, real } from "../../../../kernel/index.ts";
import { Launch } from "../../item/equation/records.ts";
import { multipliers, multiplierWords, scratchWords } from "../team.ts";
import { type EquationPlan, FAULT_WORDS } from "./plan.ts";
import { EquationTeamPlace } from "./records.ts";

/**
 * Returns the function that locates a work item: a team solves one instance, and each item has a run of consecutive
 * nodes.
 */
export function placeOf({ rows }: EquationPlan) {
  return fn({
    name: "placeOf",
    params: { launch: Launch, globalId: i32 },
    env: { rows },
    body({ launch: { instances, pitch, first, end, table, parameters } }, gpu, { rows }) {
      const instance = gpu.groupId();
      const item = gpu.localId();
      return {
        isActive: instance < instances,
        firstRun: first,
        endRun: end,
        instance,
        table: { values: table, pitch, instance },
        parameters: { values: parameters, pitch, instance },
        item,
        first: item * rows,
      };
    },
  });
}

/** Returns the array of nodes in workgroup memory as a column of the table. */
export const onMesh = fn({
  name: "onMesh",
  params: [read(real)],
  body([mesh]) {
    return { values: mesh, pitch: 1, instance: 0 };
  },
});

/** Returns the function that allocates the arrays of a team; arrays that a variant does not use have one element. */
export function allocate({ team, variant, rows, parts, early, penalty, splitting }: EquationPlan) {
  const { capacity, twoStages, hasSource, recordsEvents } = variant;
  const where = (used: boolean): number => (used ? rows : 1);
  return fn({
    name: "allocate",
    params: [EquationTeamPlace],
    env: {
      capacity,
      rows,
      parts,
      fourth: hasSource ? capacity : 1,
      faultWords: FAULT_WORDS * team.items,
      stages: where(twoStages),
      sources: where(hasSource),
      obstacles: where(early || recordsEvents),
      splits: where(splitting),
      penalties: where(penalty),
      multipliers: multipliers(team, false),
      multiplierWords: multiplierWords(team, false),
      scratchWords: scratchWords(team),
    },
    body(_, gpu, env) {
      const { capacity, rows, parts } = env;
      // As in the book's kernels: registers have no room for them in f64.
      const own = gpu.precision === "f32";
      const above = own ? gpu.privateReal(env.multipliers) : gpu.sharedReal(env.multiplierWords);
      const below = own ? gpu.privateReal(env.multipliers) : gpu.sharedReal(env.multiplierWords);
      return {
        shared: {
          mesh: gpu.sharedReal(2 * capacity),
          values: gpu.sharedReal(capacity),
          beside: gpu.sharedReal(capacity),
          third: gpu.sharedReal(capacity),
          fourth: gpu.sharedReal(env.fourth),
          faults: gpu.sharedI32(env.faultWords),
        },
        state: {
          u: gpu.privateReal(rows),
          z: gpu.privateReal(rows),
          v: gpu.privateReal(env.stages),
          source: gpu.privateReal(env.sources),
          obstacle: gpu.privateReal(env.obstacles),
          lambda: gpu.privateReal(env.splits),
        },
        rows: { a: gpu.privateReal(rows), c: gpu.privateReal(rows) },
        factors: { gain: gpu.privateReal(rows), lower: gpu.privateReal(rows), upper: gpu.privateReal(rows) },
        products: {
          downProduct: gpu.privateReal(parts),
          upProduct: gpu.privateReal(parts),
          downTo: gpu.privateReal(1),
          upTo: gpu.privateReal(1),
        },
        scans: {
          above,
          below,
          scratch: gpu.sharedReal(env.scratchWords),
          counter: gpu.sharedI32(1),
          result: gpu.sharedI32(1),
        },
        penalty: {
          decays: gpu.privateReal(env.penalties),
          right: gpu.privateReal(env.penalties),
          active: gpu.privateReal(env.penalties),
        },
      };
    },
  });
}
