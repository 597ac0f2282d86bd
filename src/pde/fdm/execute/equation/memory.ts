import { fn, i32, read, real, write } from "../../../../kernel/index.ts";
import { itemAt, Place } from "../place.ts";
import { multipliers, multiplierWords, partsOf, scratchWords } from "../team/team.ts";
import { type EquationPlan, FAULT_WORDS } from "./plan.ts";
import { Launch } from "./records.ts";

/** Returns the function that finds the instance of a work item and its nodes. */
export const placeOf = ({ team, rows }: EquationPlan) =>
  fn({
    name: "placeOf",
    params: { launch: Launch, globalId: i32 },
    env: { itemAt: itemAt(team, rows) },
    body({ launch: { instances, pitch, first, end, table, parameters }, globalId }, _gpu, { itemAt }) {
      return itemAt({ instances, pitch, first, end, table, parameters, globalId });
    },
  });

/** Returns the function that allocates the arrays of a work item (`Memory`). */
export function allocate({ team, variant, rows, early, penalty, splitting }: EquationPlan) {
  const { capacity, twoStages, hasSource, recordsEvents, jump } = variant;
  const own = rows ?? capacity;
  const where = (used: boolean): number => (used ? own : 1);
  return fn({
    name: "allocate",
    params: [Place],
    env: {
      alone: team === undefined,
      capacity,
      own,
      parts: rows === undefined ? 1 : partsOf(rows).count,
      spots: jump === undefined ? 1 : capacity,
      fourth: hasSource ? capacity : 1,
      stages: where(twoStages),
      sources: where(hasSource),
      obstacles: where(early || recordsEvents),
      splits: where(splitting),
      isPenalty: penalty,
      penalties: where(penalty),
      faultWords: team ? FAULT_WORDS * team.items : 1,
      multipliers: team ? multipliers(team, false) : 1,
      multiplierWords: team ? multiplierWords(team, false) : 1,
      scratchWords: team ? scratchWords(team) : 1,
    },
    body([{ table }], gpu, env) {
      const { alone, capacity, own, parts } = env;
      const u = gpu.privateReal(own);
      const z = gpu.privateReal(own);
      const gain = gpu.privateReal(own);
      const lower = gpu.privateReal(own);
      const upper = gpu.privateReal(own);
      const v = gpu.privateReal(env.stages);
      const source = gpu.privateReal(env.sources);
      const obstacle = gpu.privateReal(env.obstacles);
      // Without a team one array that nobody reads takes the place of those of workgroup memory.
      const none = gpu.privateReal(1);
      const noWords = gpu.privateI32(1);
      const mesh = alone ? gpu.privateReal(env.spots) : gpu.sharedReal(2 * capacity);
      const values = alone ? u : gpu.sharedReal(capacity);
      // As in the kernels of options: registers have no room for them in f64.
      const inRegisters = alone || gpu.precision === "f32";
      return {
        table: {
          values: alone ? table.values : mesh,
          pitch: alone ? table.pitch : 1,
          instance: alone ? table.instance : 0,
        },
        all: {
          mesh,
          u: values,
          obstacle: alone ? obstacle : values,
          beside: alone ? lower : gpu.sharedReal(capacity),
          third: alone ? none : gpu.sharedReal(capacity),
          fourth: alone ? none : gpu.sharedReal(env.fourth),
          faults: alone ? noWords : gpu.sharedI32(env.faultWords),
        },
        state: {
          u,
          z,
          right: env.isPenalty ? gpu.privateReal(own) : z,
          v,
          source,
          obstacle,
          lambda: gpu.privateReal(env.splits),
        },
        rows: { a: alone ? lower : gpu.privateReal(own), c: alone ? upper : gpu.privateReal(own) },
        factors: { gain, lower, upper },
        products: {
          downProduct: gpu.privateReal(parts),
          upProduct: gpu.privateReal(parts),
          downTo: none,
          upTo: none,
        },
        scans: {
          above: inRegisters ? gpu.privateReal(env.multipliers) : gpu.sharedReal(env.multiplierWords),
          below: inRegisters ? gpu.privateReal(env.multipliers) : gpu.sharedReal(env.multiplierWords),
          scratch: alone ? none : gpu.sharedReal(env.scratchWords),
          counter: alone ? noWords : gpu.sharedI32(1),
          result: alone ? noWords : gpu.sharedI32(1),
        },
        penalty: {
          decays: alone ? gain : gpu.privateReal(env.penalties),
          active: gpu.privateReal(env.penalties),
          factor: alone ? gpu.privateReal(env.penalties) : none,
        },
      };
    },
  });
}

/**
 * Returns the function that copies an item's own nodes, and `beyond` past the last node, from an array of all nodes
 * that the team has filled. Without a team it does nothing, because both are one array.
 */
export function gather({ rows }: EquationPlan) {
  return fn({
    name: "gather",
    params: { place: Place, nodes: i32, all: read(real), own: write(real), beyond: real },
    env: { rows },
    *body({ place: { first }, nodes, all, own, beyond }, _gpu, { rows }) {
      if (rows !== undefined) {
        yield;
        for (let k = 0; k < rows; k++) own[k] = first + k < nodes ? all[Math.min(first + k, nodes - 1)] : beyond;
        yield;
      }
    },
  });
}

/** Returns the function that copies the values of an item's own nodes into an array of all nodes, for the team. */
export function spread({ rows }: EquationPlan) {
  return fn({
    name: "spread",
    params: { place: Place, nodes: i32, own: read(real), all: write(real) },
    env: { rows },
    *body({ place: { first }, nodes, own, all }, _gpu, { rows }) {
      if (rows !== undefined) {
        for (let k = 0; k < rows; k++) if (first + k < nodes) all[first + k] = own[k];
        yield;
      }
    },
  });
}
